"""Neovims, agents and git at work in one project, and what Neovim says of who changed its files."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from acp_nvim.evidence.activities import CALL_LATE_NS
from acp_nvim.evidence.work import TURN_LATE_NS
from acp_nvim.file_time import now
from tests.nvim.reviewing import Desk
from tests.support.agent_scripts import agent_script
from tests.support.editor import HeadlessEditor
from tests.support.processes import look_at, wait_gone
from tests.support.waiting import wait_until

# The prompt is what the agent does, as Python.
AGENT = """
import glob
import re
import subprocess

WORK = os.path.join(os.environ["XDG_STATE_HOME"], "nvim", "acp_nvim", "work", "*.jsonl")

def turn(agent, prompt):
    agent.note(turn=True)
    exec(prompt.text, {**globals(), **vars(Doing(agent, prompt))})

class Doing:
    def __init__(self, agent, prompt):
        self.agent, self.prompt = agent, prompt
        self.edit, self.run, self.begin, self.done = self._edit, self._run, self._begin, self._done

    def _begin(self, line, call="c"):
        self.prompt.tool(call, line, kind="execute", status="in_progress", rawInput={"command": line})
        until_heard(f"call {call}")

    def _done(self, call="c"):
        self.prompt.tool_update(call, status="completed")

    def _run(self, line, call="c"):
        self._begin(line, call)
        subprocess.run(line, shell=True, check=True)
        self._done(call)

    def _edit(self, name, text, call="e"):
        path = os.path.abspath(name)
        old = open(path).read() if os.path.exists(path) else None
        diff = {"type": "diff", "path": path, "oldText": old, "newText": text}
        self.prompt.tool(call, f"Edit {name}", kind="edit", status="in_progress", content=[diff])
        until_heard(call)
        write(path, text)
        self.prompt.tool_update(call, status="completed")

def write(path, text):
    with open(path, "w") as file:
        file.write(text)

def until(name):
    while not os.path.exists(name):
        time.sleep(0.005)

def until_heard(record):
    # what a busy host hears late would be nobody's: it is there when the host has written it down
    kind, _, call = record.rpartition(" ")
    found = re.compile(rf'"id":"{kind and kind + " "}\\d+ {call}","words"')
    while not any(found.search(open(file).read()) for file in glob.glob(WORK)):
        time.sleep(0.005)
"""

REVIEW = 'return require("acp_nvim").review()'
ENDED = "the host ended"
RESTORED = re.compile(r"restored|all files are as they were|nothing (?:else )?to restore")
"""The last words about a restore."""

Whose = dict[str, str]
"""Names of files, and who changed them."""


class Project(Desk):
    """A Neovim in a repository of the user's; `until` in the agent's code waits for files that `go` makes."""

    def __init__(
        self,
        start: Callable[..., HeadlessEditor],
        directory: Path,
        before: Project | None = None,
        name: str = "it",
        **agent: Any,
    ) -> None:
        self.directory = directory
        self.name, self._agent = (name, agent) if before is None else (before.name, before._agent)
        self.script = agent_script(directory, AGENT) if before is None else before.script
        self.nvim = start(
            agents={self.name: {"command": self.script.argv, **self._agent}},
            config={"follow": {"enabled": False}, "default_agent": self.name},
            env={"XDG_STATE_HOME": str(directory / "state")},
        )
        self.nvim.command("set hidden noswapfile")
        self.cwd = self.nvim.project if before is None else before.cwd
        self.nvim.command(f"cd {self.cwd}")

    def go(self, name: str = "go") -> str:
        """Where such a file is, or will be."""
        return str(self.directory / name)

    def turn(self, code: str) -> None:
        """The agent does that, to the end of its turn, then has another turn, in which it does nothing."""
        for each in (code, "pass"):
            self.start(each)
            self.wait_end()

    def start(self, code: str) -> None:
        """The agent has begun to do that."""
        self._ends = len(self.nvim.events("AcpTurnEnd"))
        turns = len(self.script.notes("turn"))
        self.nvim.lua('require("acp_nvim").prompt(...)', code)
        self.script.wait_note("turn", turns + 1)

    def work(self) -> str:
        """What the hosts have written down of what agents did."""
        files = (self.directory / "state" / "nvim" / "acp_nvim" / "work").glob("*.jsonl")
        # what follows the last newline is still being written
        return "\n".join(f"{file.name}\n{file.read_text().rpartition(chr(10))[0]}" for file in files)

    def wait_end(self) -> None:
        """Wait for the end of the agent's turn."""
        self.nvim.wait_until(lambda: len(self.nvim.events("AcpTurnEnd")) > self._ends, what="the end of the turn")
        later = time.time_ns() + TURN_LATE_NS  # what is changed at once may still be the agent's doing
        wait_until(lambda: now() > later, what="that moment to be over")

    def finish(self) -> None:
        """To the end of the turn that runs, and to the beginning of the next one."""
        self.wait_end()
        self.start("pass")
        self.wait_end()

    def until_calls(self, *calls: tuple[str, str]) -> None:
        """The host has written down that these are done, or begun: id and status."""

        def are_known() -> bool:
            lines = [line for line in self.work().splitlines() if line.startswith("{")]
            return all(any(is_of(call, status, json.loads(line)) for line in lines) for call, status in calls)

        def is_of(call: str, status: str, record: dict[str, Any]) -> bool:
            # the command of a call has the id "call <id>", its end "command call <id>"
            return record.get("id", "").endswith(call) and (record["what"] == "deed_end") == (status == "completed")

        wait_until(are_known, what=f"{calls}", describe=self.work)

    def whose(self) -> Whose:
        """What is under review, and by whom."""
        return self._whose(self.nvim.lua(REVIEW))

    def _whose(self, review: list[Any]) -> Whose:
        return {self._name(one["path"]): one["by"] for one in review}

    def until_whose(self, wanted: Whose) -> None:
        """Wait until this is attributed so."""
        seen: list[Any] = []

        def is_that() -> bool:
            seen[:] = self.nvim.lua(REVIEW)
            return self._whose(seen) == wanted

        wait_until(is_that, what=f"{wanted}", describe=lambda: f"{seen}\n{self.work()}\n{self.nvim.describe()}")

    def heard(self) -> dict[str, set[str]]:
        """Who has changed each file, as the autocommands have said; each of them says why."""
        found: dict[str, set[str]] = {}
        for one in self.nvim.events("AcpFileChanged"):
            assert one["why"], one
            found.setdefault(self._name(one["path"]), set()).add(one["by"])
        return found

    def reject_all(self, bang: str = "") -> None:
        """What is proven to be the agent's, or with `!` also what nobody knows."""
        left = {"state", "unknown"} - ({"unknown"} if bang else set())
        self.nvim.command(f"AcpReview{bang} rejectall")
        self.nvim.wait_until(lambda: set(self.whose().values()) <= left, what=f"nothing but {left} to be left")

    def restore(self, bang: str = "") -> None:
        """Go back to before the first turn; what cannot be gone back to is left."""
        self.nvim.lua("vim.ui.select = function(items, _, on_choice) on_choice(items[#items], #items) end")
        said = len(self.nvim.messages())
        self.nvim.command(f"AcpRestore{bang}")
        # the words about a rejection before it may come only now
        self.nvim.wait_until(lambda: any(map(RESTORED.search, self.nvim.messages()[said:])), what="word of it")

    def kill(self, *names: str) -> None:
        """Kill these, with no chance to clean up: nvim, host, guard; until the agent is gone."""
        family = self.nvim.family()
        host = self.nvim.host()
        assert host is not None
        pids = {"nvim": self.nvim.pid, "host": host.pid, "guard": host.parent}
        # all are stopped first, since a host that meets a dead guard starts another one
        for deed in (signal.SIGSTOP, signal.SIGKILL):
            for name in names:
                os.kill(pids[name], deed)
        agents = [one for one in family if "scripted_agent" in " ".join(one.command)]
        wait_gone(lambda: [one for one in agents if look_at(one.pid)], what="the agent to end")
        if "guard" not in names:
            ended = self.directory / "state" / "nvim" / "acp_nvim" / "ended"
            wait_until(lambda: list(ended.glob("*.ended")), what="its end to be written down")
        # in the same tick, or right after the last words of an agent whose end nobody saw, it may be its doing
        later = time.time_ns() + (CALL_LATE_NS if "guard" in names else 0)
        wait_until(lambda: now() > later, what="that moment to be over")

    def _name(self, path: str) -> str:
        return Path(path).relative_to(self.cwd.resolve()).as_posix()


def texts(directory: Path, *names: str) -> dict[str, str | None]:
    """What is in these files; None: there is no such file."""
    return {name: (directory / name).read_text() if (directory / name).exists() else None for name in names}
