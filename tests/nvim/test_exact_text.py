"""The chat holds exactly what the agent sent, however much and however fast."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.support.agent_scripts import agent_script
from tests.support.editor import HeadlessEditor

ODD = [
    *("plain ", "**bold**\n", "\n", "\n\n", "tab\there ", "carriage\rreturn ", "NUL\0byte ", "bell\a "),
    *("\x1b[31mred\x1b[0m ", "é", "e\u0301 ", "世界 ", "😀 ", "👩\u200d👩\u200d👧 ", "שלום "),
    *("```py\n", "  indented\n", "trailing  \n", "\u2028", "\x85", "long " * 400),
]


def said(nvim: HeadlessEditor) -> str:
    """What the chat holds of the agent's one answer, NULs as NULs."""
    lines = nvim.lua(
        """
        local lines = vim.api.nvim_buf_get_lines(..., 0, -1, true)
        return lines
        """,
        nvim.chat_buffer(),
    )
    text = "\n".join(lines)
    _, _, answer = text.partition("\ngo\n\n")
    return answer


def test_twenty_thousand_chunks_without_a_pause(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> None:
    source = """
        def turn(agent, prompt):
            texts = (f"chunk {n} of **words**" + ("\\n" if n % 7 == 0 else " ") for n in range(20000))
            agent.flood(prompt.session_id, texts)
    """
    nvim = editor(agents={"talker": {"command": agent_script(tmp_path, source).argv}})
    nvim.command("AcpChat")
    nvim.lua('require("acp_nvim").prompt("go")')
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"), limit=60)
    expected = "".join(f"chunk {n} of **words**" + ("\n" if n % 7 == 0 else " ") for n in range(20000))
    assert said(nvim) == expected


def test_odd_characters_arrive_as_they_are(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> None:
    source = f"""
        ODD = {ODD!r}

        def turn(agent, prompt):
            agent.flood(prompt.session_id, ODD * 3)
    """
    nvim = editor(agents={"talker": {"command": agent_script(tmp_path, source).argv}})
    nvim.command("AcpChat")
    nvim.lua('require("acp_nvim").prompt("go")')
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"))
    assert said(nvim) == "".join(ODD * 3)
