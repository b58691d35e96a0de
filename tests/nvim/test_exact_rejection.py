"""What is taken back has exactly the bytes that it had, with a buffer or without, and nobody wonders who wrote them."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path

import pytest

from tests.nvim.reviewing import TOLD, Desk
from tests.support.agent_scripts import agent_script
from tests.support.editor import HeadlessEditor

BOM = b"\xef\xbb\xbf"
TEXTS = {
    "no end": b"one\ntwo\nlast",
    "one line without an end": b"one",
    "ended": b"one\ntwo\nlast\n",
    "empty lines at the end": b"one\n\n\n",
    "dos": b"one\r\ntwo\r\nlast\r\n",
    "dos without an end": b"one\r\ntwo\r\nlast",
    "mac": b"one\rtwo\rlast\r",
    "mac without an end": b"one\rtwo\rlast",
    "mixed": b"one\r\ntwo\nlast\r\n",
    "mixed without an end": b"one\ntwo\r\nlast",
    "mark": BOM + b"one\ntwo\n",
    "mark, dos, no end": BOM + b"one\r\ntwo",
    "latin1": b"one\n\xe4\xf6\xfc\nlast\n",
    "latin1 without an end": b"one\n\xe4\xf6\xfc",
    "utf-16": "\ufeffone\ntwo\n".encode("utf-16-le"),
    "utf-16, big, dos, no end": "\ufeffone\r\ntwo".encode("utf-16-be"),
    "nul": b"one\0\ntwo\nlast",
    "newline": b"\n",
    "carriage return": b"\r",
    "nothing": b"",
    "only a mark": BOM,
}

Act = Callable[[bytes], bytes | None]
ACTS: dict[str, Act] = {
    "a line": lambda data: data.replace(b"one", b"ONE").replace(b"o\0n\0e", b"O\0N\0E").replace(b"\0o\0n", b"\0O\0N"),
    "a line more": lambda data: (
        data + (b"m\0\n\0" if data[:2] == b"\xff\xfe" else b"\0m\0\n" if b"\xfe\xff" in data else b"more\n")
    ),
    "ends as on unix": lambda data: data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").rstrip(b"\n\0") + b"\n",
    "plain text": lambda data: data.decode("latin-1").removeprefix(BOM.decode("latin-1")).replace("one", "1").encode(),
    "emptied": lambda data: b"",
    "removed": lambda data: None,
}

SCRIPT = """
    import base64

    def turn(agent, prompt):
        with open(prompt.text) as file:
            acts = json.load(file)
        fields = {"title": "make", "kind": "execute", "rawInput": {"command": "make"}}
        prompt.update("tool_call", toolCallId="1", status="in_progress", **fields)
        prompt.until_heard()
        for path, data in acts:
            if data is None:
                os.unlink(path)
            else:
                with open(path, "wb") as file:
                    file.write(base64.b64decode(data))
        prompt.update("tool_call_update", toolCallId="1", status="completed")
"""
WHOLE = 'require("acp_nvim.host").send("review", { action = "reject", path = ... })'
HUNKS = """
local path = ...
local ids = vim.tbl_map(function(hunk) return hunk.id end, require("acp_nvim.review.files").get(path).hunks)
require("acp_nvim.host").send("review", { action = "reject", path = path, hunks = ids })
"""


class Exact:
    """Every text in every kind of buffer, for each act: what they are before, and what the agent makes of them."""

    def __init__(self, desk: Desk, acts: Sequence[str]) -> None:
        self.desk = desk
        self.before: dict[str, bytes] = {}
        self.after: dict[str, bytes | None] = {}
        for number, (text, act) in enumerate(product(TEXTS, acts)):
            data, change = TEXTS[text], ACTS[act]
            for kind in ("file", ("fixendofline", "nofixendofline")[number % 2]):  # both of each text, of each act
                if change(data) != data:
                    name = f"{text}.{act}.{kind}".replace(" ", "_").replace(",", "")
                    self.before[name], self.after[name] = data, change(data)
                    (desk.cwd / name).write_bytes(data)
                    if kind != "file":
                        desk.nvim.command(f"edit {desk.cwd / name} | setlocal {kind}")
        desk.nvim.command("enew")

    def act(self) -> None:
        """Let the agent make all changes in one turn."""
        acts = [
            [str(self.desk.cwd / name), None if data is None else base64.b64encode(data).decode()]
            for name, data in self.after.items()
        ]
        self.turn(acts)
        self.desk.nvim.wait_until(
            lambda: self.before.keys() <= self.desk.reviews().keys(),
            what=lambda: f"the review of {sorted(self.before.keys() - self.desk.reviews().keys())}",
        )

    def turn(self, acts: list[list[str | None]]) -> None:
        """Let the agent do this in one turn."""
        tasks = self.desk.nvim.places.directory / "acts.json"
        tasks.write_text(json.dumps(acts))
        ends = len(self.desk.nvim.events("AcpTurnEnd"))
        self.desk.nvim.lua('require("acp_nvim").prompt(...)', str(tasks))
        self.desk.nvim.wait_until(lambda: len(self.desk.nvim.events("AcpTurnEnd")) > ends, what="the end of the turn")

    def check(self) -> None:
        """All bytes are as before; and in the next turn, too, nothing is listed."""
        wrong = {
            name: ((self.desk.cwd / name).read_bytes() if (self.desk.cwd / name).exists() else None, data)
            for name, data in self.before.items()
            if not (self.desk.cwd / name).exists() or (self.desk.cwd / name).read_bytes() != data
        }
        assert wrong == {}
        self.turn([])
        left = {name: one for name, one in self.desk.reviews().items() if one[0] != "none"}
        assert left == {}


@pytest.fixture
def desk(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(editor, agent_script(tmp_path, SCRIPT))
    desk.nvim.command("set fileformats=unix,dos,mac")
    yield desk
    desk.check_silence()


SOME, OTHERS = ("a line", "ends as on unix", "emptied"), ("a line more", "plain text", "removed")


def reject(desk: Desk) -> None:
    """Reject all changes."""
    desk.nvim.command("AcpReview! rejectall")


def reject_again(desk: Desk) -> None:
    """Reject all, undo that, and reject again."""
    reject(desk)
    desk.until_nothing_is_left()
    desk.nvim.command("AcpRestore undo")
    desk.nvim.wait_until(lambda: "undone: " in "".join(desk.nvim.messages()), what="the undo")
    reject(desk)


def restore(desk: Desk) -> None:
    """The state before the last turn."""
    desk.nvim.lua("vim.ui.select = function(items, _, choose) choose(items[1], 1) end")
    desk.nvim.command("AcpRestore")


@pytest.mark.parametrize(("way", "acts"), [(reject, SOME), (reject_again, OTHERS), (restore, OTHERS)])
def test_all_bytes_are_as_they_were(desk: Desk, way: Callable[[Desk], None], acts: Sequence[str]) -> None:
    exact = Exact(desk, acts)
    exact.act()
    way(desk)
    desk.until_nothing_is_left()
    exact.check()


def test_hunk_by_hunk(desk: Desk) -> None:
    exact = Exact(desk, ("a line",))
    exact.act()
    for name in exact.before:
        if "nul." in name:  # no text: there are no hunks
            desk.nvim.lua(WHOLE, str(desk.cwd / name))
            continue
        desk.nvim.lua('require("acp_nvim.host").send("review_open", { path = ... })', str(desk.cwd / name))
        desk.nvim.wait_until(lambda name=name: desk.nvim.lua(TOLD, str(desk.cwd / name)), what=f"the hunks of {name}")
        desk.nvim.lua(HUNKS, str(desk.cwd / name))
    desk.until_nothing_is_left()
    exact.check()


def test_unsaved_edits_stay_and_nobody_wonders_who_ended_the_last_line(desk: Desk) -> None:
    """Neovim ends the line when the user's text is saved with the rejection: that is no change of anybody else."""
    path = desk.cwd / "f"
    path.write_bytes(b"one\ntwo\nthree\nfour\nlast")
    desk.nvim.command(f"edit {path} | call setline(3, 'THREE')")
    exact = Exact(desk, ())
    exact.turn([[str(path), base64.b64encode(b"ONE\ntwo\nthree\nfour\nlast").decode()]])
    desk.nvim.wait_until(lambda: desk.reviews().keys() == {"f"}, what="the review")
    reject(desk)
    desk.until_nothing_is_left()
    exact.before = {"f": b"one\ntwo\nTHREE\nfour\nlast\n"}
    exact.check()
