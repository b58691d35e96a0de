"""Where sequences are played: Neovim with the plugin and a screen of its own, the host, an obedient agent in a turn."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.agents.obedient_client import ObedientAgent
from tests.support.below import below
from tests.support.editor import HeadlessEditor
from tests.support.sequence_runner import Broken
from tests.workspace.texts import decode, encoding_of, tokens

STAGE_LUA = Path(__file__).with_name("stage.lua")
QUIET_LIMIT = 30.0
QUESTIONS = 10
TROUBLE = re.compile(r"\bW1[0-9]\b|\bE\d+:|[Tt]raceback|Error executing|Press ENTER|has been changed since")
KEPT = re.compile(r"kept in\s+(/[^\s:]+)")
"""What the chat says of a version that could not be merged."""


@dataclass(frozen=True)
class Buffer:
    """A loaded buffer; `text` is what `:write` would write, or what was read if it is not modified."""

    number: int
    modified: bool
    fenc: str
    format: str
    lines: list[str]
    seq: int
    windows: int
    text: str


class Stage:
    """One Neovim for many sequences, each in a directory of its own."""

    def __init__(self, directory: Path, write: str = "save") -> None:
        self.agent = ObedientAgent()
        config = {"fs": {"write": write}, "follow": {"enabled": False}, "default_agent": "obedient"}
        agents = {"obedient": {"command": self.agent.argv}}
        self.saves = write == "save"
        self.nvim = HeadlessEditor(directory, agents=agents, config=config)
        self.projects = 0
        self._clock = time.time_ns()
        self._copy = self.nvim.places.directory / "copy"
        self._log_ends: dict[Path, int] = {}
        self._chat = 0
        self._told = 0
        self._marks = 0
        self._prepare()

    def _prepare(self) -> None:
        nvim = self.nvim
        nvim.api("ui_attach", 80, 24, {})  # so that a question would really wait for an answer
        nvim.lua(STAGE_LUA.read_text(encoding="utf-8"))
        nvim.command("set fileformats=unix,dos,mac nofsync")
        nvim.command("AcpChat")
        nvim.lua('require("acp_nvim").prompt("go")')
        self.agent.tell("begin_turn")
        nvim.wait_until(lambda: nvim.events("AcpTurnStart"), what="Neovim to know of the session and its directories")
        self._chat = nvim.chat_buffer() or 0
        self.clear()

    def clear(self) -> Path:
        """Forgets the sequence before; a new directory for the files of the next."""
        self.nvim.lua("stage.clear(...)", str(self.nvim.project))
        self._told = self.nvim.api("buf_line_count", self._chat)
        self.projects += 1
        directory = self.nvim.project / f"sequence{self.projects}"
        directory.mkdir()
        return directory

    def close(self) -> None:
        """Ends all; nothing of it may be left."""
        try:
            self.agent.close()
        finally:
            self.nvim.close()

    # Looking

    def buffer(self, path: Path) -> Buffer | None:
        """The loaded buffer of that name, if there is one."""
        found = self.nvim.lua("return stage.look(...)", str(path), str(self._copy))
        if found is None:
            return None
        fenc = found["fenc"]
        text = decode(self._copy.read_bytes(), fenc)
        return Buffer(
            found["bufnr"],
            found["modified"],
            fenc,
            found["format"],
            found["lines"],
            found["seq"],
            found["windows"],
            text,
        )

    def undo_texts(self, buffer: Buffer) -> list[str]:
        texts: list[str] = self.nvim.lua("return stage.undo_texts(...)", buffer.number)
        return texts

    def told(self) -> str:
        """What came into the chat in this sequence."""
        return "\n".join(self.nvim.api("buf_get_lines", self._chat, self._told, -1, False))

    def wait(self, condition: Callable[[], Any], rule: str, what: str) -> Any:
        """Waits for something that must come by that rule."""
        try:
            return self.nvim.wait_until(condition, QUIET_LIMIT, what)
        except AssertionError as error:
            self.check_unblocked()
            raise Broken(rule, str(error).split("\n---")[0]) from error

    def check_unblocked(self) -> None:
        """Nobody asks the user anything: Neovim is in normal mode, and would take any key."""
        mode = self.nvim.api("get_mode")["mode"]
        if mode != "n":
            self.dismiss()
            raise Broken("prompt", f"Neovim is in mode {mode!r}\n{self.nvim.printed()}")

    def dismiss(self) -> None:
        """Says no, and presses Enter, until nothing is asked any more."""
        for _ in range(QUESTIONS):
            mode = self.nvim.api("get_mode")["mode"]
            if mode == "n":
                return
            self.nvim.api("input", {"r?": "n", "r": "<CR>"}.get(mode, "<C-\\><C-n>"))
        raise Broken("prompt", f"Neovim stays in mode {mode!r}")

    def check_said(self) -> None:
        """No complaint in `:messages` or the notifications, no traceback in the logs."""
        said = "\n".join([self.nvim.printed(), *self.nvim.messages()])
        if TROUBLE.search(said):
            raise Broken("messages", said)
        for log in below(self.nvim.places.directory / "state", "*.log"):
            with log.open("rb") as file:
                file.seek(self._log_ends.get(log, 0))
                text = file.read().decode(errors="replace")
                self._log_ends[log] = file.tell()
            if "Traceback" in text:
                raise Broken("log", text)

    def caught_up(self) -> int:
        """How much the chat has told, when all is told that has happened until now."""
        self._marks += 1
        mark = f"[mark {self._marks}]"
        self.agent.tell("say", text=f"\n{mark}\n")
        self.wait(lambda: mark in self.told(), "chat", f"the chat to say {mark}")
        return len(self.told())

    def kept(self, since: int) -> dict[str, str]:
        """The versions that the chat names since it had told that much: paths and texts."""
        named = [Path(name) for name in KEPT.findall(self.told()[since:])]
        return {str(name): name.read_bytes().decode() for name in named if name.is_file()}

    def check_kept(self, lost: set[str], rule: str, since: int) -> None:
        """Check that the lost tokens are in versions that the chat names."""
        if lost:
            kept = self.kept
            self.wait(
                lambda: lost <= set().union(*map(tokens, kept(since).values())), rule, f"{sorted(lost)} to be kept"
            )

    # Acting

    def keys(self, buffer: Buffer, keys: str) -> None:
        """Types keys in a window with that buffer."""
        self.nvim.lua("stage.show(...)", buffer.number)
        self.type(keys)

    def type(self, keys: str) -> None:
        """Types keys where the cursor is, and lets Neovim work them off."""
        self.nvim.api("input", keys)
        for _ in range(2):
            self.check_unblocked()
            try:
                self.nvim.api("eval", "1", limit=QUIET_LIMIT)
            except AssertionError as error:
                self.check_unblocked()
                raise Broken("blocked", str(error)) from error
        self.check_unblocked()

    def next_time(self) -> int:
        """A time of modification that no file has had, later than all before."""
        self._clock = max(self._clock + 2_000_000_000, time.time_ns())
        return self._clock


def on_disk(path: Path) -> str | None:
    """The text of the file; None when there is none."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    return decode(data, encoding_of(data))


def set_time(path: Path, when: int) -> None:
    os.utime(path, ns=(when, when))
