"""The version is in one file: whatever says a version, says that one."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from acp_nvim import __version__
from acp_nvim.acp.negotiation import CLIENT_INFO
from tests.support.find_nvim import find_nvim
from tests.support.places import ROOT

ASK = "package.path = _G.arg[1] .. '/?.lua;' .. package.path io.write(require('acp_nvim.host.version'))"


def lua_says(lua: Path, *runtime: Path) -> str:
    """What Lua says, with its modules in one directory, and others on 'runtimepath'."""
    prepare = "".join(f"vim.opt.rtp:append('{one}') " for one in runtime)
    file = lua.parent / "ask.lua"
    file.write_text(prepare + ASK)
    command = [find_nvim(), "--clean", "--headless", "-l", str(file), str(lua)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """A copy of the plugin whose one file says another version."""
    for name in ("host/version.lua", "names.lua", "host/environment.lua", "kernel/state_files.lua"):
        (tmp_path / "lua/acp_nvim" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "lua/acp_nvim" / name, tmp_path / "lua/acp_nvim" / name)
    text = (ROOT / "acp_nvim/__init__.py").read_text(encoding="utf-8")
    (tmp_path / "acp_nvim").mkdir()
    (tmp_path / "acp_nvim/__init__.py").write_text(text.replace(__version__, "12.3.4"), encoding="utf-8")
    return tmp_path


def test_lua_and_python_read_it_from_one_file(plugin: Path) -> None:
    asked = [sys.executable, "-c", "import acp_nvim; print(acp_nvim.__version__)"]
    assert subprocess.run(asked, capture_output=True, text=True, check=True, cwd=plugin).stdout == "12.3.4\n"
    assert lua_says(plugin / "lua") == "12.3.4"


def test_lua_finds_it_where_luarocks_puts_it(plugin: Path) -> None:
    shutil.move(plugin / "lua", plugin / "share")
    shutil.move(plugin / "acp_nvim", plugin / "rock/acp_nvim")
    assert lua_says(plugin / "share", plugin / "rock") == "12.3.4"
    assert lua_says(plugin / "share") == "unknown"


def test_packages_and_agents_get_it() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" not in project["project"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "acp_nvim.__version__"}
    assert CLIENT_INFO["version"] == __version__
