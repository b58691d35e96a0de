"""Reads a JSON schema: brings what is said in several places about one value into one place."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tests.support.schemas import load, references

JSON_TYPES = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})

Choose = Callable[[list[dict[str, Any]]], dict[str, Any]]


@functools.cache
def shapes(version: str, file: str = "schema.json") -> Shapes:
    """The reader of one of the official schemas."""
    return Shapes(load(version, file)["$defs"])


class Shapes:
    """Reads the keywords that the official schemas use."""

    def __init__(self, definitions: dict[str, Any]) -> None:
        self.definitions = definitions
        self._reached: dict[str, frozenset[str]] = {}
        self._named: dict[int, tuple[str, ...]] = {}
        self._joined: dict[tuple[int, int], dict[str, Any]] = {}
        self._fixed: dict[int, dict[str, Any] | None] = {}

    def definition(self, reference: str) -> dict[str, Any]:
        """Return the definition that a `$ref` names."""
        found: dict[str, Any] = self.definitions[reference.rpartition("/")[2]]
        return found

    # --- what a value has to be like

    def shape(self, schema: dict[str, Any], choose: Choose) -> dict[str, Any]:
        """The schema with its references, parts and one of its alternatives in one: no `$ref`, `allOf`, `anyOf`.

        `forbidden`: by member, the values it must not have. `free`: anything else is valid too. Not to be changed: what
        has no alternatives is made once. `schema` is a part of the whole, or of what this returned.
        """
        fixed = self._fixed.get(id(schema))
        if fixed is not None:
            return fixed
        merged: dict[str, Any] = {"properties": {}, "required": set(), "forbidden": {}, "free": False}
        self._merge(merged, schema, choose)
        if id(schema) not in self._fixed:
            self._fixed[id(schema)] = None if self._has_alternatives(schema) else merged
        return merged

    def _has_alternatives(self, schema: dict[str, Any]) -> bool:
        parts = list(schema.get("allOf", ()))
        if "$ref" in schema:
            parts.append(self.definition(schema["$ref"]))
        return "anyOf" in schema or "oneOf" in schema or any(map(self._has_alternatives, parts))

    def _merge(self, into: dict[str, Any], schema: dict[str, Any], choose: Choose) -> None:
        for keyword, value in schema.items():
            if keyword in ("$ref", "allOf", "anyOf", "oneOf"):
                into["free"] |= keyword == "anyOf" and any(accepts_all(one) for one in value)
                for part in self._parts(keyword, value, choose):
                    self._merge(into, part, choose)
            elif keyword == "type":
                into["type"] = both(into.get("type", JSON_TYPES), value)
            elif keyword == "required":
                into["required"] |= set(value)
            elif keyword == "properties":
                self._merge_members(into["properties"], value)
            elif keyword == "not":
                _merge_forbidden(into["forbidden"], value["anyOf"])
            elif not keyword.startswith("x-"):
                into[keyword] = value

    def _merge_members(self, into: dict[str, Any], members: dict[str, Any]) -> None:
        for name, member in members.items():
            into[name] = self._join(into[name], member) if name in into else member

    def _join(self, one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
        """A schema of both, always the same object."""
        return self._joined.setdefault((id(one), id(other)), {"allOf": [one, other]})

    def _parts(self, keyword: str, value: Any, choose: Choose) -> list[dict[str, Any]]:
        if keyword == "$ref":
            return [self.definition(value)]
        return value if keyword == "allOf" else [choose(value)]

    def accepted(self, schema: dict[str, Any]) -> frozenset[str]:
        """The JSON types that an instance of the schema can have."""
        found = JSON_TYPES
        if "const" in schema:
            found = both(found, {str: "string", int: "integer"}[type(schema["const"])])
        if "type" in schema:
            found = both(found, schema["type"])
        if "$ref" in schema:
            found = both(found, self.accepted(self.definition(schema["$ref"])))
        for part in schema.get("allOf", ()):
            found = both(found, self.accepted(part))
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                found &= frozenset().union(*(self.accepted(part) for part in schema[keyword]))
        return found

    # --- what leads where

    def leads(self, schema: dict[str, Any], to: str) -> bool:
        """Whether the definition `to` is mentioned there, or where that leads; `schema` is a part of the whole."""
        if id(schema) not in self._named:
            self._named[id(schema)] = tuple(references(schema))
        return any(name == to or to in self._reach(name) for name in self._named[id(schema)])

    def has_tags(self, name: str) -> bool:
        """Whether members with one value choose among alternatives there, or where that definition leads."""
        return any(_has_tags(self.definitions[one]) for one in {name, *self._reach(name)})

    def _reach(self, name: str) -> frozenset[str]:
        if name not in self._reached:
            direct = references(self.definitions[name])
            self._reached[name] = frozenset(direct).union(*(self._reach(one) for one in direct))
        return self._reached[name]


def accepts_all(schema: dict[str, Any]) -> bool:
    """Whether that says nothing at all."""
    return not schema.keys() - {"title", "description"}


def both(one: Any, other: Any) -> frozenset[str]:
    """The types in both; an integer is a number."""
    return _types(one) & _types(other)


def _types(kinds: Any) -> frozenset[str]:
    if isinstance(kinds, frozenset):
        return kinds
    found = frozenset([kinds] if isinstance(kinds, str) else kinds)
    return found | {"integer"} if "number" in found else found


def _merge_forbidden(into: dict[str, set[str]], alternatives: list[dict[str, Any]]) -> None:
    for one in alternatives:
        ((name, constant),) = one["properties"].items()
        into.setdefault(name, set()).add(constant["const"])


def _has_tags(schema: Any) -> bool:
    if isinstance(schema, list):
        return any(map(_has_tags, schema))
    if not isinstance(schema, dict):
        return False
    members = schema.get("properties", {}).values()
    return any("const" in member for member in members) or any(map(_has_tags, schema.values()))
