"""What Neovim says of a file's encoding, and writes in it, is what the host says and writes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acp_nvim.workspace.disk import stamp_of
from acp_nvim.workspace.encoding import decode, encode
from tests.support.editor import HeadlessEditor

OPEN = """
local path = ...
vim.cmd("silent! %bwipeout!")
vim.cmd.edit({ args = { path }, magic = { file = false, bar = false } })
local ends = { unix = "\\n", dos = "\\r\\n", mac = "\\r" }
local lines = vim.api.nvim_buf_get_lines(0, 0, -1, false)
local last = vim.bo.endofline and vim.fn.line2byte(1) > 0 and ends[vim.bo.fileformat] or ""
local text = table.concat(lines, ends[vim.bo.fileformat]) .. last
return { (vim.bo.bomb and "\\u{feff}" or "") .. text, vim.bo.fileencoding }
"""
SAVE = """
local path, encoding, bomb, lines = ...
vim.cmd("silent! %bwipeout!")
vim.api.nvim_buf_set_lines(0, 0, -1, false, lines)
vim.bo.fileencoding, vim.bo.bomb = encoding, bomb
vim.cmd("silent write! " .. vim.fn.fnameescape(path))
return vim.bo.fileencoding
"""
STAMP = """
local stat = vim.uv.fs_stat(...)
return ("%d:%d:%d:%d.%d"):format(stat.dev, stat.ino, stat.size, stat.mtime.sec, stat.mtime.nsec)
"""

FOUND = [("utf-8", ""), ("utf-8", "\ufeff"), ("latin1", ""), ("utf-16le", "\ufeff"), ("utf-16", "\ufeff")]
FOUND += [("ucs-4le", "\ufeff"), ("ucs-4", "\ufeff")]
"""What Neovim finds out by itself: encodings, with and without a byte order mark."""

SAMPLES = {
    "utf-8": "ä☃😀",
    "latin1": "äß\x80",
    "utf-16": "ä☃😀",
    "utf-16le": "ä☃😀",
    "ucs-2": "ä☃",
    "ucs-2le": "ä☃",
    "ucs-4": "ä☃😀",
    "ucs-4le": "ä☃😀",
    "utf-32": "ä☃😀",
    "iso-8859-15": "ä€",
    "cp1250": "č€",
    "cp1251": "я€",
    "cp1252": "ä€",
    "8bit-cp1252": "ä€",
    "cp437": "äα",
    "cp850": "ä",
    "koi8-r": "я",
    "koi8-u": "ї",
    "macintosh": "ä€",
    "euc-jp": "日本",
    "sjis": "日本",
    "cp932": "日本",
    "euc-kr": "한",
    "cp949": "한",
    "euc-cn": "中",
    "gb18030": "中😀",
    "cp936": "中",
    "big5": "中",
    "cp950": "中",
}


@pytest.fixture(scope="module")
def nvim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HeadlessEditor]:
    """A Neovim with nothing but defaults; each test wipes its buffers before it opens one."""
    started = HeadlessEditor(tmp_path_factory.mktemp("nvim"), plugin=False)
    yield started
    started.close()


def agree(nvim: HeadlessEditor, path: Path, data: bytes) -> None:
    """Check that both read the same text, in the same encoding."""
    path.write_bytes(data)
    assert list(decode(str(path), data)) == nvim.lua(OPEN, str(path))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["unix", "dos", "mac"])
def test_neovim_finds_the_same_encoding(nvim: HeadlessEditor, tmp_path: Path, end: str) -> None:
    for encoding, mark in FOUND:
        for text in ("", "a", f"a{end}", f"ä{end}ß{end}", f"ä{end}b"):
            data = encode("", mark + text, encoding)
            agree(nvim, tmp_path / "f", data)
            if data and not data.isascii():
                assert decode("", data)[1] == encoding


LINES = st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\n\r\x1a")), max_size=4)


@given(LINES, st.sampled_from(FOUND))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_neovim_reads_the_same_text(
    nvim: HeadlessEditor, tmp_path: Path, lines: list[str], kind: tuple[str, str]
) -> None:
    encoding, mark = kind
    text = "".join(line + "\n" for line in lines)
    if encoding == "latin1":
        text = text.encode("latin-1", "ignore").decode("latin-1")
    agree(nvim, tmp_path / "f", encode("", mark + text, encoding))


@pytest.mark.parametrize("encoding", SAMPLES)
def test_neovim_writes_the_same_bytes(nvim: HeadlessEditor, tmp_path: Path, encoding: str) -> None:
    lines = ["a~\\", SAMPLES[encoding]]
    name = nvim.lua(SAVE, str(tmp_path / "f"), encoding, False, lines)
    data = (tmp_path / "f").read_bytes()
    text = "".join(line + "\n" for line in lines)
    assert encode("", text, encoding) == encode("", text, name) == data
    assert decode("", data, name) == (text, name)


@pytest.mark.parametrize("encoding", [name for name in SAMPLES if name.startswith("u")])
def test_neovim_writes_the_same_mark(nvim: HeadlessEditor, tmp_path: Path, encoding: str) -> None:
    name = nvim.lua(SAVE, str(tmp_path / "f"), encoding, True, ["ä"])
    data = (tmp_path / "f").read_bytes()
    assert encode("", "\ufeffä\n", name) == data
    assert decode("", data, name) == ("\ufeffä\n", name)


@pytest.mark.parametrize("nanoseconds", [0, 7, 1_700_000_000_000_000_007, -1, -(10**18) + 3])
def test_lua_makes_the_same_stamp(nvim: HeadlessEditor, tmp_path: Path, nanoseconds: int) -> None:
    (tmp_path / "f").write_text("text")
    os.utime(tmp_path / "f", ns=(nanoseconds, nanoseconds))
    assert nvim.lua(STAMP, str(tmp_path / "f")) == stamp_of((tmp_path / "f").stat())


@pytest.mark.parametrize("number", [0, 2**53 + 1, 2**62 + 12345, 2**63, 2**64 - 5])
def test_lua_knows_the_same_numbers_of_large_file_systems(nvim: HeadlessEditor, tmp_path: Path, number: int) -> None:
    large = os.stat_result([0o100644, number, number, 1, 0, 0, 4, 0, 0, 0], {"st_mtime_ns": 0})
    signed = number - 2**64 if number >= 2**63 else number
    given = nvim.lua('local n = tonumber(...) return ("%d:%d"):format(n, n)', str(signed))
    assert stamp_of(large).startswith(f"{given}:4:")
