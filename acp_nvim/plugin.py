"""The pynvim plugin: receives what Lua sends, and runs the app on pynvim's own event loop."""

from __future__ import annotations

import atexit
import gc
import logging
import sys
from typing import Any

import anyio
import pynvim

from acp_nvim.app import App
from acp_nvim.limits import GARBAGE
from acp_nvim.limits.fair_shares import THREAD_SECONDS
from acp_nvim.nvim.nvim_editor import NvimEditor
from acp_nvim.nvim.rpc import NvimRpc

log = logging.getLogger(__name__)


@pynvim.plugin
class AcpPlugin:
    """Made by pynvim when the first message arrives."""

    def __init__(self, nvim: pynvim.Nvim) -> None:
        self._nvim = nvim
        self._app: App | None = None
        self._early: list[tuple[str, Any]] = []
        self._main = nvim.loop.create_task(self._run())  # kept: a task that nobody holds may vanish

    @pynvim.rpc_export("acp_nvim", sync=False)  # type: ignore[untyped-decorator]  # pynvim has no types here
    def receive(self, method: str, params: Any) -> None:
        """`vim.rpcnotify(channel, "acp_nvim", method, params)`."""
        if self._app is None:
            self._early.append((method, params))
        else:
            self._app.receive(method, params)

    async def _run(self) -> None:
        editor = NvimEditor(NvimRpc(self._nvim))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(editor.run)
            self._app = App(editor, tasks)
            atexit.register(self._app.close)
            gc.freeze()  # what is there by now stays; to look through it over and over takes a tenth of a flood's time
            gc.set_threshold(*GARBAGE)
            sys.setswitchinterval(THREAD_SECONDS)
            gc.enable()  # who started the host has switched it off
            for method, params in self._early:
                self._app.receive(method, params)
            self._early.clear()
