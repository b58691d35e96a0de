"""The directories of one Neovim under test, and its environment: nothing of the user's is seen or touched."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.support import contract
from tests.support.below import below
from tests.support.find_nvim import find_nvim
from tests.support.processes import MARK

ROOT = Path(__file__).resolve().parents[2]
PRELUDE = Path(__file__).with_name("prelude.lua")
COMPILED_LUA = ROOT / ".cache" / "luac"
NOT_INHERITED = ("NVIM", "NVIM_APPNAME", "VIM", "VIMRUNTIME", "MYVIMRC", "TMUX", "COLORTERM", "TERM_PROGRAM")


def compile_lua() -> None:
    """Compiles all Lua that the Neovims of the tests load; what is compiled already takes a tenth of a second."""
    script = str(PRELUDE.with_name("compile_lua.lua"))
    command = [find_nvim(), "--clean", "-n", "-i", "NONE", "-l", script, str(COMPILED_LUA), str(ROOT)]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, timeout=60)


class Places:
    """Where one Neovim lives: home, XDG directories, project, socket."""

    def __init__(self, directory: Path, config: dict[str, Any] | None, plugin: bool) -> None:
        self.mark = uuid.uuid4().hex
        self.directory = directory / f"nvim-{self.mark[:8]}"
        self.home = self._make("home")
        self.project = self._make("project")
        # not below the directory: the path of a socket has room for about 100 bytes
        self.run = Path(tempfile.mkdtemp(prefix="acp-"))
        self.socket = self.run / "nvim.sock"
        self.stderr = self.directory / "stderr"
        self._given = self.directory / "given.json"
        self._problems = self.directory / "contract-problems"
        given = {"root": str(ROOT), "plugin": plugin, "config": config, "compiled": str(COMPILED_LUA)}
        if plugin and contract.is_checked:
            given["contract"] = {"shapes": str(contract.shapes_file()), "problems": str(self._problems)}
        self._given.write_text(json.dumps(given), encoding="utf-8")

    def _make(self, name: str) -> Path:
        place = self.directory / name
        place.mkdir(parents=True, exist_ok=True)
        return place

    def environment(self, extra: dict[str, str]) -> dict[str, str]:
        """The environment of Neovim, which all that it starts carries too."""
        env = {
            name: value
            for name, value in os.environ.items()
            if name not in NOT_INHERITED and not name.startswith("XDG_")
        }
        for kind in ("config", "data", "state", "cache"):
            env[f"XDG_{kind.upper()}_HOME"] = str(self._make(kind))
        env |= {
            "XDG_RUNTIME_DIR": str(self.run),
            "TMPDIR": str(self.run),
            "HOME": str(self.home),
            "LC_ALL": "C.UTF-8",
            MARK: self.mark,
        }
        return env | extra

    def arguments(self) -> list[str]:
        """What each Neovim of the tests is started with."""
        file = str(self._given).replace("'", "''")
        prelude = str(PRELUDE).replace("\\", "\\\\").replace('"', '\\"')
        return [
            *("--clean", "-n", "-i", "NONE", "--listen", str(self.socket)),
            *("--cmd", f"let g:acp_test_file = '{file}'"),
            *("--cmd", f'lua dofile("{prelude}")'),
        ]

    def ours(self) -> Iterator[Path]:
        """All that the plugin may have made, but for the project and its worktrees."""
        for kind in ("state", "cache", "data"):
            for path in below(self.directory / kind):
                if "acp_nvim" in str(path.relative_to(self.directory)) and "worktrees" not in path.parts:
                    yield path
        yield from (path for path in self.run.rglob("*") if path != self.socket)

    def open_to_others(self, bits: int) -> list[str]:
        """Those of them that have some of these permission bits, with their modes."""
        modes = {}
        for path in self.ours():
            with contextlib.suppress(FileNotFoundError):  # it was replaced just now
                modes[path] = path.lstat().st_mode
        return [f"{mode:o} {path}" for path, mode in modes.items() if mode & bits and not stat.S_ISLNK(mode)]

    def contract_problems(self) -> list[str]:
        """What Neovim and the host told each other and their contract does not have."""
        return self._problems.read_text(encoding="utf-8").splitlines() if self._problems.exists() else []

    def remove(self) -> None:
        """Removes what pytest does not."""
        shutil.rmtree(self.run, ignore_errors=True)
