"""WebSockets to agents: the handshake, frames as lines, pings, and what others may do wrong."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from textwrap import dedent

import anyio
import anyio.abc
import anyio.lowlevel
import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Frame, Opcode
from websockets.utils import accept_key

from acp_nvim.agents.address import parse_address
from acp_nvim.process.guarding import Guard
from acp_nvim.transports.reaching import UnreachableError
from acp_nvim.transports.websocket import WebSocketLink, connect_websocket
from tests.support.certificates import certificate
from tests.support.listening import free_port, listening
from tests.support.waiting import LIMIT, wait_until

pytestmark = pytest.mark.anyio

ECHO = [sys.executable, "-c", "import sys\nfor line in sys.stdin: print('got', line, end='', flush=True)"]
SILENT = [sys.executable, "-c", "import sys; sys.stdin.read()"]

BY_HAND = """
import base64, hashlib, sys
read, out = sys.stdin.buffer, sys.stdout.buffer
lines = []
while (line := read.readline()) not in (b"\\r\\n", b""):
    lines.append(line)
key = next(line.split()[1] for line in lines if line.lower().startswith(b"sec-websocket-key"))
accept = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
def say(data):
    out.write(data)
    out.flush()
head = (b"HTTP/1.1 101 ok", b"Upgrade: websocket", b"Connection: Upgrade", b"Sec-WebSocket-Accept: " + accept)
ok = b"\\r\\n".join((*head, b"", b""))
"""
"""Answers the handshake without a library; what it says then is not framed for it."""

Connect = Callable[..., Awaitable[WebSocketLink]]


def by_hand(script: str) -> list[str]:
    return [sys.executable, "-c", BY_HAND + dedent(script)]


@pytest.fixture
async def connect(tmp_path: Path) -> AsyncIterator[Connect]:
    """Connects to an address; the connection is closed at the end, and pings are answered until then."""
    guard = Guard()
    guard.ends = str(tmp_path)
    async with AsyncExitStack() as stack, anyio.create_task_group() as tasks:

        async def connected(
            address: str, token: str | None = None, tls: bool | str = False, seconds: float = LIMIT
        ) -> WebSocketLink:
            link = await connect_websocket(parse_address(address), tls, token, guard, seconds)
            stack.push_async_callback(link.stop)
            tasks.start_soon(link.read_aside)
            return link

        yield connected
        await stack.aclose()


async def until_said(link: WebSocketLink, words: bytes, max_bytes: int = 4096) -> bytes:
    said = b""
    with anyio.fail_after(LIMIT):
        while words not in said[-max_bytes - len(words) :]:  # all of it takes too long
            said += await link.receive(max_bytes)
    return said


async def until_end(link: WebSocketLink) -> tuple[bytes, str]:
    """What it still says, and how it ended."""
    said = b""
    with anyio.fail_after(LIMIT):
        try:
            while True:
                said += await link.receive(4096)
        except anyio.EndOfStream:
            await link.wait()
    return said, link.ending().how


async def why_not(connect: Connect, address: str, token: str | None = None, seconds: float = LIMIT) -> tuple[str, str]:
    with pytest.raises(UnreachableError) as raised:
        await connect(address, token, seconds=seconds)
    return raised.value.cause, str(raised.value)


async def test_a_line_is_a_frame_and_a_frame_is_a_line(connect: Connect) -> None:
    with listening(ECHO, "--websocket") as server:
        link = await connect(server.address)
        await link.send('{"a": "wörds"}\n'.encode())
        await link.send(b"x" * 300_000 + b"\n")
        said = await until_said(link, b"x\n", max_bytes=700)
        assert said == 'got {"a": "wörds"}\ngot '.encode() + b"x" * 300_000 + b"\n"
        assert repr(link) == f"<WebSocketLink {server.address} open>"


async def test_it_can_be_encrypted_and_take_a_token(connect: Connect, tmp_path: Path) -> None:
    made = certificate(tmp_path, "localhost")
    with listening(ECHO, "--websocket", "--token", "s3cret-token", tls=made) as server:
        link = await connect(server.address, "s3cret-token", tls=str(made.file))
        await link.send(b"hi\n")
        assert await until_said(link, b"hi\n") == b"got hi\n"
        with pytest.raises(UnreachableError, match="is not accepted: self"):
            await connect(server.address, "s3cret-token", tls=True)


@pytest.mark.parametrize("token", [None, "another"])
async def test_a_token_that_is_missing_or_wrong_is_told(connect: Connect, token: str | None) -> None:
    with listening(ECHO, "--websocket", "--token", "s3cret-token") as server:
        cause, words = await why_not(connect, server.address, token)
    assert (cause, words) == ("token", f"{server.address} answers with the HTTP status 401")


async def test_another_path_is_told(connect: Connect) -> None:
    with listening(ECHO, "--websocket") as server:
        address = server.address.replace("/acp", "/other")
        assert await why_not(connect, address) == ("status", f"{address} answers with the HTTP status 404")


async def test_where_nothing_listens_that_is_said(connect: Connect) -> None:
    address = f"ws://127.0.0.1:{free_port()}/acp"
    assert await why_not(connect, address) == ("refused", f"nothing listens at {address}")


@pytest.mark.parametrize(
    "script",
    [
        "say(b'SSH-2.0-OpenSSH_9.9\\r\\n')",
        "say(b'HTTP/1.1 101 ok\\r\\n\\r\\n')",
        "say(ok.replace(accept, b'wrong'))",
        "say(ok.replace(b'Upgrade: websocket', b'Upgrade: h2c'))",
        "say(b'HTTP/1.1 101 ok\\r\\n' + b'X: ' + b'y' * 100_000)",
        "say(b'HTTP/1.1 101 ok\\r\\n' + b'X: y\\r\\n' * 1000)",
        "say(ok[:-4] + b'\\r\\nSec-WebSocket-Extensions: permessage-deflate\\r\\n\\r\\n')",
        "",
    ],
)
async def test_who_does_not_speak_websocket_is_told(connect: Connect, script: str) -> None:
    with listening(by_hand(script)) as server:
        cause, words = await why_not(connect, f"ws://{server.address}/acp")
    assert cause == "no_websocket"
    assert words.startswith(f"ws://{server.address}/acp does not speak WebSocket (")


async def test_who_never_answers_is_not_waited_for(connect: Connect) -> None:
    with listening(SILENT) as server:
        address = f"ws://{server.address}/acp"
        assert await why_not(connect, address, seconds=0.3) == ("network", f"{address} did not answer within 0.3 s")


async def test_what_comes_with_the_handshake_is_taken(connect: Connect) -> None:
    with listening(by_hand("say(ok + b'\\x81\\x05first' + b'\\x81\\x03two'); read.read()")) as server:
        link = await connect(f"ws://{server.address}/acp")
        assert await until_said(link, b"two\n") == b"first\ntwo\n"


async def test_parts_of_a_message_are_joined_and_other_frames_ignored(connect: Connect) -> None:
    script = """
        say(ok)
        say(b"\\x01\\x03{\\n1" + b"\\x89\\x04ping" + b"\\x00\\x01," + b"\\x80\\x03\\n2}")  # in three parts
        say(b"\\x82\\x04\\0\\1\\n\\3" + b"\\x02\\x01a" + b"\\x80\\x01b")  # binary, in one part and in two
        say(b"\\x8a\\x04pong" + b"\\x81\\x00" + b"\\x81\\x03end")
        got = b""
        while b"PING" not in got:  # our answer is masked
            head = read.read(6)
            got = bytes(a ^ b for a, b in zip(read.read(head[1] & 127), head[2:] * 40)).upper()
        say(b"\\x81\\x06ponged")
        read.read()
    """
    with listening(by_hand(script)) as server:
        link = await connect(f"ws://{server.address}/acp")
        assert await until_said(link, b"ponged\n") == b"{ 1, 2}\n\nend\nponged\n"


@pytest.mark.parametrize("piece", ["1", "2", "5000"])
async def test_frames_may_come_in_odd_pieces(connect: Connect, piece: str) -> None:
    count = 30_000 if piece == "5000" else 50
    text = "äöü" * count
    script = f"""
        text = ("äöü" * {count}).encode()
        say(ok + b"\\x81\\x7f" + len(text).to_bytes(8) + text + b"\\x81\\x01x")
        read.read()
    """
    with listening(by_hand(script), "--piece", piece) as server:
        link = await connect(f"ws://{server.address}/acp")
        assert await until_said(link, b"x\n") == f"{text}\nx\n".encode()


@pytest.mark.parametrize(
    ("said", "how"),
    [
        ("b'\\x81\\x85abcdefghi'", "was lost (incorrect masking)"),
        ("b'\\x80\\x01a'", "was lost (unexpected continuation frame)"),
        ("b'\\xf1\\x01a'", "was lost (reserved bits must be 0)"),
        ("b'\\x83\\x01a'", "was lost (invalid opcode)"),
        ("b'\\x81\\x7f' + (2**40).to_bytes(8)", "was lost (the agent sent more than 67,108,864 bytes at once)"),
        ("b'\\x88\\x01x'", "was lost (close frame too short)"),
    ],
)
async def test_an_end_is_told_after_what_was_said(connect: Connect, said: str, how: str) -> None:
    with listening(by_hand(f"say(ok + b'\\x81\\x05first' + {said}); read.read()")) as server:
        link = await connect(f"ws://{server.address}/acp")
        assert await until_end(link) == (b"first\n", how)
        with pytest.raises(anyio.BrokenResourceError):
            await link.send(b"x\n")


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("b'\\x88\\x00'", ""),
        ("b'\\x88\\x07\\x03\\xf0' + b'tired'", "tired"),
        ("b'\\x88\\x08\\x03\\xf0' + b'a\\nb\\x1bcd'", "abcd"),
        ("b'\\x88\\x7d\\x03\\xf0' + b'x' * 123", "x" * 123),
    ],
)
async def test_a_farewell_may_have_a_reason(connect: Connect, said: str, why: str) -> None:
    with listening(by_hand(f"say(ok + {said}); read.read()")) as server:
        link = await connect(f"ws://{server.address}/acp")
        assert await until_end(link) == (b"", "was closed by the other side")
        assert link.ending().why == why


async def test_an_end_without_a_farewell_is_an_end(connect: Connect) -> None:
    with listening(by_hand("say(ok + b'\\x81\\x05first' + b'\\x81\\x7dhalf')")) as server:
        link = await connect(f"ws://{server.address}/acp")
        assert await until_end(link) == (b"first\n", "was closed by the other side")


async def test_a_flood_of_pings_and_empty_frames_stops_nobody(connect: Connect) -> None:
    """Nobody reads the answers to the pings: reading goes on, and only the last of them is kept."""
    script = """
        say(ok + (b"\\x89\\x7d" + b"p" * 125) * 50_000 + b"\\x81\\x00" * 50_000 + b"\\x81\\x03end")
        import time
        time.sleep(1000)
    """
    with listening(by_hand(script)) as server:
        link = await connect(f"ws://{server.address}/acp")
        said = await until_said(link, b"end\n")
        assert said == b"\n" * 50_000 + b"end\n"


async def test_of_many_pings_the_last_is_answered() -> None:
    pings = [Frame(Opcode.PING, b"ping %d" % number).serialize(mask=False) for number in range(1000)]
    server = Fed(b"".join(pings) + b"\x81\x03end", 700)
    link = WebSocketLink(parse_address("ws://a/acp"), Guard(), server)
    await link.open(None)
    await until_said(link, b"end\n")
    await until_end(link)
    await link.read_aside()
    assert (server.sent[:2], len(server.sent)) == (b"\x8a\x88", 14)  # a masked answer to `ping 999`
    assert bytes(a ^ b for a, b in zip(server.sent[6:], server.sent[2:6] * 2, strict=True)) == b"ping 999"


async def test_stopping_says_farewell_and_does_not_wait(connect: Connect, tmp_path: Path) -> None:
    file = tmp_path / "farewell"
    script = f"say(ok); data = read.read(); open({str(file)!r}, 'wb').write(data)"
    with listening(by_hand(script)) as server:
        link = await connect(f"ws://{server.address}/acp")
        with anyio.fail_after(LIMIT):
            await link.stop()
            await link.stop()
        assert link.ending().how == "was closed here"
        with pytest.raises(anyio.BrokenResourceError):
            await link.send(b"x\n")
        said = wait_until(lambda: file.exists() and file.read_bytes(), what="the farewell")
        assert said[:2] == b"\x88\x82"  # masked, with a code


class Fed(anyio.abc.ByteStream):
    """A server that agrees to the handshake, then says what it was given, in pieces; `sent` is what it was told."""

    def __init__(self, data: bytes, size: int) -> None:
        self._pieces = [data[at : at + size] for at in range(0, len(data), size)]
        self.sent = b""

    async def receive(self, max_bytes: int = 65536) -> bytes:
        await anyio.lowlevel.checkpoint()
        if not self._pieces:
            raise anyio.EndOfStream
        return self._pieces.pop(0)

    async def send(self, item: bytes) -> None:
        await anyio.lowlevel.checkpoint()
        head, name, rest = item.partition(b"Sec-WebSocket-Key: ")
        if name:
            accept = accept_key(rest.partition(b"\r\n")[0].decode())
            lines = ("HTTP/1.1 101 ok", "Upgrade: websocket", "Connection: upgrade", f"Sec-WebSocket-Accept: {accept}")
            self._pieces.insert(0, "".join(f"{line}\r\n" for line in (*lines, "")).encode())
        else:
            self.sent += head

    async def send_eof(self) -> None:
        raise NotImplementedError

    async def aclose(self) -> None:
        await anyio.lowlevel.checkpoint()


KINDS = st.sampled_from([Opcode.TEXT, Opcode.BINARY, Opcode.PING, Opcode.PONG])


@given(frames=st.lists(st.tuples(KINDS, st.text("aä\n{", max_size=40)), max_size=20), size=st.integers(1, 50))
def test_any_frames_in_any_pieces_are_the_lines_of_text(frames: list[tuple[Opcode, str]], size: int) -> None:
    data = b"".join(Frame(kind, text.encode()).serialize(mask=False) for kind, text in frames)
    expected = "".join(text.replace("\n", " ") + "\n" for kind, text in frames if kind is Opcode.TEXT).encode()

    async def read() -> tuple[bytes, str]:
        link = WebSocketLink(parse_address("ws://a/acp"), Guard(), Fed(data, size))
        await link.open(None)
        return await until_end(link)

    assert anyio.run(read) == (expected, "was closed by the other side")
