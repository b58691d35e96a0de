"""A hundred permission requests at once on the screen: answered by keys, by rule, withdrawn, cancelled; none stays."""

from __future__ import annotations

import os
import random
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.agent_scripts import AgentScript, agent_script
from tests.support.editor import HeadlessEditor

ASKS = """
    # ids that look like the opposite of their kind
    OPTIONS = [
        {"optionId": "reject", "name": "Sure", "kind": "allow_once"},
        {"optionId": "always", "name": "Not at all", "kind": "reject_always"},
        {"optionId": "allow", "name": "Better not", "kind": "reject_once"},
        {"optionId": "never", "name": "Whenever", "kind": "allow_always"},
    ]

    def turn(agent, prompt):
        calls = []
        for number in range(100):
            shown = {"toolCallId": f"c{number}", "title": f"Number {number}", "kind": "execute"}
            if number < 10:
                shown["rawInput"] = {"command": f"safe {number}"}
            params = {"sessionId": prompt.session_id, "toolCall": shown, "options": OPTIONS}
            calls.append(agent.call("session/request_permission", params, f"p{number}"))
        for number in range(90, 100):
            agent.notify("$/cancel_request", {"requestId": f"p{number}"})
        prompt.wait_cancelled()
        return "cancelled"
"""
KEYS = {"a": "reject", "A": "never", "r": "allow", "R": "always"}
"""The option that a key must choose: by its kind."""

LEFT = """
local chat = ...
local floats = vim.tbl_filter(function(win)
  return vim.api.nvim_win_get_config(win).relative ~= ""
end, vim.api.nvim_list_wins())
local keys = vim.tbl_map(function(map) return map.lhs end, vim.api.nvim_buf_get_keymap(chat, "n"))
table.sort(keys)
return { floats = #floats, keys = keys, waiting = #require("acp_nvim").permissions() }
"""


def asked(start: Callable[..., HeadlessEditor], tmp_path: Path) -> tuple[HeadlessEditor, AgentScript, list[str]]:
    """Ten are answered by a rule, ten withdrawn, the rest is on the screen; and what keys the chat had before."""
    script = agent_script(tmp_path, ASKS)
    rules = [{"command": "safe *", "action": "allow"}]
    config = {"default_agent": "it", "permissions": {"rules": rules}}
    nvim = start(agents={"it": {"command": script.argv}}, config=config)
    nvim.command("AcpChat")
    nvim.wait_until('require("acp_nvim").status().state == "idle"')
    keys = nvim.lua(LEFT, nvim.chat_buffer())["keys"]
    nvim.lua('require("acp_nvim").prompt("go")')
    nvim.wait_until(lambda: len(nvim.events("AcpPermissionDone")) == 20)
    assert nvim.lua('return #require("acp_nvim").permissions()') == 80
    return nvim, script, keys


def answer_by_keys(nvim: HeadlessEditor, draw: random.Random) -> dict[int, str]:
    """Some, in any order, under the cursor in the chat: which option each must have been answered with."""
    chosen: dict[int, str] = {}
    nvim.command(f"call win_gotoid(bufwinid({nvim.chat_buffer()}))")
    nvim.keys("<Esc>")
    for number in draw.sample(range(10, 90), 30):
        key = draw.choice("aArR")
        row = nvim.lua("return vim.fn.search(...)", rf"^Number {number}\n\nPermission needed\zs", "we")
        assert row, number
        nvim.keys(key)
        chosen[number] = KEYS[key]
    return chosen


def answers(script: AgentScript) -> dict[int, str | None]:
    """The option that each was answered with on the wire; none has two answers."""
    heard = [one for one in script.received() if "method" not in one]
    assert max(Counter(one["id"] for one in heard).values()) == 1
    return {int(one["id"][1:]): one["result"]["outcome"].get("optionId") for one in heard}


@pytest.mark.parametrize("end", ["AcpCancel", "AcpStop", "killed"])
def test_nothing_of_them_stays(editor: Callable[..., HeadlessEditor], tmp_path: Path, end: str) -> None:
    nvim, script, keys = asked(editor, tmp_path)
    chosen = answer_by_keys(nvim, random.Random(end))
    nvim.wait_until(lambda: len(nvim.events("AcpPermissionDone")) == 20 + len(chosen))
    if end == "killed":
        os.kill(script.notes("started")[0], signal.SIGKILL)
    else:
        nvim.command(end)
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"))
    nvim.wait_until(lambda: len(nvim.events("AcpPermissionDone")) == 100)
    left = nvim.lua(LEFT, nvim.chat_buffer())
    assert left == {"floats": 0, "keys": keys, "waiting": 0}
    closed = Counter(
        line[:3].strip() for line in nvim.chat_text().split("\n") if line.startswith(("  ✓ ", "  ✗ ", "  – "))
    )
    allowed = sum(option in ("reject", "never") for option in chosen.values())
    assert closed == {"✓": 10 + allowed, "✗": len(chosen) - allowed, "–": 90 - len(chosen)}
    if end == "AcpCancel":
        script.wait_received("session/cancel")
        nvim.wait_until(lambda: len(answers(script)) == 100, what="all answers on the wire")
        assert answers(script) == {**dict.fromkeys(range(100)), **dict.fromkeys(range(10), "reject"), **chosen}
