"""Makes instances of a JSON schema by chance, and remembers what each object in them has to be like."""

from __future__ import annotations

import dataclasses
from random import Random
from typing import Any

from hypothesis import strategies as st

from tests.core.acp.schema import json_values
from tests.core.acp.schema.shapes import JSON_TYPES, Shapes
from tests.support.examples import examples

BATCH = 10
"""Instances in one example: an example costs more than the instances in it."""

EXAMPLES = examples(5)
"""Examples for each definition."""

KEPT_AS_A_WORD = "stopReason"
"""Chooses the shape of a state update too, but one that we do not know is only a word: it brings no further members."""


@dataclasses.dataclass
class Site:
    """One object of an instance, and the schemas of its members; `tags` are those that choose its shape."""

    value: dict[str, Any]
    members: dict[str, Any]
    required: set[str]
    tags: set[str]


@dataclasses.dataclass
class Instance:
    """Something that a schema allows; `sites` are the objects in it whose shape is known."""

    value: Any
    sites: list[Site]


def instances(shapes: Shapes, definition: str, through: str) -> st.SearchStrategy[list[Instance]]:
    """Some instances of `definition`, in which `through`, another definition, is chosen wherever it can be."""

    def batch(random: Random) -> list[Instance]:
        maker = Maker(shapes, random, through)
        return [maker.instance(definition) for _ in range(BATCH)]

    return json_values.RANDOMS.map(batch)


class Maker:
    """Makes instances; a bounded depth comes by itself, as the official schemas have no circles."""

    def __init__(self, shapes: Shapes, random: Random, through: str) -> None:
        self._shapes = shapes
        self._random = random
        self._through = through
        self._sites: list[Site] | None = []
        self._leading: dict[int, list[dict[str, Any]]] = {}

    def instance(self, definition: str) -> Instance:
        """Return a random instance of a definition."""
        sites = self._sites = []
        return Instance(self._make(self._shapes.definitions[definition]), sites)

    def _choose(self, alternatives: list[dict[str, Any]]) -> dict[str, Any]:
        leading = self._leading.get(id(alternatives))
        if leading is None:
            leading = [one for one in alternatives if self._shapes.leads(one, self._through)] or alternatives
            self._leading[id(alternatives)] = leading
        return self._random.choice(leading)

    def _make(self, schema: dict[str, Any]) -> Any:
        shape = self._shapes.shape(schema, self._choose)
        if "const" in shape:
            return shape["const"]
        kinds = shape.get("type", JSON_TYPES)
        if kinds == JSON_TYPES:
            return json_values.anything(self._random)
        values = sorted(kinds - {"null"})
        if "null" in kinds and (not values or not self._random.randrange(5)):
            return None
        return self._of_kind("number" if "number" in values else self._random.choice(values), shape)

    def _of_kind(self, kind: str, shape: dict[str, Any]) -> Any:
        match kind:
            case "object":
                return self._object(shape)
            case "array":
                count = shape.get("minItems", 0) + self._random.choice((0, 1, 1, 2))
                return [self._make(shape["items"]) for _ in range(count)]
            case "string":
                return json_values.text(self._random, shape)
            case "integer":
                return json_values.integer(self._random, shape)
            case "number":
                return json_values.number(self._random, shape)
            case _:
                return self._random.choice((True, False))

    def _object(self, shape: dict[str, Any]) -> dict[str, Any]:
        value: dict[str, Any] = {}
        outside = self._sites
        opened = bool(shape["forbidden"].keys() - {KEPT_AS_A_WORD})
        if opened or shape["free"]:
            self._sites = None  # whatever is in there, it is valid
        if self._sites is not None and shape["properties"]:
            self._sites.append(Site(value, shape["properties"], shape["required"], _tags(shape)))
        for name, member in shape["properties"].items():
            if name in shape["forbidden"]:
                value[name] = self._random.choice(("odd", "_x/y", "", "acp_nvim/unknown"))
            elif name in shape["required"] or self._random.randrange(5) < 3:
                value[name] = self._make(member)
        value |= self._further(shape, opened)
        self._sites = outside
        return value

    def _further(self, shape: dict[str, Any], opened: bool) -> dict[str, Any]:
        """Members without a name in the schema."""
        additional = shape.get("additionalProperties", shape.get("unevaluatedProperties", False))
        if isinstance(additional, dict):
            names = self._random.sample(("a", "é", ""), self._random.randrange(3))
            return {name: self._make(additional) for name in names}
        if additional and (opened or not shape["properties"]):
            return json_values.members(self._random)
        return {}


def _tags(shape: dict[str, Any]) -> set[str]:
    """The members that choose among alternatives: they have one value, or have to be null, or must not be known."""
    found = {name for name, member in shape["properties"].items() if any(map(_fixes, member.get("allOf", [member])))}
    return found | shape["forbidden"].keys()


def _fixes(schema: dict[str, Any]) -> bool:
    return "const" in schema or schema.get("type") == "null"
