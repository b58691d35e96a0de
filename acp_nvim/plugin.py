"""The pynvim plugin: receives Lua's messages, and runs the app on pynvim's event loop."""

from __future__ import annotations

import asyncio
import atexit
import gc
import logging
import sys
from typing import TYPE_CHECKING, Any, Final

import anyio
import msgspec
import pynvim

from acp_nvim.agents.first_agent import start_first
from acp_nvim.memory import bound_heaps
from acp_nvim.process import umask
from acp_nvim.process.child import ChildProcesses
from acp_nvim.process.guarding import guard_of_host

if TYPE_CHECKING:
    from acp_nvim.app import App
    from acp_nvim.contract.editor import Editor
    from acp_nvim.contract.messages import Hello

GARBAGE: Final = (10_000, 20, 20)
"""Thresholds of the garbage collector, higher than the default: there are few cycles."""
THREAD_SECONDS: Final = 0.0005
"""Switch interval of the interpreter: a thread that reads files waits for the interpreter a hundred times."""

log = logging.getLogger(__name__)


@pynvim.plugin
class AcpPlugin:
    """The plugin object, created by pynvim when the first message arrives."""

    def __init__(self, nvim: pynvim.Nvim) -> None:
        self._nvim = nvim
        self._app: App | None = None
        self._early: list[tuple[str, Any]] = []
        self._has_come = asyncio.Event()  # a message, since the last look at `_early`
        self._main = nvim.loop.create_task(self._run())  # a reference, so that it is not garbage-collected
        self._main.add_done_callback(self._ended)

    @pynvim.rpc_export("acp_nvim", sync=False)  # type: ignore[untyped-decorator]  # pynvim has no types here
    def receive(self, method: str, params: Any) -> None:
        """Receive a message of Lua: `vim.rpcnotify(channel, "acp_nvim", method, params)`."""
        if self._app is None:
            self._early.append((method, params))
            self._has_come.set()
        else:
            self._app.receive(method, params)

    @staticmethod
    def _ended(main: asyncio.Task[None]) -> None:
        """End the process, of which Lua tells the user; the next command starts another one."""
        if not main.cancelled():
            log.critical("the host ends, because its main task has ended", exc_info=main.exception())
            raise SystemExit(f"acp_nvim: the main task of the host has ended: {main.exception()!r}")

    async def _run(self) -> None:
        bound_heaps()  # before the first thread: that of the agent's process would get a heap of its own
        umask.make_private()
        processes = ChildProcesses(guard_of_host())
        first = await start_first(self._early, processes)
        from acp_nvim.app import App  # here: the agent starts while they are loaded
        from acp_nvim.neovim.editor import NvimEditor
        from acp_nvim.neovim.rpc import NvimRpc

        editor = NvimEditor(NvimRpc(self._nvim))
        async with anyio.create_task_group() as group:
            group.start_soon(editor.run)
            self._app = App(editor, group, processes, await self._hello(editor), first)
            editor.on_lost = self._app.on_bug_in
            atexit.register(self._app.close)
            gc.freeze()  # these objects stay; scanning them repeatedly takes a tenth of the time of a flood
            gc.set_threshold(*GARBAGE)
            sys.setswitchinterval(THREAD_SECONDS)
            gc.enable()  # it is disabled during start-up
            for method, params in self._early:
                self._app.receive(method, params)
            self._early.clear()

    async def _hello(self, editor: Editor) -> Hello:
        """Wait for the first `hello`, which is taken out of the messages, as are those that are malformed."""
        from acp_nvim import decoders
        from acp_nvim.app import not_taken
        from acp_nvim.contract.messages import Hello

        while True:
            await self._has_come.wait()
            self._has_come.clear()
            for method, params in [one for one in self._early if one[0] == "hello"]:
                self._early.remove((method, params))
                try:
                    return decoders.convert(params, Hello)
                except msgspec.ValidationError as error:
                    not_taken(editor, method, error)
