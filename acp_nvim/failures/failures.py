"""Failures of agents, in plain words for the user: what failed, which agent, what to do next.

The functions here write the terms of the protocol (methods, error codes, members) into the log, which the notice names.
"""

from __future__ import annotations

import logging
import os
import signal
from typing import Final

import msgspec

from acp_nvim.acp.answers import AuthMethod
from acp_nvim.acp.auth_methods import named_by_error
from acp_nvim.acp.fields import shortened
from acp_nvim.agents.definition import AgentDefinition
from acp_nvim.errors import Failure
from acp_nvim.failures.plain_words import about_sign_in, plain, reason, task
from acp_nvim.jsonrpc.messages import AUTH_REQUIRED, UNSUPPORTED_PROTOCOL_VERSION, RpcError
from acp_nvim.limits import LOGGED_LINE_CHARS, TROUBLES
from acp_nvim.transports.interface import Disconnected, Ending

UNAUTHORIZED: Final = 401
"""The HTTP status of a provider, which some agents use as error code."""

_MAY_SIGN_IN = "If it wants a sign-in: :AcpLogin."
NEW_PROCESS: Final = "Sign in (:AcpLogin), then :AcpStop: your next prompt starts a new process of it."
LOG: Final = ":AcpLog shows what it said."
_CHECK = "Check that its command starts an ACP agent, and its version; :AcpLog shows what it said."
_LEFT_OUT = "That part was left out; :AcpLog names it."

log = logging.getLogger(__name__)

SESSION_CHARS: Final = 60
"""Characters of a session's id in a message."""

NOT_RESTORED = frozenset({"agent_refused", "not_offered", "session_taken"})
"""Codes of failures to reopen a session that would recur with each attempt."""

KEPT_FOR_SIGN_IN = "Your prompt is kept, and is sent then."


def cannot_start(definition: AgentDefinition, cwd: str, error: OSError | ValueError) -> Failure:
    """Return the failure for a command that cannot be run, or a working directory that does not exist."""
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


def _note(name: str, words: str) -> None:
    """Log what the user is not told, in the terms of the protocol."""
    log.info("%s: %s", name, words[: 2 * LOGGED_LINE_CHARS])


def _note_error(name: str, method: str, error: RpcError) -> None:
    data = "" if error.data is None else f", data {error.data!r:.{LOGGED_LINE_CHARS}}"
    _note(name, f"{method} was refused: {error.message!r:.{LOGGED_LINE_CHARS}} (code {error.code}){data}")


STARTS_AGAIN = "Your next prompt starts it again."
CONNECTS_AGAIN = "Your next prompt connects again."

NEXT_STEPS: Final = {
    "name": "Correct agents.{name}.address, or check the network of this machine.",
    "refused": "Start the agent there, or correct agents.{name}.address in your configuration.",
    "network": "Check agents.{name}.address, the network, and that no firewall is in between.",
    "not_tls": "Remove agents.{name}.tls, or correct agents.{name}.address in your configuration.",
    "certificate": "If its certificate comes from an authority of your own, or is one: agents.{name}.tls = "
    '"/path/of/its/certificate.pem".',
    "outdated": "Renew its certificate there, and check the date of both machines.",
    "wrong_name": "Use a name in agents.{name}.address that its certificate is for.",
    "tls": "Correct agents.{name}.tls in your configuration.",
    "token": "Check the token, which the environment variable named by agents.{name}.token_env contains.",
    "no_token": "Set it in the shell that starts Neovim, or correct agents.{name}.token_env in your configuration.",
    "status": "Correct agents.{name}.address in your configuration: it has the path of the agent, such as /acp.",
    "no_websocket": "Correct agents.{name}.address in your configuration; for plain TCP it is only host:port.",
    "no_package": "Install it with that Python: -m pip install websockets",
    "draft": "Set protocol.draft_transports = true to use it all the same; it may change.",
}
"""What to do about an agent that cannot be reached, by cause (`transports.reaching.Cause`)."""


def cannot_reach(definition: AgentDefinition, cause: str, reason: str) -> Failure:
    """Return the failure for an agent to which no connection can be opened; `reason` ends the sentence."""
    step = _next_step(definition, cause).format(name=definition.name)
    what = f"Agent {definition.name!r} cannot be reached: {reason}."
    return Failure("agent_not_found", what, step, definition.name)


def _next_step(definition: AgentDefinition, cause: str) -> str:
    """Return what to do, as in `NEXT_STEPS`, which depends on how the address says that TLS is wanted."""
    address, correct = definition.address, "Correct agents.{name}.address in your configuration"
    if cause == "not_tls" and address is not None and address.url:
        also = ", and agents.{name}.tls is not set" if definition.tls else ""
        return f"{correct}; without TLS it begins with ws://{also}."
    if cause == "no_websocket" and address is not None and not address.tls:
        return f"{correct}; with TLS it begins with wss://, for plain TCP it is only host:port."
    if cause == "certificate" and isinstance(definition.tls, str):
        return "Add its certificate, or that of its authority, to the file that agents.{name}.tls names."
    return NEXT_STEPS[cause]


def _may_want_tls(definition: AgentDefinition) -> bool:
    """Whether an agent that says nothing may wait for TLS: a WebSocket has said something when it was opened."""
    return definition.address is not None and not (definition.address.tls or definition.address.url)


def ended(definition: AgentDefinition, ending: Ending, said: tuple[str, ...] = ()) -> Failure:
    """Return the failure for an agent that has ended by itself, or whose connection has; `said` as in `exited`."""
    name = definition.name
    if isinstance(ending, Disconnected):
        why = plain(ending.why)
        what = f"The connection to agent {name!r} at {ending.address} {ending.how}{f' ({why})' if why else ''}."
        step = f"{CONNECTS_AGAIN} What the agent still does there is not known."
        if not ending.has_heard:
            tls = f"; if it wants TLS, set agents.{name}.tls = true" if _may_want_tls(definition) else ""
            step = f"Check that an ACP agent listens there{tls}."
        return Failure("agent_exited", what, step, name)
    return exited(name, ending.returncode, ending.last_words, said)


def exited(name: str, returncode: int | None, last_words: tuple[str, ...], said: tuple[str, ...] = ()) -> Failure:
    """Return the failure for a process that has ended by itself.

    `returncode` is negative for a signal, None if unknown; `last_words` are lines of its stderr that may explain it,
    `said` those that it wrote to stdout instead of an answer.
    """
    how = "its connection" if returncode is None else f"with exit code {returncode}"
    if returncode is not None and returncode < 0:
        known = {one.value: one.name for one in signal.Signals}
        how = f"by signal {known.get(-returncode, -returncode)}"
    lines, source = (*said, *last_words), "It said:" if said else "The end of its stderr:"
    step = source if lines else "It did not say why; :AcpLog has all that it said."
    step = f"{_MAY_SIGN_IN} {step}" if about_sign_in("\n".join(lines)) else step
    return Failure("agent_exited", f"Agent {name!r} ended {how}.", f"{STARTS_AGAIN} {step}", name, lines)


def hangs(definition: AgentDefinition, seconds: float, others: int) -> Failure:
    """Return the failure for an agent that ignores a cancel for `seconds`; `others` counts its other chats."""
    what = f"Agent {definition.name!r} has not stopped {seconds:g} s after it was asked to."
    who = (
        f":AcpCancel restarts it. {others_end(definition, others)} It"
        if others
        else "Your next prompt, or :AcpCancel, restarts it: it"
    )
    if definition.address is None:
        step = f"{who} is asked again, then its session is closed, then its process is ended. The chat stays."
    else:
        step = f"{who} is asked again, then its session is closed, then the connection. The chat stays."
    return Failure("agent_hangs", what, step, definition.name)


def last_measure(definition: AgentDefinition) -> str:
    """Return what is done to an agent that does not stop otherwise, in words that end a sentence."""
    return "ends the agent's process" if definition.address is None else "closes the connection to the agent"


def others_end(definition: AgentDefinition, others: int) -> str:
    """Return a warning that the last measure ends the turns of `others`, a number of other chats."""
    what = "process" if definition.address is None else "connection"
    return f"The {what} serves {others} other {'chat' if others == 1 else 'chats'}, whose turns would end with it."


def not_cancelled(name: str, title: str, why: str) -> Failure:
    """Return the failure for the subagent `title`, which cannot be cancelled alone: it is `gone`, `idle`, ..."""
    whole = ":AcpCancel in the chat that it belongs to stops the whole turn."
    what, step = {
        "gone": (f"The subagent {title!r} does not work any more.", "Its agent is gone."),
        "idle": (f"The subagent {title!r} does not work at the moment.", whole),
        "not offered": (f"Agent {name!r} cannot cancel the subagent {title!r} alone.", whole),
        "asked already": (f"The subagent {title!r} is being cancelled already.", whole),
    }[why]
    return Failure("not_cancelled", what, step, name)


def forgotten_subagents(name: str, most: int) -> Failure:
    """Return the failure for the oldest idle subagents, which made room for others: `most` are kept."""
    what = f"Agent {name!r} has created more than {most} subagents: the oldest ones that are idle are not kept."
    return Failure("bad_message", what, "What they say or do from now on is not shown.", name)


def subagent_failed(name: str, title: str, words: str) -> Failure:
    """Return the failure for the subagent `title`, whose work the agent ended with an error, in those `words` of it."""
    _note(name, f"the work of {title!r} failed: {words}")
    why = plain(words)
    return Failure("turn_failed", f"The subagent {title!r} has failed{': ' if why else ''}{why}.", LOG, name)


def too_many_subagents(name: str, most: int) -> Failure:
    """Return the failure for a subagent beyond `most`, of which nothing is shown."""
    what = f"Agent {name!r} has more than {most} subagents at work, or they are nested too deeply."
    return Failure("bad_message", what, "What the others do is not shown.", name)


def silent(definition: AgentDefinition, seconds: float, last_words: tuple[str, ...]) -> Failure:
    """Return the failure for an agent that has not answered `initialize` within that many seconds."""
    name, limit = definition.name, "timeouts.initialize sets the limit."
    _note(name, f"initialize was not answered within {seconds:g} s")
    if definition.address is not None:
        what = f"Agent {name!r} at {definition.address} did not answer within {seconds:g} s; the connection was closed."
        tls = f", and whether it wants TLS (agents.{name}.tls = true)" if _may_want_tls(definition) else ""
        return Failure("agent_silent", what, f"Check that an ACP agent listens there{tls}; {limit}", name)
    what = f"Agent {name!r} was started, did not answer within {seconds:g} s, and was stopped."
    return Failure("agent_silent", what, f"Check that its command starts an ACP agent; {limit}", name, last_words)


def refused(name: str, method: str, error: RpcError) -> Failure:
    """Return the failure for an error answer to any request but a prompt."""
    return sign_in_wanted(name, error) if wants_sign_in(error) else _refusal(name, method, error)


def _refusal(name: str, method: str, error: RpcError) -> Failure:
    _note_error(name, method, error)
    why = reason(error)
    what = f"Agent {name!r} refused to {task(method)}{': ' if why else ''}{why}."
    is_about_sign_in = about_sign_in(error.message, error.data)
    return Failure("agent_refused", what, f"{_MAY_SIGN_IN} {LOG}" if is_about_sign_in else LOG, name)


def why(error: RpcError) -> str:
    """Return why an agent refused a request, in its words."""
    return plain(error.describe()) or "it gives no reason"


def wants_sign_in(error: RpcError) -> bool:
    """Whether an error means that the user has to sign in before the same call can succeed."""
    return error.code in (AUTH_REQUIRED, UNAUTHORIZED)


class SignInWanted(Failure, frozen=True):
    """A refusal until the user signs in; `methods` are those that the error names."""

    methods: tuple[AuthMethod, ...] = ()


def sign_in_wanted(name: str, error: RpcError, again: bool = False) -> SignInWanted:
    """Return the failure for an error answer that asks for a sign-in; `again` as in `turn_failed_with`."""
    _note_error(name, "a request", error)
    why = plain(error.describe())
    what = f"Agent {name!r} wants you to sign in first (:AcpLogin){': ' if why else ''}{why}."
    return SignInWanted("auth_required", what, NEW_PROCESS if again else "", name, methods=named_by_error(error.data))


def not_initialized(name: str, error: RpcError, newest: int) -> Failure:
    """Return the failure for an error answer to `initialize`, which may name the versions that the agent speaks.

    `newest` is the highest protocol version that the host speaks.
    """
    supported = error.data.get("supported") if isinstance(error.data, dict) else None
    if error.code == UNSUPPORTED_PROTOCOL_VERSION and isinstance(supported, list):
        versions = [version for version in supported if isinstance(version, int)]
        if versions:
            return wrong_version(name, min(versions), newest)
    if error.code == AUTH_REQUIRED:  # without naming a method
        _note_error(name, "initialize", error)
        why = plain(error.describe())
        what = f"Agent {name!r} wants you to sign in first{f' ({why})' if why else ''}."
        return Failure("auth_required", what, "Sign in with the agent's own program, then prompt again.", name)
    return _refusal(name, "initialize", error)


def malformed_answer(name: str, method: str, error: msgspec.DecodeError) -> Failure:
    """Return the failure for a result that does not follow the protocol."""
    _note(name, f"the answer to {method} is malformed: {error}")
    what = f"Agent {name!r} was asked to {task(method)}, and answered something that acp_nvim does not understand."
    return Failure("agent_refused", what, _CHECK, name)


def wrong_version(name: str, version: int, newest: int) -> Failure:
    """Return the failure for an agent with a protocol version that the host, up to `newest`, does not speak."""
    what = f"Agent {name!r} speaks ACP version {version}; acp_nvim speaks version 1, and 2 if protocol.v2 is set."
    step = "Update acp_nvim." if version > newest else "Update the agent."
    return Failure("protocol_version", what, "Set protocol.v2 = true." if version == newest else step, name)


def not_offered(name: str, method: str) -> Failure:
    """Return the failure for a method that the agent's capabilities do not name."""
    _note(name, f"{method} is not among its capabilities, and was not sent")
    step = "Nothing was sent. A newer version of the agent may offer it."
    return Failure("not_offered", f"Agent {name!r} does not offer to {task(method)}.", step, name)


def turn_failed_with(name: str, words: str, again: bool = False) -> Failure:
    """Return the failure for a turn that the agent ended with an error, in those `words`; `again`: as the one before.

    A session that fails again because of a sign-in may have given up for good, whatever the user does.
    """
    _note(name, f"the turn failed: {words}")
    return _turn_failed(name, words, about_sign_in(words), again)


def turn_failed(name: str, error: RpcError, again: bool = False) -> Failure:
    """Return the failure for a turn whose prompt was answered with an error."""
    _note_error(name, "session/prompt", error)
    return _turn_failed(name, error.describe(), about_sign_in(error.message, error.data), again)


def _turn_failed(name: str, words: str, is_about_sign_in: bool, again: bool) -> Failure:
    why, step = plain(words), "You can prompt again; :AcpLog shows what it said."
    what = f"Agent {name!r} failed on this prompt{': ' if why else ''}{why}."
    if is_about_sign_in:
        step = f"{NEW_PROCESS} {LOG}" if again else f"{_MAY_SIGN_IN} {step}"
    return Failure("turn_failed", what, step, name)


def session_taken(name: str, session_id: str) -> Failure:
    """Return the failure for a session id that another chat uses already."""
    what = f"Session {session_id!r} of agent {name!r} is open in another chat."
    return Failure("session_taken", what, "Go on there, or :AcpStop there and try again.", name)


_WANTED: Final = {
    "session/request_permission": "asked for a permission",
    "fs/read_text_file": "wanted to read a file",
    "fs/write_text_file": "wanted to write a file",
    "terminal/create": "wanted to run a command",
}
_ANNOUNCE: Final = (
    "That is a fault of the agent, which has to open a session first: look for a newer version. :AcpLog names it."
)


def stray_request(name: str, session_id: str, method: str) -> Failure:
    """Return the failure for a request for a session that the agent has not announced."""
    _note(name, f"{method} was refused: unknown session {session_id!r:.{LOGGED_LINE_CHARS}}")
    wanted = _WANTED.get(method, "asked something")
    what = f"Agent {name!r} {wanted} in {_unknown_session(session_id)}: it was refused."
    return Failure("bad_message", what, _ANNOUNCE, name)


def stray_work(name: str, session_id: str) -> Failure:
    """Return the failure for updates about a session that the agent has not announced."""
    _note(name, f"updates of the unknown session {session_id!r:.{LOGGED_LINE_CHARS}} are not shown")
    what = f"Agent {name!r} works in {_unknown_session(session_id)}: what it says and does there is not shown."
    return Failure("bad_message", what, _ANNOUNCE, name)


def _unknown_session(session_id: str) -> str:
    return f"the session {shortened(session_id, SESSION_CHARS)!r}, which is not open here"


def bad_message(name: str, method: str, error: Exception) -> Failure:
    """Return the failure for a message of a known method that is malformed."""
    _note(name, f"a malformed {method}: {error}")
    return Failure("bad_message", f"Agent {name!r} sent something malformed.", _LEFT_OUT, name)


def left_out(name: str, complaint: str) -> Failure:
    """Return the failure for a malformed part of an answer whose rest is used."""
    _note(name, f"a part of an answer is left out: {complaint}")
    return Failure("bad_message", f"Agent {name!r} answered something malformed, or too long.", _LEFT_OUT, name)


def lost_message(name: str, words: str) -> Failure:
    """Return the failure for a message that could not be received."""
    _note(name, f"a message was lost: {words}")
    step = "Everything else goes on; :AcpLog has more."
    return Failure("bad_message", f"A message of agent {name!r} was lost: {plain(words)}.", step, name)


def bug(name: str, error: BaseException) -> Failure:
    """Return the failure for a bug of this plugin that concerns an agent."""
    what = f"acp_nvim failed while working with agent {name!r}: {plain(repr(error))}."
    return Failure("host_bug", what, "Please report it with the log (:AcpLog). You can prompt again.", name)


def own_bug(error: BaseException) -> Failure:
    """Return the failure for a bug of this plugin that concerns no agent."""
    what = f"acp_nvim failed: {plain(repr(error))}."
    return Failure("host_bug", what, "Please report it with the log (:AcpLog). Everything else goes on.")


class WarningDeduplicator:
    """Lets each failure be reported once, and `TROUBLES` different ones at most."""

    def __init__(self) -> None:
        self._reported: set[str] = set()

    def is_news(self, failure: Failure) -> bool:
        """Return whether to report the failure, for the first time."""
        is_new = failure.what not in self._reported and len(self._reported) < TROUBLES
        if is_new:
            self._reported.add(failure.what)
        return is_new
