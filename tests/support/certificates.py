"""Self-signed certificates for tests of TLS, made with the standard library alone: ECDSA with P-256 (X.509, SEC 1)."""

from __future__ import annotations

import base64
import hashlib
import secrets
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple

P = 2**256 - 2**224 + 2**192 + 2**96 - 1
N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
G = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)
Point = tuple[int, int] | None

PUBLIC_KEY, CURVE, SIGNATURE = (1, 2, 840, 10045, 2, 1), (1, 2, 840, 10045, 3, 1, 7), (1, 2, 840, 10045, 4, 3, 2)
COMMON_NAME, BASIC_CONSTRAINTS, ALTERNATIVE_NAME = (2, 5, 4, 3), (2, 5, 29, 19), (2, 5, 29, 17)


class Certificate(NamedTuple):
    """A certificate and its key, as files in PEM; it is its own authority."""

    file: Path
    key: Path


def certificate(directory: Path, host: str, name: str = "tls", days: int = 1) -> Certificate:
    """A new certificate for a host name or an IP address, valid for so many days; negative: it has expired."""
    private = secrets.randbelow(N - 1) + 1
    public = _bits(b"\x04" + b"".join(_octets(one) for one in _times(private, G) or ()))
    now = datetime.now(UTC)
    times = sorted((now + timedelta(days=days), now - timedelta(days=2)))
    naming = _sequence(_tlv(0x31, _sequence(_oid(COMMON_NAME), _tlv(0x0C, b"a test"))))
    algorithm = _sequence(_oid(SIGNATURE))
    try:
        alternative = _tlv(0x87, ip_address(host).packed)
    except ValueError:
        alternative = _tlv(0x82, host.encode())
    extensions = _sequence(
        _sequence(_oid(BASIC_CONSTRAINTS), _tlv(1, b"\xff"), _tlv(4, _sequence(_tlv(1, b"\xff")))),
        _sequence(_oid(ALTERNATIVE_NAME), _tlv(4, _sequence(alternative))),
    )
    signed = _sequence(
        _tlv(0xA0, _integer(2)),
        _integer(secrets.randbits(64)),
        algorithm,
        naming,
        _sequence(*(_tlv(0x17, one.strftime("%y%m%d%H%M%SZ").encode()) for one in times)),
        naming,
        _sequence(_sequence(_oid(PUBLIC_KEY), _oid(CURVE)), public),
        _tlv(0xA3, extensions),
    )
    key = _sequence(_integer(1), _tlv(4, _octets(private)), _tlv(0xA0, _oid(CURVE)), _tlv(0xA1, public))
    made = Certificate(directory / f"{name}.pem", directory / f"{name}.key")
    made.file.write_text(_pem("CERTIFICATE", _sequence(signed, algorithm, _bits(_sign(private, signed)))))
    made.key.write_text(_pem("EC PRIVATE KEY", key))
    return made


def _sign(private: int, data: bytes) -> bytes:
    once = secrets.randbelow(N - 1) + 1
    point = _times(once, G)
    assert point is not None
    r = point[0] % N
    s = pow(once, -1, N) * (int.from_bytes(hashlib.sha256(data).digest()) + r * private) % N
    return _sequence(_integer(r), _integer(s))


def _times(factor: int, point: Point) -> Point:
    result: Point = None
    while factor:
        if factor & 1:
            result = _add(result, point)
        point = _add(point, point)
        factor >>= 1
    return result


def _add(one: Point, other: Point) -> Point:
    if one is None or other is None:
        return one or other
    (x1, y1), (x2, y2) = one, other
    if x1 == x2 and (y1 + y2) % P == 0:
        return None
    slope = (3 * x1 * x1 - 3) * pow(2 * y1, -1, P) if one == other else (y2 - y1) * pow(x2 - x1, -1, P)
    x = (slope * slope - x1 - x2) % P
    return x, (slope * (x1 - x) - y1) % P


def _tlv(tag: int, value: bytes) -> bytes:
    size = len(value)
    long = size.to_bytes((size.bit_length() + 7) // 8) if size > 127 else b""
    return bytes([tag, 0x80 | len(long)]) + long + value if long else bytes([tag, size]) + value


def _sequence(*parts: bytes) -> bytes:
    return _tlv(0x30, b"".join(parts))


def _integer(number: int) -> bytes:
    return _tlv(2, number.to_bytes(number.bit_length() // 8 + 1))


def _bits(value: bytes) -> bytes:
    return _tlv(3, b"\0" + value)


def _octets(number: int) -> bytes:
    return number.to_bytes(32)


def _oid(numbers: tuple[int, ...]) -> bytes:
    first, second, *others = numbers
    encoded = bytearray([40 * first + second])
    for number in others:
        digits = [number & 0x7F]
        while number := number >> 7:
            digits.insert(0, 0x80 | number & 0x7F)
        encoded += bytes(digits)
    return _tlv(6, bytes(encoded))


def _pem(what: str, data: bytes) -> str:
    text = base64.encodebytes(data).decode().replace("\n", "")
    lines = [text[at : at + 64] for at in range(0, len(text), 64)]
    return "\n".join([f"-----BEGIN {what}-----", *lines, f"-----END {what}-----", ""])
