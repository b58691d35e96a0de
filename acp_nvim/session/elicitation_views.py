"""Questions of an agent to the user as an editor shows them."""

from __future__ import annotations

from collections.abc import Iterable

from acp_nvim import elicitation_events as told
from acp_nvim.elicitation import formats
from acp_nvim.elicitation.addresses import look
from acp_nvim.elicitation.answers import Answered, looks_secret
from acp_nvim.elicitation.values import characters, number
from acp_nvim.protocol.elicitation import (
    Address,
    AnyField,
    BooleanField,
    Choice,
    ChoicesField,
    ElicitationAsked,
    NumberField,
    TextField,
)


def view(elicitation_id: int, agent: str, asked: ElicitationAsked, about: str | None) -> told.ElicitationView:
    """The question; `about` is the title of the tool call that it belongs to."""
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


def answers(answered: Iterable[Answered]) -> list[told.AnswerView]:
    """An answer, for people."""
    return [told.AnswerView(one.field, one.title, one.text) for one in answered]


def in_words(request: told.ElicitationView, done: told.ElicitationDone | None) -> str:
    """The question and what became of it, as it is kept with the conversation."""
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
    seen = look(url)
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
    words = [formats.example(field.format) or "text"]
    least, most = field.min_length, field.max_length
    if least and most is not None:
        words.append(f"{least} to {characters(most)}" if least != most else f"exactly {characters(most)}")
    elif least:
        words.append(f"at least {characters(least)}")
    elif most is not None:
        words.append(f"at most {characters(most)}")
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
