"""What an agent may ask the user for (ACP "Elicitation"): the fields of a form, and our answer."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from msgspec import UNSET

from acp_nvim.limits import wire as limits
from acp_nvim.wire.base import UNTAGGED, Maybe, Unknown, Wire
from acp_nvim.wire.bounds import Id, Pattern, Title, Value, Word, Words, exact


class EnumOption(Wire):
    """A value to choose, and its words."""

    const: Value
    title: Title
    description: Maybe[Words] = UNSET


class PropertySchema(Wire):
    """What all fields of a form have."""

    title: Maybe[Title] = UNSET
    description: Maybe[Words] = UNSET


class StringPropertySchema(PropertySchema, tag_field="type", tag="string"):
    """A text; with `enum` or `one_of`, one of those."""

    min_length: Maybe[int] = UNSET
    max_length: Maybe[int] = UNSET
    pattern: Maybe[Pattern] = UNSET
    format: Maybe[Word] = UNSET
    default: Maybe[Value] = UNSET
    enum: Maybe[Annotated[list[Value], exact(limits.FORM_CHOICES)]] = UNSET
    one_of: Maybe[Annotated[list[EnumOption], exact(limits.FORM_CHOICES)]] = UNSET


class NumberPropertySchema(PropertySchema, tag_field="type", tag="number"):
    """A number."""

    minimum: Maybe[float] = UNSET
    maximum: Maybe[float] = UNSET
    default: Maybe[float] = UNSET


class IntegerPropertySchema(PropertySchema, tag_field="type", tag="integer"):
    """A whole number."""

    minimum: Maybe[int] = UNSET
    maximum: Maybe[int] = UNSET
    default: Maybe[int] = UNSET


class BooleanPropertySchema(PropertySchema, tag_field="type", tag="boolean"):
    """Yes or no."""

    default: Maybe[bool] = UNSET


class StringMultiSelectItems(Wire, tag_field="type", tag="string"):
    """The values that can be chosen."""

    enum: Annotated[list[Value], exact(limits.FORM_CHOICES)]


class TitledMultiSelectItems(Wire, tag_field="type", tag=UNTAGGED):
    """The values that can be chosen, with words."""

    any_of: Annotated[list[EnumOption], exact(limits.FORM_CHOICES)]


class UnknownMultiSelectItems(Unknown):
    """Values of a type that we do not know."""


MultiSelectItems: TypeAlias = StringMultiSelectItems | TitledMultiSelectItems | UnknownMultiSelectItems


class MultiSelectPropertySchema(PropertySchema, kw_only=True, tag_field="type", tag="array"):
    """Several values of a list."""

    items: MultiSelectItems
    min_items: Maybe[int] = UNSET
    max_items: Maybe[int] = UNSET
    default: Maybe[Annotated[list[Value], exact(limits.FORM_CHOICES)]] = UNSET


class UnknownPropertySchema(Unknown):
    """A field of a type that we do not know."""


ElicitationPropertySchema: TypeAlias = (
    StringPropertySchema
    | NumberPropertySchema
    | IntegerPropertySchema
    | BooleanPropertySchema
    | MultiSelectPropertySchema
    | UnknownPropertySchema
)


class UnknownElicitation(Unknown, tag_field="mode"):
    """A way of asking that we do not know."""


class CompleteElicitationNotification(Wire):
    """The parameters of `elicitation/complete`: what the user did at the URL is done."""

    elicitation_id: Id


ElicitationContentValue: TypeAlias = Value | int | float | bool | Annotated[list[Value], exact(limits.FORM_CHOICES)]


class CreateElicitationResponse(Wire):
    """Our answer to `elicitation/create`; `action`: accept (with `content`), decline, cancel."""

    action: Word
    content: Maybe[Annotated[dict[Id, ElicitationContentValue], exact(limits.FORM_FIELDS)]] = UNSET


class ElicitationFormCapabilities(Wire):
    """The client shows forms."""


class ElicitationUrlCapabilities(Wire):
    """The client opens URLs."""


class ElicitationCapabilities(Wire):
    """How the client can ask the user."""

    form: Maybe[ElicitationFormCapabilities] = UNSET
    url: Maybe[ElicitationUrlCapabilities] = UNSET
