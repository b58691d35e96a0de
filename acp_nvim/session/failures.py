"""The words for everything that can go wrong with an agent: what failed, whose it is, what to do next."""

from __future__ import annotations

import os
import re
import signal
from dataclasses import dataclass, replace
from typing import Final

import msgspec

from acp_nvim.acp.answers import AuthMethod
from acp_nvim.acp.auth_methods import named_by_error
from acp_nvim.agents.definition import AgentDefinition
from acp_nvim.errors import Failure
from acp_nvim.jsonrpc.messages import AUTH_REQUIRED, UNSUPPORTED_PROTOCOL_VERSION, RpcError
from acp_nvim.limits import TROUBLES

UNAUTHORIZED: Final = 401
"""Some agents answer with the HTTP status that their provider gave them."""

_ABOUT_SIGN_IN = re.compile(
    r"\b401\b|unauthori[sz]ed|authenticat|(logged|signed) in|api.?key|credentials", re.IGNORECASE
)
_MAY_SIGN_IN = "If it wants a sign-in: :AcpLogin."

_LOG = ":AcpLog shows what it said."

NOT_RESTORED = frozenset({"agent_refused", "not_offered", "session_taken"})
"""Failures to reopen a session that would come again with each try."""

KEPT_PROMPT = "Your prompt is kept, and goes out as soon as the agent starts."

KEPT_FOR_SIGN_IN = "Your prompt is kept, and goes out by itself then."

KEPT_QUEUE = "What is queued is kept, and goes out as soon as the agent starts."


def cannot_start(definition: AgentDefinition, cwd: str, error: OSError | ValueError) -> Failure:
    """The command is not there, or may not be run; or the directory is not there."""
    name, program = definition.name, (definition.prefix or definition.command)[0]
    if not os.path.isdir(cwd):
        what = f"Agent {name!r} cannot start: there is no directory {cwd or 'to work in any more'}."
        step = ":cd to one that exists, then :AcpChat! begins a session there."
    elif isinstance(error, FileNotFoundError):
        what = f"Agent {name!r} cannot start: the command {program!r} was not found."
        step = f"Install it, or correct agents.{name}.command in your configuration (:checkhealth acp_nvim)."
        if definition.install and not definition.prefix:
            step = f"To install it, type: {definition.install} ({definition.url})"
    else:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        what = f"Agent {name!r} cannot start: {program!r}: {reason}."
        step = f"Correct agents.{name}.command in your configuration."
    return Failure("agent_not_found", what, step, name)


def exited(name: str, returncode: int | None, last_words: tuple[str, ...]) -> Failure:
    """The agent's process has ended by itself.

    `returncode` is negative for a signal, None when unknown; `last_words` are its last lines on stderr.
    """
    said = "Its last words on stderr:" if last_words else "It said nothing on stderr."
    return Failure(
        "agent_exited",
        f"Agent {name!r} ended {_how(returncode)}.",
        f"Your next prompt starts it again. {said}",
        name,
        last_words,
    )


def hangs(name: str, seconds: float, others: int) -> Failure:
    """A turn goes on although the agent was asked to stop it; `others`: the other chats that its process serves."""
    what = f"Agent {name!r} has not stopped {seconds:g} s after it was asked to."
    shared = f" {others_end(others)}" if others else ""
    step = f":AcpCancel asks again, then closes the session, then ends the agent's process.{shared}"
    return Failure("agent_hangs", what, step, name)


def others_end(others: int) -> str:
    """What the end of a process means for the `others`: so many chats that it serves beside this one."""
    return f"The process serves {others} other {'chat' if others == 1 else 'chats'}, whose turns would end with it."


def ended_for_another(name: str) -> Failure:
    """The process was ended because of another session."""
    what = f"Agent {name!r} was ended, because it did not stop what it did in another chat (:AcpCancel there)."
    return Failure("agent_ended", what, "Your next prompt starts it again.", name)


def silent(name: str, seconds: float, last_words: tuple[str, ...]) -> Failure:
    """The agent has not answered `initialize` in time."""
    return Failure(
        "agent_silent",
        f"Agent {name!r} did not answer `initialize` within {seconds:g} s and was stopped.",
        "Check that its command starts an ACP agent; timeouts.initialize sets the limit.",
        name,
        last_words,
    )


def refused(name: str, method: str, error: RpcError) -> Failure:
    """An error answer to anything but a prompt."""
    return sign_in_wanted(name, error) if wants_sign_in(error) else _refusal(name, method, error)


def _refusal(name: str, method: str, error: RpcError) -> Failure:
    said = error.describe()
    what = f"Agent {name!r} refused `{method}`: {said} (code {error.code})."
    return Failure("agent_refused", what, f"{_MAY_SIGN_IN} {_LOG}" if _ABOUT_SIGN_IN.search(said) else _LOG, name)


def wants_sign_in(error: RpcError) -> bool:
    """Whether an error means that the user has to sign in before the same call can succeed."""
    return error.code in (AUTH_REQUIRED, UNAUTHORIZED)


@dataclass(frozen=True, slots=True)
class SignInWanted(Failure):
    """`methods` are those that the error names itself."""

    methods: tuple[AuthMethod, ...] = ()


def sign_in_wanted(name: str, error: RpcError) -> SignInWanted:
    """The agent refused something until the user has signed in."""
    what = f"Agent {name!r} wants you to sign in first (:AcpLogin): {error.describe().rstrip('.')}."
    return SignInWanted("auth_required", what, "", name, methods=named_by_error(error.data))


def slow_start(name: str) -> str:
    """Words for a session that the agent has not opened yet, but may."""
    return f"Agent {name!r} has not opened the session yet. :AcpCancel gives up, :AcpLog shows what it said."


def not_initialized(name: str, error: RpcError, newest: int) -> Failure:
    """An error answer to `initialize`; it may name the protocol versions that the agent speaks instead.

    `newest` is the highest protocol version that the host speaks.
    """
    supported = error.data.get("supported") if isinstance(error.data, dict) else None
    if error.code == UNSUPPORTED_PROTOCOL_VERSION and isinstance(supported, list):
        versions = [version for version in supported if isinstance(version, int)]
        if versions:
            return wrong_version(name, min(versions), newest)
    if error.code == AUTH_REQUIRED:  # and says no way to do so
        what = f"Agent {name!r} wants you to sign in first ({error.describe()})."
        return Failure("auth_required", what, "Sign in with the agent's own program, then prompt again.", name)
    return _refusal(name, "initialize", error)


def malformed_answer(name: str, method: str, error: msgspec.DecodeError) -> Failure:
    """An answer that is not what the protocol says."""
    what = f"Agent {name!r} answered `{method}` with something that is not ACP: {error}."
    return Failure("agent_refused", what, "Check that its command starts an ACP agent, and its version.", name)


def wrong_version(name: str, version: int, newest: int) -> Failure:
    """The agent speaks another protocol version than we, who know those up to `newest`."""
    what = f"Agent {name!r} speaks ACP version {version}; acp_nvim speaks version 1, and 2 if protocol.v2 is set."
    step = "Update acp_nvim." if version > newest else "Update the agent."
    return Failure("protocol_version", what, "Set protocol.v2 = true." if version == newest else step, name)


def not_offered(name: str, method: str) -> Failure:
    """The agent's capabilities do not name it."""
    step = "Nothing was sent. A newer version of the agent may offer it."
    return Failure("not_offered", f"Agent {name!r} does not offer `{method}`.", step, name)


def turn_failed_with(name: str, words: str) -> Failure:
    """The agent says that the turn ended with an error."""
    return Failure("turn_failed", f"Agent {name!r} failed on this prompt: {words}.", "You can prompt again.", name)


def turn_failed(name: str, error: RpcError) -> Failure:
    """Return the failure of a turn whose prompt the agent has answered with an error."""
    failure = turn_failed_with(name, f"{error.describe()} (code {error.code})")
    if _ABOUT_SIGN_IN.search(failure.what):
        return replace(failure, next_step=f"{_MAY_SIGN_IN} {failure.next_step}")
    return failure


def no_worktree(name: str, reason: str) -> Failure:
    """The work tree that the user wanted for a session could not be made."""
    step = "Nothing was started, and no prompt of this chat goes out: :AcpChat! begins another one."
    return Failure("no_worktree", f"No worktree could be made: {reason}.", step, name)


def session_taken(name: str, session_id: str) -> Failure:
    """The agent has one session for two chats."""
    what = f"Session {session_id!r} of agent {name!r} is open in another chat."
    return Failure("session_taken", what, "Go on there, or :AcpStop there and try again.", name)


def bad_message(name: str, method: str, error: Exception) -> Failure:
    """Something of a known kind that is malformed."""
    return Failure(
        "bad_message", f"Agent {name!r} sent a malformed {method}: {error}.", "That part was left out.", name
    )


def bad_mcp_servers(name: str, reason: str) -> Failure:
    """What the user wrote of them cannot be sent."""
    what = f"The mcp_servers of agent {name!r} cannot be used: {reason}."
    return Failure("agent_misconfigured", what, f"Correct agents.{name}.mcp_servers in your configuration.", name)


def left_out(name: str, complaint: str) -> Failure:
    """A part of an answer that is malformed, while the rest can be used."""
    what = f"Agent {name!r} answered with something malformed, or too long: {complaint}."
    return Failure("bad_message", what, "That part was left out.", name)


def lost_message(name: str, words: str) -> Failure:
    """A message that could not be taken as a whole."""
    return Failure("bad_message", f"A message of agent {name!r} was lost: {words}.", "The connection goes on.", name)


def bug(name: str, error: BaseException) -> Failure:
    """A bug of this plugin, met while working with an agent."""
    what = f"acp_nvim failed while working with agent {name!r}: {error!r}."
    return Failure("host_bug", what, "Please report it with the log (:AcpLog). You can prompt again.", name)


def own_bug(error: BaseException) -> Failure:
    """Return the failure for a bug of ours where no agent is concerned."""
    what = f"acp_nvim failed: {error!r}."
    return Failure("host_bug", what, "Please report it with the log (:AcpLog). Everything else goes on.")


def _how(returncode: int | None) -> str:
    if returncode is None:
        return "its connection"
    if returncode < 0:
        try:
            return f"by signal {signal.Signals(-returncode).name}"
        except ValueError:
            return f"by signal {-returncode}"
    return f"with exit code {returncode}"


def unreachable_server(name: object) -> str:
    """Return what the chat says of an MCP server whose type the agent does not support."""
    return f"MCP server {name!r} is left out: the agent cannot reach servers of its type."


def unmapped_directory(name: str, directory: str) -> str:
    """Return what the chat says of an additional directory that is nowhere on the agent's machine."""
    return f"The directory {directory} is left out: nothing says where it is for the agent (agents.{name}.paths)."


class WarningDeduplicator:
    """Knows which failures were told, so that each is told once; `TROUBLES` different ones at most."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def __repr__(self) -> str:
        return f"<WarningDeduplicator {len(self._told)}>"

    def is_news(self, failure: Failure) -> bool:
        """Whether the failure was not told yet; notes that it is told now."""
        if failure.what in self._told or len(self._told) >= TROUBLES:
            return False
        self._told.add(failure.what)
        return True
