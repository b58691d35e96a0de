"""The MCP servers of a project's `.mcp.json`: used after the user has said so, for exactly this content."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any, Final, Literal

import anyio
import anyio.to_thread
import msgspec

from acp_nvim import decoders
from acp_nvim.agents.mcp_programs import digest, named_files
from acp_nvim.agents.mcp_servers import (
    QUESTION_CHARS,
    SERVER_CHARS,
    ServerError,
    listed,
    shown,
    shown_chars,
    shown_name,
    used_members,
    words_for,
)
from acp_nvim.contract.events import Event
from acp_nvim.contract.session_events import ProjectServer, ProjectServers
from acp_nvim.state.private_file import SharedJson
from acp_nvim.workspace.regular_files import read_regular

NAME: Final = ".mcp.json"
FILE_BYTES: Final = 256 * 1024
"""Size of a `.mcp.json`: a user could not look through more."""
MOST_SERVERS: Final = 50
"""Servers of one file; a user looks at each of them."""
SHOWN_FILES: Final = 20
"""Files that a question names; of more it says how many."""
TRUST_BYTES: Final = 1024 * 1024
"""Size of the file with the answers: 5,000 projects."""

Answer = Literal["use", "never", "later"]
"""The user's answer: use these servers, never use this content, or ask again next time."""


class _File(msgspec.Struct):
    """The content of the file with the answers: digests of contents by path; `never` has those that are not used."""

    used: dict[str, str] = {}
    never: dict[str, str] = {}


class _Written(msgspec.Struct):
    """A `.mcp.json`, as far as it matters here."""

    servers: Any = msgspec.field(name="mcpServers", default_factory=dict)


class Found(msgspec.Struct, frozen=True):
    """The servers of a file, with the members that are shown.

    `digest` is that of its content, and of the `files` of the project that the servers run.

    `too_long` are the names of servers that are left out, as the question could not show all of what they run.
    `path` is the file in the real directory of the project. A link there is not followed: the programs of a trusted
    file may be relative to its project.
    """

    path: str
    digest: str
    servers: list[dict[str, Any]]
    files: list[str] = []
    too_long: list[str] = []


class _Question:
    """A question that the user has not answered, and the number of the sessions that wait for it."""

    def __init__(self, found: Found) -> None:
        self.found = found
        self.sessions = 0
        self.answer: Answer | None = None
        self.is_answered = anyio.Event()


class ProjectServersTrust:
    """Which files the user trusts, kept in `directory`. A question that several sessions have is asked once.

    `publish` shows a question to the user, which `answered` answers.
    """

    def __init__(self, directory: Path, publish: Callable[[Event], None]) -> None:
        self.directory = directory
        self.is_asking = True
        self._publish = publish
        self._ids = count(1)
        self._waiting: dict[int, _Question] = {}
        self._later: set[tuple[str, str]] = set()  # answered with "later" in this Neovim

    async def servers(self, cwd: str, tell: Callable[[str], None]) -> list[dict[str, Any]]:
        """Return the servers of the project at `cwd`, if the user wants them; waits for the answer.

        If there is a question, `tell` is called with what the file names, in words, before it. Raises `ServerError` if
        the file cannot be used, and `OSError` if the answers cannot be read.
        """
        found = await anyio.to_thread.run_sync(read, cwd) if self.is_asking else None
        if found is None:
            return []
        for name in found.too_long:
            why = f"what it runs has more than {SERVER_CHARS:,} characters, which nobody could look through"
            tell(f"MCP server {name} of {found.path} is left out: {why}.")
        if not found.servers:
            return []
        kept = await anyio.to_thread.run_sync(self._kept, found)
        if kept is None and (found.path, found.digest) not in self._later:
            lines = [f"  {shown_name(one)}: {words_for(one)}" for one in found.servers]
            tell("\n".join([f"{found.path} names MCP servers for agents:", *lines]))
            kept = await self._ask(found) == "use"
            if kept and await anyio.to_thread.run_sync(read, cwd) != found:
                raise ServerError("it has changed since you were asked, or a file that it runs has: start again")
        return found.servers if kept else []

    def _kept(self, found: Found) -> bool | None:
        """Return the user's answer to this content; None if there is none."""
        known = self._file().load() or _File()
        if known.never.get(found.path) == found.digest:
            return False
        return True if known.used.get(found.path) == found.digest else None

    async def _ask(self, found: Found) -> Answer | None:
        """Return the user's answer. The question stays as long as a session waits for it."""
        same = (one for one in self._waiting.items() if one[1].found == found)
        number, question = next(same, (next(self._ids), _Question(found)))
        if number not in self._waiting:
            self._waiting[number] = question
            servers = [ProjectServer(shown_name(one), words_for(one)) for one in found.servers]
            self._publish(ProjectServers(id=number, path=found.path, servers=servers, files=_names(found)))
        question.sessions += 1
        try:
            await question.is_answered.wait()
        finally:
            question.sessions -= 1
            if not question.sessions:
                self._waiting.pop(number, None)
        return question.answer

    async def answered(self, question_id: int, answer: Answer) -> None:
        """Take the user's answer to a question; one to a question that nobody waits for any more is ignored.

        Raises `OSError` if it cannot be kept; then it counts for this time.
        """
        question = self._waiting.get(question_id)
        if question is None:
            return
        try:
            if answer == "later":
                self._later.add((question.found.path, question.found.digest))
            else:
                await anyio.to_thread.run_sync(self._keep, question.found, answer)
        finally:
            question.answer = answer
            question.is_answered.set()

    def _keep(self, found: Found, answer: Answer) -> None:
        def change(known: _File | None) -> _File:
            known = known or _File()
            known.used.pop(found.path, None)
            known.never.pop(found.path, None)
            (known.used if answer == "use" else known.never)[found.path] = found.digest
            return known

        self._file().change(change)

    def _file(self) -> SharedJson[_File]:
        return SharedJson(self.directory / "project_servers.json", _File, TRUST_BYTES)


def _names(found: Found) -> list[str]:
    """Return the files that a question names, relative to the project."""
    root = os.path.dirname(found.path)
    names = [shown(os.path.relpath(one, root)) for one in found.files]
    return names if len(names) <= SHOWN_FILES else [*names[:SHOWN_FILES], f"{len(names) - SHOWN_FILES} more"]


def read(cwd: str) -> Found | None:
    """Return the servers of the `.mcp.json` in `cwd`; None if there is none. Blocks; raises `ServerError`."""
    path = os.path.join(os.path.realpath(cwd), NAME)
    try:
        data = read_regular(path, FILE_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ServerError(f"it cannot be read ({error.strerror or error})") from error
    if len(data) > FILE_BYTES:
        raise ServerError(f"it has more than {FILE_BYTES // 1024} kB")
    try:
        servers = [used_members(one) for one in listed(decoders.decode(data, _Written).servers)]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ServerError(f"it is no valid JSON of this kind ({error})") from error
    if len(servers) > MOST_SERVERS:
        raise ServerError(f"it has {len(servers)} servers, more than {MOST_SERVERS}")
    too_long = [shown(str(one.get("name"))[:100]) for one in servers if shown_chars(one) > SERVER_CHARS]
    servers = [one for one in servers if shown_chars(one) <= SERVER_CHARS]
    total = sum(map(shown_chars, servers))
    if total > QUESTION_CHARS:
        raise ServerError(f"what its servers run has {total:,} characters, which nobody could look through")
    made = hashlib.sha256(data)
    files = [one for one in named_files(servers, os.path.dirname(path), os.environ) if os.path.lexists(one)]
    if files:
        made.update(digest(files).encode())
    return Found(path, made.hexdigest(), servers, files, too_long)
