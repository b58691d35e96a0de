"""Files outside of the session's directories, and those that make programs run: the user or a rule decides."""

from __future__ import annotations

import os
from collections.abc import Awaitable
from typing import Literal

import msgspec

from acp_nvim.session.requests.broker import Outcome, PermissionBroker, Request
from acp_nvim.session.requests.subject import SessionPaths, always_asked, of_file
from acp_nvim.ui import events
from acp_nvim.workspace.guarded_files import GuardedFiles
from acp_nvim.workspace.refusals import DisallowedError, FileRefusedError, NotAllowedError
from acp_nvim.workspace.regular_files import in_words, regular_file
from acp_nvim.workspace.roots import Roots

Access = Literal["read", "write"]
"""What an agent wants to do with a file."""

_EVERYWHERE = Roots([os.sep])


class _Wanted(msgspec.Struct, frozen=True):
    """A file that the user is asked about, as the agent calls it and as it is.

    `outside`: in words, if it is in none of the session's directories; `why`: what makes it one that no rule allows.
    """

    path: str
    real: str
    access: Access
    outside: str | None = None
    why: str | None = None

    @property
    def kind(self) -> str:
        """The kind of a tool call that does that."""
        return "read" if self.access == "read" else "edit"

    @property
    def which(self) -> tuple[Access, str, str | None]:
        """The key of answers for the session; another one once the file makes programs run."""
        return self.access, self.real, self.why

    @property
    def refusal(self) -> str:
        """The beginning of the error for the agent when it may not."""
        return self.outside or f"{self.path} is written only if the user allows it: {self.why}"


class PathAccess:
    """Decides for one session which files its agent gets at; outside of its roots the user does, if it `asks`.

    Inside only writing files that make programs run is asked about, in any case.
    """

    def __init__(self, where: SessionPaths, broker: PermissionBroker) -> None:
        self.asks = False
        self._where = where
        self._roots = where.roots
        self._broker = broker

    def __repr__(self) -> str:
        return f"<PathAccess of {self._roots!r} asks={self.asks}>"

    def resolve(self, path: str, access: Access) -> Awaitable[str]:
        """The real path of `path`, to come. If the user has to be asked, the question is shown now.

        To await it raises `NotAllowedError`.
        """
        outside = None
        try:
            try:
                real = self._roots.resolve(path)
            except NotAllowedError as error:
                if not self.asks:
                    raise
                outside, real = str(error), _EVERYWHERE.resolve(path)
        except NotAllowedError as error:
            return _refused(error)
        why = GuardedFiles(self._roots).why_asked(path, real) if access == "write" else None
        if outside is None and why is None:
            return _allowed(real)
        return self._ask(_Wanted(path, real, access, outside, why))

    def _ask(self, wanted: _Wanted) -> Awaitable[str]:
        fault = _fault(wanted)
        if fault is not None:
            return _refused(NotAllowedError(f"{wanted.refusal}, and {fault}"))
        about = of_file(wanted.kind, wanted.real, self._where, outside=wanted.outside is not None, guarded=wanted.why)
        return self._decide(wanted, self._broker.ask(Request(view=_view(wanted), wanted=about, key=wanted.which)))

    async def _decide(self, wanted: _Wanted, answer: Awaitable[Outcome]) -> str:
        if not (await answer).allowed:
            raise DisallowedError(f"{wanted.refusal}, and the user did not allow it")
        if _EVERYWHERE.resolve(wanted.path) != wanted.real:
            raise NotAllowedError(f"{wanted.path} is another file by now than the one that the user was asked about")
        return wanted.real


async def _allowed(real: str) -> str:
    return real


async def _refused(error: NotAllowedError) -> str:
    raise error


def _fault(wanted: _Wanted) -> str | None:
    """Why nobody is asked about that file. One that does not exist may be made, or be in the editor only."""
    try:
        regular_file(wanted.real)
    except FileRefusedError as error:
        return str(error)
    except OSError as error:
        return str(in_words(wanted.real, "read" if wanted.access == "read" else "written", error))
    return None


def _options(wanted: _Wanted) -> list[events.Option]:
    """To allow a file that makes programs run counts once only."""
    doing = "reading" if wanted.access == "read" else "writing"
    options = [
        events.Option("allow_once", "Allow once", "allow_once"),
        events.Option("allow_always", f"Allow {doing} this file in this session", "allow_always"),
        events.Option("reject_once", "Reject once", "reject_once"),
        events.Option("reject_always", f"Reject {doing} this file in this session", "reject_always"),
    ]
    return [one for one in options if wanted.why is None or one.kind != "allow_always"]


def _view(wanted: _Wanted) -> events.RequestView:
    where = "" if wanted.outside is None else ", which is outside of the session's directories"
    called = None if wanted.path == wanted.real else f"The agent calls it {wanted.path}"
    why = None if wanted.why is None else always_asked(wanted.real, wanted.why)
    return events.RequestView(
        id=0,
        tool_call_id="",
        title=f"{wanted.access.capitalize()} {wanted.real}{where}",
        kind=wanted.kind,
        options=_options(wanted),
        content=[],
        locations=[events.FileLine(wanted.real)],
        description="\n".join(filter(None, (called, why))) or None,
    )
