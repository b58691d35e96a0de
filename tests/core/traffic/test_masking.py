"""Masking hides every secret it can know of, and nothing that a recording needs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.limits import TOKEN_CHARS
from acp_nvim.traffic.log import TRAFFIC_MESSAGE_BYTES
from acp_nvim.traffic.masking import (
    LEARNED,
    MASK,
    Masker,
    known_secrets,
    without_secrets,
)
from acp_nvim.traffic.secret_names import is_secret, is_secret_variable

SECRET = "Zq9-very/private+value"
MODEST = Masker()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
SECRET_NAMES = [
    *("api_key", "apiKey", "API-KEY", "X-Api-Key", "apikey", "APIKey", "token", "access_token", "clientSecret"),
    *("password", "DB_PASSWORD", "Authorization", "cookie", "Set-Cookie", "credentials", "privateKey", "authJwt"),
]
HARMLESS_NAMES = ["key", "keyboard", "tokenizer", "sessionId", "optionId", "authMethods", "secretary", "monkey", "path"]


@pytest.mark.parametrize("name", SECRET_NAMES)
def test_a_value_under_a_secret_name_is_masked(name: str) -> None:
    assert MODEST.value({"a": [{name: SECRET}]}) == {"a": [{name: MASK}]}
    assert not MODEST.clean(json.dumps({name: SECRET}).encode())


@pytest.mark.parametrize("name", HARMLESS_NAMES)
def test_a_value_under_any_other_name_stays(name: str) -> None:
    assert MODEST.value({name: SECRET}) == {name: SECRET}


def test_all_below_a_secret_name_is_masked_but_not_what_only_counts() -> None:
    value = {"credentials": {"user": "me", "pin": 1234, "list": ["x"]}, "usage": {"inputTokens": 17, "token": None}}
    assert MODEST.value(value) == {
        "credentials": {"user": MASK, "pin": MASK, "list": [MASK]},
        "usage": {"inputTokens": 17, "token": None},
    }


@pytest.mark.parametrize("name", ["env", "headers"])
def test_all_values_of_env_and_headers_are_masked(name: str) -> None:
    listed = {"mcpServers": [{"name": "s", name: [{"name": "MODE", "value": "x"}]}]}
    assert MODEST.value(listed) == {"mcpServers": [{"name": "s", name: [{"name": "MODE", "value": MASK}]}]}
    assert MODEST.value({name: {"MODE": "x"}}) == {name: {"MODE": MASK}}
    assert not MODEST.clean(json.dumps(listed).encode())


SHAPES = [
    "sk-proj-abcdefgh12345678",
    "ghp_abcdefgh12345678",
    "github_pat_abcdefgh12345678",
    "AIzaSyabcdefgh12345678",
    "AKIAABCDEFGH12345678",
    "xoxb-12345678-abcdefgh",
    "hf_abcdefgh12345678",
    "glpat-abcdefgh12345678",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-_123",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----",
]


@pytest.mark.parametrize("secret", SHAPES)
def test_the_keys_of_large_services_are_masked_wherever_they_stand(secret: str) -> None:
    line = json.dumps({"text": f"it is {secret} there"}).encode()
    assert not MODEST.clean(line)
    assert MODEST.value(json.loads(line)) == {"text": f"it is {MASK} there"}


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("Authorization: Bearer abc.def", "Authorization: [masked]"),
        ("use bearer abcdefgh-1234 now", "use bearer [masked] now"),
        ("https://me:pass@host/x and git@host", "https://[masked]@host/x and git@host"),
        ("https://host/x?access_token=abcdefgh1&b=2", "https://host/x?access_token=[masked]&b=2"),
        ("export OPENAI_API_KEY='abcdefgh1'; ls", "export OPENAI_API_KEY='[masked]'; ls"),
        ("FOO_PAT=abcdefgh1 PATH=/usr/bin", "FOO_PAT=[masked] PATH=/usr/bin"),
        ('{"api_key": "abc", "b": "c"}', '{"api_key": "[masked]", "b": "c"}'),
        (r"{\"api_key\": \"abc\"}", r"{\"api_key\": \"[masked]\"}"),
        ("Cookie: a=b; c=d\nHost: x", "Cookie: [masked]\nHost: x"),
        ("def add(token, key):\n    return token + key", "def add(token, key):\n    return token + key"),
        ("the task-list of disk-space, basic functionality", "the task-list of disk-space, basic functionality"),
    ],
)
def test_what_stands_before_a_secret_in_a_text_tells_it(text: str, masked: str) -> None:
    assert MODEST.text(text) == masked


@pytest.mark.parametrize(
    "line", [rb'{"a":"\u0073\u006b-abcdefgh1234"}', rb'{"a":"x:\/\/me:pass\u0040host"}', rb'{"a":"x:\/\/me:p"}']
)
def test_a_line_with_escapes_that_could_hide_a_secret_is_not_clean(line: bytes) -> None:
    assert not MODEST.clean(line)


def test_a_known_secret_is_found_inside_a_url() -> None:
    assert Masker(["pass word/1"]).text("https://host/?q=pass%20word%2F1&b") == "https://host/?q=[masked]&b"


def test_overlapping_secrets_leave_one_mask() -> None:
    assert MODEST.text("API_KEY=sk-abcdefgh12345678 token=x://me:pass@host") == "API_KEY=[masked] token=[masked]"


@given(st.text(min_size=8).filter(lambda secret: secret not in MASK), JSON, st.sampled_from(["", "before ", "/"]))
def test_a_known_secret_is_gone_from_every_string(secret: str, rest: Any, before: str) -> None:
    masker = Masker([secret])
    value = {"a": [rest, f"{before}{secret} after"], f"{secret}!": json.dumps(f"{secret}", ensure_ascii=False)}
    for line in (json.dumps(value), json.dumps(value, ensure_ascii=False)):
        assert not masker.clean(line.encode("utf-8", "surrogatepass"))
    assert secret not in "\0".join(strings(masker.value(value)))


@given(st.text(min_size=8, max_size=8).filter(lambda text: text not in MASK))
def test_a_short_secret_is_not_looked_for(text: str) -> None:
    assert Masker([text[:7]]).text(f"a {text} b") == MODEST.text(f"a {text} b")


@given(JSON)
def test_a_clean_line_is_one_that_masking_leaves_as_it_is(value: Any) -> None:
    line = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
    if MODEST.clean(line):
        assert MODEST.value(value) == value


@given(
    st.sampled_from(SECRET_NAMES), st.sampled_from(["", "_", "-", " "]), st.sampled_from([str, str.upper, str.title])
)
def test_a_clean_line_holds_no_secret_name(name: str, before: str, case: Any) -> None:
    spelled = case(f"my{before}{name}")
    assert not (is_secret(spelled) and MODEST.clean(json.dumps({spelled: "x"}).encode()))


@pytest.mark.parametrize("unit", ["token-", "_key", "eyJ-", "sk-", '"a_key_', "a.", "://", "bearer ", "-----begin"])
def test_no_text_takes_more_than_linear_time(unit: str) -> None:
    """Bounded by the time limit of each test: in the longest message, what is not linear takes minutes."""
    text = unit * (TRAFFIC_MESSAGE_BYTES // len(unit))
    assert MODEST.text(text) == (MASK if unit in ("eyJ-", "sk-") else text)


def test_variables_are_secret_by_their_names() -> None:
    secret = ["OPENAI_API_KEY", "GITHUB_TOKEN", "FAKE_KEY", "DB_PASS", "GITHUB_PAT", "npm_config__auth"]
    harmless = ["HOME", "PATH", "SSH_AUTH_SOCK", "AWS_SECRET_FILE", "KEYBOARD", "PWD", "EDITOR", ""]
    assert [name for name in secret + harmless if is_secret_variable(name)] == secret


def test_configured_values_are_secret_except_for_places() -> None:
    configured = {
        "MODE": "what-ever",
        "URL": "http://127.0.0.1:1/v1",
        "DIR": "/",
        "API_KEY": "http://x",
        "GONE": "/no/ne",
    }
    environment = {"GITHUB_TOKEN": "from outside", "LANG": "C.UTF-8 or so"}
    assert known_secrets(configured, environment) == ["from outside", "what-ever", "http://x", "/no/ne"]


def test_an_argument_after_a_secret_option_is_masked() -> None:
    argv = ["agent", "--api-key", "abc", "--token=abcdefgh", "--model", "m", "token", "x"]
    assert MODEST.lines(argv) == ["agent", "--api-key", MASK, f"--token={MASK}", "--model", "m", "token", "x"]


def strings(value: Any) -> list[str]:
    """All strings of a JSON value, names too."""
    if isinstance(value, dict):
        return [*value, *(text for one in value.values() for text in strings(one))]
    if isinstance(value, list):
        return [text for one in value for text in strings(one)]
    return [value] if isinstance(value, str) else []


@pytest.fixture
def nothing_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LEARNED, "secrets", frozenset())


@pytest.mark.usefixtures("nothing_learned")
def test_what_the_user_enters_is_masked_from_then_on_by_who_masks_already() -> None:
    masker = Masker()
    line = json.dumps({"text": f"it is {SECRET}, and 7654321"}).encode()
    assert masker.clean(line)
    LEARNED.learn([SECRET, "7654321", "ollama"])
    assert not masker.clean(line)
    assert masker.text(f"it is {SECRET}, and 7654321, ollama") == f"it is {MASK}, and {MASK}, ollama"
    assert masker.text("7654321") == MASK


@pytest.mark.usefixtures("nothing_learned")
def test_short_secrets_are_masked_as_whole_words() -> None:
    masker = Masker()
    LEARNED.learn(["pw12", "a+/1", "abc"], TOKEN_CHARS)
    line = json.dumps({"reason": "Bearer pw12"}).encode()
    assert not masker.clean(line)
    assert masker.value(json.loads(line)) == {"reason": f"Bearer {MASK}"}
    assert masker.text("pw12") == MASK
    assert masker.text("pw12, 'pw12', xpw12, pw123, abc") == f"{MASK}, '{MASK}', xpw12, pw123, abc"
    assert masker.text("token=a+/1&x, token=a%2B%2F1") == f"token={MASK}&x, token={MASK}"
    assert without_secrets("the token pw12 is bad") == f"the token {MASK} is bad"


@pytest.mark.usefixtures("nothing_learned")
def test_words_for_the_user_lose_only_what_was_learned() -> None:
    words = f"it quotes {SECRET} and sk-proj-abcdefgh12345678"
    assert without_secrets(words) == words
    LEARNED.learn([SECRET])
    assert without_secrets(words) == f"it quotes {MASK} and sk-proj-abcdefgh12345678"
    assert SECRET not in repr(LEARNED)
