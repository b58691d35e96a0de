"""Everything that the official schemas let an agent send is decoded, and nothing of it is lost."""

from __future__ import annotations

import functools
from typing import Any

import jsonschema_rs
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_nvim.acp import decoding
from tests.core.acp.schema.encoding import encode
from tests.core.acp.schema.generator import EXAMPLES, Instance, instances
from tests.core.acp.schema.json_values import same
from tests.core.acp.schema.known import WITHIN, definitions, ours
from tests.core.acp.schema.shapes import shapes
from tests.support.schemas import VERSIONS, load
from tests.tools.acp_schema import rules

DEFINITIONS = [(version, name) for version in VERSIONS for name in definitions(version, rules.READ)]


@functools.cache
def validator(version: str, name: str) -> jsonschema_rs.Draft202012Validator:
    """Return a validator for instances of a definition."""
    root = load(version)
    return jsonschema_rs.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": root["$defs"]})


def tagged(kind: Any, value: Any) -> Any:
    """What `value` is on the wire where its type has a tag: the schema says it around the definition."""
    config = getattr(kind, "__struct_config__", None)
    if config is None or config.tag_field is None or config.tag_field in value or config.tag.startswith("acp_nvim/"):
        return value
    return {config.tag_field: config.tag, **value}


def check(version: str, name: str, found: Instance) -> None:
    again = encode(decoding.decode(msgspec.json.encode(found.value), ours(version, name)))
    assert same(msgspec.json.decode(again), tagged(ours(version, name), found.value)), found.value


@pytest.mark.parametrize(("version", "name"), DEFINITIONS)
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_nothing_of_a_valid_instance_is_lost(version: str, name: str, data: st.DataObject) -> None:
    whole = WITHIN.get(name, name)
    for found in data.draw(instances(shapes(version), whole, through=name)):
        validator(version, whole).validate(found.value)  # the generated instance is valid
        check(version, whole, found)
