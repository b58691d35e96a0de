"""Where sequences are played: a project in a repository, two Neovims of one user, the host of the first, an agent."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.agents.obedient_client import ObedientAgent
from tests.attribution.files import Tree
from tests.support.below import below
from tests.support.editor import HeadlessEditor
from tests.support.processes import kill, look_at, running, wait_gone
from tests.support.sequence_runner import Broken
from tests.support.waiting import wait_until

STAGE_LUA = Path(__file__).with_name("stage.lua").read_text(encoding="utf-8")
TROUBLE = re.compile(r"\bW1[0-9]\b|\bE\d+:|[Tt]raceback|Error executing|Press ENTER")
REJECTED = re.compile(r"rejected:|nothing (is left|was)")
RESTORED = re.compile(r"restored|nothing (to undo|had to be)|your own edits stay")
"""The last words about a command."""
COARSE = 5
"""`CLOCK_REALTIME_COARSE` of Linux, by which files get their times; Python has no name for it."""
LIMIT = 30.0
"""Seconds; who waits longer has found a rule that does not hold."""
USER = {"GIT_AUTHOR_NAME": "User", "GIT_AUTHOR_EMAIL": "user@example.org"}
USER |= {name.replace("AUTHOR", "COMMITTER"): value for name, value in USER.items()}
AGENT_NAME = "obedient"


@dataclass(frozen=True)
class Review:
    """A file under review."""

    operation: str
    by: str
    why: str


class Stage:
    """One project for many sequences, each in a directory of its own."""

    def __init__(self, directory: Path, files: Tree, count: int = 100) -> None:
        self.directory = directory
        self.project = (directory / "project").resolve()
        self.project.mkdir(parents=True)
        self.scratch = directory / "scratch"
        self._env = {"XDG_STATE_HOME": str(directory / "state"), "XDG_CONFIG_HOME": str(directory / "config")}
        self.sequences = 0
        self.where = self.project
        (self.project / "README").write_text("for all sequences\n")
        for number in range(1, count + 1):  # all at once: nothing that happens between sequences is to be judged
            where = self.project / f"s{number}"
            where.mkdir()
            for name, data in files.items():
                (where / name).write_bytes(data)
        self.git("init", "-q", "-b", "main")
        self.git("config", "gc.auto", "0")
        self.git("add", "-A", "--", ".", ":(exclude,glob)**/.acp_nvim-*")  # what the host is writing just now
        self.git("commit", "-q", "-m", "first")
        self.agent = ObedientAgent()
        self.is_on_stage = False
        """Whether a process of the agent runs."""
        self.is_second_session = False
        """Whether the host was another one earlier in the sequence."""
        self.command_ended = 0
        self.unwatched = 0
        """When the last command of the agent ended, and when a program of the user's wrote last that nobody watches."""
        self.nvim = self._start()
        self.second = self._start()
        self._log_ends: dict[Path, int] = {}

    def _start(self) -> HeadlessEditor:
        config = {"follow": {"enabled": False}, "default_agent": AGENT_NAME}
        agents = {AGENT_NAME: {"command": self.agent.argv}}
        nvim = HeadlessEditor(self.directory, agents=agents, config=config, env=self._env)
        nvim.command("set hidden noswapfile nofsync")
        nvim.command(f"cd {self.project}")
        nvim.lua(STAGE_LUA)
        return nvim

    def close(self) -> None:
        """End all; nothing of it may be left."""
        try:
            self.agent.close()
        finally:
            try:
                self.nvim.close()
            finally:
                self.second.close()

    # Between sequences

    def begin(self, branch: Tree) -> None:
        """Forget the sequence before, and go to the next directory. Other files are there in a branch of the user's."""
        self.is_second_session = False
        self.nvim.command("AcpReview! keepall")
        self.nvim.lua("stage.clear()")
        self.second.lua("stage.clear()")
        self.sequences += 1
        self.where = self.project / f"s{self.sequences}"
        self.git("symbolic-ref", "HEAD", "refs/heads/main")
        self.git("add", "-A", "--", ".", ":(exclude,glob)**/.acp_nvim-*")  # what the host is writing just now
        self.git("commit", "-q", "--allow-empty", "-m", f"before sequence {self.sequences}")
        commit = ["commit refs/heads/feat", "committer User <user@example.org> 1700000000 +0000", "data 4", "feat"]
        lines = "\n".join([*commit, "from refs/heads/main^0", ""]).encode()
        for name, data in branch.items():
            lines += f"M 100644 inline {self.where.name}/{name}\ndata {len(data)}\n".encode() + data + b"\n"
        self.git("fast-import", "--force", "--quiet", stdin=lines)
        self.git("stash", "clear")

    def git(self, *words: str, stdin: bytes | None = None, check: bool = True) -> subprocess.CompletedProcess[bytes]:
        """Run git as the user."""
        env = {**os.environ, **USER, "HOME": str(self.directory), "GIT_CONFIG_NOSYSTEM": "1", "GIT_EDITOR": "true"}
        done = subprocess.run(["git", *words], cwd=self.project, env=env, input=stdin, capture_output=True, check=False)
        if check and done.returncode:
            raise AssertionError((words, done.stderr))
        return done

    # Looking

    def reviews(self) -> dict[str, Review]:
        """What is under review, by name."""
        found = self.nvim.lua("return stage.reviews(...)", str(self.where))
        return {Path(path).name: Review(operation, by, why) for path, operation, by, why in found}

    def buffers(self, nvim: HeadlessEditor) -> dict[str, dict[str, Any]]:
        """Return the loaded buffers, by name."""
        found: list[dict[str, Any]] = nvim.lua("return stage.look(...)", str(self.where))
        return {Path(one["path"]).name: one for one in found}

    def trees(self) -> Tree:
        """Return the files of the sequence, by name."""
        return {path.name: path.read_bytes() for path in sorted(self.where.iterdir()) if path.is_file()}

    def told(self) -> str:
        """What the user was told of files in this sequence, and what was said."""
        news = [one for one in self.nvim.events("AcpFileChanged") if one["path"].startswith(f"{self.where}/")]
        lines = [f"{Path(one['path']).name}: {one['operation']} by {one['by']}, {one['why']}" for one in news]
        return "\n".join([*lines, *self.nvim.messages()])

    def times(self) -> dict[str, int]:
        """When the files were changed last (nanoseconds since 1970)."""
        return {path.name: path.stat().st_ctime_ns for path in self.where.iterdir()}

    def check_said(self) -> None:
        """No complaint in `:messages` or the notifications, no traceback in the logs."""
        for nvim in (self.nvim, self.second):
            said = "\n".join([nvim.printed(), *nvim.messages()])
            if TROUBLE.search(said):
                raise Broken("messages", said)
        for log in [path for path in below(self.directory / "state") if path.suffix == ".log"]:
            with log.open("rb") as file:
                file.seek(self._log_ends.get(log, 0))
                text = file.read().decode(errors="replace")
                self._log_ends[log] = file.tell()
            if "Traceback" in text:
                raise Broken("log", text)

    # The agent

    def begin_turn(self) -> None:
        """The agent has a prompt, and works on it."""
        self.nvim.lua('require("acp_nvim").prompt("go")')
        self.agent.tell("begin_turn")
        self.is_on_stage = True

    def end_turn(self) -> None:
        """The agent is done, and the user knows it."""
        ends = self._ends()
        self.agent.tell("end_turn")
        self.nvim.wait_until(lambda: self._ends() > ends, LIMIT, "the end of the turn")

    def _ends(self) -> int:
        return sum(not one.get("background") for one in self.nvim.events("AcpTurnEnd"))

    # The user decides

    def look_at_list(self) -> dict[str, Review]:
        """The user opens the list of files, which takes up what hosts that are gone have left: what is under review."""
        if not self.reviews():
            before = len(self.nvim.messages())

            def answered() -> bool:
                is_empty = any("nothing to review" in words for words in self.nvim.messages()[before:])
                return is_empty or bool(self.nvim.lua("return stage.is_list_shown()"))

            self.nvim.command("AcpReview")
            self.nvim.wait_until(answered, LIMIT, "the list")
        return self.reviews()

    def reject_all(self) -> list[str]:
        """The user rejects all that is the agent's, and nothing else; what is said of it.

        What sessions before the current one have done is rejected file by file.
        """
        self.nvim.command("AcpReview")
        said = self.said("AcpReview rejectall", REJECTED)
        if self.is_second_session:
            for name in [name for name, one in self.reviews().items() if one.by == "agent"]:
                self.nvim.lua("stage.open(...)", str(self.where), name)
                self.nvim.command("AcpReview rejectall")
        return said

    def undo_texts(self, nvim: HeadlessEditor) -> list[str]:
        """All texts that undo and redo give in the buffers."""
        texts: list[str] = nvim.lua("return stage.undo_texts(...)", str(self.where))
        return texts

    def said(self, command: str, over: re.Pattern[str]) -> list[str]:
        """Run a command of the plugin, and return what it said until words that match `over`."""
        before = len(self.nvim.messages())

        def is_over() -> bool:
            return any(over.search(words) for words in self.nvim.messages()[before:])

        self.nvim.command(command)
        self.nvim.wait_until(is_over, LIMIT, f"words about {command}")
        return self.nvim.messages()[before:]

    # Ends

    def kill_agent(self) -> None:
        """The agent is killed, and the user knows it."""
        kill(running("obedient_agent.py", self.nvim.places.mark))
        self.agent.lose()
        self.is_on_stage = False
        self.nvim.wait_until('require("acp_nvim").status().state == "failed"', LIMIT, "the user to know of it")

    def kill_host(self) -> None:
        """The host of the first Neovim is killed, and with it the agent goes."""
        host = self.nvim.host()
        if host is None:
            return
        before = len(self.nvim.messages())
        os.kill(host.pid, signal.SIGKILL)
        said = lambda: "the host ended" in "".join(self.nvim.messages()[before:])  # noqa: E731
        self.nvim.wait_until(said, LIMIT, "Neovim to know of it")
        self._gone()

    def kill_guard(self) -> bool:
        """The guard of the agent's process is killed: the one above the host, or the one that followed it."""
        host, mark = self.nvim.host(), self.nvim.places.mark
        guards = running("guard.py", mark) if host is None else list(filter(None, [look_at(host.parent)]))
        kill(guards)
        return bool(guards)

    def kill_git(self) -> bool:
        """What git the host runs is killed."""
        found = [one for one in self.nvim.children() if one.command[0].endswith("git")]
        kill(found)
        return bool(found)

    def kill_nvim(self) -> None:
        """The first Neovim is killed, and the user starts another."""
        os.kill(self.nvim.pid, signal.SIGKILL)
        self.restart()

    def restart(self) -> None:
        """The user leaves the first Neovim, and starts another."""
        with contextlib.suppress(OSError):
            self.nvim.close()
        self._gone()
        self.nvim = self._start()

    def _gone(self) -> None:
        self.is_second_session = True
        wait_gone(lambda: running("obedient_agent.py", self.nvim.places.mark), LIMIT, "the agent to end")
        self.agent.lose()
        self.is_on_stage = False


def wait_past(moment: int) -> None:
    """Wait until a file that is changed now is changed after that moment (nanoseconds since 1970)."""
    wait_until(lambda: now() > moment, LIMIT, "time to pass")


def now() -> int:
    """Nanoseconds since 1970, as the change time of a file that is changed now."""
    return time.clock_gettime_ns(COARSE)
