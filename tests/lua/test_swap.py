"""Swap files are looked for under the names that Neovim gives them, whatever the file is called."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.lua.conftest import LuaEditor
from tests.support.cases import case

NEOVIMS = """
local path, entry = ...
vim.fn.writefile({ "text" }, path)
vim.o.directory = entry
local bufnr = vim.fn.bufadd(path)
vim.bo[bufnr].swapfile = true
vim.fn.bufload(bufnr)
local name = vim.fn.swapname(bufnr)
vim.api.nvim_buf_delete(bufnr, { force = true })
return name
"""
"""The name of the swap file that Neovim makes for a file, with that value of 'directory'."""

OBSTACLE = "return require('acp_nvim.buffers.swap').obstacle(...)"

NAMES = (
    "plain.txt",
    ".hidden",
    "x.swp",
    "`touch MARK`",
    "$(touch MARK) $HOME ~ # % | !",
    "[a]{b,c}*?\\",
    "two\nlines",
    "a%b:c,d",
    "n" * 249,
    "n" * 255,
    "." + "n" * 254,
    "é" * 127,
)


@pytest.fixture
def nvim(editor: LuaEditor) -> LuaEditor:
    editor.command("set swapfile updatecount=200")
    return editor


def entries(project: Path) -> list[str]:
    """Values of 'directory', whose first entry is used."""
    for name in ("swap", "a,b", "a b", "a\\ b", "$HOME", "~", "d`touch MARK`"):
        (project / name).mkdir()
    inside = [f"{project}/swap", f"{project}/swap/", f"{project}/swap//", f"{project}/swap///", f"{project}/a\\,b"]
    odd = [
        f"{project}/a b//",
        f"{project}/a\\ b",
        f"{project}/$HOME//",
        "$HOME",
        "~",
        "~//",
        f"{project}/d`touch MARK`",
    ]
    return [".", ".,/tmp", "./", "./swap", "./swap//", ".//", "swap", "swap//", ",/nowhere", *inside, *odd]


def test_they_have_the_names_that_neovim_gives_them(nvim):
    """A FIFO under that name is found, so the swap file is."""
    values = entries(nvim.project)
    link = nvim.project / "link.txt"
    link.symlink_to(nvim.project / "plain.txt")
    pairs = (
        [(name, ".") for name in NAMES]
        + [(name, values[-8]) for name in NAMES]
        + [("plain.txt", one) for one in values]
    )
    for name, value in [*pairs, (".hidden", "./swap"), ("link.txt", "."), ("link.txt", "swap//")]:
        with case(f"{name!r} with directory={value!r}"):
            path = str(nvim.project / name)
            expected = os.path.join(nvim.project, nvim.lua(NEOVIMS, path, value))
            assert not os.path.lexists(expected), "Neovim removes its own"
            assert nvim.lua(OBSTACLE, path) is None
            os.mkfifo(expected)
            said = nvim.lua(OBSTACLE, path)
            assert said is not None, expected
            assert os.path.samefile(os.path.join(nvim.project, said.split(" is no swap file")[0]), expected)
            os.unlink(expected)
    assert not list(nvim.project.glob("**/MARK"))


def test_any_of_them_may_be_the_only_one_left(nvim):
    """Neovims that have opened a file end in any order. The next 26 names are used after the first 16."""
    path = str(nvim.project / "file")
    nvim.lua(NEOVIMS, path, ".")
    for last in "ponmlkjihgfedcba":
        with case(last):
            fifo = nvim.project / f".file.sw{last}"
            os.mkfifo(fifo)
            assert "is no swap file" in nvim.lua(OBSTACLE, path)
            fifo.unlink()
    (nvim.project / ".file.swc").touch()
    os.mkfifo(nvim.project / ".file.svx")
    assert f"{nvim.project}/.file.svx is no swap file" in nvim.lua(OBSTACLE, path)


def test_a_directory_is_not_listed(nvim):
    """Listing one of 100,000 files for each file that is opened would be felt."""
    path = str(nvim.project / "file")
    nvim.lua(NEOVIMS, path, ".,/tmp//")
    count = """
    local uv, counts, real = vim.uv, {}, {}
    for _, name in ipairs({ "fs_scandir", "fs_opendir", "fs_lstat" }) do
      counts[name], real[name] = 0, uv[name]
      uv[name] = function(...)
        counts[name] = counts[name] + 1
        return real[name](...)
      end
    end
    require("acp_nvim.buffers.swap").obstacle(...)
    for name, value in pairs(real) do
      uv[name] = value
    end
    return counts
    """
    counted: dict[str, Any] = nvim.lua(count, path)
    assert counted == {"fs_scandir": 0, "fs_opendir": 0, "fs_lstat": 32}
