"""Commands of an agent: the user is asked in the chat, which shows what they print; nothing of them outlives Neovim."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.support.agent_scripts import AgentScript, agent_script
from tests.support.editor import HeadlessEditor

ALLOWED = {"permissions": {"terminal": "allow"}}


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
    assert nvim.chat_text().count("echo one; echo two >&2; exit 3") == 1  # not in the title, too
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


def opened(nvim: HeadlessEditor) -> int:
    """The terminal buffer of the terminal whose command stands in the chat, opened by a key on its line."""
    nvim.wait_until(lambda: "\n  $ " in nvim.chat_text(), what="the terminal in the chat")
    nvim.lua(
        """local chat = vim.fn.win_findbuf(...)[1]
        vim.api.nvim_set_current_win(chat)
        vim.fn.search("^  \\\\$ ", "bw")""",
        nvim.chat_buffer(),
    )
    nvim.keys("<CR>")
    assert nvim.lua("return vim.bo.filetype") == "acp_terminal"
    return int(nvim.lua("return vim.api.nvim_get_current_buf()"))


def shown(nvim: HeadlessEditor, buffer: int) -> list[str]:
    """The lines of a terminal buffer, without the rest of the screen."""
    return [line.rstrip() for line in nvim.buffer_text(buffer).rstrip("\n ").split("\n")]


def test_all_of_it_opens_in_a_terminal_buffer_and_goes_on_there(
    editor: Callable[..., HeadlessEditor], tmp_path: Path
) -> None:
    line = "seq 100; printf '\\033[31mred\\033[0m\\n'; while [ ! -e go ]; do sleep 0.01; done; echo last; exit 3"
    nvim = editor(agents={"it": {"command": running(tmp_path, line).argv}}, config=ALLOWED)
    nvim.command("AcpChat")
    nvim.keys("igo<Esc><CR>")
    buffer = opened(nvim)
    first = [str(number) for number in range(1, 101)] + ["red"]
    nvim.wait_until(lambda: shown(nvim, buffer) == first, what="all that it printed")
    (nvim.project / "go").touch()
    nvim.wait_until(lambda: shown(nvim, buffer) == [*first, "last", "[exit 3]"], what="its end")
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"))
    nvim.keys("q")
    nvim.command("AcpStop")
    nvim.wait_until('require("acp_nvim").status().state == "stopped"')
    again = opened(nvim)
    nvim.wait_until(lambda: shown(nvim, again) == [*first, "last", "[exit 3]"], what="all of it again")


def test_a_flood_into_an_open_buffer_keeps_its_end_and_says_what_is_missing(
    editor: Callable[..., HeadlessEditor], tmp_path: Path
) -> None:
    line = "while [ ! -e go ]; do sleep 0.01; done; seq 1500000; echo last"
    nvim = editor(agents={"it": {"command": running(tmp_path, line).argv}}, config=ALLOWED)
    nvim.command("AcpChat")
    nvim.keys("igo<Esc><CR>")
    buffer = opened(nvim)
    (nvim.project / "go").touch()
    nvim.wait_until(lambda: shown(nvim, buffer)[-2:] == ["last", "[exit 0]"], limit=60, what="its end")
    lines = shown(nvim, buffer)
    assert len(lines) <= 10_100
    numbers = [int(one) for one in lines if one.isdigit()]
    assert numbers[-5000:] == list(range(1_495_001, 1_500_001))


def test_a_terminal_that_an_adapter_tells_of_in_meta_opens_too(
    editor: Callable[..., HeadlessEditor], tmp_path: Path
) -> None:
    script = agent_script(
        tmp_path,
        """
        def turn(agent, prompt):
            shown = [{"type": "terminal", "terminalId": "call"}]
            prompt.tool("call", "npm test", kind="execute", status="in_progress", content=shown,
                        _meta={"terminal_info": {"terminal_id": "call", "cwd": "/elsewhere"}})
            for number in range(50):
                data = f"\\033[32mtest {number}\\033[0m\\r\\n"
                prompt.tool_update("call", _meta={"terminal_output": {"terminal_id": "call", "data": data}})
            ended = {"terminal_id": "call", "exit_code": 1, "signal": None}
            prompt.tool_update("call", status="failed", _meta={"terminal_exit": ended})
        """,
    )
    nvim = editor(agents={"it": {"command": script.argv}})
    nvim.command("AcpChat")
    nvim.keys("igo<Esc><CR>")
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"))
    assert "  test 49\n  exit 1" in nvim.chat_text()
    chat = nvim.lua("return vim.fn.win_findbuf(...)[1]", nvim.chat_buffer())
    nvim.lua("vim.api.nvim_set_current_win(...)", chat)
    nvim.lua('vim.fn.search("test 49", "bw")')
    nvim.keys("<CR>")
    buffer = int(nvim.lua("return vim.api.nvim_get_current_buf()"))
    nvim.wait_until(lambda: shown(nvim, buffer) == [*(f"test {number}" for number in range(50)), "[exit 1]"])
