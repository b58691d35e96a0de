"""An agent that runs elsewhere: the paths in all that is said are moved, here and nowhere else.

Texts for people are left as they are.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast
from urllib.parse import quote, unquote_to_bytes, urlsplit

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from acp_nvim.acp import answers, raw_paths, updates
from acp_nvim.acp.answers import Asked, Opened, PromptAnswer, SessionInfo, SessionPage, Steered
from acp_nvim.acp.dialect import Call, Dialect, Place, Way
from acp_nvim.acp.diff import Diff, FileChange
from acp_nvim.acp.schema_common import ContentBlock, EmbeddedResource, ImageContent, ResourceLink
from acp_nvim.acp.terminal import TerminalPatch
from acp_nvim.acp.tool_call import Item, Shown, ToolCallPatch
from acp_nvim.acp.updates import Update
from acp_nvim.errors import Failure, FailureError
from acp_nvim.jsonrpc.messages import INVALID_PARAMS, RpcError

T = TypeVar("T")

Table = Sequence[tuple[str, str]]


class PathMap:
    """Pairs of directories: one of this machine, and the same one there; both absolute. The longest that fits wins.

    What is relative is left as it is. Without pairs all paths are the same in both places. Symbolic links of this
    machine are known by both of their names.
    """

    def __init__(self, name: str, pairs: Table) -> None:
        self.name = name
        there = [(_plain(here), _plain(there)) for here, there in pairs]
        self._there = _longest_first(there)
        self._here = _longest_first([(two, one) for one, two in there])
        real = [(os.path.realpath(here), here) for here, _ in there]
        self._names = _longest_first([(one, two) for one, two in real if one != two])

    def __repr__(self) -> str:
        return f"<PathMap {self.name} {self._there}>"

    def __bool__(self) -> bool:
        return bool(self._there)

    @property
    def elsewhere(self) -> list[str]:
        """The directories of the agent's machine, by their paths there, that are also here."""
        return [there for _, there in self._there]

    def missing(self, paths: Sequence[str]) -> list[str]:
        """Return those of our paths that the agent's machine does not have."""
        return [path for path in paths if self.to_there(path) is None]

    def to_there(self, path: str) -> str | None:
        """What that path of ours is called there; None: it is not to be found there."""
        if not self._there or not path.startswith("/"):
            return path
        ours = _plain(path)
        found = _moved(ours, self._there)
        if found is None:
            ours = _moved(ours, self._names) or ours
            found = _moved(ours, self._there)
        if found is None or _moved(found, self._here) != ours:  # another one lies over it
            return None
        return found

    def to_here(self, path: str) -> str | None:
        """What that path of the agent is called here; None: it is nowhere here."""
        if not self._there or not path.startswith("/"):
            return path
        return _moved(_plain(path), self._here)

    def shown(self, path: str) -> str:
        """As `to_here`; a path that is nowhere here becomes one that can be shown, and is no file of ours."""
        return self.to_here(path) or f"/{self.name}:{path}"

    def uri_there(self, uri: str) -> str:
        """A URI of ours; of files that are not to be found there, and of other things, it stays the same."""
        return _uri(uri, lambda path: self.to_there(path) or path)

    def uri_here(self, uri: str) -> str:
        """What that URI of the agent is called here; of a file that is nowhere here: one that can be shown."""
        return _uri(uri, self.shown)


def _plain(path: str) -> str:
    """Without `..`, doubled slashes and a slash at the end: nothing leads out of a directory by its name."""
    return "/" + posixpath.normpath(path).lstrip("/")


def _longest_first(table: Table) -> list[tuple[str, str]]:
    return sorted(table, key=lambda pair: -len(pair[0]))


def _moved(path: str, table: Table) -> str | None:
    for before, after in table:
        if path == before:
            return after
        top = before.rstrip("/") + "/"
        if path.startswith(top):
            return after.rstrip("/") + "/" + path[len(top) :]
    return None


def _uri(uri: str, move: Callable[[str], str]) -> str:
    if not uri.startswith("file:"):
        return uri
    try:
        parts = urlsplit(uri)
    except ValueError:  # a strange host
        return uri
    if parts.netloc not in ("", "localhost"):
        return uri
    path = os.fsdecode(unquote_to_bytes(parts.path))
    moved = move(path)
    return uri if moved == path else parts._replace(path=quote(os.fsencode(moved))).geturl()


def unmapped(name: str, path: str) -> Failure:
    """Return the failure for a directory of ours that the agent's machine does not have."""
    what = f"Agent {name!r} runs elsewhere, and nothing says where {path} is there."
    return Failure("agent_misconfigured", what, f"Add it to agents.{name}.paths (:help acp_nvim-remote).", name)


# --- what an agent says ----------------------------------------------------------------------------------------------


def block(one: ContentBlock, uri: Callable[[str], str]) -> ContentBlock:
    """A content block with another URI, where it has one."""
    if isinstance(one, ResourceLink):
        return replace(one, uri=uri(one.uri))
    if isinstance(one, EmbeddedResource):
        return replace(one, resource=replace(one.resource, uri=uri(one.resource.uri)))
    if isinstance(one, ImageContent) and isinstance(one.uri, str):
        return replace(one, uri=uri(one.uri))
    return one


class MovedPaths:
    """Moves paths from there to here. A path that is nowhere here becomes one that can be shown, and is no file."""

    def __init__(self, paths: PathMap) -> None:
        self._paths = paths

    def update(self, update: Update) -> Update:
        """Return a `session/update` in which all paths of the agent are moved to here."""
        match update:
            case updates.MessageChunk():  # the flood first
                moved = self._block(update.content)
                return update if moved is update.content else replace(update, content=moved)
            case updates.ToolCallChanged():
                news = tuple(map(self._news, update.terminals))
                return replace(update, patch=self.patch(update.patch), terminals=news)
            case updates.ToolCallContentAdded():
                return replace(update, item=self._item(update.item))
            case updates.TerminalChanged():
                return replace(update, patch=self._terminal(update.patch))
            case updates.MessageReplaced() | updates.SessionMessage():
                return replace(update, content=_each(update.content, self._block))
            case updates.Compaction():
                return replace(update, summary=_each(update.summary, self._block))
            case updates.PlanReplaced(uri=str(uri)):
                return replace(update, uri=self._paths.uri_here(uri))
        return update

    def asked(self, method: str, asked: Asked) -> Asked:
        """A request. Raises `RpcError` for a file or a directory that is nowhere here."""
        match asked:
            case answers.FileToRead() | answers.FileToWrite():
                return replace(asked, path=self._required(method, asked.path))
            case answers.CommandToRun(cwd=str(cwd)):
                return replace(asked, cwd=self._required(method, cwd))
            case answers.PermissionAsked():
                cwd_here = None if asked.cwd is None else self._paths.shown(asked.cwd)
                return replace(asked, cwd=cwd_here, patch=self.patch(asked.patch) if asked.patch else None)
        return asked

    def session(self, info: SessionInfo) -> SessionInfo:
        """Translate the directories of a session that the agent keeps; none that is nowhere here is a path of ours."""
        directories = [self._paths.shown(one) for one in info.additional_directories]
        return replace(info, cwd=self._paths.shown(info.cwd), additional_directories=directories)

    def patch(self, patch: ToolCallPatch) -> ToolCallPatch:
        """What is said of a tool call."""
        return replace(
            patch,
            content=_each(patch.content, self._item),
            locations=_each(patch.locations, lambda one: replace(one, path=self._paths.shown(one.path))),
            raw_input=raw_paths.moved(patch.raw_input, self._either),
        )

    def _required(self, method: str, path: str) -> str:
        here = self._paths.to_here(path)
        if here is None:
            known = ", ".join(self._paths.elsewhere)
            raise RpcError(INVALID_PARAMS, f"{method}: the editor has no {path}: it knows what is below {known}")
        return here

    def _either(self, value: str) -> str:
        return self._paths.uri_here(value) if value.startswith("file:") else self._paths.shown(value)

    def _block(self, one: ContentBlock) -> ContentBlock:
        return block(one, self._paths.uri_here)

    def _item(self, item: Item) -> Item:
        if isinstance(item, Shown):
            return Shown(self._block(item.block))
        if isinstance(item, Diff):
            others = tuple(None if one is None else self._paths.shown(one) for one in item.others)
            return Diff(tuple(map(self._change, item.changes)), others)
        return item

    def _change(self, change: FileChange) -> FileChange:
        old_path = None if change.old_path is None else self._paths.shown(change.old_path)
        return replace(change, path=self._paths.shown(change.path), old_path=old_path)

    def _news(self, news: updates.TerminalNews) -> updates.TerminalNews:
        return replace(news, patch=self._terminal(news.patch)) if isinstance(news, updates.TerminalChanged) else news

    def _terminal(self, patch: TerminalPatch) -> TerminalPatch:
        return replace(patch, cwd=self._paths.shown(patch.cwd)) if isinstance(patch.cwd, str) else patch


def _each(items: Sequence[T] | UnsetType | None, move: Callable[[T], T]) -> list[T] | UnsetType | None:
    if items is UNSET or items is None:
        return items
    return [move(one) for one in items]


# --- its dialect -----------------------------------------------------------------------------------------------------


def elsewhere(dialect: Dialect, paths: PathMap, terminal: bool) -> Dialect:
    """The same dialect, with other paths; without `terminal` no commands are run for the agent."""
    if terminal and not paths:
        return dialect
    return cast(Dialect, RemoteDialect(dialect, paths, terminal))


class RemoteDialect:
    """Another `Dialect` behind a `PathMap`; what names no paths is left to it."""

    def __init__(self, dialect: Dialect, paths: PathMap, terminal: bool) -> None:
        self._dialect = dialect
        self._paths = paths
        self._moved = MovedPaths(paths)
        offered = (method for method in dialect.requests if terminal or not method.startswith("terminal/"))
        self.requests = frozenset(offered)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._dialect, name)

    def __repr__(self) -> str:
        return f"<RemoteDialect {self._dialect!r} {self._paths!r}>"

    # --- what the agent says -----------------------------------------------------------------------------------------

    def update(self, params: msgspec.Raw) -> tuple[str, Update]:
        """See `Dialect.update`."""
        session_id, update = self._dialect.update(params)
        return session_id, self._moved.update(update)

    def rest_of_update(self, params: msgspec.Raw) -> tuple[str, Update]:
        """See `Dialect.rest_of_update`."""
        session_id, update = self._dialect.rest_of_update(params)
        return session_id, self._moved.update(update)

    def asked(self, method: str, params: msgspec.Raw) -> tuple[str | None, Asked]:
        """As `Dialect.asked`; raises `RpcError` for a path that is nowhere here."""
        session_id, asked = self._dialect.asked(method, params)
        return session_id, self._moved.asked(method, asked)

    def list_sessions(self, cwd: str | None, cursor: str | None) -> Call[SessionPage]:
        """As `Dialect.list_sessions`, with directories moved. Raises `FailureError` for a `cwd` that is not there."""
        call = self._dialect.list_sessions(None if cwd is None else self._there(cwd), cursor)

        def read(raw: msgspec.Raw) -> SessionPage:
            page = call.read(raw)
            return replace(page, sessions=[self._moved.session(one) for one in page.sessions])

        return replace(call, read=read)

    # --- what it is told ---------------------------------------------------------------------------------------------

    def open_session(self, place: Place, way: Way | None = None, session_id: str = "") -> Call[Opened]:
        """As `Dialect.open_session`; also raises `FailureError`.

        Additional directories that are not to be found there are left out.
        """
        known = map(self._paths.to_there, place.additional_directories)
        directories = [there for there in known if there is not None]
        moved = replace(place, cwd=self._there(place.cwd), additional_directories=directories)
        return self._dialect.open_session(moved, way, session_id)

    def prompt(self, session_id: str, blocks: Sequence[ContentBlock]) -> Call[PromptAnswer]:
        """See `Dialect.prompt`."""
        return self._dialect.prompt(session_id, self._blocks(blocks))

    def steer(self, session_id: str, blocks: Sequence[ContentBlock]) -> Call[Steered]:
        """See `Dialect.steer`."""
        return self._dialect.steer(session_id, self._blocks(blocks))

    def _blocks(self, blocks: Sequence[ContentBlock]) -> list[ContentBlock]:
        return [block(one, self._paths.uri_there) for one in blocks]

    def _there(self, path: str) -> str:
        there = self._paths.to_there(path)
        if there is None:
            raise FailureError(unmapped(self._paths.name, path))
        return there
