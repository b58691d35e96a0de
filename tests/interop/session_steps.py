"""The steps about sessions: listed, gone on with in another Neovim, loaded, forked, closed, deleted."""

from __future__ import annotations

import time
from typing import Any

from tests.interop import subagent_steps
from tests.interop.stage import NotOfferedError, Stage

TOLD = "Unicode: héllo 世界 😀 café. That is all of it."
LISTED = """
local agent, id = ...
_G.acp_listed = nil
require("acp_nvim").sessions({ agents = { agent } }, function(entries, more)
  _G.acp_listed = { waits = #more, found = {} }
  _G.acp_entry = nil
  for _, entry in ipairs(entries) do
    if entry.agent == agent then
      table.insert(_G.acp_listed.found, { entry.session_id or "", entry.listed or false, entry.session ~= nil })
    end
    if entry.session_id == id then
      _G.acp_entry = entry
    end
  end
end)
"""
GO = """
local way = ...
_G.acp_problem = nil
require("acp_nvim").session_ways(_G.acp_entry, function(ways)
  for _, one in ipairs(ways) do
    if one.id == way then
      return require("acp_nvim").session_do(_G.acp_entry, one)
    end
  end
  _G.acp_problem = vim.tbl_map(function(one) return one.id end, ways)
end)
"""


def find(stage: Stage, session_id: str) -> dict[str, Any]:
    """The entries of the list by session id; the one with that id is at hand in Neovim afterwards.

    A list shows what is known by then: who has to start first is asked again.
    """
    found: dict[str, Any] = {}
    answers = len(stage.wire.answers("session/list"))

    def asked() -> bool:
        stage.nvim.lua(LISTED, stage.agent.name, session_id)
        stage.wait(lambda: stage.nvim.lua("return _G.acp_listed ~= nil"), "a list")
        found.update({one: (listed, is_open) for one, listed, is_open in stage.nvim.lua("return _G.acp_listed.found")})
        if found.get(session_id, (False,))[0] or stage.nvim.lua("return _G.acp_listed.waits == 0"):
            return True
        return len(stage.wire.answers("session/list")) > answers + 1

    stage.wait(asked, "the list of sessions")
    return found


def go(stage: Stage, way: str) -> None:
    """Does that with the entry that is at hand, and waits for a session."""
    before = stage.status().get("session_id")
    stage.nvim.lua(GO, way)
    assert not stage.nvim.lua("return _G.acp_problem"), stage.nvim.lua("return _G.acp_problem")
    stage.wait(lambda: stage.nvim.lua('return require("acp_nvim.host.sessions").current() ~= nil'), "a session")
    stage.wait(lambda: stage.status()["state"] in ("idle", "failed"), f"a session, which was {before} before")
    assert stage.status()["state"] == "idle", stage.describe()


def remembers(stage: Stage) -> None:
    """The model is told again what was said at the beginning."""
    end, _ = stage.turn("recall")
    assert end["stop_reason"] == "end_turn", end
    stage.wait(lambda: "You told me: plum." in stage.text(), "the word of the first prompt")


def offered(stage: Stage, name: str) -> None:
    """Fails the step in the right way when the agent does not offer it."""
    if name not in stage.offers.steps():
        raise NotOfferedError


def list_sessions(stage: Stage) -> str:
    """The session is in the list, as one that is open, and that the agent keeps."""
    offered(stage, "list")
    found = find(stage, stage.session_id)
    assert stage.wire.result("session/list"), stage.wire.answers("session/list")
    assert stage.session_id in found, found
    listed, opened = found[stage.session_id]
    assert opened
    return "yes" if listed else "without this session"


def again(stage: Stage) -> str:
    """Neovim ends, and another one goes on with the conversation: it is seen, and the model knows it."""
    if not stage.offers.steps() & {"load", "resume"}:
        restart(stage)
        raise NotOfferedError
    restart(stage)
    assert stage.session_id in find(stage, stage.session_id)
    if stage.agent.forgets:
        return forgotten(stage)
    go(stage, "go_on")
    assert stage.status()["session_id"] == stage.session_id, stage.describe()
    stage.wait(lambda: stage.text().count(TOLD) == 1, "the conversation, once")
    remembers(stage)
    assert stage.text().count(TOLD) == 1
    return "resumed" if stage.wire.answers("session/resume") else "loaded"


def forgotten(stage: Stage) -> str:
    """Its sessions ended with it: what was said is seen, a new session is begun, and both are said."""
    go(stage, "go_on")
    said = stage.agent.answers["greet"].split("|")[-1]
    stage.wait(lambda: said in stage.text(), "the conversation that is kept here")
    stage.wait(lambda: "it does not know what was said above" in stage.text(), "words on what is lost")
    end, _ = stage.turn("greet")
    assert end["stop_reason"] == "end_turn", end
    return "begun anew, and said so: its sessions end with it"


def next_minute(stage: Stage) -> None:
    """For those who need it between two times that a session is taken up."""
    if stage.agent.next_minute:
        began = time.time() // 60
        stage.pause_until(lambda: time.time() // 60 > began, "the next minute")


def restart(stage: Stage) -> None:
    """Another Neovim on the same state; all processes of the first must end."""
    stage.close()
    next_minute(stage)
    stage.open()


def load(stage: Stage) -> str:
    """The agent tells the whole conversation itself: in a third Neovim, unless the second has shown that already.

    Until the agent has run in a Neovim, nobody knows that it can.
    """
    offered(stage, "load")
    if stage.agent.forgets:
        raise NotOfferedError("its sessions end with it")
    if stage.agent.loads_once:
        restart(stage)
        stage.nvim.command(f"AcpChat {stage.agent.name}")
        stage.wait(lambda: stage.status()["state"] == "idle", "another session of it")
        stage.nvim.command("AcpClose")
    elif "resume" in stage.offers.steps():
        restart(stage)
    else:
        stage.nvim.command("AcpClose")
        next_minute(stage)
    find(stage, stage.session_id)
    if not stage.nvim.lua(WAYS, "load"):
        go(stage, "go_on")
        assert stage.status()["session_id"] == stage.session_id
        stage.nvim.command("AcpClose")
        find(stage, stage.session_id)
    count = len(stage.wire.answers("session/load"))
    go(stage, "load")
    assert len(stage.wire.answers("session/load")) > count, stage.wire.answers("session/load")
    stage.wait(lambda: TOLD in stage.text(), "the conversation, as the agent tells it")
    subagent_steps.are_told_again(stage)
    remembers(stage)
    times = stage.text().count(TOLD)
    assert times == 1, f"the answer is told {times} times:\n{stage.text()}"
    return "yes"


WAYS = """
local wanted = ...
local found
require("acp_nvim").session_ways(_G.acp_entry, function(ways)
  found = vim.tbl_contains(vim.tbl_map(function(one) return one.id end, ways), wanted)
end)
vim.wait(10000, function() return found ~= nil end, 10)
return found
"""


def fork(stage: Stage) -> str:
    """Fork the session: another one begins with its conversation."""
    offered(stage, "fork")
    stage.nvim.command("AcpFork")
    stage.wait(lambda: stage.status().get("session_id") not in (None, stage.session_id), "another session")
    stage.wait(lambda: stage.status()["state"] == "idle", "the fork")
    assert stage.wire.result("session/fork")["sessionId"] == stage.status()["session_id"]
    remembers(stage)
    assert stage.text().count(TOLD) == 1
    return "yes"


def close(stage: Stage) -> str:
    """The session that is open is closed, at the agent too."""
    count = len(stage.wire.answers("session/close"))
    stage.nvim.command("AcpClose")
    stage.wait(lambda: not stage.nvim.chat_text() or "fork" in stage.offers.steps(), "its buffers to go")
    offered(stage, "close")
    stage.wait(lambda: len(stage.wire.answers("session/close")) > count, "an answer to session/close")
    assert "error" not in stage.wire.answers("session/close")[-1], stage.wire.answers("session/close")
    return "yes"


def delete(stage: Stage) -> str:
    """The agent deletes it, and lists it no more; some write it again while they leave it."""
    offered(stage, "delete")
    stage.nvim.command("silent! AcpClose")
    for times in ("yes", "yes, the second time: it had written it again"):
        count = len(stage.wire.answers("session/delete"))
        find(stage, stage.session_id)
        stage.choosing(f"delete it at {stage.agent.name}")
        stage.nvim.lua(GO, "delete")
        stage.wait(lambda count=count: len(stage.wire.answers("session/delete")) > count, "an answer to session/delete")
        assert "error" not in stage.wire.answers("session/delete")[-1], stage.wire.answers("session/delete")
        if not find(stage, stage.session_id).get(stage.session_id, (False, False))[0]:
            return times
    raise AssertionError(f"it still lists {stage.session_id}")


def leave(stage: Stage) -> str:
    """Neovim ends; no process is left, and no request of the agent's was left without an answer."""
    started = time.monotonic()
    assert not stage.wire.open_requests(), stage.wire.open_requests()
    strange = stage.model.strange
    stage.close()
    assert not strange, f"the model server was asked for {strange}"
    return "yes" if time.monotonic() - started < 10 else "yes, slowly"
