"""Everything that we can send is what the official schemas want."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import given, settings

from acp_nvim.wire.v1 import unstable
from tests.core.wire.generator import BATCH, EXAMPLES
from tests.core.wire.json_values import RANDOMS
from tests.core.wire.known import WITHIN, ours
from tests.core.wire.structs import Builder
from tests.core.wire.test_received import validator
from tests.support.schemas import FROM_CLIENTS, VERSIONS, load, messages, reachable

MESSAGES = [
    (version, name) for version in VERSIONS for name in messages(version, FROM_CLIENTS) if not name.startswith("Ext")
]


@pytest.mark.parametrize(
    ("version", "name"), [(version, name) for version in VERSIONS for name in reachable(version, FROM_CLIENTS)]
)
def test_there_is_a_type_for_everything_that_clients_say(version: str, name: str) -> None:
    assert ours(version, WITHIN.get(name, name)) is not None


def as_sent(value: Any) -> Any:
    """What the agent reads; the encoder is the one that connections use."""
    return json.loads(msgspec.json.encode(value))


@pytest.mark.parametrize(("version", "name"), MESSAGES)
@settings(max_examples=EXAMPLES)
@given(random=RANDOMS)
def test_what_we_send_is_valid(version: str, name: str, random: Random) -> None:
    for _ in range(BATCH):
        value = Builder(random).build(ours(version, name))
        validator(version, name).validate(as_sent(value))


@settings(max_examples=EXAMPLES)
@given(random=RANDOMS)
def test_the_fork_of_a_session_is_what_the_unstable_schema_wants(random: Random) -> None:
    root = load("v1", "schema.unstable.json")
    wanted = jsonschema.Draft202012Validator({"$ref": "#/$defs/ForkSessionRequest", "$defs": root["$defs"]})
    for _ in range(BATCH):
        wanted.validate(as_sent(Builder(random).build(unstable.ForkSessionRequest)))


def test_the_cancellation_of_a_request_is_valid() -> None:
    for version in VERSIONS:
        kind = ours(version, "CancelRequestNotification")
        for request_id in (7, "a"):
            validator(version, "CancelRequestNotification").validate(as_sent(kind(request_id=request_id)))


def test_a_model_is_set_in_the_words_of_older_agents() -> None:
    request = unstable.SetSessionModelRequest(session_id="s", model_id="m")
    assert as_sent(request) == {"sessionId": "s", "modelId": "m"}


def test_the_server_that_version_1_has_no_type_for_is_sent_without() -> None:
    server = ours("v1", "McpServerStdio")(name="n", command="/c", args=[], env=[])
    assert as_sent(server) == {"name": "n", "command": "/c", "args": [], "env": []}
