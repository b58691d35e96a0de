"""The pynvim plugin: receives what Lua sends, and runs the app on pynvim's own event loop."""

from __future__ import annotations

import asyncio
import atexit
import gc
import logging
import sys
from typing import Any, Final

import anyio
import pynvim

from acp_nvim.app import App
from acp_nvim.process import umask
from acp_nvim.ui.neovim import NvimEditor
from acp_nvim.ui.neovim_rpc import NvimRpc

GARBAGE: Final = (10_000, 20, 20)
"""New objects until cycles are looked for, and how often the older ones are looked through: there are few."""
THREAD_SECONDS: Final = 0.0005
"""Time after which a thread that wants to run gets the interpreter: one that reads files wants it a hundred times."""

log = logging.getLogger(__name__)


@pynvim.plugin
class AcpPlugin:
    """Made by pynvim when the first message arrives."""

    def __init__(self, nvim: pynvim.Nvim) -> None:
        self._nvim = nvim
        self._app: App | None = None
        self._early: list[tuple[str, Any]] = []
        self._main = nvim.loop.create_task(self._run())  # kept: a task that nobody holds may vanish
        self._main.add_done_callback(self._ended)

    @pynvim.rpc_export("acp_nvim", sync=False)  # type: ignore[untyped-decorator]  # pynvim has no types here
    def receive(self, method: str, params: Any) -> None:
        """Take a message of Lua, `vim.rpcnotify(channel, "acp_nvim", method, params)`; early ones wait for the app."""
        if self._app is None:
            self._early.append((method, params))
        else:
            self._app.receive(method, params)

    @staticmethod
    def _ended(main: asyncio.Task[None]) -> None:
        """Nothing works any more. The process ends, which Lua tells the user; the next command starts another one."""
        if not main.cancelled():
            log.critical("the host ends, because its main task has ended", exc_info=main.exception())
            raise SystemExit(f"acp_nvim: the main task of the host has ended: {main.exception()!r}")

    async def _run(self) -> None:
        umask.make_private()
        editor = NvimEditor(NvimRpc(self._nvim))
        async with anyio.create_task_group() as group:
            group.start_soon(editor.run)
            self._app = App(editor, group)
            editor.on_lost = self._app.on_bug_in
            atexit.register(self._app.close)
            gc.freeze()  # what is there by now stays; to look through it over and over takes a tenth of a flood's time
            gc.set_threshold(*GARBAGE)
            sys.setswitchinterval(THREAD_SECONDS)
            gc.enable()  # who started the host has switched it off
            for method, params in self._early:
                self._app.receive(method, params)
            self._early.clear()
