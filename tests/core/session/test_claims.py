"""What a diff claims is checked against the file when it comes: is the file new, and where is the change?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.acp.diff import FileChange, Piece
from acp_nvim.acp.v1 import DialectV1
from acp_nvim.contract.views import DiffItem
from acp_nvim.hunks.placed import overwriting, placed
from acp_nvim.permissions.request.previews import CHECKED_BYTES, Claims
from acp_nvim.transcript.presenter import Presenter
from tests.core.permissions.test_asked_commands import raw
from tests.support.fake_editor import FakeEditor

OLD = "a = 1\nb = 2\nc = 3\n"


class Chat:
    """A chat in which calls are shown; `unsaved` are the texts of modified buffers."""

    def __init__(self, cwd: Path) -> None:
        self.cwd = cwd
        self.presenter = Presenter(1, str(cwd), FakeEditor(), lambda: None)
        self.unsaved: dict[str, str] = {}
        Claims(self.presenter, self.unsaved.get)

    def update(self, **update: Any) -> list[DiffItem]:
        """The changes that the call shows after an update of it."""
        update = {"sessionUpdate": "tool_call_update", "toolCallId": "c", **update}
        self.presenter.update(DialectV1().update(raw({"sessionId": "s", "update": update}))[1])
        view = self.presenter.transcript.find_call("c")
        assert view is not None
        return [one for one in view.content if isinstance(one, DiffItem)]

    def shows(self, path: str, old: str | None, new: str, **more: Any) -> list[tuple[str, int | None, str | None]]:
        """Operation, line and note of what the chat shows for a change."""
        diff = {"type": "diff", "path": str(self.cwd / path), "oldText": old, "newText": new}
        return [(one.operation, one.line, one.note) for one in self.update(content=[diff], **more)]


@pytest.fixture
def chat(tmp_path: Path) -> Chat:
    (tmp_path / "cfg.py").write_text(OLD)
    return Chat(tmp_path)


def test_a_new_file_that_is_there_is_overwritten(chat: Chat) -> None:
    assert chat.shows("cfg.py", None, "a = 1\nb = 9\n") == [("overwrite", 1, "+1 −2")]
    [shown] = chat.update(status="completed")
    assert (shown.old_text, shown.new_text) == (OLD, "a = 1\nb = 9\n")


def test_a_new_file_is_new(chat: Chat) -> None:
    assert chat.shows("new.py", None, "x\n") == [("add", None, None)]
    (chat.cwd / "new.py").write_text("x\n")
    assert chat.update(status="completed")[0].operation == "add"


def test_a_new_file_is_not_compared_with_what_came_after_the_call(chat: Chat) -> None:
    assert chat.shows("cfg.py", None, "other\n", status="completed") == [("add", None, None)]


def test_the_text_in_the_buffer_is_compared(chat: Chat) -> None:
    chat.unsaved[str(chat.cwd / "cfg.py")] = f"# mine\n{OLD}"
    assert chat.shows("cfg.py", "b = 2", "b = 3") == [("modify", 3, None)]
    chat.unsaved[str(chat.cwd / "only.py")] = "x\n"
    assert chat.shows("only.py", None, "y\n") == [("overwrite", 1, "+1 −1")]


def test_a_large_file_and_what_is_none_are_told(chat: Chat) -> None:
    (chat.cwd / "large").write_bytes(b"x" * (CHECKED_BYTES + 1))
    assert chat.shows("large", None, "y") == [("overwrite", None, "262,145 bytes")]
    (chat.cwd / "binary").write_bytes(b"\0")
    (chat.cwd / "directory").mkdir()
    for name in ("binary", "directory"):
        assert chat.shows(name, None, "y") == [("add", None, None)]


PLACED: dict[str, tuple[Callable[[Chat], Any], int | None]] = {
    "a fragment": (lambda chat: chat.shows("cfg.py", "b = 2", "b = 3"), 2),
    "the whole file": (lambda chat: chat.shows("cfg.py", OLD, "x\n"), 1),
    "without the last newline": (lambda chat: chat.shows("cfg.py", OLD[:-1], "x"), 1),
    "made already": (lambda chat: chat.shows("cfg.py", "b = 1", "b = 2", status="completed"), 2),
    "twice there": (lambda chat: chat.shows("cfg.py", " = ", " == "), None),
    "twice there, with the agent's place": (
        lambda chat: chat.shows("cfg.py", " = ", " == ", locations=[{"path": "cfg.py", "line": 3}]),
        3,
    ),
    "the place of another file": (
        lambda chat: chat.shows("cfg.py", " = ", " == ", locations=[{"path": "b.py", "line": 3}]),
        None,
    ),
    "not there": (lambda chat: chat.shows("cfg.py", "z = 2", "z = 3"), None),
    "another file": (lambda chat: chat.shows("no.py", "b = 2", "b = 3"), None),
}


@pytest.mark.parametrize("what", PLACED)
def test_the_first_line_of_a_change_is_found_or_unknown(chat: Chat, what: str) -> None:
    show, line = PLACED[what]
    assert show(chat) == [("modify", line, None)]


def test_the_line_stays_when_the_file_has_changed(chat: Chat) -> None:
    chat.shows("cfg.py", "b = 2", "b = 3")
    (chat.cwd / "cfg.py").write_text("\n\n\n")
    assert [one.line for one in chat.update(status="completed")] == [2]


TEXTS = st.text(st.sampled_from("ab\n"), max_size=30)


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_a_line_is_where_the_old_text_is_or_unknown(head: str, old: str, tail: str, new: str) -> None:
    text = head + old + tail
    change = FileChange(path="p", pieces=(Piece(old, new),))
    [piece] = placed(text, change, None).pieces
    if old.strip() and text.count(old) == 1 and text.find(old) == text.rfind(old):
        assert piece.line == head.count("\n") + 1
    if piece.line is not None and old in text:
        assert text.find(old) == text.rfind(old)


@given(TEXTS, TEXTS)
def test_what_is_overwritten_is_the_text_of_the_file(old: str, new: str) -> None:
    change = FileChange(path="p", operation="add", pieces=(Piece(None, new),))
    shown = overwriting(old, change)
    assert (shown is None) == (old == new)
    if shown is not None:
        assert shown.pieces == (Piece(old, new, 1),)
