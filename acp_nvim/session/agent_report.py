"""Reports what an agent can do, and whether it requires a sign-in, for :checkhealth."""

from __future__ import annotations

from typing import Final

import anyio
import msgspec

from acp_nvim.acp.dialect import Place
from acp_nvim.agents.address import Address
from acp_nvim.agents.definition import AgentDefinition
from acp_nvim.connection.calls import account
from acp_nvim.connection.command_forms import start_known_form
from acp_nvim.connection.peer import AgentPeer
from acp_nvim.connection.startup import PeerSettings
from acp_nvim.errors import Failure, FailureError
from acp_nvim.failures import failures
from acp_nvim.jsonrpc.messages import RpcError
from acp_nvim.process.child import ChildProcesses
from acp_nvim.tasks import Tasks

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
    "mcp_acp": "MCP over its own connection",
    "sign_out": "sign-out",
    "providers": "providers",
}
"""The abilities that the report names, and their names there."""


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


def describe_address(report: Report, address: Address | None) -> None:
    """Note where an agent listens, and what the user should know of that."""
    if address is None:
        return
    report.place = f"at {address}, {'encrypted' if address.tls else 'not encrypted'}"
    if not (address.tls or address.is_local):
        report.remark = "its connection is not encrypted: others on the way can read and change what is said"


def note_failure(report: Report, failure: Failure) -> None:
    """Note that the agent cannot be used, and what to do about it."""
    report.problem, report.detail = failure.what, list(failure.detail)
    step = failure.next_step  # there are no prompts here, and no log
    for words in (failures.STARTS_AGAIN, failures.CONNECTS_AGAIN):
        step = step.removeprefix(f"{words} ")
    report.next_step = step.replace(failures.LOG, "Check that its command starts an ACP agent.")


async def try_agent(
    report: Report, definition: AgentDefinition, cwd: str, settings: PeerSettings, processes: ChildProcesses
) -> None:
    """Start an agent, open a session, and note in the report what it can do. The agent is not left running."""
    peer: AgentPeer | None = None
    async with anyio.create_task_group() as group:
        tasks = Tasks(group, lambda error: note_failure(report, failures.bug(report.name, error)))
        try:
            begun = anyio.current_time()
            peer = await start_known_form(definition, lambda form: AgentPeer(form, cwd, settings), tasks, processes)
            report.seconds = anyio.current_time() - begun
            _describe(report, peer)
            await _try_session(report, peer)
            report.account = await account(peer)
        except FailureError as error:
            note_failure(report, error.failure)
        finally:
            if peer is not None:
                peer.leave(None)


def _describe(report: Report, peer: AgentPeer) -> None:
    info = peer.info
    report.program = " ".join(filter(None, (info.title or info.name, info.version)))
    report.protocol = peer.dialect.version
    report.can = [words for name, words in _WORDS.items() if getattr(info.abilities, name)]
    report.remark = "\n".join(filter(None, (report.remark, peer.remark))) or None
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
