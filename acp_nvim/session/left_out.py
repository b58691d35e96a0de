"""What of a permission request nobody can be shown, because a bound has cut it: it can only be rejected."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from acp_nvim import events
from acp_nvim.limits.calls import COMMAND_SHOWN_CHARS
from acp_nvim.protocol.answers import PermissionAsked
from acp_nvim.protocol.diff import Diff
from acp_nvim.protocol.tool_call import ToolCall


def command_chars(line: str, env: Sequence[str]) -> int:
    """Characters that a command takes on the screen, with its variables."""
    return len(line) + sum(map(len, env))


def not_shown(asked: PermissionAsked, call: ToolCall | None, view: events.CallView | None) -> str | None:
    """In words, for the user; None when all of the request can be read.

    `asked.command` is the command that is to be shown; `view` shows the tool call. Lines of changes that are only too
    many for the request do not count: the preview and the review have them.
    """
    return ", ".join(dict.fromkeys((*_of_words(asked), *_of_call(call), *_of_items(view)))) or None


def _of_words(asked: PermissionAsked) -> Iterator[str]:
    chars = 0 if asked.command is None else command_chars(asked.command, asked.env)
    if chars > COMMAND_SHOWN_CHARS:
        yield f"{chars - COMMAND_SHOWN_CHARS:,} characters of the command"
    if asked.is_cut:
        yield "the end of the title or the description"


def _of_call(call: ToolCall | None) -> Iterator[str]:
    if call is None:
        return
    if call.lacks_title:
        yield "the end of the title"
    if call.lacks_input:
        yield "a part of the input"
    if call.content_left:
        yield f"{call.content_left:,} items"
    if call.locations_left:
        yield f"{call.locations_left:,} places"
    if call.lacks_content or any(isinstance(one, Diff) and one.is_cut for one in call.content):
        yield "a part of the content"


def _of_items(view: events.CallView | None) -> Iterator[str]:
    for one in view.content if view else ():
        if isinstance(one, events.TextItem | events.ResourceItem) and one.chars:
            yield "the end of a text"
