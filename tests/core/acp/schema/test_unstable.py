"""The unstable schemas: what agents may send by them is decoded, as far as our types know it; what we send is valid."""

from __future__ import annotations

import functools
import json
from random import Random
from typing import Any

import jsonschema_rs
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_nvim.acp import decoding
from acp_nvim.acp.fields import Unknown, Wire
from tests.core.acp.schema.generator import BATCH, EXAMPLES, Instance, instances
from tests.core.acp.schema.json_values import RANDOMS, same
from tests.core.acp.schema.known import UNTYPED, ours
from tests.core.acp.schema.shapes import shapes
from tests.core.acp.schema.structs import Builder
from tests.core.acp.schema.test_received import DEFINITIONS
from tests.support.examples import examples
from tests.support.schemas import VERSIONS, load
from tests.tools.acp_schema import rules

FILE = "schema.unstable.json"


@functools.cache
def validator(version: str, name: str) -> jsonschema_rs.Draft202012Validator:
    """Return a validator for instances of a definition."""
    return jsonschema_rs.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": load(version, FILE)["$defs"]})


def received(version: str) -> list[tuple[str, str, str]]:
    """For each definition that messages of agents lead to: the version, a message that leads to it, and its name."""
    found = shapes(version, FILE)
    roots = [name for name in rules.READ[version] if name in found.definitions]
    return [
        (version, root, name)
        for name in sorted(found.definitions.keys() - UNTYPED)
        for root in [one for one in roots if one == name or found.leads({"$ref": f"#/$defs/{one}"}, name)][:1]
    ]


def is_stable(version: str, name: str) -> bool:
    """Whether the stable schema has the same definition, which `test_received.py` tries more often."""
    return (version, name) in DEFINITIONS and bare(load(version)["$defs"][name]) == bare(
        load(version, FILE)["$defs"][name]
    )


def bare(schema: Any) -> Any:
    """The schema without words for people."""
    if isinstance(schema, list):
        return [bare(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: bare(one) for name, one in schema.items() if name not in ("title", "description")}


RECEIVED = [one for version in VERSIONS for one in received(version)]
STABLE = [one for one in RECEIVED if is_stable(one[0], one[2])]
UNSTABLE = [one for one in RECEIVED if one not in STABLE]
SENT = [(version, name) for version in VERSIONS for name in rules.SENT[version] if name in load(version, FILE)["$defs"]]


def lost(decoded: Any, said: Any, where: str = "$") -> str | None:
    """The place of something that our types know, and that is not as it was sent; None if there is none."""
    if isinstance(decoded, Unknown):
        return None if same(dict(decoded.original), said) else where
    if isinstance(decoded, Wire):
        names = zip(decoded.__struct_encode_fields__, decoded.__struct_fields__, strict=True)
        parts = [(getattr(decoded, name), said[key], f"{where}.{key}") for key, name in names if key in said]
        return next(filter(None, (lost(*one) for one in parts)), None)
    if isinstance(decoded, list) and isinstance(said, list) and len(decoded) == len(said):
        parts = [(one, other, f"{where}[{at}]") for at, (one, other) in enumerate(zip(decoded, said, strict=True))]
        return next(filter(None, (lost(*one) for one in parts)), None)
    if isinstance(decoded, dict) and isinstance(said, dict) and decoded.keys() == said.keys():
        return next(filter(None, (lost(one, said[name], f"{where}.{name}") for name, one in decoded.items())), None)
    return None if same(decoded, said) else where


def check(version: str, message: str, found: list[Instance]) -> None:
    for one in found:
        validator(version, message).validate(one.value)  # the generated instance is valid
        decoded = decoding.decode(msgspec.json.encode(one.value), ours(version, message))
        assert lost(decoded, one.value) is None, one.value


@pytest.mark.parametrize(("version", "message", "name"), UNSTABLE)
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_what_we_know_of_a_valid_message_is_kept(version: str, message: str, name: str, data: st.DataObject) -> None:
    check(version, message, data.draw(instances(shapes(version, FILE), message, through=name)))


@pytest.mark.parametrize(("version", "message", "name"), STABLE)
@settings(max_examples=examples(1))
@given(data=st.data())
def test_what_both_schemas_have_is_kept(version: str, message: str, name: str, data: st.DataObject) -> None:
    check(version, message, data.draw(instances(shapes(version, FILE), message, through=name)))


@pytest.mark.parametrize(("version", "name"), SENT)
@settings(max_examples=EXAMPLES)
@given(random=RANDOMS)
def test_what_we_send_is_valid(version: str, name: str, random: Random) -> None:
    for _ in range(BATCH):
        value = json.loads(msgspec.json.encode(Builder(random).build(ours(version, name))))
        validator(version, name).validate(value)


def test_both_versions_and_the_parts_that_only_the_unstable_schema_has_are_tried() -> None:
    for version in VERSIONS:
        stable = load(version)["$defs"]
        names = {name for one, _, name in RECEIVED if one == version}
        assert len(names) > 60
        assert names - stable.keys(), "the unstable schema has nothing of its own any more: then this file can go"
