"""Files outside of the session's directories: refused, or the user or a rule decides."""

from __future__ import annotations

import os
from collections.abc import Awaitable
from functools import partial
from typing import Literal

import msgspec

from acp_nvim import events
from acp_nvim.session.asked_for import of_file_outside
from acp_nvim.session.session_answers import SessionAnswers
from acp_nvim.workspace.refusals import DisallowedError, FileRefusedError, NotAllowedError
from acp_nvim.workspace.regular_files import in_words, regular_file
from acp_nvim.workspace.roots import Roots

Access = Literal["read", "write"]
"""What an agent wants to do with a file."""

_EVERYWHERE = Roots([os.sep])


class _Wanted(msgspec.Struct, frozen=True):
    """A file outside, as the agent calls it and as it is; `refusal` tells the agent that it is outside."""

    path: str
    real: str
    access: Access
    refusal: str

    @property
    def kind(self) -> str:
        """Of a tool call that does that."""
        return "read" if self.access == "read" else "edit"

    @property
    def which(self) -> tuple[Access, str]:
        """What an answer for the whole session is about."""
        return self.access, self.real


class Outside:
    """Decides for one session which files its agent gets at; outside of `roots` the user does, if it `asks`."""

    def __init__(self, roots: Roots, answers: SessionAnswers) -> None:
        self.asks = False
        self._roots = roots
        self._answers = answers

    def __repr__(self) -> str:
        return f"<Outside of {self._roots!r} asks={self.asks}>"

    def resolve(self, path: str, access: Access) -> Awaitable[str]:
        """The real path of `path`, to come. If the user has to be asked, the question is shown now.

        To await it raises `NotAllowedError`.
        """
        try:
            return _allowed(self._roots.resolve(path))
        except NotAllowedError as error:
            return self._ask(path, access, error) if self.asks else _refused(error)

    def _ask(self, path: str, access: Access, error: NotAllowedError) -> Awaitable[str]:
        try:
            return self._outside(_Wanted(path, _EVERYWHERE.resolve(path), access, str(error)))
        except NotAllowedError as nowhere:
            return _refused(nowhere)

    def _outside(self, wanted: _Wanted) -> Awaitable[str]:
        fault = _fault(wanted)
        if fault is not None:
            return _refused(NotAllowedError(f"{wanted.refusal}, and {fault}"))
        automatic = self._answers.automatic
        answer = automatic.say(of_file_outside(wanted.kind, wanted.real, automatic.where))
        view = partial(_view, wanted)
        return self._decide(wanted, self._answers.ask(wanted.which, _options(wanted.access), view, answer))

    async def _decide(self, wanted: _Wanted, answer: Awaitable[bool]) -> str:
        if not await answer:
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


def _options(access: Access) -> list[events.Option]:
    doing = "reading" if access == "read" else "writing"
    return [
        events.Option("allow_once", "Allow once", "allow_once"),
        events.Option("allow_always", f"Allow {doing} this file in this session", "allow_always"),
        events.Option("reject_once", "Reject once", "reject_once"),
        events.Option("reject_always", f"Reject {doing} this file in this session", "reject_always"),
    ]


def _view(wanted: _Wanted, request_id: int) -> events.RequestView:
    return events.RequestView(
        id=request_id,
        tool_call_id="",
        title=f"{wanted.access.capitalize()} {wanted.real}, which is outside of the session's directories",
        kind=wanted.kind,
        options=_options(wanted.access),
        content=[],
        locations=[events.Place(wanted.real)],
        description=None if wanted.path == wanted.real else f"The agent calls it {wanted.path}",
    )
