"""The help's lists of commands and autocommands, which are written by hand, have all that there are, and no others."""

import re
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HELP = (ROOT / "doc" / "acp_nvim.txt").read_text(encoding="utf-8")


def named(pattern: str, files: Iterable[Path]) -> set[str]:
    return {name for file in files for name in re.findall(pattern, file.read_text(encoding="utf-8"))}


def test_every_command_has_a_tag() -> None:
    commands = named(r'\bcommand\(\s*"(Acp\w+)"', [ROOT / "plugin" / "acp_nvim.lua"])
    assert len(commands) > 15
    assert set(re.findall(r"\*:(Acp\w+)\*", HELP)) == commands


def test_every_autocommand_has_a_tag() -> None:
    fired = named(r'\bfire\("(Acp\w+)"', (ROOT / "lua").rglob("*.lua"))
    assert len(fired) > 8
    assert set(re.findall(r"\*(Acp\w+)\*", HELP)) == fired
