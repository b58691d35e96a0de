"""The prompts that agents suggest: whatever they send, it is one clean line or nothing."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from acp_nvim.acp.extensions import extensions
from acp_nvim.acp.suggestions import SUGGESTION_CHARS, cleaned, suggested
from acp_nvim.acp.updates import Retrying, SessionInfoChanged, Update
from acp_nvim.acp.v1 import DialectV1
from acp_nvim.agents.definition import QUIRKS

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["prompt", "text", "type", "suggestion"]), inner),
    max_leaves=10,
)
BLOCK = {"type": "text", "text": "Run the tests"}


@pytest.mark.parametrize(
    "said",
    [
        "Run the tests",
        ["Run the tests", "Commit"],
        ["", "  \n", "Run the\n tests "],
        [{"prompt": [BLOCK]}],
        [{"prompt": "Run the tests"}],
        [{"text": "Run the tests", "id": 1}],
        [{"suggestion": "Run the tests"}],
        [{"prompt": [{"type": "image", "data": "", "mimeType": "image/png"}]}, {"prompt": [BLOCK]}],
        [7, None, {"other": 1}, "Run the tests"],
        ["x" * (SUGGESTION_CHARS + 1), "Run the tests"],
        ["\x1b[31mRun the\x07 tests"[5:]],
    ],
)
def test_the_first_usable_one_is_offered(said: Any) -> None:
    assert suggested({"promptSuggestions": said}) == "Run the tests"


@pytest.mark.parametrize("said", [[], None, {}, [[]], 7, "\x00", "x" * (SUGGESTION_CHARS + 1)])
def test_without_a_usable_one_they_are_withdrawn(said: Any) -> None:
    assert suggested({"promptSuggestions": said}) is None


@pytest.mark.parametrize("meta", [UNSET, None, {}, {"other": []}, []])
def test_who_says_nothing_about_them_changes_nothing(meta: Any) -> None:
    assert suggested(meta) is UNSET


@given(JSON)
def test_it_is_always_one_bounded_line_without_control_characters(said: Any) -> None:
    text = suggested({"promptSuggestions": said})
    assert text is None or (text and len(text) <= SUGGESTION_CHARS and text == text.strip())
    assert all(one.isprintable() or one in "\u200c\u200d" for one in text or "")


def test_emoji_and_scripts_that_need_joiners_stay_whole() -> None:
    assert cleaned("👩‍💻 می‌خواهم\u202e") == "👩‍💻 می‌خواهم"


def test_a_session_update_carries_title_and_suggestion() -> None:
    update = {"sessionUpdate": "session_info_update", "title": "T", "_meta": {"promptSuggestions": ["Go on"]}}
    params = msgspec.Raw(msgspec.json.encode({"sessionId": "s", "update": update}))
    assert DialectV1().update(params) == ("s", SessionInfoChanged("T", "Go on"))


def read(method: str, said: dict[str, Any]) -> tuple[str | None, list[Update]]:
    notifications, _ = extensions(QUIRKS)
    found = notifications[method](msgspec.Raw(msgspec.json.encode(said)))
    return found.session_id, found.updates("s")


def test_notifications_are_those_of_the_quirks() -> None:
    assert extensions([]) == extensions(["words_for_line"]) == ({}, {})
    said = {"v": 1, "sessionId": "s", "suggestion": "Go\non", "promptId": "p"}
    suggestion = [SessionInfoChanged(suggestion="Go on")]
    assert read("qwen/notify/session/prompt-suggestion", said) == ("s", suggestion)
    said = {"sessionId": "s", "category": "rate_limited", "detail": "api_key=secret"}
    assert read("_session/retrying", said) == ("s", [Retrying("rate limited")])
