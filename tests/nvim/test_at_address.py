"""A chat with an agent at a TCP port, in a real Neovim: it works, its end is told, and the next prompt reconnects."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.agent_scripts import agent_script
from tests.support.certificates import certificate
from tests.support.editor import HeadlessEditor
from tests.support.listening import listening

Open = Callable[..., HeadlessEditor]

WRITES = """
    def turn(agent, prompt):
        if prompt.text == "die":
            agent.exit(3)
        path, _, text = prompt.text.partition(" ")
        prompt.write(path, prompt.read(path) + text + "\\n")
        prompt.say(f"wrote {text}")
"""


def ask(nvim: HeadlessEditor, text: str) -> None:
    nvim.lua('require("acp_nvim").prompt(...)', text)


def shown(nvim: HeadlessEditor) -> str:
    """The chat, however it is wrapped."""
    return " ".join(nvim.chat_text().split())


def test_it_writes_into_a_buffer_and_its_end_is_told(editor: Open, tmp_path: Path) -> None:
    script, made = agent_script(tmp_path, WRITES), certificate(tmp_path, "localhost")
    with listening(script.argv, "--piece", "5", tls=made) as server:
        nvim = editor(agents={"far": {"address": server.address, "tls": str(made.file)}})
        file = nvim.project / "file"
        file.write_text("one\n")
        nvim.command(f"edit {file}")
        nvim.command("AcpChat far")
        nvim.wait_until('require("acp_nvim").status().state == "idle"')
        ask(nvim, f"{file} two")
        nvim.wait_until(lambda: "wrote two" in nvim.chat_text(), what="the answer")
        nvim.wait_until(lambda: file.read_text() == "one\ntwo\n", what="the file")
        assert nvim.lua("return vim.api.nvim_buf_get_lines(vim.fn.bufnr(...), 0, -1, false)", str(file)) == [
            "one",
            "two",
        ]
        ask(nvim, "die")
        nvim.wait_until('require("acp_nvim").status().state == "failed"')
        closed = f"The connection to agent 'far' at {server.address} was closed"
        nvim.wait_until(lambda: closed in shown(nvim), what=closed)
        ask(nvim, f"{file} three")
        nvim.wait_until(lambda: "wrote three" in nvim.chat_text(), what="the answer after the end")
        nvim.command("AcpStop")
        nvim.wait_until('require("acp_nvim").status().state == "stopped"')
        assert server.process.poll() is None
    assert len(script.notes("started")) == 2


def test_an_address_where_nobody_listens_is_told_in_the_chat(editor: Open) -> None:
    with listening(["true"]) as server:
        gone = server.address
    nvim = editor(agents={"far": {"address": gone}})
    nvim.command("AcpChat far")
    nvim.wait_until('require("acp_nvim").status().state == "failed"')
    nobody = f"Agent 'far' cannot be reached: nothing listens at {gone}."
    nvim.wait_until(lambda: shown(nvim).count(nobody) == 1, what=nobody)


@pytest.mark.parametrize("how", ["left", "killed"])
def test_the_agent_sees_the_end_of_the_editor(editor: Open, tmp_path: Path, how: str) -> None:
    script = agent_script(tmp_path, "    def at_eof(agent):\n        agent.note(eof=True)\n        agent.exit(0)\n")
    with listening(script.argv) as server:
        nvim = editor(agents={"far": {"address": server.address}})
        nvim.command("AcpChat far")
        nvim.wait_until('require("acp_nvim").status().state == "idle"')
        assert script.notes("eof") == []
        if how == "killed":
            host = nvim.host()
            assert host is not None
            os.kill(host.pid, signal.SIGKILL)
        else:
            nvim.close()
        script.wait_note("eof")
        assert server.process.poll() is None
