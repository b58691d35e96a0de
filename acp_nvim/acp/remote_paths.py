"""Maps the paths in all messages of an agent that runs on another machine; texts for people are not changed."""

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
    """Maps paths by pairs of absolute directories: one of this machine, and the same one there. The longest match wins.

    Relative paths are not changed. Without pairs all paths are the same on both machines. Symbolic links of this
    machine are matched by both of their names.
    """

    def __init__(self, name: str, pairs: Table) -> None:
        self.name = name
        there = [(_plain(here), _plain(there)) for here, there in pairs]
        self._there = _longest_first(there)
        self._here = _longest_first([(two, one) for one, two in there])
        real = [(os.path.realpath(here), here) for here, _ in there]
        self._names = _longest_first([(one, two) for one, two in real if one != two])

    def __bool__(self) -> bool:
        return bool(self._there)

    @property
    def elsewhere(self) -> list[str]:
        """The directories of the agent's machine, by their paths there, that exist here, too."""
        return [there for _, there in self._there]

    def missing(self, paths: Sequence[str]) -> list[str]:
        """Return the paths of this machine that the agent's machine does not have."""
        return [path for path in paths if self.to_there(path) is None]

    def to_there(self, path: str) -> str | None:
        """Map a path of this machine to the agent's; None if the agent's machine does not have it."""
        if not self._there or not path.startswith("/"):
            return path
        ours = _plain(path)
        found = _moved(ours, self._there)
        if found is None:
            ours = _moved(ours, self._names) or ours
            found = _moved(ours, self._there)
        if found is None or _moved(found, self._here) != ours:  # hidden by another directory there
            return None
        return found

    def to_here(self, path: str) -> str | None:
        """Map a path of the agent to this machine; None if this machine does not have it."""
        if not self._there or not path.startswith("/"):
            return path
        return _moved(_plain(path), self._here)

    def shown(self, path: str) -> str:
        """Map like `to_here`, but return a path for display, of no file here, instead of None."""
        return self.to_here(path) or f"/{self.name}:{path}"

    def uri_there(self, uri: str) -> str:
        """Map a `file:` URI of this machine to the agent's; others, and unmapped ones, are not changed."""
        return _uri(uri, lambda path: self.to_there(path) or path)

    def uri_here(self, uri: str) -> str:
        """Map a `file:` URI of the agent like `shown`; others are not changed."""
        return _uri(uri, self.shown)


def _plain(path: str) -> str:
    """Remove `..`, repeated slashes and a trailing slash, so that no path leads out of a mapped directory."""
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
    except ValueError:  # an invalid host
        return uri
    if parts.netloc not in ("", "localhost"):
        return uri
    path = os.fsdecode(unquote_to_bytes(parts.path))
    moved = move(path)
    return uri if moved == path else parts._replace(path=quote(os.fsencode(moved))).geturl()


def unmapped(name: str, path: str) -> Failure:
    """Return the failure for a directory that the agent's machine does not have."""
    what = f"Agent {name!r} runs elsewhere, and nothing says where {path} is there."
    return Failure("agent_misconfigured", what, f"Add it to agents.{name}.paths (:help acp_nvim-remote).", name)


def block(one: ContentBlock, uri: Callable[[str], str]) -> ContentBlock:
    """Return a content block with its URI, if it has one, mapped by `uri`."""
    if isinstance(one, ResourceLink):
        return replace(one, uri=uri(one.uri))
    if isinstance(one, EmbeddedResource):
        return replace(one, resource=replace(one.resource, uri=uri(one.resource.uri)))
    if isinstance(one, ImageContent) and isinstance(one.uri, str):
        return replace(one, uri=uri(one.uri))
    return one


class MovedPaths:
    """Maps the agent's paths to this machine; those that it does not have are mapped for display only."""

    def __init__(self, paths: PathMap) -> None:
        self._paths = paths

    def update(self, update: Update) -> Update:
        """Return an update with all paths mapped."""
        match update:
            case updates.MessageChunk():  # first, since these are the most frequent ones
                moved = self._block(update.content)
                return update if moved is update.content else replace(update, content=moved)
            case updates.ToolCallChanged():
                terminals = [
                    replace(one, patch=self._terminal(one.patch)) if isinstance(one, updates.TerminalChanged) else one
                    for one in update.terminals
                ]
                return replace(update, patch=self.patch(update.patch), terminals=tuple(terminals))
            case updates.SessionMessageChunk():
                return replace(update, content=self._block(update.content))
            case updates.SubagentChanged():
                cwd = self._paths.shown(update.cwd) if isinstance(update.cwd, str) else update.cwd
                return replace(
                    update, cwd=cwd, additional_directories=_each(update.additional_directories, self._paths.shown)
                )
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
        """Return a request with all paths mapped. Raises `RpcError` for a path that this machine does not have."""
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
        """Return a stored session of the agent with its directories mapped for display."""
        directories = [self._paths.shown(one) for one in info.additional_directories]
        return replace(info, cwd=self._paths.shown(info.cwd), additional_directories=directories)

    def patch(self, patch: ToolCallPatch) -> ToolCallPatch:
        """Return an update of a tool call with all paths mapped."""

        def either(path_or_uri: str) -> str:
            is_uri = path_or_uri.startswith("file:")
            return self._paths.uri_here(path_or_uri) if is_uri else self._paths.shown(path_or_uri)

        return replace(
            patch,
            content=_each(patch.content, self._item),
            locations=_each(patch.locations, lambda one: replace(one, path=self._paths.shown(one.path))),
            raw_input=raw_paths.moved(patch.raw_input, either),
        )

    def _required(self, method: str, path: str) -> str:
        here = self._paths.to_here(path)
        if here is None:
            known = ", ".join(self._paths.elsewhere)
            raise RpcError(INVALID_PARAMS, f"{method}: the editor has no {path}: it knows what is below {known}")
        return here

    def _block(self, one: ContentBlock) -> ContentBlock:
        return block(one, self._paths.uri_here)

    def _item(self, item: Item) -> Item:
        if isinstance(item, Shown):
            return Shown(self._block(item.block))
        if isinstance(item, Diff):
            others = tuple(None if one is None else self._paths.shown(one) for one in item.others)
            return replace(item, changes=tuple(map(self._change, item.changes)), others=others)
        return item

    def _change(self, change: FileChange) -> FileChange:
        old_path = None if change.old_path is None else self._paths.shown(change.old_path)
        return replace(change, path=self._paths.shown(change.path), old_path=old_path)

    def _terminal(self, patch: TerminalPatch) -> TerminalPatch:
        return replace(patch, cwd=self._paths.shown(patch.cwd)) if isinstance(patch.cwd, str) else patch


def _each(items: Sequence[T] | UnsetType | None, move: Callable[[T], T]) -> list[T] | UnsetType | None:
    if items is UNSET or items is None:
        return items
    return [move(one) for one in items]


def elsewhere(dialect: Dialect, paths: PathMap, terminal: bool) -> Dialect:
    """Return the dialect with mapped paths; without `terminal` no commands are run for the agent."""
    if terminal and not paths:
        return dialect
    return cast(Dialect, RemoteDialect(dialect, paths, terminal))


class RemoteDialect:
    """A `Dialect` with mapped paths; delegates methods without paths to the original dialect."""

    def __init__(self, dialect: Dialect, paths: PathMap, terminal: bool) -> None:
        self._dialect = dialect
        self._paths = paths
        self._moved = MovedPaths(paths)
        offered = (method for method in dialect.requests if terminal or not method.startswith("terminal/"))
        self.requests = frozenset(offered)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._dialect, name)

    def update(self, params: msgspec.Raw) -> tuple[str, Update]:
        """See `Dialect.update`."""
        session_id, update = self._dialect.update(params)
        return session_id, self._moved.update(update)

    def rest_of_update(self, params: msgspec.Raw) -> tuple[str, Update]:
        """See `Dialect.rest_of_update`."""
        session_id, update = self._dialect.rest_of_update(params)
        return session_id, self._moved.update(update)

    def asked(self, method: str, params: msgspec.Raw) -> tuple[str | None, Asked]:
        """Decode like `Dialect.asked`; also raises `RpcError` for a path that does not exist here."""
        session_id, asked = self._dialect.asked(method, params)
        return session_id, self._moved.asked(method, asked)

    def list_sessions(self, cwd: str | None, cursor: str | None, archived: bool = False) -> Call[SessionPage]:
        """Request like `Dialect.list_sessions`. Raises `FailureError` for a `cwd` that does not exist there."""
        call = self._dialect.list_sessions(None if cwd is None else self._there(cwd), cursor, archived)

        def read(raw: msgspec.Raw) -> SessionPage:
            page = call.read(raw)
            return replace(page, sessions=[self._moved.session(one) for one in page.sessions])

        return replace(call, read=read)

    def open_session(self, place: Place, way: Way | None = None, session_id: str = "") -> Call[Opened]:
        """Request like `Dialect.open_session`, without additional directories that do not exist there.

        Also raises `FailureError` for a `cwd` that does not exist there.
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
