"""A client that wants it is told that its call goes on, until it is answered, cancelled, or the client is gone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import stdio_client

from acp_nvim.contract.editor import ToolAnswer
from acp_nvim.limits import PROGRESS_SECONDS
from acp_nvim.mcp import server
from tests.core.mcp.stand_in import Stage, Wire, stage
from tests.core.mcp.test_eras import META, MODES
from tests.support.mcp_clients import parameters
from tests.support.waiting import LIMIT

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients are told of progress without a pause."""
    monkeypatch.setattr(server, "PROGRESS_SECONDS", 0.001)


class Patient:
    """A user who answers when the test says so."""

    def __init__(self, here: Stage) -> None:
        self.answered = anyio.Event()
        self.ended = anyio.Event()
        here.place.ask = self.ask  # type: ignore[method-assign]

    async def ask(self, tool: str, arguments: dict[str, Any]) -> ToolAnswer:
        try:
            await self.answered.wait()
        finally:
            self.ended.set()
        return ToolAnswer([tool])


async def call(wire: Wire, token: object, number: int = 1) -> None:
    params = {"_meta": {**META, "progressToken": token}, "name": "editor_state"}
    await wire.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})


@MODES
async def test_a_call_that_waits_for_the_user_tells_of_progress(tmp_path: Path, mode: str, version: str) -> None:
    told: list[float] = []
    async with stage(tmp_path) as here:
        user = Patient(here)

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            told.append(progress)
            assert (total, message) == (None, "Neovim works on it, or waits for the user.")
            if len(told) == 3:
                user.answered.set()

        with anyio.fail_after(LIMIT):
            async with Client(stdio_client(parameters(await here.server.entry())), mode=mode) as client:
                assert client.protocol_version == version
                result = await client.call_tool("editor_state", {}, progress_callback=on_progress)
    assert told[:3] == [1, 2, 3]
    assert result.content[0].text == "editor_state"
    assert PROGRESS_SECONDS <= 30  # opencode waits 60 s


@pytest.mark.parametrize("token", ["a", 7, 0, ""])
async def test_nothing_is_told_after_the_answer(tmp_path: Path, token: str | int) -> None:
    async with stage(tmp_path) as here, here.wire() as wire:
        user = Patient(here)
        await call(wire, token)
        with anyio.fail_after(LIMIT):
            first = await wire.receive()
            assert (first["method"], first["params"]["progressToken"]) == ("notifications/progress", token)
            user.answered.set()
            while "result" not in (answer := await wire.receive()):
                assert answer["params"]["progressToken"] == token
            assert answer["id"] == 1
            await wire.send({"jsonrpc": "2.0", "id": 2, "method": "server/discover", "params": {"_meta": META}})
            assert (await wire.receive())["id"] == 2


async def test_a_cancelled_call_is_told_of_no_more(tmp_path: Path) -> None:
    async with stage(tmp_path) as here, here.wire() as wire:
        user = Patient(here)
        await call(wire, "a")
        with anyio.fail_after(LIMIT):
            await wire.receive()
            params = {"requestId": 1, "reason": "enough"}
            await wire.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
            await user.ended.wait()
            await wire.send({"jsonrpc": "2.0", "id": 2, "method": "server/discover", "params": {"_meta": META}})
            while (got := await wire.receive()).get("id") != 2:
                assert got["method"] == "notifications/progress"  # sent before the answer
            await wire.send({"jsonrpc": "2.0", "id": 3, "method": "server/discover", "params": {"_meta": META}})
            assert (await wire.receive())["id"] == 3


async def test_the_call_of_a_client_that_is_gone_ends(tmp_path: Path) -> None:
    async with stage(tmp_path) as here:
        user = Patient(here)
        async with here.wire() as wire:
            await call(wire, "a")
            with anyio.fail_after(LIMIT):
                await wire.receive()
        with anyio.fail_after(LIMIT):
            await user.ended.wait()


@pytest.mark.parametrize("token", [None, True, 1.5, [], {}])
async def test_who_names_no_token_is_told_nothing(tmp_path: Path, token: object) -> None:
    async with stage(tmp_path) as here, here.wire() as wire:
        user = Patient(here)
        await call(wire, token)
        with anyio.fail_after(LIMIT):
            await wire.send({"jsonrpc": "2.0", "id": 2, "method": "server/discover", "params": {"_meta": META}})
            assert (await wire.receive())["id"] == 2
            user.answered.set()
            assert (await wire.receive())["id"] == 1


async def test_a_call_with_a_token_that_fails_is_answered(tmp_path: Path) -> None:
    async with stage(tmp_path) as here, here.wire() as wire:
        params = {"_meta": {**META, "progressToken": "a"}, "name": "nonesuch"}
        await wire.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        with anyio.fail_after(LIMIT):
            assert (await wire.receive())["error"]["code"] == -32602
