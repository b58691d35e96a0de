"""The relay as agents run it: what it passes on, what it says when it is refused, and when it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import Process
from anyio.streams.stapled import StapledByteStream

from acp_nvim.mcp.servers import RELAY
from tests.core.mcp.stand_in import Wire, stage, values
from tests.support.waiting import LIMIT

pytestmark = pytest.mark.anyio

REQUEST = b'{"jsonrpc": "2.0", "id": 3, "method": "ping"}\n'


async def run(entry: dict[str, Any], said: bytes) -> subprocess.CompletedProcess[bytes]:
    """Run the program of an entry, with only its own environment, and say something to it, to the end."""
    command = [entry["command"], *entry["args"]]
    with anyio.fail_after(LIMIT):
        return await anyio.run_process(command, input=said, env=values(entry), check=False)


@asynccontextmanager
async def relay(entry: dict[str, Any]) -> AsyncIterator[tuple[Process, Wire]]:
    """The program of an entry, and a client of it."""
    async with await anyio.open_process([entry["command"], *entry["args"]], env=values(entry)) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield process, Wire(StapledByteStream(process.stdin, process.stdout))


async def test_it_passes_on_requests_and_answers_and_ends_with_its_input(tmp_path: Path) -> None:
    async with stage(tmp_path) as here, relay(await here.server.entry()) as (process, wire):
        with anyio.fail_after(LIMIT):
            await wire.stream.send(REQUEST * 1000)
            assert [(await wire.receive())["id"] for _ in range(1000)] == [3] * 1000
            await wire.stream.send_eof()
            assert await process.wait() == 0


async def test_large_messages_go_both_ways(tmp_path: Path) -> None:
    asked = {"jsonrpc": "2.0", "id": "x" * 500_000, "method": "ping"}
    async with stage(tmp_path) as here, relay(await here.server.entry()) as (_, wire):
        with anyio.fail_after(LIMIT):
            await wire.send(asked)
            assert await wire.receive() == {"jsonrpc": "2.0", "id": "x" * 500_000, "result": {}}


async def test_a_refusal_is_told_to_the_first_request_and_on_stderr(tmp_path: Path) -> None:
    async with stage(tmp_path) as here:
        entry = await here.server.entry()
        entry["env"] = [{**one, "value": "wrong"} if "TOKEN" in one["name"] else one for one in entry["env"]]
        done = await run(entry, REQUEST)
    words = "acp_nvim: the token is of no open session, it ends with the session that it was made for."
    assert done.returncode == 1
    assert json.loads(done.stdout) == {"jsonrpc": "2.0", "id": 3, "error": {"code": -32603, "message": words}}
    assert done.stderr.decode().strip() == words


@pytest.mark.parametrize("said", [REQUEST, b"", b"not json\n", b"[]\n", b'{"method": "notification"}\n'])
async def test_without_a_host_it_says_that_neovim_has_ended(tmp_path: Path, said: bytes) -> None:
    env = [("ACP_NVIM_SOCKET", str(tmp_path / "none")), ("ACP_NVIM_TOKEN", "any")]
    entry = {
        "command": sys.executable,
        "args": ["-I", "-S", RELAY],
        "env": [{"name": name, "value": value} for name, value in env],
    }
    done = await run(entry, said)
    assert done.returncode == 1
    assert b"Neovim, or the session of this server, has ended" in done.stderr
    assert b"Traceback" not in done.stderr
    assert bool(done.stdout) is (said == REQUEST)


async def test_it_ends_when_the_session_ends(tmp_path: Path) -> None:
    async with stage(tmp_path) as here, relay(await here.server.entry()) as (process, wire):
        with anyio.fail_after(LIMIT):
            await wire.stream.send(REQUEST)
            assert (await wire.receive())["id"] == 3
            here.server.close()
            assert await process.wait() == 0


def test_it_needs_only_the_standard_library_and_no_site() -> None:
    code = "import sys; sys.argv = ['relay']; import runpy; runpy.run_path(sys.argv[0] if 0 else %r, run_name='it');"
    code = code % RELAY + "print(*sorted(m for m in sys.modules if 'acp_nvim' in m or 'msgspec' in m or m == 'site'))"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
    assert os.path.getsize(RELAY) < 5000
