"""A conversation of 20,000 updates that an agent tells again (`session/load`), and what a person does in it then."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.bench.chat import calls, texts
from tests.bench.chat.stage import NO_RECORD, Floor, Ours, Stage, Stalls, Who, at_once, stage
from tests.support.screen import ScreenEditor

TURNS = 100
CHUNKS, THOUGHTS, CALLS = 119, 20, 15
UPDATES = TURNS * (1 + CHUNKS + THOUGHTS + 4 * CALLS)
"""20,000 updates."""
TIMES = 9
ANY = rb"records|reading|output line|Look at|Thinking|part"
"""Words of it, one of which is on every screen."""

# The first start of a session loads one; who lists sessions will do the same.
LOAD = """
local host, sending = require("acp_nvim.host"), require("acp_nvim.prompt.sending")
local open = sending.open
sending.open = function(session)
  if session.host then
    return open(session)
  end
  probe.watch(session.bufnr)
  host.ensure()
  session.host = host.channel()
  return host.send("resume", {
    session = session.key,
    agent = session.agent,
    cwd = session.cwd,
    session_id = "bench",
    how = "load",
  })
end
vim.cmd("AcpChat it")
"""
# Each with the screen drawn; the keys are typed in the window of the chat.
ACTIONS = """
local chat = vim.fn.win_findbuf(probe.bufnr)[1]
local function keys(text)
  return function()
    vim.api.nvim_win_call(chat, function() vim.cmd("normal! " .. vim.keycode(text)) end)
  end
end
local found, times = {}, ...
vim.wo[chat].foldenable = true
for _, one in ipairs({ { "zM", "zM" }, { "zR", "zR" }, { "gg", "gg" }, { "ctrl_d", "<C-D>" }, { "G", "G" },
                       { "ctrl_u", "<C-U>" }, { "half", "50%" } }) do
  found[one[1]] = probe.time(keys(one[2]), times)
end
return found
"""
REOPEN = """
local times = ...
local windows = require("acp_nvim.chat.windows")
local session = require("acp_nvim.host.sessions").nearest()
local took = {}
for _ = 1, times do
  windows.close(session)
  vim.cmd.redraw()
  took[#took + 1] = probe.time(function() vim.cmd("AcpChat") end, 1)[1]
end
return took
"""


@dataclass(frozen=True)
class Replayed:
    """Seconds from the agent's first byte: until the screen is full, and the last text there; processors; actions."""

    first: float
    seconds: float
    cpu: float
    host_cpu: float
    actions: dict[str, list[float]]


def conversation() -> bytes:
    """All that was said and done."""
    pieces = texts.chunks(TURNS * CHUNKS, "none")
    said = []
    for turn in range(TURNS):
        said.append(texts.said(f"What is in part {turn}?", "user_message_chunk"))
        said += [texts.said(f"Thinking of {turn}, {step}. \n", "agent_thought_chunk") for step in range(THOUGHTS)]
        said += [calls.told(turn * CALLS + number) for number in range(CALLS)]
        said += map(texts.said, pieces[turn * CHUNKS : (turn + 1) * CHUNKS])
    return b"".join(said) + texts.said(texts.END)


def replay(directory: Path, who: Who) -> Replayed:
    """The floor's actions are those of its scratch buffer."""
    with stage(directory, who, {"load": [at_once(conversation())]}, opened=False) as on:
        assert isinstance(on.editor, ScreenEditor)
        if isinstance(on, Floor):
            on.open()
        shown = on.editor.terminal.look_for(ANY)
        played = on.play("load", start=lambda: _load(on), ended="probe.last == 1")
        assert shown.at is not None, on.editor.describe()
        actions = on.editor.lua(ACTIONS, TIMES)
        if isinstance(on, Ours):
            actions["open"] = on.editor.lua(REOPEN, TIMES)
        return Replayed(shown.at - played.begun, played.seconds, played.cpu, played.host_cpu, actions)


def stalls(directory: Path, who: Who) -> Stalls:
    """Measure how long the editor answers nobody meanwhile."""
    with stage(directory, who, {"load": [at_once(conversation())]}, opened=False) as on:
        if isinstance(on, Floor):
            on.open()
        on.rest()
        with on.measured() as measured:
            played = on.play("load", rest=False, start=lambda: _load(on), ended="probe.last == 1")
            measured.begun, measured.ended = played.begun, played.seen[-1][0]
        return measured.found()


def _load(on: Stage) -> None:
    on.editor.lua("floor.load()" if isinstance(on, Floor) else f"{NO_RECORD}\n{LOAD}")
