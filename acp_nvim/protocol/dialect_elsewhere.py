"""The dialect of an agent that runs elsewhere: the paths in all that is said are moved, here and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from acp_nvim.errors import FailureError
from acp_nvim.jsonrpc.messages import INVALID_PARAMS, RpcError
from acp_nvim.protocol.answers import Asked, Opened, PromptAnswer, SessionPage, Steered
from acp_nvim.protocol.dialect import Call, Dialect, Place
from acp_nvim.protocol.moved_words import MovedWords, UnmappedError, block
from acp_nvim.protocol.path_map import PathMap, unmapped
from acp_nvim.protocol.updates import Update
from acp_nvim.wire.content import ContentBlock


def elsewhere(dialect: Dialect, paths: PathMap, terminal: bool) -> Dialect:
    """The same dialect, with other paths; without `terminal` no commands are run for the agent."""
    if terminal and not paths:
        return dialect
    return cast(Dialect, DialectElsewhere(dialect, paths, terminal))


class DialectElsewhere:
    """Another `Dialect` behind a `PathMap`; what names no paths is left to it."""

    def __init__(self, dialect: Dialect, paths: PathMap, terminal: bool) -> None:
        self._dialect = dialect
        self._paths = paths
        self._moved = MovedWords(paths)
        offered = (method for method in dialect.requests if terminal or not method.startswith("terminal/"))
        self.requests = frozenset(offered)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._dialect, name)

    def __repr__(self) -> str:
        return f"<DialectElsewhere {self._dialect!r} {self._paths!r}>"

    # --- what the agent says -----------------------------------------------------------------------------------------

    def update(self, params: msgspec.Raw) -> tuple[str, Update]:
        """As `Dialect.update`."""
        session_id, update = self._dialect.update(params)
        return session_id, self._moved.update(update)

    def rest_of_update(self, params: msgspec.Raw) -> tuple[str, Update]:
        """As `Dialect.rest_of_update`."""
        session_id, update = self._dialect.rest_of_update(params)
        return session_id, self._moved.update(update)

    def asked(self, method: str, params: msgspec.Raw) -> Asked:
        """As `Dialect.asked`; raises `RpcError` for a path that is nowhere here."""
        try:
            return self._moved.asked(method, self._dialect.asked(method, params))
        except UnmappedError as error:
            raise RpcError(INVALID_PARAMS, str(error)) from error

    def list_sessions(self, cwd: str | None, cursor: str | None) -> Call[SessionPage]:
        """As `Dialect.list_sessions`. Raises `FailureError`."""
        call = self._dialect.list_sessions(None if cwd is None else self._there(cwd), cursor)

        def read(raw: msgspec.Raw) -> SessionPage:
            page = call.read(raw)
            return replace(page, sessions=[self._moved.session(one) for one in page.sessions])

        return Call(call.method, call.params, read)

    # --- what it is told ---------------------------------------------------------------------------------------------

    def new_session(self, place: Place) -> Call[Opened]:
        """As `Dialect.new_session`. Raises `FailureError`, as those below do."""
        return self._opening(self._dialect.new_session, place)

    def load_session(self, session_id: str, place: Place) -> Call[Opened]:
        """As `Dialect.load_session`."""
        return self._opening(lambda moved: self._dialect.load_session(session_id, moved), place)

    def resume_session(self, session_id: str, place: Place) -> Call[Opened]:
        """As `Dialect.resume_session`."""
        return self._opening(lambda moved: self._dialect.resume_session(session_id, moved), place)

    def fork_session(self, session_id: str, place: Place) -> Call[Opened]:
        """As `Dialect.fork_session`."""
        return self._opening(lambda moved: self._dialect.fork_session(session_id, moved), place)

    def prompt(self, session_id: str, blocks: Sequence[ContentBlock]) -> Call[PromptAnswer]:
        """As `Dialect.prompt`."""
        return self._dialect.prompt(session_id, self._blocks(blocks))

    def steer(self, session_id: str, blocks: Sequence[ContentBlock]) -> Call[Steered]:
        """As `Dialect.steer`."""
        return self._dialect.steer(session_id, self._blocks(blocks))

    def _blocks(self, blocks: Sequence[ContentBlock]) -> list[ContentBlock]:
        return [block(one, self._paths.uri_there) for one in blocks]

    def _opening(self, make: Callable[[Place], Call[Opened]], place: Place) -> Call[Opened]:
        """Additional directories that are not to be found there are left out."""
        known = map(self._paths.to_there, place.additional_directories)
        directories = [there for there in known if there is not None]
        return make(replace(place, cwd=self._there(place.cwd), additional_directories=directories))

    def _there(self, path: str) -> str:
        there = self._paths.to_there(path)
        if there is None:
            raise FailureError(unmapped(self._paths.name, path))
        return there
