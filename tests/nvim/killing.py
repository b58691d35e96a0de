"""Conversations in which the agent, or the host, is killed at some point: what is there then, and how it goes on."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from tests.support.agent_scripts import AgentScript, agent_script
from tests.support.below import below
from tests.support.editor import HeadlessEditor

Victim = Literal["agent", "host"]
Way = Literal["resume", "load", "new"]

WAYS: tuple[Way, ...] = ("resume", "load", "new")
PROMPTS = ["one", "two", "three"]
DRAFT = "half a draft"
POINTS = 90
"""Messages that the agent sends at least until the third turn is over: it, or the host, is killed at one of them."""

ANEW = "does not know what"
TOKEN = re.compile(r"<\w+:\d\d>")
OPEN_ICON = "◐"

NOT_FINISHED = " [not finished]"


def over(chat: str) -> str:
    """A chat with its plans as they are when their turn is over."""
    return chat.replace(NOT_FINISHED, "").replace("▸", "○")


SCRIPT = """
import threading

ORDER, JOURNAL, WAY = {order!r}, {journal!r}, {way!r}
SENDING = threading.RLock()
INITIALIZE = {{"agentCapabilities": {{
    "loadSession": WAY == "load", "sessionCapabilities": {{"resume": {{}}}} if WAY == "resume" else {{}}
}}}}

def start(agent):
    send, agent.count = agent.wire.send, 0

    def kill(message, whom):
        os.unlink(ORDER)
        if whom:
            os.kill(int(whom), signal.SIGKILL)
            return
        if agent.count % 3 == 0:
            agent.raw(json.dumps(message).encode()[:agent.count])  # it dies in the middle of a message
        agent.die()

    def counted(message):
        with SENDING:
            agent.count += 1
            if os.path.exists(ORDER):
                at, whom = open(ORDER).read().split(":")
                if agent.count == int(at):
                    kill(message, whom)
            if message.get("method") == "session/update" and not getattr(agent, "replays", False):
                with open(JOURNAL, "a") as journal:
                    journal.write(json.dumps(message["params"]) + "\\n")
            send(message)

    agent.wire.send = counted

def session_new(agent, request):
    return {{"sessionId": f"session-{{os.getpid()}}"}}

def session_resume(agent, request):
    return {{}}

def session_load(agent, request):
    agent.replays = True
    for line in open(JOURNAL) if os.path.exists(JOURNAL) else ():
        if json.loads(line)["sessionId"] == request.params["sessionId"]:
            agent.notify("session/update", json.loads(line))
    agent.replays = False
    return {{}}

def turn(agent, prompt):
    text = prompt.text
    prompt.think("Let me see.")
    prompt.plan(("First this", "in_progress"), ("then that", "pending"))
    for number in range(12):
        prompt.say(f"<{{text}}:{{number:02}}>\\n")
    prompt.tool("t", f"Tool of {{text}}", kind="execute", status="in_progress")
    prompt.ask("t")
    prompt.write(os.path.join(os.getcwd(), f"{{text}}.txt"), text)
    prompt.tool_update("t", status="completed")
    for number in range(12, 24):
        prompt.say(f"<{{text}}:{{number:02}}>\\n")
"""

ANSWER_ALL = """
vim.api.nvim_create_autocmd("User", { pattern = "AcpPermissionRequest", callback = function(ev)
  vim.schedule(function() require("acp_nvim").answer(ev.data.request.id, "allow") end)
end })
require("acp_nvim.host").ensure()
"""

BEGIN = """
local agent, draft, prompts = ...
local client = require("acp_nvim.sessions.client")
local session = client.session(agent, true)
vim.api.nvim_buf_set_lines(session.prompt_bufnr, 0, -1, true, { draft })
for _, text in ipairs(prompts) do
  client.prompt(text, { session_id = session.key })
end
return session.key
"""

LOOK = """
local session = require("acp_nvim.host.sessions").get(...)
local open = 0
for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(session.bufnr, -1, 0, -1, { details = true })) do
  for _, chunk in ipairs(mark[4].virt_text or {}) do
    open = open + (chunk[1]:find("%s", 1, true) and 1 or 0)
  end
end
local status, waiting = session.status, {}
for _, one in ipairs(session.queue and session.queue.prompts or {}) do
  table.insert(waiting, one.text)
end
return {
  chat = table.concat(vim.api.nvim_buf_get_lines(session.bufnr, 0, -1, true), "\\n"),
  draft = table.concat(vim.api.nvim_buf_get_lines(session.prompt_bufnr, 0, -1, true), "\\n"),
  state = status.state, queue = status.queue, waiting = waiting, open = open,
  spins = status.activity ~= nil or status.turn_started ~= nil,
}
"""


WIPE = """
local session = require("acp_nvim.host.sessions").get(...)
vim.api.nvim_buf_delete(session.bufnr, { force = true })
require("acp_nvim.sessions.client").show(session)
"""


def points(victim: Victim, count: int) -> list[tuple[int, Way]]:
    """Return random moments, always the same ones, and how the agent can go on after each."""
    chance = random.Random(f"killing the {victim}")
    return [(chance.randint(1, POINTS), WAYS[number % len(WAYS)]) for number in range(count)]


class Stage:
    """A Neovim in which such conversations are held, one after the other, each with an agent of its own."""

    def __init__(self, directory: Path, cases: list[tuple[int, Way]]) -> None:
        self.directory = directory
        self.orders = [directory / f"order-{index}" for index in range(len(cases))]
        self.scripts: list[AgentScript] = []
        for index, (_, way) in enumerate(cases):
            source = SCRIPT.format(order=str(self.orders[index]), journal=str(directory / f"journal-{index}"), way=way)
            self.scripts.append(agent_script(directory, source, f"agent{index}"))
        agents = {f"agent{index}": {"command": script.argv} for index, script in enumerate(self.scripts)}
        self.nvim = HeadlessEditor(directory, agents=agents)
        self.nvim.lua(ANSWER_ALL)

    def look(self, key: int) -> dict[str, Any]:
        """What the user sees of a session."""
        seen: dict[str, Any] = self.nvim.lua(LOOK.replace("%s", OPEN_ICON), key)
        return seen

    def play_case(self, index: int, point: int, way: Way, victim: Victim) -> None:
        """One conversation, until it has gone on. Raises `AssertionError`."""
        self._kill_at(index, point, victim)
        before = ""
        key = self.nvim.lua(BEGIN, f"agent{index}", DRAFT, PROMPTS)

        def is_over() -> bool:
            nonlocal before
            seen = self.look(key)
            if seen["state"] == "failed":
                return True
            before = seen["chat"]
            return False

        self.nvim.wait_until(is_over, what=f"the end of the {victim}")
        dead = self.look(key)
        knew = bool(self.scripts[index].received("session/prompt"))
        self._check_dead(self.scripts[index], dead, before, victim)
        self.nvim.lua("require('acp_nvim.sessions.client').prompt('last', { session_id = ... })", key)
        self.nvim.wait_until(lambda: self._is_done(key), what="the last turn to be over")
        self._check_alive(self.scripts[index], dead, self.look(key), way, knew)
        self._check_again(key)
        self.nvim.lua("require('acp_nvim.host.requests').send(require('acp_nvim.host.sessions').get(...), 'stop')", key)

    def _kill_at(self, index: int, point: int, victim: Victim) -> None:
        pid = ""
        if victim == "host":
            self.nvim.lua("require('acp_nvim.host').ensure()")
            host = self.nvim.wait_until(self.nvim.host, what="the host")
            pid = str(host.pid)
        self.orders[index].write_text(f"{point}:{pid}")

    def _is_done(self, key: int) -> bool:
        seen = self.look(key)
        return seen["state"] == "idle" and "<last:23>" in seen["chat"]

    def _check_dead(self, script: AgentScript, seen: dict[str, Any], before: str, victim: Victim) -> None:
        """All that was said is there, and all that was not sent; nothing turns."""
        sent = tokens("".join(map(words_of, script.sent("session/update"))))
        shown = tokens(seen["chat"])
        assert shown == (sent if victim == "agent" else sent[: len(shown)])
        before = over(before.split("\n\nPermission needed")[0].rstrip("\n"))
        assert over(seen["chat"]).startswith(before)
        assert (seen["open"], seen["spins"]) == (0, False)
        received = [one["params"]["prompt"][0]["text"] for one in script.received("session/prompt")]
        lines = seen["chat"].split("\n")
        assert [text for text in received if text not in lines] == []
        assert seen["draft"].endswith(DRAFT)
        if victim == "agent":
            assert seen["draft"] == DRAFT
            assert [one for one in PROMPTS if one not in lines] == seen["waiting"]
            assert seen["queue"] == len(PROMPTS) - len(received)
        else:
            back = seen["draft"].removesuffix(DRAFT).split()
            assert sorted(received + back + seen["waiting"]) == sorted(PROMPTS)

    def _check_alive(
        self, script: AgentScript, dead: dict[str, Any], seen: dict[str, Any], way: Way, knew: bool
    ) -> None:
        """It went on, in the same session where that can be, and nothing was told twice."""
        assert seen["chat"].startswith(dead["chat"].rstrip("\n"))
        assert sorted(set(tokens(seen["chat"]))) == sorted(tokens(seen["chat"]))
        assert (seen["draft"], seen["waiting"], seen["open"], seen["spins"]) == (dead["draft"], [], 0, False)
        received = [one["params"]["prompt"][0]["text"] for one in script.received("session/prompt")]
        assert received == list(dict.fromkeys(received))
        assert {*dead["waiting"], "last"} <= set(received)
        ids = {one["params"]["sessionId"] for one in script.received("session/prompt")}
        goes_on = knew and way != "new"
        assert len(ids) == (2 if knew and way == "new" else 1)
        assert (ANEW in seen["chat"]) is (knew and way == "new") or not knew
        assert (len(script.received(f"session/{way}")) == 1) is goes_on or way == "new" or not knew
        if goes_on:
            assert self._transcripts(ids.pop()) <= 1

    def _check_again(self, key: int) -> None:
        """Wipe the chat's buffer and check that all of it is shown again."""
        said = self.look(key)["chat"].rstrip("\n")
        self.nvim.lua(WIPE, key)
        self.nvim.wait_until(lambda: self.look(key)["chat"].startswith(said), what=f"all of it again:\n{said}")

    def _transcripts(self, session_id: str) -> int:
        """How many files there are of that session; what is not written yet is in none."""
        files = below(self.nvim.places.directory / "state", "*.jsonl")
        return sum(session_id in file.read_text(encoding="utf-8") for file in files if "transcripts" in file.parts)


def words_of(message: dict[str, Any]) -> str:
    """What the agent says in an update."""
    update = message["params"]["update"]
    return str(update["content"]["text"]) if update["sessionUpdate"] == "agent_message_chunk" else ""


def tokens(text: str) -> list[str]:
    """What the agent has said, in order."""
    return TOKEN.findall(text)


@contextmanager
def stage(directory: Path, cases: list[tuple[int, Way]]) -> Iterator[Stage]:
    """Run a stage; close it at the end, and check that nothing of it is left."""
    made = Stage(directory, cases)
    try:
        yield made
    finally:
        made.nvim.close()


def play_all(directory: Path, victim: Victim, cases: list[tuple[int, Way]], told: Callable[[str], None]) -> None:
    """All of them in one Neovim."""
    with stage(directory, cases) as played:
        for index, (point, way) in enumerate(cases):
            told(f"{victim} killed at message {point}, {way}")
            played.play_case(index, point, way, victim)
