"""Writes the modules with the generated types: one for what both versions share, one for each of them."""

from __future__ import annotations

import dataclasses
import keyword
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.tools.acp_schema import rules
from tests.tools.acp_schema.reading import UNTAGGED, Field, Item, Reader, Struct, Union, load, reachable

COMMON = "common"
DOCS = {
    COMMON: "ACP types that are the same in both versions of the protocol.",
    "v1": "ACP types of version 1 of the protocol.",
    "v2": "ACP types of version 2 of the protocol, a draft.",
}
HEADER = '''"""{doc}

Generated from the official schema by `make schema`: do not edit.
The annotations are no strings: msgspec would compile each of them before it decodes the first message.
"""
{noqa}'''
FIELDS_MODULE = "acp_nvim.acp.fields"
OF_TYPING = ("Annotated", "Any", "ClassVar", "TypeAlias")
NOT_OF_FIELDS = {"list", "dict", "str", "int", "float", "bool", "limits", *OF_TYPING}


def modules(schemas: Path) -> dict[str, str]:
    """The text of each generated module by its name. Raises `OSError` when a schema is not there."""
    definitions = load(schemas)
    read = {version: reachable(known, rules.READ[version]) for version, known in definitions.items()}
    sent = {version: reachable(known, rules.SENT[version]) for version, known in definitions.items()}
    both = {name for name in read["v1"] | read["v2"] if all(name in read[one] | sent[one] for one in rules.VERSIONS)}
    items = {version: Reader(version, known, read[version] | both).items() for version, known in definitions.items()}
    shared = _shared(items["v1"], items["v2"])
    found = {COMMON: {name: items["v1"][name] for name in shared}}
    for version, own in items.items():
        found[version] = {name: item for name, item in own.items() if name not in shared}
    return {f"schema_{name}": "\n".join(_module(name, own, shared)) for name, own in found.items()}


def _shared(one: Mapping[str, Item], other: Mapping[str, Item]) -> set[str]:
    """The names of what is the same in both, with all that it refers to."""
    same = {name for name in one.keys() & other.keys() if _unordered(one[name]) == _unordered(other[name])}
    while True:
        rest = {name for name in same if (_words(one[name]) & one.keys()) <= same}
        if rest == same:
            return same
        same = rest


def _unordered(item: Item) -> Item:
    """With its members by name: the schemas of both versions have them in other orders."""
    if isinstance(item, Union):
        return item
    return dataclasses.replace(item, fields=tuple(sorted(item.fields, key=lambda one: one.wire)))


def _words(item: Item) -> set[str]:
    """The names that stand in a class or union, in Python."""
    if isinstance(item, Union):
        return {"TypeAlias", *item.variants}
    types = {word for field in item.fields for word in re.findall(r"(?<![\w.])\w+", field.type)}
    return types | {item.base} | ({"ClassVar"} if item.known else set())


def _module(name: str, items: Mapping[str, Item], shared: set[str]) -> Iterator[str]:
    yield HEADER.format(doc=DOCS[name], noqa="" if name == COMMON else "# ruff: noqa: F403, F405\n")
    yield from _imports({one for item in items.values() for one in _words(item)}, items, shared, name)
    for item in in_order(items):
        yield from _class(item) if isinstance(item, Struct) else _alias(item)


def in_order(items: Mapping[str, Item]) -> list[Item]:
    """Each item after those that it refers to, otherwise by name. Raises `ValueError` for a circle of references."""
    ordered: dict[str, Item] = {}

    def visit(name: str, trail: tuple[str, ...]) -> None:
        if name in trail:
            raise ValueError(f"a circle of references: {' -> '.join([*trail, name])}")
        if name not in ordered:
            for other in sorted(_words(items[name]) & items.keys()):
                visit(other, (*trail, name))
            ordered[name] = items[name]

    for name in sorted(items):
        visit(name, ())
    return list(ordered.values())


def _imports(words: set[str], items: Mapping[str, Item], shared: set[str], module: str) -> Iterator[str]:
    structs = [one for one in items.values() if isinstance(one, Struct)]
    fields = [field for one in structs for field in one.fields]
    words |= {_three_states(one).partition("[")[0] for one in fields}
    if any(one.tag and one.tag[1] == UNTAGGED for one in structs):
        words.add(UNTAGGED)
    if any(isinstance(one, Union) and one.tag for one in items.values()):
        words.add("Unknown")
    typing = [one for one in OF_TYPING if one in words]
    ours = sorted(
        one for one in words - items.keys() - NOT_OF_FIELDS - shared if one[:1].isupper() or one in ("cut", "exact")
    )
    yield f"from typing import {', '.join(typing)}\n"
    if any(not one.required for one in fields):
        yield "from msgspec import UNSET\n"
    if "limits" in words:
        yield "from acp_nvim.acp import field_limits as limits"
    yield f"from {FIELDS_MODULE} import {', '.join(ours)}"
    if module != COMMON:  # all of them, whichever the next schema will have in common
        yield f"from acp_nvim.acp.schema_{COMMON} import *"
    yield ""


def _class(struct: Struct) -> Iterator[str]:
    options = ["kw_only=True"]
    if struct.tag is not None:
        name, value = struct.tag
        options += [f'tag_field="{name}"', f"tag={UNTAGGED if value == UNTAGGED else repr(value)}"]
    yield f"class {struct.name}({struct.base}, {', '.join(options)}):"
    yield f'    """{struct.doc}"""\n'
    known = struct.known if struct.tag is not None else None  # without a tag there is no unknown variant to become
    if known is not None:
        name, values = known
        words = ", ".join(map(repr, values))
        yield f"    open_members: ClassVar[dict[str, frozenset[str]]] = {{{name!r}: frozenset({{{words}}})}}\n"
    for field in struct.fields:
        yield f"    {_field(field)}"
    checks = (
        [f"self.require_one({', '.join(repr(tuple(map(_python, one))) for one in struct.choices)})"]
        if struct.choices
        else []
    )
    checks += ["self.require_known()"] if known else []
    if checks:
        yield "\n    def __post_init__(self) -> None:"
        yield from (f"        {one}" for one in checks)
    yield ""


def _alias(union: Union) -> Iterator[str]:
    variants = list(union.variants)
    if union.tag is not None:
        variants.append(f"Unknown{union.name}")
        field = "" if union.tag == "type" else f', tag_field="{union.tag}"'
        yield f"class Unknown{union.name}(Unknown{field}):"
        yield f'    """A `{union.name}` of a kind that the schema does not have."""\n'
    yield f"{union.name}: TypeAlias = {' | '.join(variants)}"
    yield ""


def _field(field: Field) -> str:
    name = _python(field.wire)
    assert name != "list" or "list[" not in field.type
    kind = _three_states(field)
    named = "".join(part.title() if number else part for number, part in enumerate(name.split("_"))) != field.wire
    if named:
        default = "" if field.required else ", default=UNSET"
        return f"{name}: {kind} = msgspec.field(name={field.wire!r}{default})"
    return f"{name}: {kind}" if field.required else f"{name}: {kind} = UNSET"


def _three_states(field: Field) -> str:
    """The type of a member that may be absent, or null, or both."""
    if field.type in ("Any", "Untyped"):
        return field.type
    if field.required:
        return f"{field.type} | None" if field.nullable else field.type
    return f"{'Maybe' if field.nullable else 'Omittable'}[{field.type}]"


def _python(wire: str) -> str:
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", wire).lower()
    return f"{name}_" if keyword.iskeyword(name) else name
