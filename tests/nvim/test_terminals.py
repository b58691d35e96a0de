"""Commands of an agent: the user is asked in the chat, which shows what they print; nothing of them outlives Neovim."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.support.agent_scripts import AgentScript, agent_script
from tests.support.editor import HeadlessEditor


def running(directory: Path, line: str) -> AgentScript:
    """An agent that runs a line of shell, shows it in a tool call, and says what it got."""
    return agent_script(
        directory,
        f"""
        def turn(agent, prompt):
            try:
                terminal = prompt.terminal({line!r})
            except Error as error:
                return prompt.say("<" + error.message + ">")
            shown = [{{"type": "terminal", "terminalId": terminal}}]
            prompt.tool("c", "Work", kind="execute", status="in_progress", content=shown)
            prompt.ask_terminal("wait_for_exit", terminal)
            prompt.say("<" + prompt.ask_terminal("output", terminal)["output"] + ">")
            prompt.ask_terminal("release", terminal)
            prompt.tool_update("c", status="completed")
        """,
    )


def asked(start: Callable[..., HeadlessEditor], script: AgentScript) -> HeadlessEditor:
    """An editor in whose chat the question stands."""
    nvim = start(agents={"it": {"command": script.argv}})
    nvim.command("AcpChat")
    nvim.keys("igo<Esc><CR>")
    nvim.wait_until('#require("acp_nvim").permissions() > 0')
    return nvim


def test_a_key_allows_it_and_the_chat_shows_what_it_prints(
    editor: Callable[..., HeadlessEditor], tmp_path: Path
) -> None:
    nvim = asked(editor, running(tmp_path, "echo one; echo two >&2; exit 3"))
    assert "Permission needed  execute  Run echo one; echo two >&2; exit 3" in nvim.chat_text()
    nvim.keys("<C-w>ka")
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"))
    chat = nvim.chat_text()
    assert "<one\ntwo\n>" in chat
    shown = [line.strip() for line in chat.splitlines()]
    start = len(shown) - 1 - shown[::-1].index("$ echo one; echo two >&2; exit 3")
    assert shown[start : start + 4] == ["$ echo one; echo two >&2; exit 3", "one", "two", "exit 3"]


def test_what_is_rejected_is_not_run(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> None:
    nvim = asked(editor, running(tmp_path, "touch here"))
    nvim.keys("<C-w>kr")
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"))
    assert "<The user did not allow to run: touch here>" in nvim.chat_text()
    assert not (nvim.project / "here").exists()


def test_what_runs_when_neovim_is_left_does_not_outlive_it(
    editor: Callable[..., HeadlessEditor], tmp_path: Path
) -> None:
    nvim = asked(editor, running(tmp_path, "setsid sleep 1000 & echo runs; sleep 1000"))
    nvim.keys("<C-w>ka")
    nvim.wait_until(lambda: "\n  runs" in nvim.chat_text())
    nvim.close()  # which fails when anything is left
