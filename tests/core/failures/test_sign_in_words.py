"""Errors that may mean "sign in again", by their words in any member; and those that only look so."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.failures import failures
from acp_nvim.failures.plain_words import about_sign_in
from acp_nvim.jsonrpc.messages import RpcError

MEAN_IT = [
    "Unauthorized",
    "unexpected status 401 Unauthorized: x",
    'API Error: 401 {"type":"error"}',
    "Request failed with status code 401",
    "HTTP/1.1 401",
    "got a 401 from the provider",
    "Your token has expired",
    "OAuth token revoked",
    "expired token",
    "expired_token",
    "Invalid access token",
    "access token is missing",
    "Please log in",
    "please login",
    "You must sign in first",
    "not logged in",
    "You have been logged out",
    "Log in again",
    "login required",
    "Please run /login · x",
    "run `kimi login` first",
    "LLM not set: run kimi login",
    "Not logged in. Use 'x auth login'",
    "authentication_error",
    "Authentication required",
    "failed to authenticate with the provider",
    "user is not authenticated",
    "needs re-authentication",
    "invalid_grant",
    "No API key found",
    "could not load credentials",
]
DO_NOT = [
    "usage limit reached; resets at 18:00",
    "401 files changed",
    "line 401 of main.py",
    "port 4010 is taken",
    "failed to edit src/authentication.py",
    "cannot read credentials.json",
    "tests/api_key.ts was not found",
    "see https://x.io/login for more",
    "errors are logged in /tmp/x.log",
    "errors have been logged in the console",
    "please log in detail",
    "Invalid or unexpected token",
    "Unexpected token < in JSON at position 0",
    "max tokens exceeded: the token limit is reached",
    "module login not found",
    "Internal error",
]
plain = st.dictionaries(st.text("abc"), st.sampled_from(DO_NOT) | st.integers(0, 300) | st.none(), max_size=3)


@pytest.mark.parametrize("words", MEAN_IT)
def test_a_sign_in_is_offered(words: str) -> None:
    assert about_sign_in(words)
    assert about_sign_in(words.upper())


@pytest.mark.parametrize("words", DO_NOT)
def test_what_only_looks_like_it_is_none(words: str) -> None:
    assert not about_sign_in(words)


@given(
    st.sampled_from([*MEAN_IT, None]),
    st.lists(st.sampled_from(["error", "cause", "details", "x", "list"]), max_size=5),
    plain,
)
def test_it_is_found_in_whichever_member_it_is(words: str | None, path: list[str], beside: dict[str, Any]) -> None:
    data: Any = {"statusCode": 401} if words is None else words
    for name in path:
        data = [data, 1] if name == "list" else {**beside, name: data}
    assert about_sign_in("Internal error", data)
    shown = failures.turn_failed("it", RpcError(-32603, "Internal error", data))
    assert ":AcpLogin" in shown.next_step
    assert ":AcpLogin" in failures.refused("it", "session/new", RpcError(-32603, "Internal error", data)).next_step


@given(plain, st.integers(0, 5))
def test_nothing_is_found_where_nothing_is(data: Any, depth: int) -> None:
    for _ in range(depth):
        data = {"error": data, "more": ["a"]}
    assert not about_sign_in("Internal error", data)


def test_an_error_of_any_size_is_searched_in_bounds() -> None:
    deep: Any = "please log in"
    for _ in range(1000):
        deep = {"cause": deep}
    assert not about_sign_in("x", deep)
    assert not about_sign_in("x", [{"a": "b" * 1000}] * 100_000)


def test_what_an_agent_said_before_it_ended_may_ask_for_a_sign_in() -> None:
    assert ":AcpLogin" in failures.exited("it", 1, (), ("LLM not set: run kimi login",)).next_step
    assert ":AcpLogin" in failures.exited("it", 1, ("Error: not logged in",)).next_step
    assert ":AcpLogin" not in failures.exited("it", 1, ("Traceback",)).next_step
