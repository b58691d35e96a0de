"""What an agent says, with the paths in it as they are here; texts for people are left as they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from acp_nvim.protocol import raw_paths
from acp_nvim.protocol.answers import Asked, CommandToRun, FileToRead, FileToWrite, PermissionAsked, SessionInfo
from acp_nvim.protocol.diff import Diff, FileChange
from acp_nvim.protocol.path_map import PathMap
from acp_nvim.protocol.terminal import TerminalPatch
from acp_nvim.protocol.tool_call import Item, Shown, ToolCallPatch
from acp_nvim.protocol.updates import (
    Compaction,
    MessageChunk,
    MessageReplaced,
    PlanReplaced,
    TerminalChanged,
    TerminalNews,
    ToolCallChanged,
    ToolCallContentAdded,
    Update,
)
from acp_nvim.wire.content import ContentBlock, EmbeddedResource, ImageContent, ResourceLink

T = TypeVar("T")


class UnmappedError(ValueError):
    """A path that has no place on the other side."""


def block(one: ContentBlock, uri: Callable[[str], str]) -> ContentBlock:
    """A content block with another URI, where it has one."""
    if isinstance(one, ResourceLink):
        return replace(one, uri=uri(one.uri))
    if isinstance(one, EmbeddedResource):
        return replace(one, resource=replace(one.resource, uri=uri(one.resource.uri)))
    if isinstance(one, ImageContent) and isinstance(one.uri, str):
        return replace(one, uri=uri(one.uri))
    return one


class MovedWords:
    """Moves paths from there to here. A path that is nowhere here becomes one that can be shown, and is no file."""

    def __init__(self, paths: PathMap) -> None:
        self._paths = paths

    def update(self, update: Update) -> Update:
        """A `session/update` with its paths translated."""
        match update:
            case MessageChunk():  # the flood first
                moved = self._block(update.content)
                return update if moved is update.content else replace(update, content=moved)
            case ToolCallChanged():
                news = tuple(map(self._news, update.terminals))
                return replace(update, patch=self.patch(update.patch), terminals=news)
            case ToolCallContentAdded():
                return replace(update, item=self._item(update.item))
            case TerminalChanged():
                return replace(update, patch=self._terminal(update.patch))
            case MessageReplaced():
                return replace(update, content=_each(update.content, self._block))
            case Compaction():
                return replace(update, summary=_each(update.summary, self._block))
            case PlanReplaced(uri=str(uri)):
                return replace(update, uri=self._paths.uri_here(uri))
        return update

    def asked(self, method: str, asked: Asked) -> Asked:
        """A request. Raises `UnmappedError` for a file or a directory that is nowhere here."""
        match asked:
            case FileToRead() | FileToWrite():
                return replace(asked, path=self._required(method, asked.path))
            case CommandToRun(cwd=str(cwd)):
                return replace(asked, cwd=self._required(method, cwd))
            case PermissionAsked():
                cwd_here = None if asked.cwd is None else self._paths.shown(asked.cwd)
                return replace(asked, cwd=cwd_here, patch=self.patch(asked.patch) if asked.patch else None)
        return asked

    def session(self, info: SessionInfo) -> SessionInfo:
        """A session that the agent keeps."""
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
            raise UnmappedError(f"{method}: the editor has no {path}: it knows what is below {known}")
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

    def _news(self, news: TerminalNews) -> TerminalNews:
        return replace(news, patch=self._terminal(news.patch)) if isinstance(news, TerminalChanged) else news

    def _terminal(self, patch: TerminalPatch) -> TerminalPatch:
        return replace(patch, cwd=self._paths.shown(patch.cwd)) if isinstance(patch.cwd, str) else patch


def _each(items: Sequence[T] | UnsetType | None, move: Callable[[T], T]) -> list[T] | UnsetType | None:
    if items is UNSET or items is None:
        return items
    return [move(one) for one in items]
