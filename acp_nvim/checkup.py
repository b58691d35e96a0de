"""Starts agents for :checkhealth, all at once, and reports their abilities, and whether they require a sign-in.

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

from acp_nvim import decoders
from acp_nvim.acp.dialect import Place
from acp_nvim.agents.address import Address
from acp_nvim.agents.catalogue import Catalogue
from acp_nvim.agents.definition import AgentDefinition
from acp_nvim.errors import Failure, FailureError
from acp_nvim.host_log import configured_env
from acp_nvim.jsonrpc.messages import RpcError
from acp_nvim.process.guarding import Guard
from acp_nvim.rpc.settings import Config
from acp_nvim.session import failures
from acp_nvim.session.auth.account import account
from acp_nvim.session.connection.command_forms import start_known_form
from acp_nvim.session.connection.peer import AgentPeer
from acp_nvim.session.connection.startup import PeerSettings
from acp_nvim.tasks import Tasks
from acp_nvim.traffic.masking import Masker, known_secrets

CHECKUP_INITIALIZE_SECONDS: Final = 20.0
"""Time for an agent to answer `initialize`: the slowest known one takes 3 s alone, but all start at once."""
CHECKUP_SESSION_SECONDS: Final = 8.0
"""Time for an agent to open a session: agents take up to 2 s alone."""
CHECKUP_CLOSE_SECONDS: Final = 1.0
"""Time for an agent to delete that session."""

_WORDS = {
    "load": "session load",
    "resume": "resume",
    "list_sessions": "list",
    "fork": "fork",
    "close": "close",
    "delete": "delete",
    "rename": "rename",
    "archive": "archive",
    "system_prompt": "system prompt",
    "additional_directories": "additional directories",
    "image": "images",
    "audio": "audio",
    "embedded_context": "embedded context",
    "steering": "prompts while it works",
    "mcp_http": "MCP over http",
    "mcp_sse": "MCP over sse",
    "sign_out": "sign-out",
    "providers": "providers",
}
"""The abilities that the report names, and their names there."""


class Wanted(msgspec.Struct):
    """The agents to check. Those that are remote are to work in `cwd`, the others in a temporary directory."""

    names: list[str]
    cwd: str
    config: Config


class Report(msgspec.Struct, kw_only=True):
    """The result for one agent. `signed_in`: None if it is not known; `why` explains a failure.

    `hint` is how to sign in. `place` is where it listens, None for a command. `remark` is what the chat would say of
    the process, or something that the user should know of the place.
    """

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
    account: str | None = None
    why: str | None = None
    hint: str | None = None
    place: str | None = None
    remark: str | None = None


async def check(wanted: Wanted) -> None:
    """Check all agents, and print each report as soon as it is complete. No agent is left running."""
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
        _describe_address(report, definition.address)
        with tempfile.TemporaryDirectory(prefix="acp_nvim-checkup-", ignore_cleanup_errors=True) as directory:
            await _talk(report, definition, wanted.cwd if definition.is_remote else directory, wanted.config, guard)
    except FailureError as error:
        _failed(report, error.failure)
    except Exception as error:  # must not affect the other agents
        _failed(report, failures.bug(name, error))
    return report


def _describe_address(report: Report, address: Address | None) -> None:
    if address is None:
        return
    report.place = f"at {address}, {'encrypted' if address.tls else 'not encrypted'}"
    if not (address.tls or address.is_local):
        report.remark = "its connection is not encrypted: others on the way can read and change what is said"


def _failed(report: Report, failure: Failure) -> None:
    report.problem, report.detail = failure.what, list(failure.detail)
    step = failure.next_step  # there are no prompts here, and no log
    for words in (failures.STARTS_AGAIN, failures.CONNECTS_AGAIN):
        step = step.removeprefix(f"{words} ")
    report.next_step = step.replace(failures.LOG, "Check that its command starts an ACP agent.")


async def _talk(report: Report, definition: AgentDefinition, cwd: str, config: Config, guard: Guard) -> None:
    seconds = min(config.timeouts.initialize / 1000, CHECKUP_INITIALIZE_SECONDS)
    settings = PeerSettings(seconds, config.protocol.v2, config.protocol.draft_transports)
    peer: AgentPeer | None = None
    async with anyio.create_task_group() as group:
        tasks = Tasks(group, lambda error: _failed(report, failures.bug(report.name, error)))
        try:
            begun = anyio.current_time()
            peer = await start_known_form(definition, lambda form: AgentPeer(form, cwd, settings), tasks, guard)
            report.seconds = anyio.current_time() - begun
            _describe(report, peer)
            await _try_session(report, peer)
            report.account = await account(peer)
        except FailureError as error:
            _failed(report, error.failure)
        finally:
            if peer is not None:
                peer.leave(None)


def _describe(report: Report, peer: AgentPeer) -> None:
    info = peer.info
    report.program = " ".join(filter(None, (info.title or info.name, info.version)))
    report.protocol = peer.dialect.version
    report.can = [words for name, words in _WORDS.items() if getattr(info.abilities, name)]
    report.remark = peer.remark or None
    report.methods = [one.name if one.kind == "agent" else f"{one.name} ({one.kind})" for one in info.auth_methods]


async def _try_session(report: Report, peer: AgentPeer) -> None:
    """Open a session, which alone shows whether a sign-in is required: every agent names authentication methods."""
    call = peer.dialect.open_session(Place(peer.cwd))
    try:
        with anyio.fail_after(CHECKUP_SESSION_SECONDS):
            opened = call.read(await peer.request(call.method, call.params))
    except TimeoutError:
        report.why = f"it did not open a session within {CHECKUP_SESSION_SECONDS:g} s"
    except msgspec.DecodeError as error:
        report.why = failures.malformed_answer(report.name, call.method, error).what
    except RpcError as error:
        report.why = failures.why(error)
        report.signed_in = False if failures.wants_sign_in(error) else None
    else:
        report.signed_in = True
        await _remove(peer, opened.session_id or "")


async def _remove(peer: AgentPeer, session_id: str) -> None:
    """Delete the session that was opened for the check."""
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


def main() -> None:
    """Read a `Wanted` in MessagePack from stdin, check its agents, and print the reports."""
    wanted: Any = decoders.convert(msgspec.msgpack.decode(sys.stdin.buffer.read()), Wanted)
    anyio.run(check, wanted)
