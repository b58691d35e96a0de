"""The contract as plain data, for the checker in the Neovim of the tests (`tests/support/contract.lua`)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from msgspec import inspect as kinds

from acp_nvim.contract.messages import Hello
from tests.tools.contract import model
from tests.tools.contract.lua_types import SIMPLE
from tests.tools.contract.model import Shape


def text() -> str:
    """All events, messages and what is inside of them, as JSON."""
    events, messages = model.all_events(), model.all_messages()
    return json.dumps(
        {
            "events": {tag: _fields(shape) for tag, shape in events.items()},
            "messages": {method: _fields(shape) for method, shape in messages.items()},
            "from_host": _inner(events.values(), to_lua=True),
            "from_lua": _inner(messages.values(), to_lua=False),
        }
    )


def _inner(roots: Iterable[Shape], to_lua: bool) -> dict[str, Any]:
    configured = model.inner([model.read(Hello, to_lua=False)], to_lua=False)
    return {
        cls.__name__: {"fields": _fields(shape), "open": cls in configured}  # Lua sends all that the user configured
        for cls, shape in model.inner(list(roots), to_lua).items()
    }


def _fields(shape: Shape) -> dict[str, Any]:
    return {field.name: {"type": _type(field.type), "optional": field.optional} for field in shape.fields}


def _type(one: kinds.Type) -> dict[str, Any]:
    if isinstance(one, kinds.LiteralType):
        return {"is": "words", "words": list(one.values)}
    if isinstance(one, kinds.StructType):
        return {"is": "struct", "name": one.cls.__name__, "tag": one.tag}
    if isinstance(one, kinds.ListType | kinds.VarTupleType):
        return {"is": "list", "of": _type(one.item_type)}
    if isinstance(one, kinds.DictType):
        return {"is": "map", "of": _type(one.value_type)}
    if isinstance(one, kinds.UnionType):
        return {"is": "any of", "types": [_type(member) for member in one.types]}
    if isinstance(one, kinds.NoneType):
        return {"is": "nil"}
    return {"is": SIMPLE[type(one)]}
