"""Permissions while the chat is not seen, with the real host: the float, answers that are kept, rules that answer."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.support.agent_scripts import AgentScript, agent_script
from tests.support.screen import ScreenEditor

ASKS = """
    ONCE = [
        {"optionId": "y", "name": "Go on", "kind": "allow_once"},
        {"optionId": "n", "name": "Stop", "kind": "reject_once"},
    ]

    def turn(agent, prompt):
        raw = {"command": "make \\u202eall"}
        prompt.say(str(prompt.ask("c1", ONCE, title="Build", kind="execute", rawInput=raw)))
        prompt.say(str(prompt.ask("c2", ONCE, title="Build", kind="execute", rawInput={"command": prompt.text})))
"""
MANY = """
    KINDS = ["allow_once", "reject_once", "allow_always", "_boss"] * 3

    def turn(agent, prompt):
        options = [{"optionId": f"o{n}", "name": f"Way {n}", "kind": kind} for n, kind in enumerate(KINDS, 1)]
        calls = []
        for number in range(10):
            shown = {"toolCallId": f"c{number}", "title": f"{prompt.text} {number}.", "kind": "edit"}
            params = {"sessionId": prompt.session_id, "toolCall": shown, "options": options}
            calls.append(agent.call("session/request_permission", params, f"{prompt.text}{number}"))
        prompt.wait_cancelled()
        return "cancelled"
"""
FLOATS = """return #vim.tbl_filter(function(win)
  return vim.api.nvim_win_get_config(win).relative ~= ""
end, vim.api.nvim_list_wins())"""


def away(
    screen: Callable[..., ScreenEditor], script: AgentScript, rules: Sequence[dict[str, str]] = ()
) -> ScreenEditor:
    """A screen without a chat on it."""
    config = {"default_agent": "it", "permissions": {"rules": list(rules)}}
    nvim = screen(agents={"it": {"command": script.argv}}, config=config, rows=40)
    nvim.lua('require("acp_nvim.limits").answer_pause_ms = 0')
    nvim.command("AcpChat")
    nvim.wait_until('require("acp_nvim").status().state == "idle"')
    nvim.command("tabnew")
    return nvim


def prompt(nvim: ScreenEditor, text: str, session: int = 1) -> None:
    nvim.lua('require("acp_nvim").prompt(..., { session_id = select(2, ...) })', text, session)


def gone(nvim: ScreenEditor) -> None:
    nvim.wait_until(lambda: nvim.lua(FLOATS) == 0, what="no float")


BEYOND = """
    ONCE = [{"optionId": "y", "name": "Go on", "kind": "allow_once"}]

    def turn(agent, prompt):
        raw = {"command": "git status", "script": "rm \\u202ex", "dangerouslyDisableSandbox": True}
        prompt.say(str(prompt.ask("c1", ONCE, title="Build", kind="execute", rawInput=raw)))
"""


def test_the_float_says_what_a_command_has_beyond_what_a_rule_allows(
    screen: Callable[..., ScreenEditor], tmp_path: Path
) -> None:
    nvim = away(screen, agent_script(tmp_path, BEYOND), rules=[{"command": "git status *", "action": "allow"}])
    prompt(nvim, "go")
    for words in (
        "$ git status",
        "It asks to run without the sandbox",
        "dangerouslyDisableSandbox: true",
        "Not completely known",
        'script: "rm <202e>x"',
    ):
        nvim.wait_for(words)
    assert nvim.events("AcpTurnEnd") == []


def test_an_answer_that_is_kept_is_given_by_rule_and_forgotten(
    screen: Callable[..., ScreenEditor], tmp_path: Path
) -> None:
    nvim = away(screen, agent_script(tmp_path, ASKS))
    prompt(nvim, "make \u202eall")
    for words in (
        "it asks",
        "Permission needed  execute  Build",
        "$ make <202e>all",
        "✓ Go on",
        "kept by acp_nvim",
    ):
        nvim.wait_for(words)
    nvim.lua('require("acp_nvim.commands.permission").focus()')
    nvim.type("A")
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"), what="the end of the turn")
    gone(nvim)
    chat = nvim.chat_text()
    assert "✓ Go on  by an earlier answer: " in chat
    assert [one["data"].get("source") for one in nvim.events() if one["name"] == "AcpPermissionDone"] == [
        None,
        "stored",
    ]
    nvim.type(":AcpPermissions\r")
    nvim.wait_for("your answer 20")
    nvim.type("1\r")
    nvim.wait_for("Forget it: ")
    nvim.type("y")
    nvim.wait_until(lambda: any("the rule is removed" in text for text in nvim.messages()), what="the message")
    prompt(nvim, "make \u202eall")
    nvim.wait_for("Permission needed  execute  Build")
    assert len(nvim.events("AcpPermissionDone")) == 2


@pytest.mark.parametrize("end", ["cancel", "kill", "host"])
def test_twenty_at_once_from_two_sessions_leave_the_screen(
    screen: Callable[..., ScreenEditor], tmp_path: Path, end: str
) -> None:
    script = agent_script(tmp_path, MANY)
    nvim = away(screen, script)
    nvim.command("AcpChat! it")
    nvim.wait_until('require("acp_nvim").status().state == "idle"')
    nvim.command("stopinsert | tabnew")
    prompt(nvim, "left", 1)
    prompt(nvim, "right", 2)
    nvim.wait_until('#require("acp_nvim").permissions() == 20')
    nvim.wait_for("19 more wait")
    nvim.wait_for("Way 12")
    first, *_, last = nvim.lua('return vim.tbl_map(function(p) return p.id end, require("acp_nvim").permissions())')
    for number, option in ((last, "o12"), (first, "o10")):
        assert nvim.lua('return require("acp_nvim").answer(...)', number, option) is True
    nvim.wait_until(lambda: len(nvim.events("AcpPermissionDone")) == 2, what="both answers")
    nvim.wait_for("17 more wait")
    if end == "cancel":
        for session in (1, 2):
            nvim.lua(
                'local session = require("acp_nvim.host.sessions").get(...) '
                'require("acp_nvim.host.requests").send(session, "cancel", { force = false })',
                session,
            )
    elif end == "kill":
        for pid in set(script.notes("started")):
            os.kill(pid, signal.SIGKILL)
    else:
        os.kill(nvim.host().pid, signal.SIGKILL)
    gone(nvim)
    nvim.wait_until('#require("acp_nvim").permissions() == 0')
    nvim.wait_until(lambda: len(nvim.events("AcpPermissionDone")) == 20, what="all of them closed")
    assert nvim.lua('return require("acp_nvim").answer(...)', first + 1, "o1") is False
