"""Subagents on the screen: their blocks in the chat, their own chats, who asks, and what a prompt to one does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.agent_scripts import agent_script
from tests.support.processes import kill
from tests.support.screen import ScreenEditor

CHILDREN = """
    def child(agent, prompt, name, **said):
        agent.update(prompt.session_id, {"sessionUpdate": "subagent_update", "sessionId": name, **said})

    def say(agent, name, text):
        agent.update(name, {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}})

    def wait(name):
        while not os.path.exists(name):
            time.sleep(0.01)
"""

WORKS = (
    CHILDREN
    + """
    OPTIONS = [{"optionId": "y", "name": "Yes", "kind": "allow_once"},
               {"optionId": "n", "name": "No", "kind": "reject_once"}]

    def turn(agent, prompt):
        prompt.say("I ask two others.")
        for name in ("reader", "writer"):
            child(agent, prompt, name, title=f"The {name}", description=f"What the {name} does",
                  state={"state": "running"}, capabilities={"cancel": {}} if name == "reader" else None)
            say(agent, name, f"Hello from the {name}.")
        agent.update("reader", {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Look at file.txt",
                                "kind": "read", "status": "in_progress"})
        prompt.tool("spawn", "Delegate", content=[{"type": "session", "sessionId": "reader"}])
        asked = agent.request("session/request_permission", {
            "sessionId": "writer", "toolCall": {"toolCallId": "w", "title": "Write it"}, "options": OPTIONS})
        say(agent, "writer", "It said " + asked["outcome"]["optionId"])
        wait(os.path.join(os.environ["DONE"], "done"))
        for name in ("reader", "writer"):
            child(agent, prompt, name, state={"state": "idle", "stopReason": "end_turn"})
        return "end_turn"
"""
)


def on_screen(screen: Callable[..., ScreenEditor], tmp_path: Path, **more: Any) -> ScreenEditor:
    """A chat whose agent has two subagents at work, one of which asks."""
    script = agent_script(tmp_path, WORKS)
    agent = {"command": script.argv, "env": {"DONE": str(tmp_path)}}
    nvim = screen(agents={"it": agent}, config={"default_agent": "it"}, rows=40, **more)
    nvim.lua('require("acp_nvim.limits").answer_pause_ms = 0')
    nvim.command("AcpChat")
    nvim.wait_until('require("acp_nvim").status().state == "idle"')
    nvim.lua('require("acp_nvim").prompt("go")')
    nvim.wait_until('#require("acp_nvim").permissions() == 1')
    return nvim


def to_line(nvim: ScreenEditor, words: str) -> None:
    """Put the cursor of the chat on the line with these words."""
    nvim.lua(
        """
        local win = vim.fn.bufwinid(select(2, ...))
        vim.api.nvim_set_current_win(win)
        vim.api.nvim_win_set_cursor(win, { 1, 0 })
        assert(vim.fn.search("\\\\V" .. ..., "cW") > 0)
        """,
        words,
        nvim.chat_buffer(),
    )


def allow(nvim: ScreenEditor) -> None:
    """Answer the request that waits."""
    request = nvim.lua('return require("acp_nvim").permissions()[1].id')
    assert nvim.lua('return require("acp_nvim").answer(..., "y")', request)


def views(nvim: ScreenEditor) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = nvim.lua('return require("acp_nvim").status(1).subagents')
    return found


def test_their_blocks_say_what_they_do_and_open_their_chats(
    screen: Callable[..., ScreenEditor], tmp_path: Path
) -> None:
    nvim = on_screen(screen, tmp_path)
    for words in (
        "The reader  works  since",
        "What the reader does",
        "→ Look at file.txt",
        "The writer  waits for you",
    ):
        nvim.wait_for(words)
    assert [(one["title"], one["state"]) for one in views(nvim)] == [
        ("The reader", "running"),
        ("The writer", "waiting"),
    ]
    assert nvim.lua('return require("acp_nvim").permissions()[1].session') == views(nvim)[1]["session"]
    nvim.wait_for("The writer (subagent of it) asks")
    to_line(nvim, "The reader")
    nvim.type("\r")
    nvim.wait_for("Hello from the reader.")
    assert nvim.lua("return vim.fn.tabpagenr('$')") == 2
    assert not nvim.lua("return vim.bo.modifiable")
    nvim.type("q")
    nvim.wait_until("vim.fn.tabpagenr('$') == 1")
    nvim.wait_for("→ The reader")
    to_line(nvim, "→ The reader")
    nvim.type("\r")
    nvim.wait_for("Hello from the reader.")
    nvim.type("i")  # goes to the prompt of the agent: a subagent takes none
    nvim.wait_until('vim.bo.filetype == "acp_prompt" and vim.b.acp_nvim_session == 1')
    nvim.command("stopinsert")
    allow(nvim)
    (tmp_path / "done").touch()
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"), what="the end of the turn")
    nvim.wait_until(lambda: {one["state"] for one in views(nvim)} == {"idle"}, what="the end of their work")
    states = [(one["subagent"]["title"], one["subagent"]["state"]) for one in nvim.events("AcpSubagent")]
    assert states[-1][1] == "idle"
    assert ("The writer", "waiting") in states


def test_a_prompt_to_a_subagent_is_refused_in_words(screen: Callable[..., ScreenEditor], tmp_path: Path) -> None:
    nvim = on_screen(screen, tmp_path)
    key = views(nvim)[0]["session"]
    sent, why = nvim.lua('return { require("acp_nvim").prompt("hi", { session_id = ... }) }', key)
    assert (sent, why) == (False, "a subagent takes no prompts: its agent gives it work")
    assert nvim.lua('return { require("acp_nvim").set_config("mode", "x", { session = ... }) }', key)[0] is False
    (tmp_path / "done").touch()


def test_they_are_over_with_the_host(screen: Callable[..., ScreenEditor], tmp_path: Path) -> None:
    nvim = on_screen(screen, tmp_path)
    to_line(nvim, "The writer")
    nvim.type("\r")
    nvim.wait_for("Hello from the writer.")
    host = nvim.host()
    assert host is not None
    kill([host])
    nvim.wait_until('#require("acp_nvim").permissions() == 0')
    nvim.wait_for("– cancelled")
    assert {one["state"] for one in views(nvim)} == {"stopped"}
    assert "The reader  over" in nvim.chat_text()
    assert "Hello from the writer." in nvim.buffer_text()
    (tmp_path / "done").touch()
    nvim.command("tabclose")
    nvim.lua('require("acp_nvim").prompt("again", { session_id = 1 })')
    nvim.wait_until(lambda: nvim.lua("return vim.g.acp_nvim_last_subagent") == 1_000_004, what="two more")
    nvim.wait_until('#require("acp_nvim").permissions() == 1')
    allow(nvim)
    nvim.wait_until(lambda: {one["state"] for one in views(nvim)} == {"idle"}, what="the end of their work")
