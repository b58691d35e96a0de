"""Writes the annotations of `lua/acp_nvim/types/` that are made from the contract."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import get_args

from msgspec import inspect as kinds

from acp_nvim.contract import editor, views
from tests.tools.contract import model
from tests.tools.contract.model import Field, Shape

HEAD = """\
---@meta
-- {what} Generated: change {where}, then type `make doc`.
"""
SIMPLE = {
    kinds.StrType: "string",
    kinds.IntType: "integer",
    kinds.FloatType: "number",
    kinds.BoolType: "boolean",
    kinds.BytesType: "string",
    kinds.AnyType: "any",
    kinds.RawType: "any",
}
UNIONS: dict[type, str] = {
    **dict.fromkeys(get_args(views.Item), "Content"),
    **dict.fromkeys(get_args(editor.TextChange), "TextChange"),
}
"""What annotations call several shapes that a tag tells apart: one class, for the language server's sake."""
BUFFERS = (
    model.read(editor.BufferText, to_lua=False),
    model.read(editor.BufferWrite, to_lua=False),
    model.read(editor.UnopenedFile, to_lua=False),
    model.read(editor.FoundOnDisk),
)
"""What is asked of buffers, and answered."""


def files() -> dict[str, str]:
    """The files below `lua/acp_nvim/types/`, by their names."""
    return {"events.lua": _events(), "messages.lua": _messages(), "buffers.lua": _buffers()}


def lua_type(one: kinds.Type) -> str:
    """A type as annotations write it; whether it may be nil is said elsewhere."""
    if type(one) in SIMPLE:
        return SIMPLE[type(one)]
    if isinstance(one, kinds.LiteralType):
        named = model.words_by_value().get(frozenset(one.values))
        return f"acp.{named[0]}" if named else "|".join(f'"{value}"' for value in one.values)
    if isinstance(one, kinds.StructType):
        return f"acp.{model.lua_name(one.cls)}"
    if isinstance(one, kinds.ListType | kinds.VarTupleType):
        item = lua_type(one.item_type)
        return f"({item})[]" if "|" in item else f"{item}[]"
    if isinstance(one, kinds.DictType):
        return f"table<{lua_type(one.key_type)}, {lua_type(one.value_type)}>"
    assert isinstance(one, kinds.UnionType), one
    return "|".join(dict.fromkeys(_members(one)))


def _members(one: kinds.UnionType) -> Iterator[str]:
    tagged = [member for member in one.types if isinstance(member, kinds.StructType) and member.tag is not None]
    if tagged:
        yield f"acp.{_union_name(tagged)}"
    yield from (
        lua_type(member) for member in one.types if not isinstance(member, kinds.NoneType) and member not in tagged
    )


def _union_name(members: Sequence[kinds.StructType]) -> str:
    """What the annotations call one of several shapes that a tag tells apart: `TextItem` and others are `Item`."""
    return UNIONS[members[0].cls]


def _field(field: Field, optional: bool | None = None) -> str:
    is_optional = field.optional if optional is None else optional
    words = f" {field.doc}" if field.doc else ""
    return f"---@field {field.name}{'?' if is_optional else ''} {lua_type(field.type)}{words}"


def _comment(text: str, width: int = 117) -> list[str]:
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return [f"---{one}" for one in [*lines, line] if one]


def _class(shape: Shape, name: str, base: str | None = None) -> str:
    lines = [*_comment(shape.doc), f"---@class acp.{name}" + (f": acp.{base}" if base else "")]
    if base:
        lines.append(f'---@field type "{shape.tag}"')
    return "\n".join([*lines, *map(_field, shape.fields)])


def _merged(name: str, members: Sequence[Shape]) -> str:
    """Return one class for shapes that differ by a tag: fields that only some have are optional, and say which."""
    lines = ["---One of several shapes, as its `type` says."]
    lines += [f'---{" " * 2}"{one.tag}": {one.doc}' for one in members]
    lines += [f"---@class acp.{name}", "---@field type " + "|".join(f'"{one.tag}"' for one in members)]
    fields: dict[str, list[tuple[Shape, Field]]] = {}
    for shape in members:
        for field in shape.fields:
            fields.setdefault(field.name, []).append((shape, field))
    for field_name, owners in fields.items():
        optional = len(owners) < len(members) or any(field.optional for _, field in owners)
        types = "|".join(dict.fromkeys(lua_type(field.type) for _, field in owners))
        whose = "" if len(owners) == len(members) else f" ({', '.join(str(shape.tag) for shape, _ in owners)})"
        words = "; ".join(dict.fromkeys(field.doc for _, field in owners if field.doc))
        lines.append(f"---@field {field_name}{'?' if optional else ''} {types}{whose}{' ' + words if words else ''}")
    return "\n".join(lines)


def _inner_classes(shapes: Sequence[Shape], to_lua: bool, known: set[type]) -> Iterator[str]:
    tagged: dict[str, list[Shape]] = {}
    for cls, shape in model.inner(list(shapes), to_lua).items():
        if cls in known:
            continue
        known.add(cls)
        if shape.tag is None:
            yield _class(shape, shape.name)
        else:
            tagged.setdefault(UNIONS[cls], []).append(shape)
    for name, members in tagged.items():
        yield _merged(name, members)


def _words() -> Iterator[str]:
    for values, (name, doc) in sorted(model.words_by_value().items(), key=lambda one: one[1]):
        lines = [*_comment(doc), f"---@alias acp.{name} " + "|".join(f'"{value}"' for value in sorted(values))]
        yield "\n".join(lines)


def _file(what: str, where: str, blocks: Sequence[str]) -> str:
    return "\n\n".join([HEAD.format(what=what, where=where).rstrip(), *blocks]) + "\n"


EVENT_NAMES = {"Plan": "Plan", "Review": "Review", "Preview": "Preview", "SignIn": "SignInNeed"}
"""Events that Lua keeps, and names without `event.`."""
EVENT = """\
---An event of any type; each type has a class of its own below.
---@class acp.Event
---@field type string
---@field session? integer key of the session
---@field block? integer
---@field [string] any"""


def event_class(shape: Shape) -> str:
    """What the annotations call an event, without the prefix."""
    name = _by_tag(shape)
    return EVENT_NAMES.get(name, f"event.{name}")


def _by_tag(shape: Shape) -> str:
    """Return the name of a class, such as `ToolCall` for `tool_call`."""
    return "".join(word.capitalize() for word in str(shape.tag).split("_"))


def _events() -> str:
    shapes = list(model.all_events().values())
    own = [_class(shape, event_class(shape), "Event") for shape in shapes]
    blocks = [*_words(), *_inner_classes(shapes, True, set()), EVENT, *own]
    return _file("What the host tells Lua.", "acp_nvim/contract", blocks)


def _messages() -> str:
    shapes = list(model.all_messages().values())
    known = set(model.inner(list(model.all_events().values())))
    inner = list(_inner_classes(shapes, False, known))
    own = [_class(shape, f"message.{_by_tag(shape)}") for shape in shapes]
    return _file("What Lua says to the host.", "acp_nvim/contract/*messages.py", [*inner, *own])


def _buffers() -> str:
    known: set[type] = set()
    blocks = []
    for shape in BUFFERS:
        blocks += [_class(shape, shape.name), *_inner_classes([shape], True, known)]
    return _file("What the host asks of Lua's buffers.", "acp_nvim/contract/editor.py", blocks)
