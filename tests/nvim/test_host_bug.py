"""A bug in the host's main task ends the host, and the next prompt starts another one; a malformed greeting is told."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from tests.support.agent_scripts import agent_script
from tests.support.editor import HeadlessEditor

ROOT = Path(__file__).resolve().parents[2]

HOST = """#!{python}
import os, sys
sys.path.insert(0, {root!r})
from acp_nvim.neovim.editor import NvimEditor

class Faulty(NvimEditor):
    def __init__(self, rpc):
        super().__init__(rpc)
        self.turns = 0

    async def run(self):
        import anyio
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(super().run)
            while not (os.path.exists({bug!r}) and not self._batches):
                await anyio.sleep(0.01)
            os.remove({bug!r})
            raise RuntimeError("out of cheese")

import acp_nvim.neovim.editor
acp_nvim.neovim.editor.NvimEditor = Faulty
code, sys.argv = sys.argv[sys.argv.index("-c") + 1], ["-c", *sys.argv[sys.argv.index("-c") + 2:]]
exec(code)
"""


def test_the_next_prompt_starts_another_host(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> None:
    bug, python = tmp_path / "bug", tmp_path / "python"
    python.write_text(HOST.format(python=sys.executable, root=str(ROOT), bug=str(bug)))
    python.chmod(0o755)
    script = agent_script(tmp_path, "")
    nvim = editor(agents={"it": {"command": script.argv}}, config={"python": str(python)})
    nvim.lua('require("acp_nvim").prompt("one")')
    nvim.wait_until(lambda: "You said: one" in nvim.chat_text(), what="the first answer")
    first = nvim.lua('return require("acp_nvim.host").channel()')
    bug.write_text("now")
    nvim.wait_until(lambda: "the host ended unexpectedly" in "\n".join(nvim.messages()), what="words about the end")
    assert "out of cheese" in nvim.chat_text()
    nvim.lua('require("acp_nvim").prompt("two")')
    nvim.wait_until(lambda: "You said: two" in nvim.chat_text(), what="the second answer")
    assert nvim.lua('return require("acp_nvim.host").channel()') != first
    nvim.command("AcpLog")
    assert "the host ends, because its main task has ended" in nvim.buffer_text()


MALFORMED = """
local notify, told = vim.rpcnotify, false
function vim.rpcnotify(channel, name, method, params)
  if method == "hello" and not told then
    told = true
    vim.fn.rpcnotify(channel, name, "hello", { version = 1 }) -- nobody checks this one
  end
  return notify(channel, name, method, params)
end
"""


def test_a_greeting_that_is_malformed_is_told_and_the_next_one_counts(
    editor: Callable[..., HeadlessEditor], tmp_path: Path
) -> None:
    nvim = editor(agents={"it": {"command": agent_script(tmp_path, "").argv}})
    nvim.lua(MALFORMED)
    nvim.lua('require("acp_nvim").prompt("one")')
    nvim.wait_until(lambda: "You said: one" in nvim.chat_text(), what="the answer")
    nvim.wait_until(lambda: "failed to take 'hello'" in "\n".join(nvim.messages()), what="words about the first one")
