"""While an agent floods the user with requests, another one works, and the editor shows what it says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from acp_nvim.permissions.request.broker import WAITING_PERMISSIONS
from tests.support.agent_scripts import agent_script
from tests.support.editor import HeadlessEditor
from tests.support.two_sessions import OPEN, PROMPT, STATE

FLOOD = """
    OPTIONS = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"},
               {"optionId": "no", "name": "No", "kind": "reject_once"}]

    def turn(agent, prompt):
        agent.wire.send_lines(
            json.dumps({"jsonrpc": "2.0", "id": f"p{number}", "method": "session/request_permission", "params": {
                "sessionId": prompt.session_id, "options": OPTIONS,
                "toolCall": {"toolCallId": f"c{number}", "title": f"Number {number}", "kind": "execute"}}}).encode()
            for number in range(5_000)
        )
        prompt.wait_cancelled()
        return "cancelled"
"""
TEXT = """
local bufnr = require("acp_nvim.host.sessions").get(...).bufnr
return table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, -1, true), "\\n")
"""
COUNTED = """
_G.refreshed = 0
local keys = require("acp_nvim.permission.answer_keys")
local refresh = keys.refresh
keys.refresh = function(...)
  _G.refreshed = _G.refreshed + 1
  return refresh(...)
end
"""


@pytest.mark.parametrize("is_shown", [True, False], ids=["in a window", "in the float"])
def test_another_agent_ends_its_turn_while_requests_flood(
    editor: Callable[..., HeadlessEditor], tmp_path: Path, is_shown: bool
) -> None:
    flooder = agent_script(tmp_path, FLOOD, "flooder")
    worker = agent_script(tmp_path, "", "worker")
    nvim = editor(agents={"flooder": {"command": flooder.argv}, "worker": {"command": worker.argv}})
    first, second = nvim.lua(OPEN, "flooder", is_shown), nvim.lua(OPEN, "worker", False)
    for key in (first, second):
        nvim.wait_until(STATE + " == 'idle'", 60, "", key)
    nvim.lua(COUNTED)
    nvim.lua(PROMPT, "go", first)
    nvim.lua(PROMPT, "go", second)
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"))
    assert [one["session"] for one in nvim.events("AcpTurnEnd")] == [second]
    waiting = 'return #require("acp_nvim").permissions()'
    nvim.wait_until(lambda: nvim.lua(waiting) == WAITING_PERMISSIONS, what="the requests that may wait")
    # once in a batch, which has many of them
    assert nvim.lua("return _G.refreshed") < WAITING_PERMISSIONS / 2
    nvim.lua(PROMPT, "go", second)
    nvim.wait_until(lambda: len(nvim.events("AcpTurnEnd")) == 2)
    assert nvim.lua(waiting) == WAITING_PERMISSIONS
    refused = 5_000 - WAITING_PERMISSIONS
    text = f"{WAITING_PERMISSIONS} permission requests are open, and {refused:,} more were refused."
    nvim.wait_until(lambda: text in nvim.lua(TEXT, first), what=text)
