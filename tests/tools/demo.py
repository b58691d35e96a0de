"""Opens Neovim on a copy of the sample project and starts a chat with the demo agent there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "acp_nvim" / "demo_project"
sys.path.insert(0, str(ROOT))

from tests.support.find_nvim import NeovimMissing, find_nvim  # noqa: E402 - needs the path above

NOT_A_TERMINAL = """\
acp_nvim: the demo opens Neovim, which needs a terminal, and here standard input or output is not one.
          Run `make demo` in a terminal; the same conversation without one is part of `make test`."""


def copy_sample(project: Path, sample: Path = SAMPLE) -> None:
    """Copies the sample project, without what Python has compiled there."""
    shutil.copytree(sample, project, ignore=shutil.ignore_patterns("__pycache__"))


def environment(directory: Path) -> dict[str, str]:
    """The user's environment, with every place that Neovim writes to inside the directory."""
    env = {name: value for name, value in os.environ.items() if name not in ("NVIM", "VIM", "VIMRUNTIME")}
    for kind in ("CONFIG", "DATA", "STATE", "CACHE"):
        place = directory / kind.lower()
        place.mkdir()
        env[f"XDG_{kind}_HOME"] = str(place)
    if "XDG_RUNTIME_DIR" not in env:
        run = directory / "run"
        run.mkdir(mode=0o700)
        env["XDG_RUNTIME_DIR"] = str(run)
    env["ACP_NVIM_DEMO_ROOT"] = str(ROOT)
    env["ACP_NVIM_DEMO_PYTHON"] = sys.executable
    return env


SETUP = """lua
local python, root = vim.env.ACP_NVIM_DEMO_PYTHON, vim.env.ACP_NVIM_DEMO_ROOT
local second = { command = { python, "-P", "-m", "acp_nvim.demo_agent" }, env = { PYTHONPATH = root } }
require("acp_nvim").setup({ python = python, default_agent = "demo", agents = { second = second } })
"""


def arguments(nvim: str) -> list[str]:
    """The command line: this plugin only, with the Python that runs this, and the chat once the screen is there."""
    plugin = r"""lua vim.o.rtp = vim.fn.escape(vim.env.ACP_NVIM_DEMO_ROOT, ",\\") .. "," .. vim.o.rtp"""
    helptags = "lua pcall(vim.cmd.helptags, vim.fn.fnameescape(vim.env.ACP_NVIM_DEMO_ROOT .. '/doc'))"
    setup = " ".join(SETUP.split("\n"))
    start = "autocmd VimEnter * ++once ++nested AcpChat demo"
    commands = [word for command in (plugin, setup, helptags, start) for word in ("--cmd", command)]
    return [nvim, "--clean", "-n", "-i", "NONE", *commands, "greeting.py"]


def main() -> int:
    """Runs the demo and removes what it left."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        print(NOT_A_TERMINAL, file=sys.stderr)
        return 1
    try:
        nvim = find_nvim()
    except NeovimMissing as missing:
        print(f"acp_nvim: {missing}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="acp_nvim-demo-", ignore_cleanup_errors=True) as name:
        project = Path(name) / "project"
        copy_sample(project)
        print(f"acp_nvim: opening a copy of the sample project, in {project}", flush=True)
        print("          To leave: <Esc> and then :qa!", flush=True)
        return subprocess.run(arguments(nvim), cwd=project, env=environment(Path(name)), check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
