"""What is written is what is read, wherever the file was torn; secrets are not in it; pieces and limits."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.contract import events
from acp_nvim.contract.views import StatusView
from acp_nvim.history import recorder as recorder_module
from acp_nvim.history.files import FoundTranscript
from acp_nvim.history.reader import blocks, summary
from acp_nvim.history.recorder import PIECE_BYTES
from acp_nvim.history.records import About, Header, Masking, encode
from tests.core.history.blocks import ACTS, Growing, plain, play

HEADER = Header(transcript=1, agent="it", cwd="/p", started=1.5, version="0")


def plainly(line: bytes, grows: bool) -> bytes:
    return line


def lines_of(growing: Growing, now: float = math.inf) -> list[bytes]:
    """All that the recorder gives by then, as lines."""
    lines = []
    while taken := growing.recorder.take(now):
        lines += [encode(one, plainly) for one in taken]
    return lines


def read(path: Path, data: bytes) -> list[Any]:
    path.write_bytes(data)
    return [plain(block) for block in blocks(path)]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("transcripts") / "one.jsonl"


@given(ACTS, st.integers(4, 30))
def test_what_was_written_is_read_again_as_it_is_now(path: Path, acts: list[Any], piece: int) -> None:
    growing = Growing()
    growing.say("user", "begin")
    lines = [encode(HEADER, plainly)]
    with patch.object(recorder_module, "PIECE_BYTES", piece), patch.object(recorder_module, "MAX_GROWING", 2):
        for act in acts:
            if act[0] == "write":
                lines += lines_of(growing, math.inf if act[1] else 0)
            else:
                play(growing, act)
        growing.end_turn()
        lines += lines_of(growing)
    assert read(path, b"".join(lines)) == growing.expected()


@given(ACTS, st.data())
def test_a_file_that_is_torn_anywhere_gives_what_was_whole_before(path: Path, acts: list[Any], data: Any) -> None:
    growing = Growing()
    growing.say("user", "begin")
    for act in acts:
        play(growing, act)
    growing.end_turn()
    lines = [encode(HEADER, plainly), *lines_of(growing)]
    whole = b"".join(lines)
    at = data.draw(st.integers(0, len(whole)))
    torn = whole[:at]
    complete = torn[: torn.rfind(b"\n") + 1]
    if complete + lines[complete.count(b"\n") % len(lines)][:-1] == torn:  # only the newline is missing
        complete += lines[complete.count(b"\n")]
    assert read(path, torn) == read(path, complete)


def test_lines_that_nobody_understands_are_passed_over(path: Path) -> None:
    growing = Growing()
    growing.say("user", "hello")
    growing.end_turn()
    noise = [
        b"\n",
        b"nonsense\n",
        b'{"type":"later","block":1}\n',
        b'{"type":"append","block":1}\n',
        b"[]\n",
        b"\xff\n",
    ]
    data = b"".join([encode(HEADER, plainly), *noise, *lines_of(growing), *noise])
    assert read(path, data) == [(1, "user", "hello")]


def test_a_long_message_is_written_in_pieces_that_end_with_lines(path: Path) -> None:
    growing = Growing()
    growing.say("user", "hi")
    text = "0123456789 öäü €\n" * (3 * PIECE_BYTES // 20)
    growing.say("agent", text)
    growing.end_turn()
    lines = lines_of(growing)
    assert len(lines) > 3
    assert max(map(len, lines)) < 2 * PIECE_BYTES
    assert all('\\n"' in line.decode()[-40:] for line in lines[1:])
    assert read(path, b"".join([encode(HEADER, plainly), *lines]))[1] == (2, "agent", text)


def test_a_text_without_lines_is_cut_between_characters(path: Path) -> None:
    growing = Growing()
    growing.say("user", "hi")
    growing.say("agent", "€" * PIECE_BYTES)
    growing.end_turn()
    assert read(path, encode(HEADER, plainly) + b"".join(lines_of(growing)))[1] == (2, "agent", "€" * PIECE_BYTES)


def test_what_goes_on_is_written_once_however_often_it_is_looked_at() -> None:
    growing = Growing()
    growing.say("user", "hi")
    growing.say("agent", "one\ntwo")
    first = b"".join(lines_of(growing))
    assert b"one" in first
    assert b"two" not in first  # its line may go on, and be a secret
    growing.say("agent", " three\n", 2)
    second = b"".join(lines_of(growing))
    assert b"two three" in second
    assert b"one" not in second
    assert lines_of(growing) == []


def test_a_private_key_in_two_pieces_is_masked_in_both() -> None:
    growing = Growing()
    growing.say("user", "hi")
    growing.say("agent", "look:\n-----BEGIN PRIVATE KEY-----\nabc\n")
    masking = Masking({})
    taken = growing.recorder.take(math.inf)
    growing.say("agent", "def\n-----END PRIVATE KEY-----\nand so on", 2)
    growing.end_turn()
    taken += growing.recorder.take(math.inf)
    lines = [encode(growing.recorder.masked(one, masking.masker), masking) for one in taken]
    assert [json.loads(line)["text"] for line in lines] == [
        "hi",
        "look:\n[masked]",
        "\nand so on",
    ]


@pytest.mark.parametrize("text", ["my key is known-secret-1", "\ud800 known-secret-1", "sk-abcdefghijklmnop"])
def test_secrets_are_masked(text: str) -> None:
    event = events.Append(session=1, block=1, kind="user", text=text)
    line = encode(event, Masking({"1 KEY": "known-secret-1"}))
    assert b"[masked]" in line
    assert b"known-secret-1" not in line
    assert b"sk-abc" not in line


def test_nothing_is_kept_before_somebody_says_something() -> None:
    growing = Growing()
    growing.recorder.on_event(events.Notice(session=1, block=1, level="info", text="starting"))
    assert not growing.recorder.is_due
    assert growing.recorder.take(math.inf) == []


def test_a_list_shows_the_first_prompt_and_the_last_title(path: Path) -> None:
    growing = Growing()
    growing.say("user", "\n  what is this?\nmore")
    status = StatusView("it", "It", "idle", "/p", 0, 0, session_id="s-1", title="One")
    growing.recorder.on_event(events.Status(session=1, status=status))
    data = b"".join([encode(HEADER, plainly), *lines_of(growing)])
    data += b"".join(encode(About(session_id="s-1", title=f"title {number}"), plainly) for number in range(5000))
    path.write_bytes(data)
    known = summary(FoundTranscript("p/one.jsonl", path, len(data), 0.0))
    assert known is not None
    assert (known.header, known.prompt) == (HEADER, "what is this?")
    assert known.about == About(session_id="s-1", title="title 4999")


def test_a_list_shows_the_beginning_of_a_huge_first_prompt(path: Path) -> None:
    growing = Growing()
    growing.say("user", 'say "hi"\\ ' + "x" * 200_000)
    growing.end_turn()
    data = b"".join([encode(HEADER, plainly), *lines_of(growing)])
    path.write_bytes(data)
    known = summary(FoundTranscript("p/one.jsonl", path, len(data), 0.0))
    assert known is not None
    assert known.prompt is not None
    assert known.prompt.startswith('say "hi"\\ xxx')
