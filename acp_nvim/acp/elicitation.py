"""Questions of agents to the user (ACP "Elicitation"), in one model for both protocol versions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from acp_nvim import decoders
from acp_nvim.acp import schema_common as wire
from acp_nvim.acp.fields import Unknown, given

FIELDS: Final = 200
"""Fields of one form: more than anybody fills in."""
CHOICES: Final = 2000
"""Values to choose from in one form."""
REQUEST_BYTES: Final = 1024 * 1024
"""Size of a question: a form that people fill in has some kB."""


class Choice(msgspec.Struct, frozen=True, omit_defaults=True):
    """A value that can be chosen, and how it is displayed."""

    value: str
    title: str
    description: str | None = None


class Field(msgspec.Struct, frozen=True, kw_only=True):
    """Base of the fields of a form; `name` is that of the property, `title` is displayed."""

    name: str
    title: str
    description: str | None = None
    required: bool = False


class TextField(Field, frozen=True, kw_only=True):
    """A text, or one of `choices` if there are any."""

    choices: tuple[Choice, ...] | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    format: str | None = None
    default: str | None = None


class NumberField(Field, frozen=True, kw_only=True):
    """A number field; `whole`: only integers are valid."""

    whole: bool
    minimum: float | None = None
    maximum: float | None = None
    default: float | None = None


class BooleanField(Field, frozen=True, kw_only=True):
    """A yes-or-no field; `default` is the agent's proposal."""

    default: bool | None = None


class ChoicesField(Field, frozen=True, kw_only=True):
    """Any number of the choices, within bounds."""

    choices: tuple[Choice, ...]
    min_items: int | None = None
    max_items: int | None = None
    default: tuple[str, ...] = ()


class UnknownField(Field, frozen=True, kw_only=True):
    """A field of an unknown `type`, which cannot be answered."""

    type: str


AnyField = TextField | NumberField | BooleanField | ChoicesField | UnknownField


class Form(msgspec.Struct, frozen=True):
    """A form for the user: its fields in the agent's order, with a title and a text above them."""

    fields: tuple[AnyField, ...]
    title: str | None = None
    description: str | None = None


class Address(msgspec.Struct, frozen=True):
    """A URL for the user to visit; the agent reports completion with `elicitation_id`."""

    url: str
    elicitation_id: str


class ElicitationAsked(msgspec.Struct, frozen=True):
    """The request `elicitation/create`; without a `session_id` it belongs to a request of the client."""

    message: str
    what: Form | Address
    session_id: str | None = None
    tool_call_id: str | None = None


def elicitation_asked(request: Any) -> ElicitationAsked:
    """Translate `elicitation/create`. Raises `msgspec.ValidationError` for a question that cannot be answered."""
    if isinstance(request, Unknown):
        mode = request.original.get("mode")
        raise msgspec.ValidationError(f"the mode {mode!r} is not offered - at `$.mode`")
    if hasattr(request, "requested_schema"):
        what: Form | Address = _form(request.requested_schema)
    else:
        what = Address(request.url, request.elicitation_id)
    return ElicitationAsked(request.message, what, given(request.session_id), given(request.tool_call_id))


def completed(params: msgspec.Raw) -> str:
    """Return the elicitation id of an `elicitation/complete`. Raises `msgspec.DecodeError`."""
    return decoders.decode(params, wire.CompleteElicitationNotification).elicitation_id


def _form(schema: Any) -> Form:
    properties = given(schema.properties) or {}
    required = set(given(schema.required) or ())
    missing = sorted(required - properties.keys())
    if missing:
        raise msgspec.ValidationError(f"no property is called {missing[0]!r} - at `$.requestedSchema.required`")
    fields = tuple(_field(name, one, name in required) for name, one in properties.items())
    return form(fields, given(schema.title), given(schema.description))


def form(fields: tuple[AnyField, ...], title: str | None = None, description: str | None = None) -> Form:
    """Make a form. Raises `msgspec.ValidationError` if it is too large, or cannot be answered."""
    if len(fields) > FIELDS:
        raise msgspec.ValidationError(f"{len(fields)} fields are too many - at `$.requestedSchema.properties`")
    if sum(len(one.choices or ()) for one in fields if isinstance(one, TextField | ChoicesField)) > CHOICES:
        raise msgspec.ValidationError(f"more than {CHOICES} values to choose from - at `$.requestedSchema.properties`")
    for field in fields:
        _require_answerable(field)
    return Form(fields, title, description)


def _require_answerable(field: AnyField) -> None:
    """Raise `msgspec.ValidationError` for a required field without a valid answer."""
    where = f" - at `$.requestedSchema.properties.{field.name}`"
    match field:
        case UnknownField(required=True):
            raise msgspec.ValidationError(f"the required field {field.name!r} has an unknown type{where}")
        case TextField(choices=(), required=True) | ChoicesField(choices=(), required=True):
            raise msgspec.ValidationError(f"the required field {field.name!r} has no values to choose from{where}")


def _field(name: str, schema: wire.ElicitationPropertySchema, required: bool) -> AnyField:
    if isinstance(schema, wire.UnknownElicitationPropertySchema):
        title, description = schema.original.get("title"), schema.original.get("description")
        return UnknownField(
            name=name,
            title=title if isinstance(title, str) and title else name,
            description=description if isinstance(description, str) else None,
            required=required,
            type=str(schema.original.get("type")),
        )
    common: dict[str, Any] = {
        "name": name,
        "title": given(schema.title) or name,
        "description": given(schema.description),
        "required": required,
    }
    match schema:
        case wire.StringPropertySchema():
            return _text(schema, common)
        case wire.BooleanPropertySchema():
            return BooleanField(**common, default=given(schema.default))
        case wire.MultiSelectPropertySchema():
            return _choices(schema, common)
        case _:
            return NumberField(
                **common,
                whole=isinstance(schema, wire.IntegerPropertySchema),
                minimum=given(schema.minimum),
                maximum=given(schema.maximum),
                default=given(schema.default),
            )


def _text(schema: wire.StringPropertySchema, common: dict[str, Any]) -> TextField:
    choices: tuple[Choice, ...] | None = None
    plain, titled = given(schema.enum), given(schema.one_of)
    if titled is not None:
        choices = _titled(one for one in titled if plain is None or one.const in plain)
    elif plain is not None:
        choices = _plain(plain)
    return TextField(
        **common,
        choices=choices,
        min_length=given(schema.min_length),
        max_length=given(schema.max_length),
        pattern=given(schema.pattern),
        format=given(schema.format),
        default=given(schema.default),
    )


def _choices(schema: wire.MultiSelectPropertySchema, common: dict[str, Any]) -> ChoicesField | UnknownField:
    match schema.items:
        case wire.StringMultiSelectItems(enum=values):
            choices = _plain(values)
        case wire.TitledMultiSelectItems(any_of=options):
            choices = _titled(options)
        case unknown:
            return UnknownField(**common, type=f"array of {unknown.original.get('type')}")
    return ChoicesField(
        **common,
        choices=choices,
        min_items=given(schema.min_items),
        max_items=given(schema.max_items),
        default=tuple(given(schema.default) or ()),
    )


def _plain(values: Sequence[str]) -> tuple[Choice, ...]:
    return tuple(Choice(value, value) for value in dict.fromkeys(values))


def _titled(options: Iterable[wire.EnumOption]) -> tuple[Choice, ...]:
    choices: dict[str, Choice] = {}
    for one in options:
        choices.setdefault(one.const, Choice(one.const, one.title or one.const, given(one.description)))
    return tuple(choices.values())
