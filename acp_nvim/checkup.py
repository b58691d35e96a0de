"""Starts agents for :checkhealth, all at once: what they say of themselves, and whether they want a sign-in.

`main` reads a `Wanted` in MessagePack from standard input, and writes a line of JSON for each agent, a `Report`.
"""

from __future__ import annotations

import os
import sys
import tempfile
from typing import Any, Final

import anyio
import anyio.abc
import msgspec

from acp_nvim.acp.answers import Abilities, AuthMethod
from acp_nvim.acp.dialect import Place
from acp_nvim.agents.catalogue import Catalogue
from acp_nvim.agents.definition import AgentDefinition
from acp_nvim.errors import Failure, FailureError
from acp_nvim.host_log import configured_env
from acp_nvim.jsonrpc.messages import RpcError
from acp_nvim.process.guarding import Guard
from acp_nvim.rpc.settings import Config
from acp_nvim.session import failures
from acp_nvim.session.connection.peer import AgentPeer
from acp_nvim.session.connection.startup import PeerSettings
from acp_nvim.tasks import Tasks
from acp_nvim.traffic.masking import Masker, known_secrets

CHECKUP_INITIALIZE_SECONDS: Final = 20.0
"""For an agent to answer `initialize`: the slowest that we know takes 3 s alone, but all start at once."""
CHECKUP_SESSION_SECONDS: Final = 8.0
"""For it to open a session: they take up to 2 s alone."""
CHECKUP_CLOSE_SECONDS: Final = 1.0
"""For it to delete that again."""

_WORDS = {
    "load": "session load",
    "resume": "resume",
    "list_sessions": "list",
    "fork": "fork",
    "close": "close",
    "delete": "delete",
    "additional_directories": "additional directories",
    "image": "images",
    "audio": "audio",
    "embedded_context": "embedded context",
    "steering": "prompts while it works",
    "mcp_http": "MCP over http",
    "mcp_sse": "MCP over sse",
    "sign_out": "sign-out",
}
"""Abilities, in the words of the report; the others go without saying."""


class Wanted(msgspec.Struct):
    """Which agents; `cwd` is where those behind a prefix are started: others get a directory that is thrown away."""

    names: list[str]
    cwd: str
    config: Config


class Report(msgspec.Struct, kw_only=True):
    """One agent. `signed_in`: None when it could not be found out; `why` says more of what did not work."""

    name: str
    seconds: float = 0.0
    problem: str | None = None
    next_step: str | None = None
    detail: list[str] = []
    program: str | None = None
    protocol: int | None = None
    can: list[str] = []
    methods: list[str] = []
    signed_in: bool | None = None
    why: str | None = None
    hint: str | None = None


async def check(wanted: Wanted) -> None:
    """All of them; each is told when it is known. None is left running."""
    agents = wanted.config.agents if isinstance(wanted.config.agents, dict) else {}  # Lua's empty table is a list
    catalogue = Catalogue(agents, wanted.config.default_agent)
    masker = Masker(known_secrets(configured_env(wanted.config), os.environ))
    guard = Guard()

    async def one(name: str) -> None:
        report = await _report(catalogue, name, wanted, guard)
        line = msgspec.json.encode(masker.value(msgspec.to_builtins(report)))
        print(line.decode(), flush=True)

    async with anyio.create_task_group() as group:
        for name in wanted.names:
            group.start_soon(one, name)


async def _report(catalogue: Catalogue, name: str, wanted: Wanted, guard: Guard) -> Report:
    report = Report(name=name)
    try:
        definition = catalogue.find(name)
        report.hint = definition.sign_in
        with tempfile.TemporaryDirectory(prefix="acp_nvim-checkup-", ignore_cleanup_errors=True) as directory:
            await _talk(report, definition, wanted.cwd if definition.prefix else directory, wanted.config, guard)
    except FailureError as error:
        _failed(report, error.failure)
    except Exception as error:  # one agent must not take the others along
        _failed(report, failures.bug(name, error))
    return report


def _failed(report: Report, failure: Failure) -> None:
    report.problem, report.detail = failure.what, list(failure.detail)
    step = failure.next_step.removeprefix("Your next prompt starts it again. ")  # nobody has one here, nor a log:
    report.next_step = step.replace(":AcpLog shows what it said.", "Check that its command starts an ACP agent.")


async def _talk(report: Report, definition: AgentDefinition, cwd: str, config: Config, guard: Guard) -> None:
    seconds = min(config.timeouts.initialize / 1000, CHECKUP_INITIALIZE_SECONDS)
    peer = AgentPeer(definition, cwd, PeerSettings(seconds, config.protocol.v2))
    async with anyio.create_task_group() as group:
        tasks = Tasks(group, lambda error: _failed(report, failures.bug(report.name, error)))
        try:
            await _ask(report, peer, tasks, guard)
        except FailureError as error:
            _failed(report, error.failure)
        finally:
            peer.leave(None)


async def _ask(report: Report, peer: AgentPeer, tasks: Tasks, guard: Guard) -> None:
    begun = anyio.current_time()
    await peer.start(tasks, guard)
    report.seconds = anyio.current_time() - begun
    report.program = " ".join(filter(None, (peer.info.title or peer.info.name, peer.info.version)))
    report.protocol = peer.dialect.version
    report.can = _can(peer.info.abilities)
    report.methods = [_in_words(method) for method in peer.info.auth_methods]
    await _try_session(report, peer)


async def _try_session(report: Report, peer: AgentPeer) -> None:
    """Only a session shows whether the agent wants a sign-in: ways to sign in are named by all."""
    call = peer.dialect.open_session(Place(peer.cwd))
    try:
        with anyio.fail_after(CHECKUP_SESSION_SECONDS):
            opened = call.read(await peer.request(call.method, call.params))
    except TimeoutError:
        report.why = f"it did not open a session within {CHECKUP_SESSION_SECONDS:g} s"
    except msgspec.DecodeError as error:
        report.why = failures.malformed_answer(report.name, call.method, error).what
    except RpcError as error:
        report.why = error.describe()
        report.signed_in = False if failures.wants_sign_in(error) else None
    else:
        report.signed_in = True
        await _remove(peer, opened.session_id or "")


async def _remove(peer: AgentPeer, session_id: str) -> None:
    """It was for a try only."""
    can = peer.info.abilities
    for offered, make in ((can.delete, peer.dialect.delete_session), (can.close, peer.dialect.close_session)):
        if offered:
            call = make(session_id)
            with anyio.move_on_after(CHECKUP_CLOSE_SECONDS):
                try:
                    await peer.request(call.method, call.params)
                except (RpcError, FailureError):
                    continue
            return


def _can(abilities: Abilities) -> list[str]:
    return [words for name, words in _WORDS.items() if getattr(abilities, name)]


def _in_words(method: AuthMethod) -> str:
    return method.name if method.kind == "agent" else f"{method.name} ({method.kind})"


def main() -> None:
    """Read what to check from stdin (msgpack, `Wanted`), check it, and print what was found."""
    wanted: Any = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=Wanted)
    anyio.run(check, wanted)
