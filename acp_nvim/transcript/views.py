"""Converts protocol objects into the views that the editor shows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from acp_nvim.acp import schema_common as content
from acp_nvim.acp import updates
from acp_nvim.acp.answers import PermissionAsked, PermissionOption
from acp_nvim.acp.elicitation import (
    Address,
    AnyField,
    BooleanField,
    Choice,
    ChoicesField,
    ElicitationAsked,
    NumberField,
    TextField,
)
from acp_nvim.acp.fields import shortened
from acp_nvim.contract import events
from acp_nvim.contract import request_events as told
from acp_nvim.elicitation.addresses import check_url
from acp_nvim.elicitation.answers import characters, format_example, looks_secret, number
from acp_nvim.limits import COMMAND_SHOWN_CHARS, REQUEST_TEXT_LINES
from acp_nvim.permissions.input_commands import command_chars
from acp_nvim.transcript.call_views import decoded_size
from acp_nvim.transcript.truncation import TextLimits, beginning

PLAN_CHARS: Final = 64 * 1024
"""Characters sent of all steps of a plan; longer steps get equal shares, as a plan is sent in one event."""
OPTIONS: Final = 50
"""Options offered for a permission request: real agents have up to 10, and a screen has 50 lines."""
OPTION_CHARS: Final = 500
"""Characters of an option's name: a long sentence. Agents may include the command in it."""

REJECTS: Final = frozenset({"reject_once", "reject_always"})
"""Kinds of options that allow nothing. An unknown kind may allow something."""

KEY_KINDS: Final = REJECTS | {"allow_once", "allow_always"}
"""Kinds of options that have keys."""


def options(asked: PermissionAsked, left_out: str | None) -> list[events.Option]:
    """Return the options to offer: the first `OPTIONS`, and the first of each kind that has a key.

    An option that may allow something is offered only if the whole request (nothing is `left_out`) and the whole name
    can be shown, and if its id is not also that of a rejection.
    """
    rejecting = {one.option_id for one in asked.options if one.kind in REJECTS}

    def may_be_chosen(one: PermissionOption) -> bool:
        is_clear = one.option_id not in rejecting and len(one.name) <= OPTION_CHARS
        return one.kind in REJECTS or (left_out is None and is_clear)

    fit = list(filter(may_be_chosen, asked.options))
    offered = fit[:OPTIONS]
    kinds = {one.kind for one in offered}
    for one in fit[OPTIONS:]:
        if one.kind in KEY_KINDS and one.kind not in kinds:
            kinds.add(one.kind)
            offered.append(one)
    return [events.Option(one.option_id, _short(one.name, OPTION_CHARS), one.kind) for one in offered]


def request_view(
    asked: PermissionAsked, options: list[events.Option], call: events.CallView | None, left_out: str | None
) -> events.RequestView:
    """Return the view of a permission request, with the content of its tool call. Its `id` is 0 until it is shown."""
    shown = list(call.content) if call else []
    command, env = asked.command, asked.env
    if command is not None and command_chars(command, env) > COMMAND_SHOWN_CHARS:
        shown.insert(0, events.TextItem(*beginning(command, TextLimits(REQUEST_TEXT_LINES, COMMAND_SHOWN_CHARS))))
        command, env = None, []
    if asked.subject is not None:
        shown.insert(
            0, events.OtherItem(f"about something that acp_nvim does not know ({asked.subject.get('type')!r})")
        )
    more = len(asked.options) - sum(not one.ours for one in options)
    if more > 0:
        shown.append(events.OtherItem(f"… and {more:,} more options, which are not offered"))
    return events.RequestView(
        id=0,
        tool_call_id=asked.tool_call_id or "",
        title=asked.title or (call.title if call else "The agent asks for your permission"),
        kind=call.kind if call else "execute" if asked.command is not None else "other",
        options=options,
        content=shown,
        locations=call.locations if call else [],
        locations_left=call.locations_left if call else 0,
        description=asked.description,
        command=command,
        cwd=asked.cwd,
        env=env,
        left_out=left_out,
    )


def text_of(blocks: Iterable[content.ContentBlock]) -> str:
    """Return the content of a message as text, with descriptions of blocks that are not text."""
    return "".join(describe(block) for block in blocks)


def describe(block: content.ContentBlock) -> str:
    """Return the text of a text block, and a short description of any other block."""
    match block:
        case content.TextContent():
            return block.text
        case content.ImageContent():
            return f"image ({block.mime_type}, {_size(decoded_size(block.data))})"
        case content.AudioContent():
            return f"audio ({block.mime_type}, {_size(decoded_size(block.data))})"
        case content.ResourceLink():
            size = f" ({_size(block.size)})" if isinstance(block.size, int) else ""
            return f"link {block.title or block.name} {block.uri}{size}"
        case content.EmbeddedResource():
            text = block.resource.text
            return f"resource {block.resource.uri}" + (f"\n{text}" if text else "")
        case content.UnknownContentBlock():
            return f"content of an unknown kind ({block.original.get('type')!r})"


def plan(session: int, block: int, replaced: updates.PlanReplaced) -> events.Plan:
    """Return the event for a plan that replaces the one in that block of the session (its key)."""
    total, count = sum(len(entry.content) for entry in replaced.entries), len(replaced.entries)
    most = PLAN_CHARS // count if total > PLAN_CHARS else total
    steps = [
        events.PlanStep(shortened(entry.content, most), entry.status, entry.priority) for entry in replaced.entries
    ]
    return events.Plan(
        session=session,
        block=block,
        entries=steps,
        title=replaced.plan_id,
        text=replaced.text,
        uri=replaced.uri,
        left=replaced.left,
    )


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]} … and {len(text) - most:,} more characters"


def _size(count: int) -> str:
    return f"{count} B" if count < 1000 else f"{count / 1000:.0f} kB" if count < 1_000_000 else f"{count / 1e6:.1f} MB"


def elicitation_view(
    elicitation_id: int, agent: str, asked: ElicitationAsked, about: str | None
) -> told.ElicitationView:
    """Return the view of a question; `about` is the title of its tool call."""
    what = asked.what
    if isinstance(what, Address):
        return told.ElicitationView(elicitation_id, agent, asked.message, url=_url(what.url), about=about)
    return told.ElicitationView(
        id=elicitation_id,
        agent=agent,
        message=asked.message,
        title=what.title,
        description=what.description,
        fields=[_field(one) for one in what.fields],
        about=about,
    )


def subagent_words(view: events.SubagentView) -> str:
    """Return what is stored of a child session with the conversation of its parent."""
    did = view.stop_reason if view.state in ("idle", "stopped") and view.stop_reason else view.state
    about = f"\n{view.description}" if view.description and view.description != view.title else ""
    return f"Subagent {view.title}: {did}{about}"


def elicitation_words(request: told.ElicitationView, done: told.ElicitationDone | None) -> str:
    """Return a question and its outcome in words, as they are stored with the conversation."""
    lines = [f"The agent asked: {request.message}"]
    if request.url is not None:
        lines.append(request.url.url)
    if done is None:
        lines.append("Not answered.")
    elif done.action == "accept":
        lines += [f"{one.title}: {one.text}" for one in done.answers] or ["Accepted."]
    else:
        lines.append("Declined." if done.action == "decline" else "Cancelled.")
    return "\n".join(lines)


def _url(url: str) -> told.UrlView:
    seen = check_url(url)
    first = len(url[: seen.first].encode("utf-8", "surrogatepass"))
    last = len(url[: seen.last].encode("utf-8", "surrogatepass"))
    return told.UrlView(url, seen.host, first, last, seen.warnings, seen.refused)


def _field(field: AnyField) -> told.FieldView:
    shown = told.FieldView(
        name=field.name,
        kind="unknown",
        title=field.title,
        description=field.description,
        required=field.required,
        secret=looks_secret(field),
    )
    match field:
        case TextField(choices=None):
            shown.kind, shown.hint, shown.default = "text", _text_hint(field), field.default
        case TextField(choices=choices):
            known = any(one.value == field.default for one in choices or ())
            shown.kind, shown.hint, shown.default = "choice", "one of these", field.default if known else None
            shown.choices = _choices(choices or ())
        case NumberField():
            shown.kind, shown.hint = "integer" if field.whole else "number", _number_hint(field)
            shown.default = None if field.default is None else number(field.default)
        case BooleanField():
            shown.kind, shown.hint, shown.default = "boolean", "yes or no", field.default
        case ChoicesField():
            known_values = {one.value for one in field.choices}
            shown.kind, shown.hint = "choices", _choices_hint(field)
            shown.choices = _choices(field.choices)
            shown.default = [one for one in field.default if one in known_values]
        case _:
            shown.hint = f"of a type that acp_nvim does not know ({field.type}): it is left out"
    return shown


def _choices(choices: Iterable[Choice]) -> list[told.ChoiceView]:
    return [told.ChoiceView(one.value, one.title, one.description) for one in choices]


def _text_hint(field: TextField) -> str:
    words = [format_example(field.format) or "text"]
    least, most = field.min_length, field.max_length
    if most is None:
        words += [f"at least {characters(least)}"] if least else []
    elif least == most and least:
        words.append(f"exactly {characters(most)}")
    else:
        words.append(f"{least} to {characters(most)}" if least else f"at most {characters(most)}")
    if field.pattern:
        words.append(f"pattern {field.pattern}")
    return ", ".join(words)


def _number_hint(field: NumberField) -> str:
    kind = "a whole number" if field.whole else "a number"
    least, most = field.minimum, field.maximum
    if least is not None and most is not None:
        return f"{kind} from {number(least)} to {number(most)}"
    if least is not None:
        return f"{kind}, at least {number(least)}"
    return kind if most is None else f"{kind}, at most {number(most)}"


def _choices_hint(field: ChoicesField) -> str:
    least, most = field.min_items, field.max_items
    if least and most is not None:
        return f"{least} to {most} of these" if least != most else f"{least} of these"
    if least:
        return f"at least {least} of these"
    return "any of these" if most is None else f"at most {most} of these"
