"""Awaitable requests to Neovim, on top of pynvim's callbacks. No other module uses pynvim's session."""

from __future__ import annotations

import asyncio
from typing import Any

import pynvim


class NvimError(Exception):
    """Neovim answered a request with an error; the text is Neovim's message."""


class UnsendableError(Exception):
    """The arguments cannot be encoded, and nothing was sent."""


class NvimRpc:
    """Calls Lua functions in Neovim. Neovim does not answer while it waits at a prompt."""

    def __init__(self, nvim: pynvim.Nvim) -> None:
        self._session = nvim._session._async_session

    async def call_lua(self, module: str, function: str, *args: Any) -> Any:
        """Call a function of a Lua module and return its result.

        Raises `NvimError` when the function fails, `UnsendableError` when the arguments cannot be encoded.
        """
        answer: asyncio.Future[tuple[Any, Any]] = asyncio.get_running_loop().create_future()

        def settle(error: Any, result: Any) -> None:
            if not answer.done():  # cancelled
                answer.set_result((error, result))

        code = f"return require({module!r}).{function}(...)"
        try:
            self._session.request("nvim_exec_lua", [code, args], settle)
        except Exception as cause:
            raise UnsendableError(f"{type(cause).__name__}: {cause}") from cause
        error, result = await answer
        if error:
            raise NvimError(error[1] if isinstance(error, list) else str(error))
        return result
