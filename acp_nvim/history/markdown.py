"""Renders conversations as markdown, with diffs as patches."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import chain, groupby

from acp_nvim.contract import events
from acp_nvim.contract.request_events import PermissionAuto
from acp_nvim.contract.review_events import FileView, Summary
from acp_nvim.contract.views import CallView, DiffItem, Item, MediaItem, OtherItem, ResourceItem, TerminalItem, TextItem
from acp_nvim.lazy import pattern
from acp_nvim.workspace.text_shape import lines_with_ends
from acp_nvim.workspace.unified_diff import unified_hunks

_TICKS = pattern(r"`+")
_FENCE = pattern(r"^ {0,3}(`{3,}|~{3,})([^`\n]*)$", re.MULTILINE)
_BOXES = {"completed": "x", "in_progress": "-", "cancelled": "~"}


class Markdown:
    """Renders the blocks of one conversation in order; `agent` is the name of the agent."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._turns = 0
        self._speaker: str | None = None

    def head(self, cwd: str, started: float | None, title: str | None) -> str:
        """Return the title and the metadata of the conversation; `started` is in seconds since 1970."""
        lines = [
            f"# {_one_line(title or f'Conversation with {self._agent}')}",
            "",
            f"- Agent: {_one_line(self._agent)}",
            f"- Directory: `{_one_line(cwd)}`",
        ]
        if started is not None:
            lines.append(f"- Started: {datetime.fromtimestamp(started).astimezone():%Y-%m-%d %H:%M %z}")
        return "\n".join(lines) + "\n"

    def block(self, shown: Iterable[events.Event]) -> str:
        """Return a block, from the events that show it, after an empty line."""
        return "".join(self._block(list(shown)))

    def _block(self, shown: list[events.Event]) -> Iterator[str]:
        first = shown[0] if shown else None
        match first:
            case events.Append(kind=kind) | events.Replace(kind=kind):
                texts = [one.text for one in shown if isinstance(one, events.Append | events.Replace)]
                yield from self._message(kind, "".join(texts))
            case events.ToolCall(call=call):
                yield from _call(call)
            case events.Plan():
                yield from _plan(first)
            case events.Notice(level=level, text=text):
                yield "\n" + _quoted(f"**{level}**: {text}")
            case events.Permission(request=request):
                done = next((one for one in shown if isinstance(one, events.PermissionDone)), None)
                yield from _permission(request.title, _outcome(done))
            case PermissionAuto(request=request, name=name, rule=rule):
                yield from _permission(request.title, f"{name}, by the rule `{_one_line(rule)}`")
            case Summary(files=changed):
                yield from _summary(changed)

    def _message(self, kind: str, text: str) -> Iterator[str]:
        if kind == "thought":
            yield "\n" + _quoted("*Thought*\n\n" + text)
            return
        if kind == "user":
            self._turns += 1
            yield f"\n## {self._turns}. You\n"
        elif self._speaker != f"{kind} {self._turns}":
            yield f"\n### {_one_line(self._agent)}\n"
        self._speaker = f"{kind} {self._turns}"
        end = "" if text.endswith("\n") else "\n"
        yield f"\n{text}{end}{_closing_fence(text)}"


def patch(old_text: str | None, new_text: str, line: int) -> str:
    """Return the hunks of a unified diff; `line` (counted from 1) is where the old text begins in its file."""
    lines = unified_hunks(lines_with_ends(old_text or ""), lines_with_ends(new_text), line)
    return "".join(one if one.endswith("\n") else f"{one}\n\\ No newline at end of file\n" for one in lines)


def _call(call: CallView) -> Iterator[str]:
    facts = [call.kind, call.status]
    if call.started is not None and call.ended is not None:
        facts.append(f"{call.ended - call.started:.0f} s")
    yield f"\n#### {_one_line(call.title)}\n\n*{' · '.join(map(_one_line, filter(None, facts)))}*\n"
    if call.locations:
        places = (f"- `{_one_line(one.path)}`" + (f" line {one.line}" if one.line else "") for one in call.locations)
        yield "\n" + "\n".join(places) + "\n"
    for path, items in groupby(call.content, lambda item: item.path if isinstance(item, DiffItem) else None):
        if path is not None:
            yield from _diffs(path, [item for item in items if isinstance(item, DiffItem)])
        else:
            yield from chain.from_iterable(map(_item, items))


def _diffs(path: str, changes: list[DiffItem]) -> Iterator[str]:
    old_path = f" (was `{_one_line(changes[0].old_path)}`)" if changes[0].old_path else ""
    note = f": {_one_line(changes[0].note)}" if changes[0].note else ""
    yield f"\n{_one_line(changes[0].operation)} `{_one_line(path)}`{old_path}{note}\n"
    text = "".join(patch(one.old_text, one.new_text, one.line or 1) for one in changes)
    if text:
        yield "\n" + fenced(text, "diff")


def _item(item: Item) -> Iterator[str]:
    match item:
        case TextItem(text=text):
            yield "\n" + fenced(text)
        case TerminalItem():
            if item.command:
                yield "\n" + fenced(f"$ {item.command}", "sh")
            if item.output:
                yield "\n" + fenced(item.output)
            ended = item.signal or item.exit_code
            if ended:
                yield f"\n*ended with {_one_line(str(ended))}*\n"
        case MediaItem():
            yield f"\n- {item.kind} ({_one_line(item.mime_type)}, {item.size} bytes) {_one_line(item.uri or '')}\n"
        case ResourceItem():
            yield f"\n- {_one_line(item.name or 'resource')} <{_one_line(item.uri)}>\n"
            if item.text:
                yield "\n" + fenced(item.text)
        case OtherItem(label=label):
            yield f"\n- {_one_line(label)}\n"


def _plan(plan: events.Plan) -> Iterator[str]:
    yield f"\n**Plan{': ' + _one_line(plan.title) if plan.title else ''}**\n\n"
    if plan.text is not None:
        yield _quoted(plan.text)
    for step in plan.entries:
        yield f"- [{_BOXES.get(step.status, ' ')}] {_one_line(step.content)}\n"


def _permission(title: str, outcome: str) -> Iterator[str]:
    yield "\n" + _quoted(f"**Permission**: {_one_line(title)}\n→ {_one_line(outcome)}")


def _outcome(done: events.PermissionDone | None) -> str:
    if done is None:
        return "not answered"
    return done.name or done.option_id or "answered" if done.outcome == "selected" else "cancelled"


def _summary(changed: list[FileView]) -> Iterator[str]:
    for by, title in (("agent", "Changed files"), ("unknown", "Not sure who changed"), ("user", "Changed by you")):
        files = [one for one in changed if one.by == by]
        if files:
            yield f"\n**{title}**\n\n" + "".join(map(_file, files))
    records = sum(one.by == "state" for one in changed)
    if records:
        yield f"\n*Changed {records} file{'' if records == 1 else 's'} of the agent's own records*\n"


def _file(one: FileView) -> str:
    was = f" (was `{_one_line(one.old_path)}`)" if one.old_path else ""
    why = f": {_one_line(one.why)}" if one.by == "unknown" and one.why else ""
    return f"- {one.operation} `{_one_line(one.path)}`{was} +{one.added} -{one.removed}{why}\n"


def fenced(text: str, language: str = "") -> str:
    """Return the text in a fence that is longer than any inside."""
    fence = "`" * max(3, 1 + max((len(ticks) for ticks in _TICKS.findall(text)), default=0))
    return f"{fence}{language}\n{text}{'' if text.endswith(chr(10)) or not text else chr(10)}{fence}\n"


def _closing_fence(text: str) -> str:
    """Return the line that closes a fence that the text leaves open, so that what follows is outside."""
    is_open: str | None = None
    for found in _FENCE.finditer(text):
        fence, rest = found[1], found[2]
        if is_open is None:
            is_open = fence
        elif fence.startswith(is_open) and not rest.strip():
            is_open = None
    return f"{is_open}\n" if is_open else ""


def _quoted(text: str) -> str:
    return "".join(f"> {line}".rstrip() + "\n" for line in text.split("\n"))


def _one_line(text: str) -> str:
    return " ".join(text.split())
