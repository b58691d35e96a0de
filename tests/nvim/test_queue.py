"""The queue with a real host and agent: edited while prompts go out, kept when the host dies, steered."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.agent_scripts import AgentScript, agent_script
from tests.support.editor import HeadlessEditor

TURN = """
    import threading
    GO = threading.Semaphore(0)
    INITIALIZE = {"_meta": {"steering": {"supported": True}}}

    def turn(agent, prompt):
        prompt.say(f"<{prompt.text}>")
        GO.acquire(timeout=60)

    def session_steering(agent, request):
        text = request.params["prompt"][0]["text"]
        if text == "go on":
            GO.release()
        return {"outcome": "injected"}
"""

Start = Callable[..., HeadlessEditor]


def with_queue(editor: Start, script: AgentScript, *texts: str) -> HeadlessEditor:
    """A turn runs, and these wait."""
    nvim = editor(agents={"it": {"command": script.argv}})
    nvim.command("AcpChat it")
    for text in ("first", *texts):
        nvim.keys(f"i{text}<C-s><Esc>")
    nvim.wait_until(lambda: "<first>" in nvim.chat_text())
    nvim.wait_until(lambda: waiting(nvim) == list(texts), what="the queue")
    return nvim


def waiting(nvim: HeadlessEditor) -> list[str]:
    """What waits, as Lua knows it."""
    return list(
        nvim.lua(
            'local queue = require("acp_nvim.host.sessions").nearest().queue '
            "return vim.tbl_map(function(one) return one.text end, queue and queue.prompts or {})"
        )
    )


def sent(script: AgentScript) -> list[str]:
    return [one["params"]["prompt"][0]["text"] for one in script.received("session/prompt")]


def end_turn(nvim: HeadlessEditor, script: AgentScript) -> None:
    """The agent is told to end its turn."""
    count = len(nvim.events("AcpTurnEnd"))
    nvim.command("wincmd p")
    nvim.lua(
        'local sending, session = require("acp_nvim.prompt.sending"), require("acp_nvim.host.sessions").nearest() '
        'require("acp_nvim.host.requests").send(session, "steer", { id = sending.prompt(session, "go on") })'
    )
    nvim.wait_until(lambda: len(nvim.events("AcpTurnEnd")) > count, what="the end of the turn")


def test_what_is_written_goes_out_in_its_new_order(editor: Start, tmp_path: Path) -> None:
    script = agent_script(tmp_path, TURN)
    nvim = with_queue(editor, script, "one", "two", "three")
    nvim.command("AcpQueue")
    nvim.keys("ggdjGonew text<Esc>")
    nvim.command("write")
    nvim.wait_until(lambda: waiting(nvim) == ["two", "three\nnew text"], what="the new queue")
    for count in (2, 3):
        end_turn(nvim, script)
        nvim.wait_until(lambda count=count: len(sent(script)) == count, what="the next prompt")
    assert sent(script) == ["first", "two", "three\nnew text"]


def test_what_went_out_while_it_was_edited_is_neither_sent_again_nor_lost(editor: Start, tmp_path: Path) -> None:
    script = agent_script(tmp_path, TURN)
    nvim = with_queue(editor, script, "one", "two")
    nvim.command("AcpQueue")
    nvim.keys("ggjA, better<Esc>")
    queue = nvim.api("get_current_buf")
    end_turn(nvim, script)
    nvim.wait_until(lambda: sent(script) == ["first", "one"], what="the next prompt")
    assert "one, better" in nvim.buffer_text(queue)
    nvim.command(f"sbuffer {queue} | write")
    nvim.wait_until(lambda: "was sent or removed before" in "\n".join(nvim.messages()), what="the message")
    prompts = nvim.lua(
        "return vim.tbl_map(function(nr) return table.concat(vim.api.nvim_buf_get_lines(nr, 0, -1, true), '\\n') end, "
        "vim.tbl_filter(function(nr) return vim.bo[nr].filetype == 'acp_prompt' end, vim.api.nvim_list_bufs()))"
    )
    assert prompts == ["one, better"]
    end_turn(nvim, script)
    nvim.wait_until(lambda: sent(script) == ["first", "one", "two"], what="the last prompt")


def test_what_waits_stays_when_the_host_dies_and_goes_out_with_the_next_prompt(editor: Start, tmp_path: Path) -> None:
    script = agent_script(tmp_path, TURN)
    nvim = with_queue(editor, script, "one", "two")
    nvim.command("AcpQueue")
    nvim.keys("ggjA, better<Esc>")
    nvim.command("write")
    nvim.wait_until(lambda: waiting(nvim) == ["one, better", "two"], what="the new queue")
    nvim.command("wincmd p")
    host = nvim.host()
    assert host is not None
    os.kill(host.pid, signal.SIGKILL)
    nvim.wait_until('require("acp_nvim").status().state == "failed"')
    assert waiting(nvim) == ["one, better", "two"]
    nvim.lua("require('acp_nvim').prompt('three')")
    nvim.wait_until(lambda: sent(script) == ["first", "one, better"], what="the first of those that waited")
    nvim.wait_until(lambda: waiting(nvim) == ["two", "three"], what="the rest of the queue")


def test_a_prompt_is_steered_into_the_turn_that_runs(editor: Start, tmp_path: Path) -> None:
    script = agent_script(tmp_path, TURN)
    nvim = with_queue(editor, script, "waits")
    nvim.keys("inow, please<M-s>")
    nvim.wait_until(lambda: len(script.received("_session/steering")) == 1, what="the prompt at the agent")
    assert script.received("_session/steering")[0]["params"]["prompt"] == [{"type": "text", "text": "now, please"}]
    nvim.wait_until(lambda: "now, please" in nvim.chat_text())
    assert waiting(nvim) == ["waits"]
    assert nvim.events("AcpTurnEnd") == []


BEGINS = """
    import threading

    def turn(agent, prompt):
        if prompt.text == "first":
            threading.Event().wait(60)
        prompt.say(f"<{prompt.text}>")
"""
SEND = """
local pid, moment = ...
local session = require("acp_nvim.host.sessions").nearest()
for line = 1, 2 do
  if moment == line - 1 then vim.uv.kill(pid, "sigkill") end
  vim.cmd(line .. "AcpPrompt go on")
end
local function is_now()
  return moment == 2 or #session.outbox == 4 - moment
end
if moment >= 2 then
  vim.wait(10000, is_now, 1)
  vim.uv.kill(pid, "sigkill")
end
"""


@pytest.mark.parametrize("moment", range(5), ids=lambda moment: f"moment {moment}")
def test_equal_prompts_keep_their_own_selections_whenever_the_host_dies(
    editor: Start, tmp_path: Path, moment: int
) -> None:
    """Before each is sent, at once after both, when the host has taken one, when it has taken both."""
    script = agent_script(tmp_path, BEGINS)
    nvim = editor(agents={"it": {"command": script.argv}})
    nvim.command("AcpChat it")
    nvim.keys("ifirst<C-s><Esc>")
    nvim.wait_until(lambda: sent(script) == ["first"], what="the first prompt")
    nvim.wait_until("#require('acp_nvim.host.sessions').nearest().outbox == 0")
    nvim.command("wincmd p | edit lines.txt")
    nvim.api("buf_set_lines", 0, 0, -1, True, ["this one", "that one"])
    host = nvim.host()
    assert host is not None
    nvim.lua(SEND, host.pid, moment)
    nvim.wait_until('require("acp_nvim").status().state == "failed"')
    if moment == 4:
        assert waiting(nvim) == ["go on", "go on"]
    nvim.lua("require('acp_nvim').prompt('again')")
    nvim.wait_until(lambda: "again" in sent(script), what="the last prompt")
    back = nvim.lua("local one = require('acp_nvim.host.sessions').nearest() return { one.prompt_bufnr, one.context }")
    selected = [lines_of(one["params"]["prompt"]) for one in script.received("session/prompt")]
    if back[1]:
        assert nvim.buffer_text(back[0]).split() == ["go", "on"] * len(back[1])
        assert selected == [[], *[["this one"], ["that one"]][: 2 - len(back[1])], []]
        assert [item["text"] for item in back[1]] == ["this one\n", "that one\n"][2 - len(back[1]) :]
    else:
        assert sent(script) == ["first", "go on", "go on", "again"]
        assert selected == [[], ["this one"], ["that one"], []]


def lines_of(blocks: list[dict[str, Any]]) -> list[str]:
    """The lines of `lines.txt` that a prompt has with it."""
    return [line for line in ("this one", "that one") if any(line in str(block) for block in blocks)]
