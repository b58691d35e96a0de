"""Opens a TCP connection to an agent, with TLS or without, and says in words what keeps it from being opened."""

from __future__ import annotations

import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final, Literal

import anyio
import anyio.abc
import anyio.to_thread

from acp_nvim.agents.address import Address

FIRST_ADDRESS_SECONDS: Final = 5.0
"""Time for one network address of a name to answer, while there are others to try."""
KEEPALIVE_SECONDS: Final = 30
"""Time without a message after which the other side must show that it is still there."""
KEEPALIVE_PROBES: Final = 3
UNANSWERED_MS: Final = 90_000
"""Time for the other side to confirm what was sent, after which the connection counts as lost."""
_OUTDATED: Final = (9, 10)
"""OpenSSL's codes for a certificate that is not yet valid, or has expired (`X509_V_ERR_CERT_HAS_EXPIRED`)."""
_WRONG_NAME: Final = (62, 64)
"""OpenSSL's codes for a certificate of another host name or IP address (`X509_V_ERR_HOSTNAME_MISMATCH`, ...)."""

Connecting = Literal["name", "refused", "network", "not_tls", "certificate", "outdated", "wrong_name", "tls"]
Agreeing = Literal["token", "no_token", "status", "no_websocket", "no_package", "draft"]
Cause = Connecting | Agreeing
"""What is wrong, for the choice of the next step that the user is told."""


class UnreachableError(Exception):
    """Says why an agent cannot be reached, in words that end a sentence; `cause` is for the next step."""

    def __init__(self, cause: Cause, words: str) -> None:
        super().__init__(words)
        self.cause = cause


async def tls_context(tls: bool | str) -> ssl.SSLContext:
    """Return a context that accepts the system's certificates, or those in the file `tls`; it checks the host's name.

    Raises `UnreachableError`. Reads files in a thread.
    """
    file = tls if isinstance(tls, str) else None
    try:
        return await anyio.to_thread.run_sync(lambda: ssl.create_default_context(cafile=file))
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError; ValueError: a NUL in the name
        reason = "it has no certificate in PEM" if isinstance(error, ssl.SSLError) else words_of(error)
        raise UnreachableError("tls", f"the file of certificates {file} cannot be used: {reason}") from error


@asynccontextmanager
async def reached_within(address: Address, seconds: float) -> AsyncIterator[None]:
    """Limit the time to open a connection, and translate its errors. Raises `UnreachableError`."""
    try:
        with anyio.fail_after(seconds):
            yield
    except TimeoutError as error:
        raise UnreachableError("network", f"{address} did not answer within {seconds:g} s") from error
    except ssl.SSLCertVerificationError as error:
        cause: Cause = "certificate"
        if error.verify_code in _WRONG_NAME + _OUTDATED:
            cause = "outdated" if error.verify_code in _OUTDATED else "wrong_name"
        words = f"the certificate of {address} is not accepted: {error.verify_message.rstrip('.')}"
        raise UnreachableError(cause, words) from error
    except (anyio.EndOfStream, anyio.BrokenResourceError, ssl.SSLZeroReturnError) as error:
        raise UnreachableError("not_tls", f"{address} closed the connection before TLS was set up") from error
    except ssl.SSLError as error:
        is_plain = error.reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST", "UNKNOWN_PROTOCOL")
        words = f"{address} does not speak TLS" if is_plain else f"TLS with {address} failed: {words_of(error)}"
        raise UnreachableError("not_tls" if is_plain else "tls", words) from error
    except OSError as error:
        raise UnreachableError("network", f"{address} cannot be reached: {words_of(error)}") from error
    except ValueError as error:  # of TLS, about names that no certificate can have
        raise UnreachableError("name", f"{address.host!r} cannot be the name of a machine") from error


async def open_stream(address: Address, tls: bool | str) -> anyio.abc.ByteStream:
    """Return a connection, encrypted if the address says so; `tls` as for `tls_context`.

    Raises `UnreachableError`, and, for `reached_within`, what TLS raises.
    """
    context = await tls_context(tls) if address.tls else None
    stream = await _open_plain(address)
    if context is None:
        return stream
    from anyio.streams.tls import TLSStream  # rarely needed

    if address.url:
        context.set_alpn_protocols(["http/1.1"])
    try:
        # a message that was cut off is noticed without the farewell of TLS, which many leave out
        return await TLSStream.wrap(
            stream, server_side=False, hostname=address.host, ssl_context=context, standard_compatible=False
        )
    except BaseException:
        await anyio.aclose_forcefully(stream)
        raise


async def _open_plain(address: Address) -> anyio.abc.SocketStream:
    """Connect to the first of the host's addresses that accepts it.

    The name is looked up in a thread, which is left behind when the caller is cancelled.
    """
    hosts = await _lookup(address)
    for number, host in enumerate(hosts):
        is_last = number + 1 == len(hosts)
        try:
            with anyio.move_on_after(None if is_last else FIRST_ADDRESS_SECONDS):
                stream = await anyio.connect_tcp(host, address.port)
                _watch_other_side(stream.extra(anyio.abc.SocketAttribute.raw_socket))
                return stream
        except OSError as error:
            if is_last:
                raise _refusal(address, error) from error
    raise UnreachableError("name", f"{address.host!r} has no network address")


async def _lookup(address: Address) -> list[str]:
    def look_up() -> list[str]:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
        return list(dict.fromkeys(str(one[4][0]) for one in found))

    try:
        return await anyio.to_thread.run_sync(look_up, abandon_on_cancel=True)
    except (socket.gaierror, UnicodeError) as error:  # UnicodeError: a label that is too long, or empty
        raise UnreachableError("name", f"no machine is called {address.host!r}") from error


def _refusal(address: Address, error: OSError) -> UnreachableError:
    cause = error if error.errno is not None else error.__cause__  # anyio's own error has the real one behind it
    if isinstance(cause, ConnectionRefusedError):
        return UnreachableError("refused", f"nothing listens at {address}")
    reason = words_of(cause if isinstance(cause, OSError) else error)
    return UnreachableError("network", f"{address} cannot be reached: {reason}")


def _watch_other_side(sock: socket.socket) -> None:
    """Let the system notice when the other machine, or the way to it, is gone without a word."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (
        ("TCP_KEEPIDLE", KEEPALIVE_SECONDS),
        ("TCP_KEEPINTVL", KEEPALIVE_SECONDS // KEEPALIVE_PROBES),
        ("TCP_KEEPCNT", KEEPALIVE_PROBES),
        ("TCP_USER_TIMEOUT", UNANSWERED_MS),
    ):
        if (option := getattr(socket, name, None)) is not None:  # not on every system
            sock.setsockopt(socket.IPPROTO_TCP, option, value)


def words_of(error: BaseException) -> str:
    """Return what the system says of an error, without its number; or only its kind."""
    said = error.strerror if isinstance(error, OSError) else None
    return said or str(error) or type(error).__name__
