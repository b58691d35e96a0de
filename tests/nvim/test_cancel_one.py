"""One tool call, or one command, is cancelled with a key in the chat; the agent goes on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.nvim.test_terminals import ALLOWED, running
from tests.support.agent_scripts import agent_script
from tests.support.editor import HeadlessEditor

V2 = """
    INITIALIZE = {"protocolVersion": 2, "info": {"name": "v2", "version": "1"}, "capabilities": {"session": {}}}
    done = []

    def turn(agent, prompt):
        prompt.update("state_update", state="running")
        for name in ("one", "two"):
            prompt.update("tool_call_update", toolCallId=name, title="Job " + name, kind="execute",
                          status="in_progress", capabilities={"cancel": {}})
        prompt.wait_cancelled()
        for name in {"one", "two"} - {*done}:
            prompt.update("tool_call_update", toolCallId=name, status="cancelled")
        prompt.say("cancelled alone: " + " ".join(done), messageId="m")
        prompt.update("state_update", state="idle", stopReason="cancelled")
        return {"messageId": "p"}

    def tool_call_cancel(agent, request):
        done.append(request.params["toolCallId"])
        agent.update(request.params["sessionId"], {"sessionUpdate": "tool_call_update", "status": "cancelled",
                                                   "toolCallId": done[-1], "capabilities": None})
        return {}
"""


def at(nvim: HeadlessEditor, words: str) -> None:
    """Puts the cursor on the line of the chat with these words."""
    nvim.lua("vim.api.nvim_set_current_win(vim.fn.win_findbuf(require('acp_nvim.host.sessions').current().bufnr)[1])")
    nvim.lua("vim.fn.cursor(1, 1) assert(vim.fn.search('\\\\V' .. ..., 'cW') > 0)", words)


def test_a_tool_call_is_cancelled_and_then_the_turn(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> None:
    script = agent_script(tmp_path, V2)
    nvim = editor(agents={"it": {"command": script.argv}}, config={"protocol": {"v2": True}})
    nvim.command("AcpChat")
    nvim.keys("igo<Esc><CR>")
    nvim.wait_until(lambda: "Job two" in nvim.chat_text())
    at(nvim, "Job one")
    nvim.keys("gc")
    nvim.wait_until(lambda: "Cancelling only 'Job one'." in "\n".join(nvim.messages()))
    script.wait_received("tool_call/cancel")
    at(nvim, "go")
    nvim.keys("gc")
    nvim.wait_until(lambda: "There is no tool call and no command here" in "\n".join(nvim.messages()))
    assert nvim.events("AcpTurnEnd") == []
    assert script.received("session/cancel") == []
    nvim.command("AcpCancel")
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"))
    assert "cancelled alone: one" in nvim.chat_text()


def test_a_command_that_neovim_runs_is_ended(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> None:
    script = running(tmp_path, "echo begun; sleep 1000")
    nvim = editor(agents={"it": {"command": script.argv}}, config=ALLOWED)
    nvim.command("AcpChat")
    nvim.keys("igo<Esc><CR>")
    nvim.wait_until(lambda: "\n  begun" in nvim.chat_text())
    nvim.lua("vim.cmd('vertical resize 20')")
    at(nvim, "begun")
    nvim.keys("gc")
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"))
    assert "<begun\n>" in nvim.chat_text()
    assert script.received("session/cancel") == []
