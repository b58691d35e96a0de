"""Numbers that no editor can hold cost the field or the message they stand in: both agents go on, and the host."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.nvim.test_many_sessions import OPEN
from tests.support.agent_scripts import agent_script
from tests.support.editor import HeadlessEditor

SPOILER = """
    INITIALIZE = {"protocolVersion": 1}

    def turn(agent, prompt):
        number = prompt.text
        prompt.say("before\\n")

        def raw(update):
            params = '{"sessionId": "%s", "update": %s}' % (prompt.session_id, update.replace("@", number))
            agent.raw(('{"jsonrpc": "2.0", "method": "session/update", "params": %s}\\n' % params).encode())

        head = '{"sessionUpdate": "tool_call", "toolCallId": "%s", "title": "Call %s", "kind": "read", %s}'
        more = {
            "line": '"locations": [{"path": "/a", "line": @}]',
            "input": '"rawInput": {"deep": [{"n": @}, "kept"]}',
            "output": '"rawOutput": [@]',
            "meta": '"_meta": {"terminal_info": {"terminal_id": "t", "cwd": "/"}, "n": @}',
            "exit": '"_meta": {"terminal_exit": {"terminal_id": "t", "exit_code": @, "signal": null}}',
            "link": '"content": [{"type": "content", "content":'
                    ' {"type": "resource_link", "name": "n", "uri": "file:///n", "size": @}}]',
        }
        for name, member in more.items():
            raw(head % (name, name, member))
        raw('{"sessionUpdate": "usage_update", "used": @, "size": 100}')
        raw('{"sessionUpdate": "usage_update", "used": 5, "size": @}')
        raw('{"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "said ", "_meta": {"a": @}}}')
        raw('{"sessionUpdate": "plan", "entries": [{"content": "c", "status": "pending", "priority": @}]}')
        raw('{"sessionUpdate": "@", "anything": [@, {"@": @}]}')
        read = '{"sessionId": "%s", "path": "%s", "line": @}'
        params = (read % (prompt.session_id, os.path.abspath("file"))).replace("@", number)
        agent.raw(('{"jsonrpc": "2.0", "id": "r", "method": "fs/read_text_file", "params": %s}\\n' % params).encode())
        agent.raw(('{"jsonrpc": "2.0", "id": %s, "method": "no/such"}\\n' % number).encode())
        prompt.say("after\\n")
"""

TALKER = """
    def turn(agent, prompt):
        for number in range(40):
            prompt.say(f"{number} ")
            if prompt.pause(0.005):
                return "cancelled"
"""

TEXT = """
local session = require("acp_nvim.host.sessions").get(...)
return table.concat(vim.api.nvim_buf_get_lines(session.bufnr, 0, -1, true), "\\n")
"""

NUMBERS = ["9223372036854775808", "-9223372036854775809", "18446744073709551616", "1" + "0" * 400, "1e300", "1e999"]


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: number[:12])
def test_no_agent_ends_another(editor: Callable[..., HeadlessEditor], tmp_path: Path, number: str) -> None:
    spoiler, talker = agent_script(tmp_path, SPOILER, "spoiler"), agent_script(tmp_path, TALKER, "talker")
    nvim = editor(agents={"spoiler": {"command": spoiler.argv}, "talker": {"command": talker.argv}})
    host = nvim.lua('require("acp_nvim.host").ensure() return require("acp_nvim.host").channel()')
    other = nvim.lua(OPEN.replace("client.prompt(...,", "client.prompt('go',"), "talker")
    nvim.wait_until(lambda: "1 " in nvim.lua(TEXT, other), what="the other agent's words")
    hit = nvim.lua(
        OPEN.replace("client.session(...,", "client.session('spoiler',"),
        number,
    )
    nvim.wait_until(lambda: len(nvim.events("AcpTurnEnd")) == 2, what="the end of both turns")
    assert {one["stop_reason"] for one in nvim.events("AcpTurnEnd")} == {"end_turn"}
    shown = nvim.lua(TEXT, hit)
    assert "before" in shown
    assert "after" in shown
    assert "said" in shown or number == "1e999"  # with which the whole message is no JSON that can be held
    assert "".join(f"{one} " for one in range(40)).strip() in nvim.lua(TEXT, other)
    assert "malformed" not in nvim.lua(TEXT, other)
    refused = {-32602, -32601}
    nvim.wait_until(
        lambda: {one["error"]["code"] for one in spoiler.received() if "error" in one} == refused, what="both errors"
    )
    assert [one["error"]["code"] for one in spoiler.received() if one.get("id") == "r"] == [-32602]
    for key in (hit, other):
        nvim.lua("require('acp_nvim.sessions.client').prompt('7', { session_id = ... })", key)
    nvim.wait_until(lambda: len(nvim.events("AcpTurnEnd")) == 4, what="the end of two more turns")
    assert nvim.lua('return require("acp_nvim.host").channel()') == host
    nvim.command("AcpLog")
    assert "spoiler" in nvim.buffer_text()
    assert "Traceback" not in nvim.buffer_text()
