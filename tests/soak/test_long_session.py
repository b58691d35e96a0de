"""One session of 2,000 turns (`LONG_TURNS=5000 make soak`): neither its turns nor its host grow with their number.

Another program appends to a file of the project meanwhile, as the log of a development server grows.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.bench.chat.stage import cpu
from tests.support.agent_scripts import agent_script
from tests.support.editor import HeadlessEditor

TURNS = int(os.environ.get("LONG_TURNS", "2000"))
TRIVIAL = 50  # turns that are measured, at the beginning and at the end
BEFORE = 50  # turns before the first of them: caches are filled, and each file has been changed
SLOWER = 1.3  # the last may take as many times as long as the first
GROWTH = 8.0  # MB of the host
SOURCES, OUTPUTS = 40, 20
AGENT = """
    def say(agent, prompt, **update):
        agent.update(prompt.session_id, update)

    def turn(agent, prompt):
        what, _, number = prompt.text.partition(" ")
        if what != "hi":
            with open("../request", "w") as request:  # the server logs it
                request.write(f"GET /{number}\\n")
            with open("../logged") as answer:
                answer.read()
            call = {"toolCallId": "call_" + number, "title": what + " " + number, "status": "in_progress"}
        if what == "edit":
            path = os.path.join(os.getcwd(), f"source{int(number) % SOURCES}.py")
            with open(path) as file:
                old = file.read()
            new = old + f"line = {number}\\n" if len(old) < 2000 else "line = 0\\n"
            diff = {"type": "diff", "path": path, "oldText": old, "newText": new}
            say(agent, prompt, sessionUpdate="tool_call", kind="edit", content=[diff], **call)
            with open(path, "w") as file:
                file.write(new)
            say(agent, prompt, sessionUpdate="tool_call_update", toolCallId="call_" + number, status="completed")
        elif what == "make":
            command = {"command": "make " + number}
            say(agent, prompt, sessionUpdate="tool_call", kind="execute", rawInput=command, **call)
            with open(f"output{int(number) % OUTPUTS}.txt", "a") as file:
                file.write(number + "\\n")
            say(agent, prompt, sessionUpdate="tool_call_update", toolCallId="call_" + number, status="completed")
        say(agent, prompt, sessionUpdate="agent_message_chunk", content={"type": "text", "text": "ok"})
"""
SERVER = "while :; do cat request >> project/server.log; : > logged; done"
"""Appends what comes through a named pipe to its log, and says so through another one."""
LUA = """
_G.soak = { ended = 0 }
vim.api.nvim_create_autocmd("User", { pattern = "AcpTurnEnd", callback = function() soak.ended = soak.ended + 1 end })
vim.ui.select = function(items, _, on_choice) on_choice(items[1]) end
function soak.said(words)
  local last = _G.acp_test.messages[#_G.acp_test.messages]
  return last ~= nil and last.text:find(words, 1, true) ~= nil
end
function soak.clear()
  _G.acp_test.messages, _G.acp_test.events = {}, {}
end
function soak.by(by)
  return #vim.tbl_filter(function(one) return one.by == by end, require("acp_nvim").review())
end
"""


@dataclass(frozen=True)
class Cost:
    """Of a trivial turn, in milliseconds: until the next may begin, and of the host's processor time; medians."""

    wall: float
    cpu: float

    def __str__(self) -> str:
        return f"{self.wall:.0f} ms, {self.cpu:.1f} ms of the host"


class LongSession:
    """One Neovim with a session; `turn` plays the next one."""

    def __init__(self, nvim: HeadlessEditor) -> None:
        self.nvim = nvim
        self.count = 0
        nvim.lua(LUA)
        self.turn("hi")
        host = nvim.host()
        assert host is not None
        self.host = host.pid

    @property
    def megabytes(self) -> float:
        """Return the resident memory of the host."""
        status = Path(f"/proc/{self.host}/status").read_text()
        [line] = [line for line in status.splitlines() if line.startswith("VmRSS")]
        return int(line.split()[1]) / 1024

    def turn(self, text: str) -> None:
        self.count += 1
        self.nvim.lua('require("acp_nvim").prompt(...)', text)
        self.nvim.wait_until(lambda: self.nvim.lua("return soak.ended") == self.count, what=f"the end of {text}")

    def trivial(self) -> Cost:
        """The medians of `TRIVIAL` turns, one after the other: each begins when the changes of the last are known."""
        walls, cpus = [], []
        self.turn("hi")
        for _ in range(TRIVIAL):
            began, used = time.perf_counter(), cpu(self.host)
            self.turn("hi")
            walls.append((time.perf_counter() - began) * 1000)
            cpus.append((cpu(self.host) - used) * 1000)
        return Cost(statistics.median(walls), statistics.median(cpus))

    def work(self, number: int) -> None:
        """A turn that changes something, and at times a decision of the user's."""
        self.turn(f"{('edit', 'make', 'log')[number % 3]} {number}")
        if number % 10 == 9:
            self._decide("AcpReview rejectall", "rejected")
        if number % 20 == 19:
            self._decide("AcpRestore undo", "undone")
        if number % 60 == 24:  # after an edit
            self._decide("AcpRestore", "restored")

    def _decide(self, command: str, words: str) -> None:
        self.nvim.lua("soak.clear()")
        self.nvim.command(command)
        self.nvim.wait_until(f"soak.said('{words}')", what=f"the answer to {command}")


@contextmanager
def server(directory: Path) -> Iterator[None]:
    """Run another program that writes a log into the project."""
    for name in ("request", "logged"):
        os.mkfifo(directory / name)
    with subprocess.Popen(["sh", "-c", SERVER], cwd=directory, start_new_session=True) as program:
        try:
            yield
        finally:
            os.killpg(program.pid, 9)


@pytest.mark.timeout(4 * 3600)
def test_the_last_turns_cost_what_the_first_did(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    named = AGENT.replace("SOURCES", str(SOURCES)).replace("OUTPUTS", str(OUTPUTS))
    nvim = HeadlessEditor(tmp_path, agents={"it": {"command": agent_script(tmp_path, named).argv}})
    try:
        for number in range(SOURCES):
            (nvim.project / f"source{number}.py").write_text("line = 0\n")
        git = ["git", "-c", "user.name=soak", "-c", "user.email=soak@example.org"]
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "first"]):
            subprocess.run([*git, *words], cwd=nvim.project, check=True)
        with server(nvim.project.parent):
            _play(LongSession(nvim), lambda words: _print(capsys, words))
    finally:
        nvim.close()


def _play(session: LongSession, say: Callable[[str], None]) -> None:
    for number in range(BEFORE):
        session.work(number)
    first, begun = session.trivial(), session.megabytes
    say(f"the first trivial turns: {first}; {begun:.1f} MB")
    rest = TURNS - BEFORE - 2 * TRIVIAL
    for number in range(BEFORE, BEFORE + rest):
        session.work(number)
        if number % 250 == 249:
            say(f"after {number + 1} turns: {session.trivial()}; {session.megabytes:.1f} MB")
    assert session.nvim.lua("return soak.by('unknown')") == 1, "the log is not under review any more"
    last, grown = session.trivial(), session.megabytes - begun
    say(f"the last of {session.count}: {last}; {grown:+.1f} MB")
    assert last.wall <= SLOWER * first.wall, f"{first} became {last}"
    assert last.cpu <= SLOWER * first.cpu, f"{first} became {last}"
    assert grown <= GROWTH


def _print(capsys: pytest.CaptureFixture[str], words: str) -> None:
    with capsys.disabled():
        print(f"  {words}", flush=True)
