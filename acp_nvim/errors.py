"""Failures that are reported to the user: their codes, severities and messages."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

Severity = Literal["info", "warn", "error"]

SEVERITY: dict[str, Severity] = {
    "agent_unknown": "error",
    "agent_misconfigured": "error",
    "agent_not_found": "error",
    "agent_exited": "error",
    "agent_ended": "warn",
    "agent_hangs": "warn",
    "agent_silent": "error",
    "agent_refused": "error",
    "auth_required": "error",
    "sign_in_failed": "error",
    "protocol_version": "error",
    "not_offered": "error",
    "session_taken": "error",
    "no_worktree": "error",
    "bad_message": "warn",
    "turn_failed": "error",
    "not_cancelled": "warn",
    "no_log": "warn",
    "no_defaults": "warn",
    "host_bug": "error",
}


class Failure(msgspec.Struct, frozen=True):
    """A failure as the user is told of it.

    `what` says what failed and to whom it belongs, `next_step` what to do about it, `detail` contains lines that
    explain it (such as the end of an agent's stderr), oldest first.
    """

    code: str
    what: str
    next_step: str
    agent: str | None = None
    detail: tuple[str, ...] = ()

    @property
    def severity(self) -> Severity:
        """The severity of the code; "error" for an unknown code."""
        return SEVERITY.get(self.code, "error")

    def __str__(self) -> str:
        lines = [f"{self.what} {self.next_step}".rstrip()]
        lines.extend(f"  {line}" for line in self.detail)
        return "\n".join(lines)


class TooLargeError(msgspec.ValidationError):
    """A request has a member beyond its bound; the text names the member and the bound."""


class FailureError(Exception):
    """Raised with a `Failure` that a caller reports to the user."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(str(failure))
        self.failure = failure


def configured(error: msgspec.ValidationError, option: str) -> str:
    """Return what is wrong with the value of an `option`, naming the part as in the configuration (`env.X`)."""
    what, _, place = str(error).partition(" - at `$")
    steps = re.sub(r"\[(\d+)\]", lambda index: f"[{int(index[1]) + 1}]", place.rstrip("`"))  # Lua counts from 1
    return f"{what[:1].lower()}{what[1:]} in {option}{steps}"
