"""The account that an agent uses: asked for or reported, malformed or not, and shown where the user signs in."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.acp.auth_status import auth_status_words, status_update_words
from acp_nvim.connection import calls as module
from acp_nvim.contract.request_events import SignIn
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio

MAX = {"label": "Claude Max", "email": "me@example.org", "organization": "Org", "active": True}
KEY = {"label": "API key"}


def raw(value: Any) -> msgspec.Raw:
    """Encode a value as JSON."""
    return msgspec.Raw(json.dumps(value).encode())


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"state": "authenticated"}, "signed in"),
        ({"state": "authenticated", "accounts": []}, "signed in"),
        ({"state": "authenticated", "accounts": [KEY, MAX]}, "Claude Max (me@example.org, Org)"),
        ({"state": "authenticated", "accounts": [KEY, {"label": "Two", "active": False}]}, "API key; Two"),
        ({"state": "_new", "accounts": [KEY] * 5}, "API key; API key; API key; … and 2 more"),
        ({"state": "unauthenticated"}, "not signed in"),
        ({"state": "unauthenticated", "accounts": [MAX]}, "not signed in (Claude Max (me@example.org, Org))"),
        ({"state": "not_required"}, "no sign-in is needed"),
        ({"state": "unknown"}, "not known"),
        ({"state": "_new"}, "not known"),
        ({"state": "authenticated", "accounts": [{"label": " \n "}]}, "an account without a name"),
        ({"state": "authenticated", "accounts": [{"label": "a\nb", "name": "\t"}]}, "a b"),
        ({"state": "authenticated", "accounts": [KEY, {"email": "no label"}, 7]}, "API key"),
        ({"state": "authenticated", "accounts": 7}, "signed in"),
    ],
)
def test_a_status_is_described(said: dict[str, Any], words: str) -> None:
    assert auth_status_words(raw(said)) == words
    assert status_update_words("auth/status_update", raw(said)) == words


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"kind": "api_key", "label": "Anthropic API key", "detail": "FROM_ENV"}, "Anthropic API key (FROM_ENV)"),
        ({"kind": "gateway", "label": "Custom model gateway"}, "Custom model gateway"),
        ({"kind": "none", "label": "Not logged in"}, "not signed in"),
        ({"kind": "new"}, "new"),
    ],
)
def test_older_adapters_have_words_of_their_own(said: dict[str, Any], words: str) -> None:
    assert status_update_words("_auth/status_update", raw({"authStatus": said})) == words


@given(
    st.recursive(
        st.none() | st.integers() | st.text(),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2),
        max_leaves=3,
    )
)
def test_anything_else_is_malformed(said: Any) -> None:
    for method in ("auth/status_update", "_auth/status_update"):
        with pytest.raises(msgspec.DecodeError):
            status_update_words(method, raw({"authStatus": [], "state": [said]}))


def test_long_words_are_cut() -> None:
    long = auth_status_words(raw({"state": "authenticated", "accounts": [{"label": "x" * 10_000}] * 1000}))
    assert len(long) < 400


async def sign_in(host: Host, count: int = 1) -> SignIn:
    """The user asks for the ways to sign in."""
    host.app.receive("login_methods", {"agent": "it", "cwd": str(host.cwd)})
    event: SignIn = await host.editor.until_event(SignIn, count)
    return event


ASKED = """
    INITIALIZE = {"agentCapabilities": {"auth": {"status": {}}}}
    def auth_status(agent, request):
        ANSWER
"""


async def test_an_agent_that_can_be_asked_is_asked_each_time(host: Host) -> None:
    host.script(ASKED.replace("ANSWER", 'return {"state": "authenticated", "accounts": [{"label": "Work"}]}'))
    assert (await sign_in(host)).account == "Work"
    await sign_in(host, 2)
    assert len(host.scripts["it"].received("auth/status")) == 2


@pytest.mark.parametrize(
    "answer",
    ["return 7", 'return {"state": 7}', 'raise Error(-32603, "no")', 'raise Error(-32000, "sign in")', "os._exit(1)"],
)
async def test_without_an_answer_the_ways_are_shown_all_the_same(host: Host, answer: str) -> None:
    host.script(ASKED.replace("ANSWER", answer))
    assert (await sign_in(host)).account is None


async def test_a_silent_agent_is_not_waited_for(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ACCOUNT_SECONDS", 0.05)
    host.script(ASKED.replace("ANSWER", "return NO_ANSWER"))
    assert (await sign_in(host)).account is None


@pytest.mark.parametrize("v2", [False, True])
async def test_an_agent_that_reports_by_itself_is_not_asked(host: Host, v2: bool) -> None:
    initialize = {"protocolVersion": 2, "info": {"name": "v2", "version": "1"}, "capabilities": {"session": {}}}
    host.hello(protocol={"v2": v2})
    host.script(f"""
    INITIALIZE = {initialize if v2 else {}!r}
    def opened(agent, session_id):
        agent.notify("_auth/status_update", {{"authStatus": {{"kind": "api_key", "label": "A key"}}}})
        agent.notify("auth/status_update", {{"state": 7}})
        agent.notify("auth/status_update", [])
        agent.notify("_auth/status_update", {{"authStatus": None}})
        agent.update(session_id, {{"sessionUpdate": "session_info_update", "title": "told"}})
    def turn(agent, prompt):
        agent.notify("auth/status_update", {{"state": "unauthenticated", "accounts": [{{"label": "Old"}}]}})
        prompt.update("state_update", state="running") if {v2} else None
        prompt.update("state_update", state="idle", stopReason="end_turn") if {v2} else None
        return {{"messageId": "m"}} if {v2} else None
    """)
    host.open()
    await host.until("the reports", lambda: (now := host.status()) is not None and now.title == "told")
    assert (await sign_in(host)).account == "A key"
    await host.turn()
    assert (await sign_in(host, 2)).account == "not signed in (Old)"
    assert host.scripts["it"].received("auth/status") == []
    assert [one for one in host.notices() if "key" in one or "Old" in one] == [], "nothing of it is in the chat"
