"""A running host for each test."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from acp_nvim.permissions.request import access
from acp_nvim.process import stopping
from acp_nvim.state import cleanup
from tests.core.session.host import Host, running_host
from tests.support.processes import MARK, kill, marked, wait_gone
from tests.support.waiting import LIMIT


@pytest.fixture
async def host(tmp_path: Path) -> AsyncIterator[Host]:
    """The whole core, with a fake editor."""
    async with running_host(tmp_path) as host:
        yield host


@pytest.fixture(autouse=True)
def no_collection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is not given back: no test of a session is about that, and each would pay 10 ms of processor time."""
    monkeypatch.setattr(cleanup, "give_back", lambda: None)


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A mark in the environment of all that the host starts."""
    word = secrets.token_hex(8)
    monkeypatch.setenv(MARK, word)
    monkeypatch.setenv("SHELL", "/bin/sh")
    yield word
    kill(marked(word))


@pytest.fixture
def no_profile(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Login shells read nothing of who runs the tests: a profile may wait for a lock."""
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who heeds SIGTERM is waited for however busy the machine is, and gets no SIGKILL."""
    monkeypatch.setattr(stopping, "TERM_GRACE_SECONDS", LIMIT)


@pytest.fixture
async def free_host(tmp_path: Path, mark: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Host]:
    """The whole core; commands are allowed, and none outlives the host."""
    monkeypatch.setattr(access, "DEFAULT", "allow")
    async with running_host(tmp_path) as host:
        host.hello(permissions={"terminal": "allow"})
        yield host
    wait_gone(lambda: marked(mark))
