"""Everything that we can send is what the official schemas want."""

from __future__ import annotations

import json
from functools import cache
from random import Random
from typing import Any

import jsonschema_rs
import msgspec
import pytest
from hypothesis import given, settings

from acp_nvim.acp import schema_v1
from tests.core.acp.schema.generator import BATCH, EXAMPLES
from tests.core.acp.schema.json_values import RANDOMS
from tests.core.acp.schema.known import ours
from tests.core.acp.schema.structs import Builder
from tests.core.acp.schema.test_received import validator
from tests.support.schemas import VERSIONS, load
from tests.tools.acp_schema import rules

MESSAGES = [(version, name) for version in VERSIONS for name in rules.SENT[version] if name in load(version)["$defs"]]


OPENING = {"NewSessionRequest", "LoadSessionRequest", "ResumeSessionRequest"}
"""They name MCP servers, of a kind too that only the unstable schema has."""


@cache
def unstable(version: str, name: str) -> jsonschema_rs.Draft202012Validator:
    """Judges instances of a definition by the unstable schema."""
    root = load(version, "schema.unstable.json")
    return jsonschema_rs.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": root["$defs"]})


def as_sent(value: Any) -> Any:
    """What the agent reads; the encoder is the one that connections use."""
    return json.loads(msgspec.json.encode(value))


@pytest.mark.parametrize(("version", "name"), MESSAGES)
@settings(max_examples=EXAMPLES)
@given(random=RANDOMS)
def test_what_we_send_is_valid(version: str, name: str, random: Random) -> None:
    for _ in range(BATCH):
        value = Builder(random).build(ours(version, name))
        (unstable if name in OPENING else validator)(version, name).validate(as_sent(value))


@settings(max_examples=EXAMPLES)
@given(random=RANDOMS)
def test_the_fork_of_a_session_is_what_the_unstable_schema_wants(random: Random) -> None:
    for _ in range(BATCH):
        unstable("v1", "ForkSessionRequest").validate(as_sent(Builder(random).build(schema_v1.ForkSessionRequest)))


def test_a_model_is_set_in_the_words_of_older_agents() -> None:
    request = schema_v1.SetSessionModelRequest(session_id="s", model_id="m")
    assert as_sent(request) == {"sessionId": "s", "modelId": "m"}


def test_the_server_that_version_1_has_no_type_for_is_sent_without() -> None:
    server = ours("v1", "McpServerStdio")(name="n", command="/c", args=[], env=[])
    assert as_sent(server) == {"name": "n", "command": "/c", "args": [], "env": []}
