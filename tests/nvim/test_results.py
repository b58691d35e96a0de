"""What tool calls have brought, as the user sees it in the chat, with all of it one key away."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.support.agent_scripts import agent_script
from tests.support.editor import HeadlessEditor

SCRIPT = r"""
    import os
    import time

    def text(words):
        return [{"type": "content", "content": {"type": "text", "text": words}}]

    BUILD = "".join(f"\x1b[32mok\x1b[0m test {n}\n" for n in range(500))

    def turn(agent, prompt):
        prompt.tool("b", "make test", kind="execute", status="in_progress", content=text(BUILD))
        prompt.say("<more>")
        while not os.path.exists("go"):
            time.sleep(0.01)
        for n in range(0, 101, 10):
            bars = "".join(f"\x1b[1A\x1b[2K{one} %\r\n" for one in range(0, n + 1, 10))
            prompt.tool_update("b", content=text(BUILD + "\n" + bars))
        prompt.tool_update("b", status="completed")
        prompt.tool("f", "make lint", kind="execute", status="failed",
                    rawOutput={"stdout": "", "stderr": "\x1b[31mno such rule\x1b[0m", "exit_code": 2})
        prompt.tool("r", "Read it", kind="read", status="completed", content=text("a\x1b[8mhidden\rb"))
        prompt.say("<end>")
"""


def test_results_are_readable_from_both_ends_and_whole_in_the_details(
    editor: Callable[..., HeadlessEditor], tmp_path: Path
) -> None:
    nvim = editor(agents={"it": {"command": agent_script(tmp_path, SCRIPT).argv}}, config={"default_agent": "it"})
    nvim.command("AcpPrompt go")
    nvim.wait_until(lambda: "<more>" in nvim.chat_text(), what="a command that runs")
    head = [f"  ok test {n}" for n in range(8)]
    lines = nvim.chat_text().split("\n")
    start = lines.index("make test") + 1
    assert lines[start : start + 9] == [*head, "… 480 lines … (K: all of it)"]
    assert lines[start + 9 : start + 21] == [f"  ok test {n}" for n in range(488, 500)]
    (nvim.project / "go").touch()
    nvim.wait_until(lambda: "<end>" in nvim.chat_text(), what="the end")
    lines = nvim.chat_text().split("\n")
    start = lines.index("make test") + 1
    assert lines[start : start + 9] == [*head, "… 481 lines … (K: all of it)"]
    assert lines[start + 9 : start + 21] == [*(f"  ok test {n}" for n in range(489, 500)), "  100 %"]
    start = lines.index("make lint")
    assert lines[start : start + 3] == ["make lint", "  no such rule", "  exit 2"]
    assert "  a^[[8mhidden^Mb" in lines, "what is no result of a command hides nothing"
    nvim.command("AcpChat")
    nvim.keys("<C-w>kgg/^make test<CR>K")
    nvim.wait_until("vim.bo.filetype == 'acp_call'")
    details = nvim.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)")
    assert [line for line in details if "test 250" in line] == ["\x1b[32mok\x1b[0m test 250"]
