"""Line ends, byte order mark and the end of the last line stay the file's when an agent writes it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.agent_scripts import AgentScript, agent_script
from tests.support.editor import HeadlessEditor

BOM = b"\xef\xbb\xbf"
UTF_16 = "\ufeffa\r\nb\r\n".encode("utf-16-le")

# Does the writes that the prompt's file lists, and notes what it reads back.
SCRIPT = """
    def turn(agent, prompt):
        with open(prompt.text) as file:
            writes = json.load(file)
        for path, text, reads in writes:
            if reads:
                prompt.read(path)
            prompt.write(path, text)
            agent.note(read_back=[path, prompt.read(path)])
"""

REVIEWS = """
local found = {}
for _, one in ipairs(require("acp_nvim.review.files").all()) do
  found[#found + 1] = { one.path, one.added or 0, one.removed or 0, one.note or "" }
end
return found
"""


class Case(NamedTuple):
    """A file, and what it is when the agent has read it and has written `text`."""

    before: bytes
    text: str
    after: bytes
    options: str = ""
    """`:setlocal` arguments for the buffer that has it."""


EVERYWHERE = {
    "dos stays dos": Case(b"a\r\nb\r\n", "a\nB\nc\n", b"a\r\nB\r\nc\r\n"),
    "dos with one line of it written": Case(b"a\r\nb\r\n", "x", b"x\r\n"),
    "dos written as dos": Case(b"a\r\nb\r\n", "a\r\nB\r\n", b"a\r\nB\r\n"),
    "dos written with mixed ends": Case(b"a\r\nb\r\n", "a\r\nB\n", b"a\r\nB\n"),
    "unix written as dos": Case(b"a\nb\n", "a\r\nB\r\n", b"a\r\nB\r\n"),
    "mixed": Case(b"a\nb\r\nc\n", "a\nb\nC\n", b"a\nb\nC\n"),
    "mixed written as it was": Case(b"a\nb\r\nc\n", "a\nb\r\nC\n", b"a\nb\r\nC\n"),
    "mac": Case(b"a\rb\r", "a\nB\n", b"a\rB\r"),
    "BOM": Case(BOM + b"a\n", "B\n", BOM + b"B\n"),
    "BOM repeated": Case(BOM + b"a\n", "\ufeffB\n", BOM + b"B\n"),
    "BOM added": Case(b"a\n", "\ufeffB\n", BOM + b"B\n"),
    "BOM and dos": Case(BOM + b"a\r\nb\r\n", "a\nB\n", BOM + b"a\r\nB\r\n"),
    "BOM, emptied": Case(BOM + b"a\n", "", BOM),
    "UTF-16": Case(UTF_16, "a\nB\n", "\ufeffa\r\nB\r\n".encode("utf-16-le")),
    "last line without an end": Case(b"a\nb\n", "a\nB", b"a\nB\n"),
    "no end of the last line": Case(b"a\nb", "a\nB", b"a\nB\n"),
    "empty": Case(b"", "a\nb", b"a\nb\n"),
    "emptied": Case(b"a\r\n", "", b""),
    "the same lines": Case(b"a\r\nb\r\n", "a\nb\n", b"a\r\nb\r\n"),
}
IN_A_BUFFER = {
    "nofixeol": Case(b"a\nb", "a\nB\n", b"a\nB", "nofixeol"),
    "nofixeol, dos": Case(b"a\r\nb", "a\nB", b"a\r\nB", "nofixeol"),
    "nofixeol, last line with an end": Case(b"a\nb\n", "a\nB", b"a\nB\n", "nofixeol"),
    "nofixeol, last line empty": Case(b"a\nb", "a\n\n", b"a\n\n", "nofixeol"),
    "noeol": Case(b"a\nb\n", "a\nB", b"a\nB\n", "noeol"),
    "noeol nofixeol": Case(b"a\nb\n", "a\nB\n", b"a\nB", "noeol nofixeol"),
    "binary": Case(b"a\nb", "a\nB\n", b"a\nB", "binary noeol"),
    "'fileformat' not saved yet": Case(b"a\nb\n", "a\nB\n", b"a\r\nB\r\n", "fileformat=dos"),
    "'fileformat' back to unix": Case(b"a\r\nb\r\n", "a\nB\n", b"a\nB\n", "fileformat=unix"),
    "'fileformat' of an empty file": Case(b"", "a\nb\n", b"a\r\nb\r\n", "fileformat=dos"),
    "'bomb' not saved yet": Case(b"a\n", "B\n", BOM + b"B\n", "bomb"),
}


class Desk:
    """A Neovim and an agent that writes what it is told."""

    def __init__(self, nvim: HeadlessEditor, script: AgentScript) -> None:
        self.nvim = nvim
        self.script = script
        nvim.command("set fileformats=unix,dos,mac hidden noswapfile")

    def lay_out(self, cases: dict[str, Case], opened: bool) -> dict[str, Path]:
        """The files of these cases, in buffers or not."""
        paths = {}
        for number, (name, case) in enumerate(cases.items()):
            path = paths[name] = self.nvim.project / f"{number}-{opened:d}.txt"
            path.write_bytes(case.before)
            if opened:
                self.nvim.command(f"edit {path} | setlocal {case.options}")
        return paths

    def write(self, texts: dict[Path, str], reads: bool = True) -> dict[str, str]:
        """The agent writes these texts, in one turn, and reads the files before, if it `reads`; what it reads then."""
        tasks = self.nvim.places.directory / "writes.json"
        tasks.write_text(json.dumps([[str(path), text, reads] for path, text in texts.items()]))
        ends = len(self.nvim.events("AcpTurnEnd"))
        self.nvim.lua('require("acp_nvim").prompt(...)', str(tasks))
        self.nvim.wait_until(lambda: len(self.nvim.events("AcpTurnEnd")) > ends, what="the end of the turn")
        return dict(self.script.notes("read_back"))

    def reviews(self) -> dict[str, tuple[int, int, str | None]]:
        """Lines added and removed, and the note about what no line shows, of each file under review."""
        found = self.nvim.lua(REVIEWS)
        return {Path(path).name: (added, removed, note or None) for path, added, removed, note in found}


@pytest.fixture
def desk(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> Desk:
    script = agent_script(tmp_path, SCRIPT)
    return Desk(editor(agents={"it": {"command": script.argv}}), script)


@pytest.mark.parametrize("opened", [True, False], ids=["buffer", "file"])
def test_what_an_agent_does_not_write_stays_the_files(desk: Desk, opened: bool) -> None:
    cases = {**EVERYWHERE, **IN_A_BUFFER} if opened else EVERYWHERE
    paths = desk.lay_out(cases, opened)
    read_back = desk.write({paths[name]: case.text for name, case in cases.items()})
    assert {name: paths[name].read_bytes() for name in cases} == {name: case.after for name, case in cases.items()}
    for name, case in cases.items():
        assert read_back[str(paths[name])].encode("utf-16-le" if name == "UTF-16" else "utf-8") == case.after


@pytest.mark.parametrize("opened", [True, False], ids=["buffer", "file"])
def test_the_review_shows_lines_and_no_line_ends(desk: Desk, opened: bool) -> None:
    names = ("dos stays dos", "BOM", "BOM and dos", "UTF-16", "the same lines", "dos written with mixed ends")
    cases = {name: EVERYWHERE[name] for name in names}
    paths = desk.lay_out(cases, opened)
    desk.write({paths[name]: case.text for name, case in cases.items()})
    wanted = {
        "dos stays dos": (2, 1, None),
        "BOM": (1, 1, None),
        "BOM and dos": (1, 1, None),
        "UTF-16": (1, 1, None),
        "dos written with mixed ends": (1, 1, None),
    }
    shown = {paths[name].name: review for name, review in wanted.items()}
    desk.nvim.wait_until(lambda: desk.reviews() == shown, what=lambda: f"{shown}, not {desk.reviews()}")
    desk.nvim.command("AcpReview! rejectall")
    desk.nvim.wait_until(lambda: desk.reviews() == {}, what="nothing to review")
    assert {name: paths[name].read_bytes() for name in cases} == {name: case.before for name, case in cases.items()}


def test_unsaved_edits_are_merged_and_the_file_stays_dos(desk: Desk) -> None:
    before = BOM + b"one\r\ntwo\r\nthree\r\nfour\r\nfive\r\n"
    path = desk.lay_out({"f": Case(before, "", b"")}, opened=True)["f"]
    desk.nvim.command("call setline(1, 'ONE')")
    read_back = desk.write({path: "one\ntwo\nthree\nfour\n5\n"}, reads=False)
    wanted = BOM + b"ONE\r\ntwo\r\nthree\r\nfour\r\n5\r\n"
    assert (path.read_bytes(), read_back[str(path)].encode()) == (wanted, wanted)
    assert desk.nvim.lua("return { vim.bo.fileformat, vim.bo.bomb, vim.bo.fixeol }") == ["dos", True, True]
