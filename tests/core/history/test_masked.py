"""No secret of the table is in a transcript or in the file of sent prompts, however it came and was written."""

from __future__ import annotations

import gc
import json
import math
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_nvim.contract import events
from acp_nvim.contract.views import CallView, TextItem
from acp_nvim.history.records import Masking, encode, remember
from tests.core.history.blocks import Growing
from tests.support.examples import examples
from tests.support.secret_table import READABLE, SECRETS, Secret, shown

MASKING = Masking({})
LEAK = 6


def lines(growing: Growing) -> list[bytes]:
    """Return the lines that the recorder would write now."""
    taken = growing.recorder.take(math.inf)
    return [encode(growing.recorder.masked(one, MASKING.masker), MASKING) for one in taken]


@settings(max_examples=examples(60))
@given(st.sampled_from(SECRETS), st.lists(st.integers(0, 300), max_size=8), st.sampled_from(["\n", " "]))
def test_a_message_that_is_written_while_it_grows_shows_no_secret(one: Secret, cuts: list[int], after: str) -> None:
    text = f"Some words before.\n{one.text}{after}Some words after."
    ends = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    growing = Growing()
    growing.say("agent", "", None)
    written: list[bytes] = []
    for start, end in pairwise(ends):
        growing.say("agent", text[start:end], 1)
        written += lines(growing)
    growing.end_turn()
    written += lines(growing)
    texts = [json.loads(line)["text"] for line in written]
    assert len(one.secret) < 4 or shown(one.secret, "".join(texts)) <= LEAK
    assert "".join(texts).startswith("Some words before.\n")
    assert after == " " or "".join(texts).endswith("words after.")


def test_what_is_written_is_not_kept() -> None:
    growing = Growing()
    growing.say("agent", "a message", None)
    growing.end_turn()
    [piece] = growing.recorder.take(math.inf)
    kept = len(gc.get_referrers(piece))
    growing.say("user", "another one")
    growing.end_turn()
    assert growing.recorder.take(math.inf)
    assert len(gc.get_referrers(piece)) < kept


@pytest.mark.parametrize("text", READABLE)
def test_a_message_about_code_stays_readable(text: str) -> None:
    growing = Growing()
    growing.say("user", text)
    growing.say("agent", f"see:\n{text}\n\n", None)
    written = lines(growing)
    growing.say("agent", text, 2)
    growing.end_turn()
    texts = [json.loads(line)["text"] for line in written + lines(growing)]
    assert texts == [text, f"see:\n{text}\n\n", text]


def test_the_output_of_a_command_that_still_runs_shows_no_beginning_of_a_secret() -> None:
    for one in SECRETS:
        text = "$ run\n" + one.before + one.secret[: (len(one.secret) + 1) // 2]
        call = CallView("c", "run", "execute", "in_progress", [TextItem(text)], [])
        line = encode(events.ToolCall(session=1, block=1, call=call), MASKING)
        known = one.secret.split("\n", 1)[0][: (len(one.secret) + 1) // 2]
        assert len(known) < 8 or shown(known, json.loads(line)["call"]["content"][0]["text"]) <= LEAK, one.kind


def test_prompts_are_remembered_without_secrets(tmp_path: Path) -> None:
    path = tmp_path / "prompts" / "it.jsonl"
    for text in [one.text for one in SECRETS] + READABLE:
        remember(path, text, 1)
    texts = [json.loads(line)["text"] for line in path.read_text().splitlines()]
    for one, text in zip(SECRETS, texts, strict=False):
        assert len(one.secret) < 4 or shown(one.secret, text) <= LEAK, one.kind
    assert texts[len(SECRETS) :] == READABLE
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
