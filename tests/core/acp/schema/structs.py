"""Makes instances of our own types by chance: whatever our code could build and send."""

from __future__ import annotations

import types
import typing
from random import Random
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import FieldInfo

from acp_nvim.acp.fields import Unknown
from tests.core.acp.schema import json_values

WORDS = {
    ("Annotations", "audience"): [["user"], ["assistant", "user"], []],
    ("Annotations", "priority"): [0, 1.0, 0.5],
    ("CreateElicitationResponse", "action"): ["accept", "decline", "cancel"],
    ("EmbeddedResourceResource", "text"): json_values.TEXTS,
    ("InitializeRequest", "protocol_version"): [0, 1, 2, 65535],
}
"""Members for which the schema wants more than a type."""

NEVER_EMPTY = {("PromptRequest", "prompt")}

SCALARS: dict[Any, tuple[Any, ...]] = {
    str: json_values.TEXTS,
    bool: (True, False),
    int: (0, 1, 2**31),
    float: (0.0, -1.5, 1e9),
    types.NoneType: (None,),
}


class Builder:
    """Makes random instances of a type."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def build(self, kind: Any) -> Any:
        """An instance of a type as it may be written in a struct."""
        arguments = typing.get_args(kind)
        if typing.get_origin(kind) is typing.Annotated:
            return self.build(arguments[0])
        if typing.get_origin(kind) in (typing.Union, types.UnionType):
            return self.build(self._random.choice([one for one in arguments if not _is_nothing(one)]))
        if typing.get_origin(kind) is list:
            return [self.build(arguments[0]) for _ in range(self._random.randrange(3))]
        if typing.get_origin(kind) is dict:
            names = self._random.sample(("a", "é", ""), self._random.randrange(3))
            return {name: self.build(arguments[1]) for name in names}
        if kind is Any:
            return json_values.anything(self._random)
        return self._random.choice(SCALARS[kind]) if kind in SCALARS else self._struct(kind)

    def _struct(self, kind: type[msgspec.Struct]) -> msgspec.Struct:
        fields = msgspec.structs.fields(kind)
        members = {
            field.name: self._member(kind.__name__, field)
            for field in fields
            if field.required or (field.name != "left_out" and self._random.randrange(5) < 3)
        }
        if kind.__name__ == "EmbeddedResourceResource" and not members.keys() & {"text", "blob"}:
            members["text"] = ""
        if kind.__name__ == "SetSessionConfigOptionRequest":
            members |= self._config_value(any(field.name == "type" and field.required for field in fields))
        return kind(**members)

    def _member(self, struct: str, field: FieldInfo) -> Any:
        if (struct, field.name) in WORDS:
            return self._random.choice(WORDS[struct, field.name])
        value = self.build(field.type)
        while not value and (struct, field.name) in NEVER_EMPTY:
            value = self.build(field.type)
        return value

    def _config_value(self, typed: bool) -> dict[str, Any]:
        """`type` and `value` belong together; version 1 has no type for a text."""
        if self._random.randrange(2):
            return {"type": "boolean", "value": self._random.choice((True, False))}
        return {"type": "id" if typed else UNSET, "value": "x"}


def _is_nothing(kind: Any) -> bool:
    """Whether that is what we never send: no member, or what we did not understand ourselves."""
    return kind is UnsetType or (isinstance(kind, type) and issubclass(kind, Unknown))
