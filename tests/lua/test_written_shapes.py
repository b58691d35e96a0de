"""For each shape of a file and each text: what a write makes of it, in a buffer and without one."""

from __future__ import annotations

from itertools import cycle
from typing import NamedTuple

import anyio
import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from acp_nvim.contract.editor import BufferText, BufferWrite, TextChange, UnopenedFile
from acp_nvim.workspace.conflicts import Conflicts
from acp_nvim.workspace.last_seen import LastSeen
from acp_nvim.workspace.open_files import OpenFiles
from acp_nvim.workspace.read_text_file import read_text_file
from acp_nvim.workspace.saves import Saves
from acp_nvim.workspace.write_text_file import write_text_file
from tests.support.examples import examples
from tests.support.fake_editor import FakeEditor

BOM = "\ufeff"
ENDS = {"unix": ["\n"], "dos": ["\r\n"], "mac": ["\r"], "mixed": ["\n", "\r\n"]}


class Form(NamedTuple):
    """A text in parts, so that no test has to take one apart; the last line is not empty when it has no end."""

    lines: tuple[str, ...]
    kind: str
    bom: bool
    ended: bool

    def __str__(self) -> str:
        ends = [end for _, end in zip(self.lines, cycle(ENDS[self.kind]), strict=False)]
        text = "".join(line + end for line, end in zip(self.lines, ends, strict=True))
        text = text if self.ended or not self.lines else text.removesuffix(ends[-1])
        return BOM + text if self.bom else text

    @property
    def ends(self) -> set[str]:
        """The kinds of line ends that are in the text."""
        count = len(self.lines) - (not self.ended)
        return {end for _, end in zip(range(count), cycle(ENDS[self.kind]), strict=False)}


@st.composite
def forms(draw: st.DrawFn) -> Form:
    lines = tuple(draw(st.lists(st.sampled_from(["", "a", "b", "日本"]), max_size=4)))
    ended = not lines or lines[-1] == "" or draw(st.booleans())
    return Form(lines, draw(st.sampled_from(sorted(ENDS))), draw(st.booleans()), ended)


def expected(file: Form, text: Form, fixeol: bool) -> str:
    """The lines of the text, as the file stores its own."""
    found = text._replace(bom=file.bom or text.bom)
    own, old = text.ends, file.ends
    if own <= {"\n"} and len(old) == 1:
        found = found._replace(kind=next(kind for kind, ends in ENDS.items() if {*ends} == old))
    elif not own:
        found = found._replace(kind="unix")
    elif len(own) == 1:
        found = found._replace(kind=next(kind for kind, ends in ENDS.items() if {*ends} == own))
    is_ended = fixeol or not file.lines or file.ended
    if found.lines and found.lines[-1] and is_ended != found.ended:
        if is_ended and len(own) > 1:
            return str(found) + "\n"
        found = found._replace(ended=is_ended)
    return str(found)


class Buffers(FakeEditor):
    """The buffers of a Neovim, without a host."""

    def __init__(self, nvim) -> None:
        super().__init__()
        self.nvim = nvim

    def _call(self, name: str, *args):
        return self.nvim.lua(f'return require("acp_nvim.buffers").{name}(...)', *args)

    async def read_buffer(self, path: str, known: str) -> BufferText | None:
        return msgspec.convert(self._call("read", path, known), BufferText | None)

    async def saved_text(self, path: str) -> str | None:
        return self._call("saved_text", path)

    async def unopened(self, path: str) -> UnopenedFile:
        return msgspec.convert(self._call("unopened", path), UnopenedFile)

    async def write_buffer(self, path: str, change: TextChange, state: str, save: bool) -> BufferWrite | None:
        told = msgspec.to_builtins(change)
        return msgspec.convert(self._call("write", path, told, state, save), BufferWrite | None)


class Desk:
    """Files of a session in that Neovim."""

    def __init__(self, nvim) -> None:
        self.nvim = nvim
        nvim.command("set hidden noswapfile nofsync fileformats=unix,dos,mac")
        self.path = nvim.project / "f.txt"
        conflicts, saves = Conflicts(nvim.project / "c"), Saves(nvim.project / "s")
        self.files = OpenFiles(Buffers(nvim), conflicts, saves, self._followed, lambda: [])

    async def _followed(self, _what: object) -> None:
        pass

    def written(self, file: Form, text: Form, opened: bool, reads: bool) -> str:
        """What the file has after the write; the agent reads the same."""
        self.nvim.command("silent! %bwipeout!")
        self.path.write_bytes(str(file).encode())
        if opened:
            self.nvim.command(f"silent edit {self.path}")
        read_back = anyio.run(self._write, str(text), reads)
        found = self.path.read_bytes().decode()
        assert read_back == found
        return found

    async def _write(self, text: str, reads: bool) -> str:
        seen = LastSeen(None)
        if reads:
            await read_text_file(self.files, seen, str(self.path), None, None)
        written = await write_text_file(self.files, seen, str(self.path), text, save=True)
        assert written.how == "clean"
        return await read_text_file(self.files, seen, str(self.path), None, None)


@pytest.mark.hypothesis
def test_a_file_keeps_its_shape_in_a_buffer_and_without_one(editor):
    desk = Desk(editor)

    @settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(forms(), forms(), st.booleans(), st.booleans())
    @example(Form(("a", "b"), "dos", True, True), Form(("a", "B"), "unix", False, True), True, True)
    @example(Form(("a", "b"), "mac", False, False), Form(("a", "B"), "unix", False, True), False, False)
    @example(Form((), "unix", False, True), Form(("a",), "unix", False, False), False, True)
    def check(file: Form, text: Form, fixeol: bool, reads: bool) -> None:
        editor.command(f"set {'' if fixeol else 'no'}fixeol")
        wanted = expected(file, text, fixeol)
        assert desk.written(file, text, False, reads) == wanted
        assert desk.written(file, text, True, reads) == wanted

    check()


def test_without_mac_in_fileformats_a_carriage_return_ends_no_line(editor):
    desk = Desk(editor)
    editor.command("set fileformats&")
    for opened in (True, False):
        for text in ("a\nB\n", "a\nB", "a\rB\r\n"):
            wanted = text if text.endswith("\n") else text + "\n"
            form = Form(("a", "b"), "mac", False, True)
            assert desk.written(form, Form((text,), "unix", False, False), opened, True) == wanted
