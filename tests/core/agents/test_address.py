"""Addresses of agents: what they may look like, and what is said of others."""

from __future__ import annotations

import string
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.agents.address import Address, parse_address


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("localhost:3000", "localhost", 3000),
        ("127.0.0.1:1", "127.0.0.1", 1),
        ("[::1]:65535", "::1", 65535),
        ("Devbox.example.org:80", "devbox.example.org", 80),
        ("bücher.example:80", "bücher.example", 80),
        ("under_score:80", "under_score", 80),
    ],
)
def test_a_host_and_a_port_are_tcp(text: str, host: str, port: int) -> None:
    assert parse_address(text) == Address(text, host, port)
    assert str(parse_address(text)) == text


@pytest.mark.parametrize(
    ("text", "host", "port", "tls"),
    [
        ("ws://localhost:3000/acp", "localhost", 3000, False),
        ("wss://agents.example/acp?team=a", "agents.example", 443, True),
        ("ws://[::1]/", "::1", 80, False),
    ],
)
def test_a_scheme_of_websocket_is_that(text: str, host: str, port: int, tls: bool) -> None:
    assert parse_address(text) == Address(text, host, port, text, tls)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "localhost",
        ":3000",
        "localhost:",
        "localhost:0",
        "localhost:65536",
        "localhost:-1",
        "localhost:http",
        "localhost:3000/acp",
        "localhost:3000?a",
        "me@localhost:3000",
        "::1:3000",
        "[::1:3000",
        "[::1]",
        "local host:3000",
        "localhost:3000\n",
        "local\0host:3000",
        "http://localhost:3000",
        "https://localhost/acp",
        "wss://",
        "wss://me:secret@agents.example/acp",
        "wss://agents.example/acp#there",
        "wss://agents.example:0/",
        "wss://agents.example/a b",
    ],
)
def test_what_is_neither_is_told_with_what_it_should_be(text: str) -> None:
    with pytest.raises(ValueError, match=r"^`address` ") as raised:
        parse_address(text)
    assert any(words in str(raised.value) for words in ("localhost:3000", "//host/path"))


@given(st.text(st.sampled_from(string.printable + "ä\0[]:@/#?"), max_size=30))
def test_any_text_is_an_address_or_refused(text: str) -> None:
    with suppress(ValueError):
        address = parse_address(text)
        assert address.host
        assert 0 < address.port < 65536
        assert not any(char.isspace() for char in address.host)


@pytest.mark.parametrize(
    ("text", "is_local"),
    [
        ("localhost:1", True),
        ("LOCALHOST:1", True),
        ("127.8.9.1:1", True),
        ("[::1]:1", True),
        ("ws://localhost/", True),
        ("10.0.0.1:1", False),
        ("localhost.example:1", False),
        ("[::2]:1", False),
    ],
)
def test_what_stays_on_this_machine_is_known(text: str, is_local: bool) -> None:
    assert parse_address(text).is_local is is_local
