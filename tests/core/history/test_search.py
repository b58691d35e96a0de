"""Transcripts are found by what is said in them, whatever the case; a question that nobody asks any more ends."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from acp_nvim.contract.session_events import FoundSession
from acp_nvim.history.files import TranscriptFile
from acp_nvim.history.reader import MAX_FOUND, find
from acp_nvim.history.records import About, Header, encode
from tests.core.history.blocks import Growing
from tests.core.history.test_transcripts import plainly


def kept(directory: Path, *texts: str, cwd: str = "/p", agent: str = "it", title: str | None = None) -> None:
    """A conversation: a prompt, answers, and a tool call that shows the last text."""
    growing = Growing()
    for number, text in enumerate(texts):
        growing.say("agent" if number else "user", text)
    growing.call(texts[-1], "completed")
    growing.end_turn()
    file = TranscriptFile(directory, cwd, 0.0)
    header = Header(transcript=1, agent=agent, cwd=cwd, started=0.0, version="0")
    about = [] if title is None else [About(title=title)]
    file.write(b"".join(encode(one, plainly) for one in [header, *about, *growing.recorder.take(math.inf)]))
    file.close()


def found(directory: Path, query: str, cwd: str | None = None) -> list[FoundSession]:
    return list(find(directory, query, cwd, lambda: True))


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("needle", "a Needle here"),
        ("NEEDLE", "a needle here"),
        ('say "hi"', 'they SAY "hi" \\ there'),
        ("straße", "die Straße"),
        ("STRAßE", "die Straße"),
        ("größe", "GRÖSSE, Größe"),
        ("a\\b", "C:\\a\\b"),
        ("two lines", "x two lines\nmore"),
        ("€", "5 €"),
        ("\ud83d", "\ud83d half a character, needle"),
        ("path/to", "see path/to/file"),
    ],
)
def test_a_text_is_found_whatever_its_case_and_its_characters(tmp_path: Path, query: str, text: str) -> None:
    kept(tmp_path, "hello", "something else")
    kept(tmp_path, "hello", text)
    [only] = found(tmp_path, query)
    assert only.prompt == "hello"
    assert only.snippet is not None
    assert " ".join(text.split())[:20] in only.snippet


def test_titles_tool_calls_and_agents_are_searched_too(tmp_path: Path) -> None:
    kept(tmp_path, "one", "said", title="The great refactoring")
    kept(tmp_path, "two", "in a tool call")
    kept(tmp_path, "three", "said", agent="Gemini")
    assert [one.prompt for one in found(tmp_path, "refactoring")] == ["one"]
    assert [one.prompt for one in found(tmp_path, "a tool")] == ["two"]
    assert [one.prompt for one in found(tmp_path, "gemini")] == ["three"]


def test_names_of_members_are_no_text(tmp_path: Path) -> None:
    kept(tmp_path, "one", "said")
    assert found(tmp_path, "block") == []


def test_without_a_text_all_are_found_up_to_a_number(tmp_path: Path) -> None:
    for number in range(MAX_FOUND + 5):
        kept(tmp_path, f"prompt {number}")
    assert len(found(tmp_path, "")) == MAX_FOUND


def test_a_project_is_searched_alone(tmp_path: Path) -> None:
    kept(tmp_path, "one", cwd="/a")
    kept(tmp_path, "one", cwd="/b")
    assert [one.cwd for one in found(tmp_path, "one", "/b")] == ["/b"]


def test_a_long_text_gives_a_piece_around_what_was_found(tmp_path: Path) -> None:
    kept(tmp_path, "one", "word " * 5000 + "needle" + " word" * 5000)
    [only] = found(tmp_path, "needle")
    assert only.snippet is not None
    assert len(only.snippet) < 120
    assert "needle" in only.snippet
    assert only.snippet.startswith("…")


def test_a_question_that_nobody_asks_any_more_ends(tmp_path: Path) -> None:
    for _ in range(3):
        kept(tmp_path, "needle")
    answers = iter([True, True, False])
    assert list(find(tmp_path, "nowhere", None, lambda: next(answers, False))) == []
    asked = []

    def goes_on() -> bool:
        asked.append(1)
        return len(asked) < 3

    list(find(tmp_path, "nowhere", None, goes_on))
    assert len(asked) <= 4


def test_what_is_no_transcript_is_passed_over(tmp_path: Path) -> None:
    kept(tmp_path, "one")
    directory = next(tmp_path.iterdir())
    (directory / "noise.jsonl").write_bytes(b"\x00\xff not json\n" * 100)
    (directory / "empty.jsonl").write_bytes(b"")
    (directory / "later.jsonl").write_bytes(b'{"transcript":2,"agent":"a","cwd":"/","started":1,"version":"9"}\n')
    assert [one.prompt for one in found(tmp_path, "")] == ["one"]
