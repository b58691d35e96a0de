"""Connections to agents on a TCP port: how they are opened, what is said when they are not, and how they end."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import anyio.lowlevel
import pytest

from acp_nvim.agents.address import parse_address
from acp_nvim.process.end_times import ended_at
from acp_nvim.process.guarding import Guard
from acp_nvim.transports import reaching
from acp_nvim.transports.interface import Disconnected
from acp_nvim.transports.reaching import UnreachableError
from acp_nvim.transports.tcp import TcpLink, connect_tcp
from tests.support.certificates import Certificate, certificate
from tests.support.listening import free_port, listening
from tests.support.places import ROOT
from tests.support.waiting import LIMIT

pytestmark = pytest.mark.anyio

ECHO = [sys.executable, "-c", "import sys\nfor line in sys.stdin: print('got', line, end='', flush=True)"]
SILENT = [sys.executable, "-c", "import sys; sys.stdin.read()"]

Connect = Callable[..., Awaitable[TcpLink]]


@pytest.fixture
async def connect(tmp_path: Path) -> AsyncIterator[Connect]:
    """Connects to an address; the connection is closed at the end."""
    guard = Guard()
    guard.ends = str(tmp_path)
    async with AsyncExitStack() as stack:

        async def connected(address: str, tls: bool | str = False, seconds: float = LIMIT) -> TcpLink:
            parsed = parse_address(address)
            link = await connect_tcp(
                type(parsed)(address, parsed.host, parsed.port, tls=bool(tls)), tls, guard, seconds
            )
            stack.push_async_callback(link.stop)
            return link

        yield connected


async def until_said(link: TcpLink, words: str) -> str:
    said = b""
    with anyio.fail_after(LIMIT):
        while words.encode() not in said:
            said += await link.receive(7)
    return said.decode()


async def why_not(connect: Connect, address: str, tls: bool | str = False, seconds: float = LIMIT) -> tuple[str, str]:
    with pytest.raises(UnreachableError) as raised:
        await connect(address, tls, seconds)
    return raised.value.cause, str(raised.value)


async def test_what_is_sent_arrives_and_so_does_the_answer(connect: Connect) -> None:
    with listening(ECHO, "--piece", "3") as server:
        link = await connect(server.address)
        await link.send("wörds\n".encode())
        await link.send(b"more\n")
        assert await until_said(link, "more\n") == "got wörds\ngot more\n"
        assert repr(link) == f"<TcpLink {server.address} open>"


async def test_a_connection_with_tls_is_checked_against_the_certificates_given(
    connect: Connect, tmp_path: Path
) -> None:
    made = certificate(tmp_path, "localhost")
    with listening(ECHO, tls=made) as server:
        link = await connect(server.address, str(made.file))
        await link.send(b"x" * 100_000 + b"\n")
        assert len(await until_said(link, "\n")) == 100_005
        await link.stop()


async def test_an_ip_address_can_be_what_a_certificate_is_for(connect: Connect, tmp_path: Path) -> None:
    made = certificate(tmp_path, "127.0.0.1")
    with listening(ECHO, tls=made) as server:
        link = await connect(f"127.0.0.1:{server.port}", str(made.file))
        await link.send(b"hi\n")
        assert await until_said(link, "hi\n") == "got hi\n"


async def test_a_certificate_that_the_system_does_not_know_is_refused(connect: Connect, tmp_path: Path) -> None:
    with listening(ECHO, tls=certificate(tmp_path, "localhost")) as server:
        cause, words = await why_not(connect, server.address, tls=True)
    assert cause == "certificate"
    assert words.startswith(f"the certificate of {server.address} is not accepted: self")


async def test_a_certificate_for_another_host_is_refused(connect: Connect, tmp_path: Path) -> None:
    made = certificate(tmp_path, "example.org")
    with listening(ECHO, tls=made) as server:
        cause, words = await why_not(connect, server.address, str(made.file))
    assert cause == "wrong_name"
    assert "is not valid for 'localhost'" in words


async def test_a_certificate_that_has_expired_is_refused(connect: Connect, tmp_path: Path) -> None:
    made = certificate(tmp_path, "localhost", days=-1)
    with listening(ECHO, tls=made) as server:
        cause, words = await why_not(connect, server.address, str(made.file))
    assert (cause, "expired" in words) == ("outdated", True)


@pytest.mark.parametrize("content", [None, "", "no certificate"])
async def test_a_file_of_certificates_that_cannot_be_used_is_named(
    connect: Connect, tmp_path: Path, content: str | None
) -> None:
    file = tmp_path / "own.pem"
    if content is not None:
        file.write_text(content)
    cause, words = await why_not(connect, "localhost:1", str(file))
    assert cause == "tls"
    reason = "No such file or directory" if content is None else "it has no certificate in PEM"
    assert words == f"the file of certificates {file} cannot be used: {reason}"


async def test_who_speaks_no_tls_is_told_apart(connect: Connect) -> None:
    talks = [sys.executable, "-c", "print('hello, I am no TLS' * 9, flush=True); input()"]
    with listening(talks) as server:
        assert await why_not(connect, server.address, tls=True) == ("not_tls", f"{server.address} does not speak TLS")


async def test_who_hangs_up_on_tls_is_told(connect: Connect) -> None:
    with listening([sys.executable, "-c", "input"]) as server:
        cause, words = await why_not(connect, server.address, tls=True)
    assert (cause, words) == ("not_tls", f"{server.address} closed the connection before TLS was set up")


async def test_who_never_answers_tls_is_not_waited_for(connect: Connect) -> None:
    with listening(SILENT) as server:
        cause, words = await why_not(connect, server.address, tls=True, seconds=0.3)
    assert (cause, words) == ("network", f"{server.address} did not answer within 0.3 s")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
async def test_where_nothing_listens_that_is_said(connect: Connect, host: str) -> None:
    address = f"{host}:{free_port()}"
    cause, words = await why_not(connect, address)
    if host == "[::1]" and cause == "network":  # a machine without IPv6
        assert words == f"{address} cannot be reached: Cannot assign requested address"
    else:
        assert (cause, words) == ("refused", f"nothing listens at {address}")


def looked_up(monkeypatch: pytest.MonkeyPatch, look_up: Callable[..., Any]) -> None:
    """Names are looked up with that."""
    real = socket.getaddrinfo

    def instead(host: Any, *more: Any, **named: Any) -> Any:
        return look_up() if host == "far.example" else real(host, *more, **named)

    monkeypatch.setattr(socket, "getaddrinfo", instead)


def found(*hosts: str) -> list[Any]:
    return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, 0)) for host in hosts]


@pytest.mark.parametrize("error", [socket.gaierror(-2, "Name or service not known"), UnicodeError("label too long")])
async def test_a_name_that_nobody_knows_is_told(
    connect: Connect, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def unknown() -> Any:
        raise error

    looked_up(monkeypatch, unknown)
    assert await why_not(connect, "far.example:1") == ("name", "no machine is called 'far.example'")


async def test_a_name_that_no_certificate_can_have_is_told(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    real = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, *more, **named: real("127.0.0.1", *more, **named))
    with listening(SILENT) as server:
        cause, words = await why_not(connect, f".:{server.port}", tls=True)
    assert (cause, words) == ("name", "'.' cannot be the name of a machine")


def test_who_has_no_such_agent_does_not_load_what_it_needs() -> None:
    program = "import sys, acp_nvim.app; print([name for name in sys.modules if name in sys.argv])"
    names = ["acp_nvim.transports.tcp", "acp_nvim.transports.websocket", "acp_nvim.transports.reaching", "websockets"]
    told = subprocess.run([sys.executable, "-c", program, *names], cwd=ROOT, capture_output=True, text=True, check=True)
    assert told.stdout == "[]\n"


async def test_a_name_without_an_address_is_told(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up(monkeypatch, found)
    assert await why_not(connect, "far.example:1") == ("name", "'far.example' has no network address")


async def test_a_slow_look_up_holds_nothing_up(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow() -> Any:
        begun.set()
        go_on.wait(LIMIT)
        return found("127.0.0.1")

    looked_up(monkeypatch, slow)
    steps = 0
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(connect, "far.example:1")
            with anyio.fail_after(LIMIT):
                while not begun.is_set() or steps < 10:
                    await anyio.lowlevel.checkpoint()
                    steps += 1
            tasks.cancel_scope.cancel()  # does not wait for the thread
        assert await why_not(connect, "far.example:1", seconds=0.1) == (
            "network",
            "far.example:1 did not answer within 0.1 s",
        )
    finally:
        go_on.set()


async def test_of_several_addresses_the_first_that_answers_is_taken(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, tried = anyio.connect_tcp, []

    async def instead(host: str, port: int) -> anyio.abc.SocketStream:
        tried.append(host)
        if host == "10.0.0.1":
            await anyio.sleep_forever()
        if host == "10.0.0.2":
            raise OSError("All connection attempts failed") from ConnectionRefusedError(111, "Connection refused")
        return await real(host, port)

    looked_up(monkeypatch, lambda: found("10.0.0.1", "10.0.0.2", "127.0.0.1", "10.0.0.3"))
    monkeypatch.setattr(anyio, "connect_tcp", instead)
    monkeypatch.setattr(reaching, "FIRST_ADDRESS_SECONDS", 0.05)
    with listening(ECHO) as server:
        link = await connect(f"far.example:{server.port}")
        await link.send(b"hi\n")
        assert await until_said(link, "hi\n") == "got hi\n"
    assert tried == ["10.0.0.1", "10.0.0.2", "127.0.0.1"]


async def test_the_system_watches_the_other_side(connect: Connect) -> None:
    with listening(SILENT) as server:
        link = await connect(server.address)
        sock = link._stream.extra(anyio.abc.SocketAttribute.raw_socket)
        assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == reaching.KEEPALIVE_SECONDS
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == reaching.UNANSWERED_MS


async def ends(link: TcpLink) -> Disconnected:
    with anyio.fail_after(LIMIT):
        try:
            while True:
                await link.receive(4096)
        except anyio.EndOfStream:
            await link.wait()
    return link.ending()


ONCE = [sys.executable, "-c", "print('bye', flush=True); input()"]


@pytest.mark.parametrize("tls", [False, True])
async def test_an_end_on_the_other_side_is_the_end_of_what_can_be_read(
    connect: Connect, tmp_path: Path, tls: bool
) -> None:
    made = certificate(tmp_path, "localhost") if tls else None
    with listening(ONCE, tls=made) as server:
        link = await connect(server.address, str(made.file) if made else False)
        await until_said(link, "bye")
        await link.send(b"\n")
        assert await ends(link) == Disconnected(server.address, "was closed by the other side", True)


async def test_a_reset_is_told_as_such(connect: Connect) -> None:
    with listening(ONCE, "--reset") as server:
        link = await connect(server.address)
        await until_said(link, "bye")
        await link.send(b"\n")
        assert await ends(link) == Disconnected(server.address, "was lost (Connection reset by peer)", True)
        with pytest.raises(anyio.BrokenResourceError):
            await link.send(b"x")


async def test_a_server_that_is_killed_ends_the_connection(connect: Connect, tmp_path: Path) -> None:
    made = certificate(tmp_path, "localhost")
    with listening(SILENT, tls=made) as server:
        link = await connect(server.address, str(made.file))
        server.kill()
        ending = await ends(link)
    assert ending.how in ("was closed by the other side", "was lost (Connection reset by peer)")  # unread data resets
    assert not ending.has_heard


async def test_garbage_instead_of_tls_records_ends_the_connection(connect: Connect, tmp_path: Path) -> None:
    """Somebody on the way changes what is said: nothing of it is taken."""
    made = certificate(tmp_path, "localhost")
    with listening(SILENT, tls=made) as server, Meddler(server.port) as meddler:
        link = await connect(f"localhost:{meddler.port}", str(made.file))
        meddler.say(b"\x17\x03\x03\x00\x20" + b"x" * 32)
        ending = await ends(link)
    assert (ending.how.startswith("was lost ("), ending.has_heard) == (True, False)


class Meddler:
    """Passes one connection on, and says what it likes to the client."""

    def __init__(self, to: int) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        self._to = to
        self._connected = threading.Event()
        self._sockets: list[socket.socket] = []

    def __enter__(self) -> Meddler:
        threading.Thread(target=self._run, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        for one in (self._server, *self._sockets):
            one.close()

    def say(self, data: bytes) -> None:
        assert self._connected.wait(LIMIT)
        self._sockets[0].sendall(data)

    def _run(self) -> None:
        client, _ = self._server.accept()
        agent = socket.create_connection(("127.0.0.1", self._to))
        self._sockets = [client, agent]
        self._connected.set()
        for source, sink in ((client, agent), (agent, client)):
            threading.Thread(target=self._pass, args=(source, sink), daemon=True).start()

    @staticmethod
    def _pass(source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            return


async def test_stopping_closes_it_and_notes_the_time(connect: Connect, tmp_path: Path) -> None:
    with listening(SILENT) as server:
        link = await connect(server.address)
        rungs: list[Any] = []
        async with anyio.create_task_group() as tasks:

            async def reads() -> None:
                with pytest.raises(anyio.ClosedResourceError):
                    await link.receive(10)

            tasks.start_soon(reads)
            await anyio.lowlevel.checkpoint()
            with anyio.fail_after(LIMIT):
                await link.stop(rungs.append)
                await link.stop(rungs.append)
                await link.wait()
    assert (rungs, link.ending().how) == ([], "was closed here")
    end = ended_at(str(tmp_path), link.mark)
    assert end is not None
    assert end >= link.began


async def test_two_connections_have_different_marks(connect: Connect) -> None:
    with listening(SILENT) as server:
        marks = {(await connect(server.address)).mark for _ in range(2)}
    assert len(marks) == 2
    assert not any(mark in os.environ.values() for mark in marks)


def test_certificates_differ(tmp_path: Path) -> None:
    made: list[Certificate] = [certificate(tmp_path, "localhost", name) for name in ("one", "two")]
    assert made[0].file.read_text() != made[1].file.read_text()
