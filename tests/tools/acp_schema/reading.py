"""Reads the schemas of one protocol version: what its structs and unions are."""

from __future__ import annotations

import dataclasses
import functools
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.tools.acp_schema import rules
from tests.tools.acp_schema.rules import Json

UNTAGGED = "UNTAGGED"


@dataclasses.dataclass(frozen=True)
class Field:
    """A member of a struct; `type` is written in Python, without what says that it may be absent or null."""

    wire: str
    type: str
    required: bool
    nullable: bool


@dataclasses.dataclass(frozen=True)
class Struct:
    """An object. `choices`: one of these sets of members must be there; `known`: a member and its known values."""

    name: str
    doc: str
    fields: tuple[Field, ...]
    base: str = "Wire"
    tag: tuple[str, str] | None = None
    choices: tuple[tuple[str, ...], ...] = ()
    known: tuple[str, tuple[str, ...]] | None = None


@dataclasses.dataclass(frozen=True)
class Union:
    """Objects that a tag tells apart; `tag` is None where nothing unknown is read."""

    name: str
    doc: str
    variants: tuple[str, ...]
    tag: str | None


Item = Struct | Union


@dataclasses.dataclass
class Shape:
    """An object with all that its parts and alternatives say; a property has several schemas where they differ."""

    properties: dict[str, list[Json]]
    required: set[str]
    choices: tuple[tuple[str, ...], ...] = ()


def load(directory: Path) -> dict[str, Json]:
    """The definitions of both versions that are used, changed as `rules` say. Raises `OSError`."""
    known = {version: _definitions(directory / version, version) for version in rules.VERSIONS}
    v1, v2 = known["v1"], known["v2"]
    like_v2: Json = {name: v2[name] for name in rules.LIKE_V2 if name in v2}
    known["v1"] = {**{name: v2[name] for name in reachable(v2, like_v2)}, **v1, **like_v2}
    for version in rules.VERSIONS:
        for name, patch in rules.PATCHES[version].items():
            known[version][name] = _patched(known[version].get(name, {}), patch)
    return known


def _definitions(directory: Path, version: str) -> Json:
    stable, unstable = (
        json.loads((directory / name).read_text(encoding="utf-8"))["$defs"]
        for name in ("schema.json", "schema.unstable.json")
    )
    for name, members in rules.UNSTABLE_MEMBERS[version].items():
        found = {one: unstable[name]["properties"].get(one) for one in members}
        stable[name] = _patched(stable[name], {"properties": found})
    for name, tags in rules.UNSTABLE_VARIANTS[version].items():
        added = [one for one in _alternatives(unstable[name]) if _consts(one) & set(tags)]
        stable[name] = {**stable[name], "anyOf": _alternatives(stable[name]) + added}
    return {**unstable, **stable}


def _patched(schema: Json, patch: Json) -> Json:
    members = {**schema.get("properties", {}), **patch.get("properties", {})}
    return {**schema, **patch, "properties": {name: one for name, one in members.items() if one is not None}}


def _alternatives(schema: Json) -> list[Json]:
    """Return the alternatives of a union, without the one for all unknown ones."""
    found: list[Json] = schema.get("anyOf") or schema.get("oneOf") or []
    return [one for one in found if "not" not in one]


def _parts(schema: Json) -> list[Json]:
    return [*schema.get("allOf", ()), *_alternatives(schema)]


def _names(schemas: Iterable[Json]) -> list[str]:
    """The definitions that these refer to themselves."""
    return [one["$ref"].rpartition("/")[2] for one in schemas if "$ref" in one]


def _accepts_all(schema: Json) -> bool:
    return not schema.keys() & {"$ref", "type", "const", "properties", "allOf", "anyOf", "oneOf", "required"}


def _consts(schema: Json) -> set[str]:
    return {str(one["const"]) for one in schema.get("properties", {}).values() if "const" in one}


def reachable(definitions: Json, roots: Iterable[str]) -> set[str]:
    """The names of the definitions that these lead to, with their own."""
    found: set[str] = set()
    waiting = [name for name in roots if name in definitions]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += re.findall(r'"#/\$defs/(\w+)"', json.dumps(definitions[name]))
    return found


def camel(tag: str) -> str:
    """`user_message_chunk` as the name of a class."""
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[^0-9a-zA-Z]+", tag))


class Reader:
    """Reads the definitions of one version; `read` are the names of those that are bounded."""

    def __init__(self, version: str, definitions: Json, read: set[str]) -> None:
        self._version = version
        self._definitions = definitions
        self._read = read
        self._items: dict[str, Item] = {}

    def items(self) -> dict[str, Item]:
        """All classes and unions by name, for what is read and sent."""
        roots = (*rules.READ[self._version], *rules.SENT[self._version])
        for name in roots:
            if name in self._definitions:
                self._reference(name, name in rules.SENT[self._version])
        return self._items

    # --- definitions -------------------------------------------------------------------------------------------------

    def _reference(self, name: str, flat: bool = False) -> str:
        """The type for a definition that is an object or a union of such; it is read the first time."""
        if name not in self._items:
            schema = self._definitions[name]
            tag = None if flat else self._tag_of(schema)
            if tag is None:
                self._items[name] = self._struct(name, name, self._shape(schema))
            else:
                self._union(name, schema, tag)
        return name

    def _struct(self, name: str, definition: str, shape: Shape, **more: Any) -> Struct:
        fields = tuple(
            self._field(definition, wire, schemas, wire in shape.required)
            for wire, schemas in shape.properties.items()
            if wire != "_meta"
        )
        base = "Wire" if definition in self._read else "Sent"
        return Struct(
            name, f"The definition `{definition}` of the official schema.", fields, base, choices=shape.choices, **more
        )

    def _union(self, name: str, schema: Json, tag: str) -> None:
        self._items[name] = Union(name, "", (), None)  # so that it is not read again for its variants
        common = self._shape({key: value for key, value in schema.items() if key not in ("anyOf", "oneOf")})
        variants = [self._variant(name, one, tag, common) for one in _alternatives(schema)]
        self._items[name] = Union(
            name,
            f"The definition `{name}` of the official schema.",
            tuple(variants),
            tag if name in self._read else None,
        )

    def _variant(self, union: str, alternative: Json, tag: str, common: Shape) -> str:
        """The class for one alternative of a union; `common` are the members of all of them."""
        value = alternative.get("properties", {}).get(tag, {}).get("const")
        bodies = _names(alternative.get("allOf", ()))
        definition = bodies[0] if bodies else union
        shape = self._shape({"allOf": alternative.get("allOf", ())})
        _add(common_first := Shape(dict(common.properties), set(common.required)), shape)
        given = (tag, value or UNTAGGED) if value or union in self._read else None
        if definition in self._repeated:
            self._items[definition] = self._struct(definition, definition, common_first)
            name = _variant_name(union, definition, value)
            self._items[name] = Struct(
                name, f"The definition `{definition}` of the official schema.", (), definition, given
            )
            return name
        name = definition if bodies else union + camel(value)
        struct = self._struct(
            name, definition, common_first, tag=given, known=self._known(definition if bodies else "")
        )
        if definition in self._untagged:
            self._items[f"{name}Fields"] = dataclasses.replace(struct, name=f"{name}Fields", tag=None)
            struct = dataclasses.replace(struct, fields=(), base=f"{name}Fields", choices=())
        self._items[name] = struct
        return name

    def _known(self, definition: str) -> tuple[str, tuple[str, ...]] | None:
        """The member that chooses among the alternatives of a variant, and its known values."""
        schema = self._definitions.get(definition, {})
        inner = self._tag_of(schema)
        if inner is None:
            return None
        return inner, tuple(sorted(one["properties"][inner]["const"] for one in _alternatives(schema)))

    @functools.cached_property
    def _used(self) -> list[Json]:
        roots = (*rules.READ[self._version], *rules.SENT[self._version])
        return [self._definitions[name] for name in sorted(reachable(self._definitions, roots))]

    @functools.cached_property
    def _repeated(self) -> set[str]:
        """Definitions that are the body of several alternatives of a union."""
        bodies = [[_names(one.get("allOf", ())) for one in _alternatives(schema)] for schema in self._used]
        return {
            name for union in bodies for [name] in (one for one in union if len(one) == 1) if union.count([name]) > 1
        }

    @functools.cached_property
    def _untagged(self) -> set[str]:
        """Definitions of tagged variants that are the type of a property, too, where they have no tag."""
        bodies = {name for one in self._used for part in _alternatives(one) for name in _names(part.get("allOf", ()))}
        members = [member for one in self._used for member in one.get("properties", {}).values()]
        return bodies & {name for one in members for name in _names((one, *_parts(one)))}

    def _tag_of(self, schema: Json) -> str | None:
        """The property that tells the alternatives of a union apart; None for what is no such union."""
        for one in _alternatives(schema):
            for name, member in one.get("properties", {}).items():
                if isinstance(member.get("const"), str):
                    return str(name)
        return None

    # --- objects ------------------------------------------------------------------------------------------------------

    def _shape(self, schema: Json) -> Shape:
        """An object with its parts, and with the members of all of its alternatives."""
        own = {name: [one] for name, one in schema.get("properties", {}).items()}
        shape = Shape(own, set(schema.get("required", ())))
        for name in _names([schema]):
            _add(shape, self._shape(self._definitions[name]))
        for part in schema.get("allOf", ()):
            _add(shape, self._shape(part))
        alternatives = [self._shape(one) for one in _alternatives(schema)]
        if alternatives:
            always = set.intersection(*(one.required for one in alternatives))
            rest = tuple(tuple(sorted(one.required - always - shape.required)) for one in alternatives)
            for one in alternatives:
                _add(shape, Shape(one.properties, set()))
            shape.required |= always
            shape.choices = rest if all(rest) else shape.choices
        return shape

    def _field(self, definition: str, wire: str, schemas: list[Json], required: bool) -> Field:
        place = _Place(definition, wire, definition in self._read)
        types = list(dict.fromkeys(one for schema in schemas for one in self._types(schema, place)))
        rest = [one for one in types if one != "None"]
        if place.anything() in rest:
            return Field(wire, place.anything(), required, False)
        return Field(wire, " | ".join(rest), required, len(rest) < len(types))

    def _types(self, schema: Json, place: _Place) -> list[str]:
        """The types that a value may have, in Python."""
        if "$ref" in schema:
            return self._referenced(_names([schema])[0], place)
        parts = _parts(schema)
        if any(map(_accepts_all, parts or [schema])):
            parts = [] if place.read else [one for one in parts if not _accepts_all(one)]  # we send what is known
            if not parts:
                return [place.anything()]
        if parts:
            return list(dict.fromkeys(one for part in parts for one in self._types(part, place)))
        kinds = schema.get("type", "string")
        return [self._plain(kind, schema, place) for kind in (kinds if isinstance(kinds, list) else [kinds])]

    def _plain(self, kind: str, schema: Json, place: _Place) -> str:
        match kind:
            case "string":
                return place.text(is_word="const" in schema)
            case "array":
                return place.many(f"list[{' | '.join(self._types(schema['items'], place))}]")
            case "object":
                values = schema.get("additionalProperties")
                inner = self._types(values, place) if isinstance(values, dict) else [place.anything()]
                return place.many(f"dict[{place.key()}, {' | '.join(inner)}]")
            case _:
                return {"integer": "int", "number": "float", "boolean": "bool", "null": "None"}[kind]

    def _referenced(self, name: str, place: _Place) -> list[str]:
        schema = self._definitions[name]
        if self._is_object(schema):
            return [f"{self._reference(name)}Fields" if name in self._untagged else self._reference(name)]
        lists = [one["items"] for one in _alternatives(schema) if _names([one.get("items", {})])]
        if len(lists) > 1:  # lists of several kinds of objects: one struct has the members of all of these
            item = f"{name}Item"
            if item not in self._items:
                self._items[item] = self._struct(item, name, self._shape({"anyOf": lists}))
            return [place.many(f"list[{item}]")]
        return self._types(schema, dataclasses.replace(place, scalar=name))

    def _is_object(self, schema: Json) -> bool:
        if "properties" in schema or schema.get("type") == "object" or self._tag_of(schema) is not None:
            return True
        parts = _parts(schema)
        return bool(parts) and all("allOf" in one or "properties" in one for one in parts)


def _add(shape: Shape, more: Shape) -> None:
    for name, schemas in more.properties.items():
        known = shape.properties.get(name, [])
        shape.properties[name] = known + [one for one in schemas if one not in known]
    shape.required |= more.required
    shape.choices = shape.choices or more.choices


def _variant_name(union: str, definition: str, tag: str) -> str:
    """`UserMessageChunk` of a `ContentChunk`, but `DiffChangeAdd`."""
    last_word = re.findall(r"[A-Z][a-z0-9]*", definition)[-1]
    return camel(tag) if camel(tag).endswith(last_word) else union + camel(tag)


@dataclasses.dataclass(frozen=True)
class _Place:
    """Where a type stands: in a property of a definition; `scalar` is the definition of the text or list itself."""

    definition: str
    property: str
    read: bool
    scalar: str = ""

    def text(self, is_word: bool) -> str:
        """The type of a text here."""
        if not self.read:
            return "str"
        for name in (f"{self.definition}.{self.property}", self.scalar or self.property):
            if name in rules.TEXTS:
                return rules.TEXTS[name]
        if re.search("(?:^i|I)d$", self.scalar or self.property):
            return "Id"
        return "Word" if is_word or self.scalar else "Words"

    def many(self, collection: str) -> str:
        """The type of a list or a map here."""
        if not self.read:
            return collection
        names = (f"{self.definition}.{self.property}", self.property)
        bounds = [rules.LISTS[name] for name in names if name in rules.LISTS]
        return f"Annotated[{collection}, {bounds[0] if bounds else 'cut(limits.ENTRIES)'}]"

    def key(self) -> str:
        """The type of the names in a map."""
        return "Id" if self.read else "str"

    def anything(self) -> str:
        """The type of what has none."""
        return "Untyped" if self.read else "Any"
