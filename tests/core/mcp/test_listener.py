"""Who may connect to the socket, and what strangers and faulty clients can do: nothing."""

from __future__ import annotations

import json
import os
import socket
import stat
from contextlib import suppress
from pathlib import Path

import anyio
import pytest

from acp_nvim.jsonrpc.connection import ByteSink, ByteSource
from acp_nvim.mcp import listener as module
from acp_nvim.mcp.listener import peer_uid
from tests.core.mcp.stand_in import Stage, Wire, stage, values
from tests.support.waiting import LIMIT

pytestmark = pytest.mark.anyio


async def words_for(here: Stage, path: str, first: bytes) -> str:
    """What a client hears that begins with these bytes, until it is cut off."""
    with anyio.fail_after(LIMIT):
        async with await anyio.connect_unix(path) as stream:
            await stream.send(first)
            wire, heard = Wire(stream), await Wire(stream).line()
            with pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)):
                await wire.stream.receive()
    return heard.decode()


async def test_only_this_user_may_enter(tmp_path: Path) -> None:
    async with stage(tmp_path) as here:
        path = Path(values(await here.server.entry())["ACP_NVIM_SOCKET"])
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
        assert stat.S_IMODE(os.stat(path.parent).st_mode) == 0o700
        assert path.parent.parent == tmp_path
    assert not path.parent.exists()


async def test_the_token_is_only_in_the_environment(tmp_path: Path) -> None:
    async with stage(tmp_path) as here:
        entry = await here.server.entry()
        token = values(entry)["ACP_NVIM_TOKEN"]
        assert len(token) >= 40
        assert token not in json.dumps([entry["args"], entry["command"], entry["name"]])
        assert repr(here.servers.listener) == f"<Listener {values(entry)['ACP_NVIM_SOCKET']} sessions=1>"


@pytest.mark.parametrize("first", [b"wrong\n", b"\n", b"\xff\xfe\n", b"GET / HTTP/1.1\r\n"])
async def test_a_wrong_token_is_refused(tmp_path: Path, first: bytes) -> None:
    async with stage(tmp_path) as here:
        path = values(await here.server.entry())["ACP_NVIM_SOCKET"]
        assert "the token is of no open session" in await words_for(here, path, first)
        assert here.calls == []


@pytest.mark.parametrize("first", [b"x" * 100_000, b""])
async def test_a_client_without_a_token_is_cut_off(
    tmp_path: Path, first: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "TOKEN_SECONDS", 0.05)
    async with stage(tmp_path) as here:
        path = values(await here.server.entry())["ACP_NVIM_SOCKET"]
        with anyio.fail_after(LIMIT):
            async with await anyio.connect_unix(path) as stream:
                try:
                    await stream.send(first)
                    heard = await stream.receive()
                except anyio.BrokenResourceError:
                    heard = b"the client sends no token"  # it was cut off while it still wrote
        assert b"the client sends no token" in heard


async def test_a_process_of_another_user_is_refused(tmp_path: Path) -> None:
    async with stage(tmp_path) as here:
        here.servers.listener.uid += 1  # as if it were another user's Neovim
        entry = values(await here.server.entry())
        token = entry["ACP_NVIM_TOKEN"].encode() + b"\n"
        assert await words_for(here, entry["ACP_NVIM_SOCKET"], token) == "this Neovim belongs to another user"


async def test_the_system_tells_whose_a_client_is() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert peer_uid(ours) == os.getuid()
    with socket.socket(socket.AF_INET) as stranger:
        assert peer_uid(stranger) in (-1, 4294967295)  # the id of no user


async def test_the_token_of_a_session_ends_with_it(tmp_path: Path) -> None:
    async with stage(tmp_path) as here, here.wire() as wire:
        old = values(await here.server.entry())  # which ends the client with the first one
        with anyio.fail_after(LIMIT), pytest.raises(anyio.EndOfStream):
            await wire.line()
        here.server.close()
        heard = await words_for(here, old["ACP_NVIM_SOCKET"], old["ACP_NVIM_TOKEN"].encode() + b"\n")
        assert "it ends with the session that it was made for" in heard


async def test_a_second_client_is_refused_while_there_is_a_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SECOND_SECONDS", 0.05)
    async with stage(tmp_path) as here:
        entry = values(await here.server.entry())
        path, token = entry["ACP_NVIM_SOCKET"], entry["ACP_NVIM_TOKEN"].encode() + b"\n"
        async with await anyio.connect_unix(path) as first:
            await first.send(token)
            assert await Wire(first).line() == b"ok"
            assert await words_for(here, path, token) == "another client of this session is connected"


async def test_a_client_that_is_started_again_takes_the_place_of_the_first(tmp_path: Path) -> None:
    async with stage(tmp_path) as here:
        entry = values(await here.server.entry())
        path, token = entry["ACP_NVIM_SOCKET"], entry["ACP_NVIM_TOKEN"].encode() + b"\n"
        first = await anyio.connect_unix(path)
        await first.send(token)
        assert await Wire(first).line() == b"ok"
        async with await anyio.connect_unix(path) as second:
            await second.send(token)
            await first.aclose()
            with anyio.fail_after(LIMIT):
                assert await Wire(second).line() == b"ok"


async def test_many_clients_without_a_token_do_not_keep_others_out_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "TOKEN_SECONDS", 0.1)
    async with stage(tmp_path) as here:
        entry = values(await here.server.entry())
        path, token = entry["ACP_NVIM_SOCKET"], entry["ACP_NVIM_TOKEN"].encode() + b"\n"
        crowd = [await anyio.connect_unix(path) for _ in range(40)]
        heard = [await Wire(one).line() for one in crowd]
        assert {*heard} == {b"the client sends no token", b"too many clients connect at once, try again"}
        async with await anyio.connect_unix(path) as stream:
            await stream.send(token)
            assert await Wire(stream).line() == b"ok"
        for one in crowd:
            await one.aclose()


@pytest.mark.parametrize("count", [2, 100])
async def test_a_message_that_is_too_large_costs_only_itself(tmp_path: Path, count: int) -> None:
    async with stage(tmp_path) as here, here.wire() as wire:
        head = b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"show","arguments":{"path":"'
        with anyio.fail_after(LIMIT):
            await wire.stream.send(head)
            for _ in range(count):
                await wire.stream.send(b"x" * 1_000_000)
            await wire.stream.send(b'"}}}\n')
            answer = await wire.receive()
            assert answer["id"] == 7
            assert f"a message of {count} MB is larger than the limit" in answer["error"]["message"]
            await wire.send({"jsonrpc": "2.0", "id": 8, "method": "ping"})
            assert (await wire.receive())["id"] == 8


async def test_garbage_is_answered_and_passed_over(tmp_path: Path) -> None:
    async with stage(tmp_path) as here, here.wire() as wire:
        await wire.stream.send(b'\xff\xfe\x00garbage\n{]\n[[[\n5\n\n{"id": {}, "method": "ping"}\n')
        await wire.send({"jsonrpc": "2.0", "id": "last", "method": "ping"})
        answers = []
        with anyio.fail_after(LIMIT):
            while not answers or answers[-1].get("id") != "last":
                answers.append(await wire.receive())
        assert answers[-1]["result"] == {}
        assert all("error" in one for one in answers[:-1])
        assert here.calls == []


async def test_a_directory_whose_path_is_too_long_for_a_socket_is_not_used(tmp_path: Path) -> None:
    long = tmp_path / ("x" * 120)
    long.mkdir()
    async with stage(tmp_path) as here:
        here.servers.listener.parent = str(long)
        path = values(await here.server.entry())["ACP_NVIM_SOCKET"]
        assert not path.startswith(str(tmp_path))
        assert list(long.iterdir()) == []
        async with await anyio.connect_unix(path):
            pass
    assert not await anyio.Path(path).exists()


async def test_a_socket_that_was_removed_is_made_again(tmp_path: Path) -> None:
    async with stage(tmp_path) as here:
        first = values(await here.server.entry())["ACP_NVIM_SOCKET"]
        os.unlink(first)
        async with here.wire() as wire:
            await wire.send({"jsonrpc": "2.0", "id": 1, "method": "ping"})
            assert (await wire.receive())["result"] == {}


async def test_a_new_socket_costs_no_client_its_connection(tmp_path: Path) -> None:
    async def echo(source: ByteSource, sink: ByteSink) -> None:
        with suppress(anyio.EndOfStream):
            while True:
                await sink.send(await source.receive(100))

    async with stage(tmp_path) as here:
        path, token = await here.servers.listener.open(echo)
        async with await anyio.connect_unix(path) as first:
            wire = Wire(first)
            await first.send(token.encode() + b"\n")
            with anyio.fail_after(LIMIT):
                assert await wire.line() == b"ok"
                os.unlink(path)
                new, _ = await here.servers.listener.open(echo)
                assert new != path
                await first.send(b"still here\n")
                assert await wire.line() == b"still here"
