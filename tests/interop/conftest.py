"""Which agents are tried: those of the TOML file that ACP_NVIM_INTEROP names."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

import pytest

HOW = """
`make interop` tries real agents, which are not part of this repository. Name a TOML file in ACP_NVIM_INTEROP:

    [gemini]
    command = ["gemini", "--acp"]
    prompt = "..."    # any text; {project} stands for the project's directory
    runs = ["asked"]  # its commands: "asked": with your permission; "terminal": in terminals of Neovim's

ACP_NVIM_CHATS names a directory for what the chats of test_commands.py show.
The prompt must make the agent replace `print("hello")` by `print("hello, world")` in main.py.
"""


def wanted() -> dict[str, Any]:
    """The agents of the file."""
    path = os.environ.get("ACP_NVIM_INTEROP")
    if not path:
        raise pytest.UsageError(HOW)
    return tomllib.loads(Path(path).read_text(encoding="utf-8"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for each agent."""
    if "real_agent" in metafunc.fixturenames:
        metafunc.parametrize("real_agent", [pytest.param((name, agent), id=name) for name, agent in wanted().items()])
