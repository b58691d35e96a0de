"""Answers that are wrong in parts: the rest is used, and what is wrong is named."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from acp_nvim.acp.decoding import WRONG_PARTS, salvage
from acp_nvim.acp.schema_v1 import InitializeResponse, NewSessionResponse

OPTION = {"id": "o", "name": "O", "type": "boolean", "currentValue": True}


def read(answer: Any, shape: Any = NewSessionResponse) -> tuple[Any, list[str]]:
    """Decode an answer from its JSON; also return what was wrong in it."""
    return salvage(json.dumps(answer).encode(), shape)


def test_what_is_right_has_no_complaints() -> None:
    answer, complaints = read({"sessionId": "s", "configOptions": [OPTION]})
    assert (answer.session_id, len(answer.config_options), complaints) == ("s", 1, [])


def test_a_wrong_item_is_left_out_with_all_that_belongs_to_it() -> None:
    answer, complaints = read({"sessionId": "s", "configOptions": [{**OPTION, "name": 5}, OPTION]})
    assert [one.id for one in answer.config_options] == ["o"]
    assert complaints == ["Expected `str`, got `int` - at `$.configOptions[0].name`"]


def test_a_missing_member_is_named() -> None:
    answer, [complaint] = read({"sessionId": "s", "modes": {"availableModes": []}})
    assert answer.modes is msgspec.UNSET
    assert "currentModeId" in complaint


def test_each_of_several_is_named() -> None:
    wrong = {"sessionId": "s", "modes": 5, "configOptions": [{**OPTION, "currentValue": "x"}, OPTION, {"id": "y"}]}
    answer, complaints = read(wrong)
    assert (answer.modes, len(answer.config_options)) == (msgspec.UNSET, 1)
    assert len(complaints) == 3


def test_an_optional_member_goes_alone() -> None:
    answer, complaints = read({"protocolVersion": 1, "agentCapabilities": {"loadSession": "yes"}}, InitializeResponse)
    assert answer.agent_capabilities.load_session is msgspec.UNSET
    assert len(complaints) == 1


@pytest.mark.parametrize("answer", [{"sessionId": 5}, {}, [], None, "words"])
def test_without_what_it_is_for_it_is_no_answer(answer: Any) -> None:
    with pytest.raises(msgspec.ValidationError):
        read(answer)


def test_the_first_thing_wrong_is_what_is_said() -> None:
    with pytest.raises(msgspec.ValidationError, match=r"\$\.sessionId"):
        read({"sessionId": 5})


def test_a_wrong_value_of_a_map_takes_the_map_along() -> None:
    methods = [{"id": "t", "name": "T", "type": "terminal", "env": {"K": 5}}]
    answer, complaints = read({"protocolVersion": 1, "authMethods": methods}, InitializeResponse)
    assert answer.auth_methods[0].env is msgspec.UNSET
    assert len(complaints) == 1


def test_what_is_nested_too_deeply_is_no_answer() -> None:
    deep = b'{"sessionId":"s","_meta":{"deep":%b%b}}' % (b"[" * 100_000, b"]" * 100_000)
    with pytest.raises(msgspec.ValidationError, match="too deeply"):
        salvage(deep, NewSessionResponse)


def test_too_much_that_is_wrong_is_no_answer() -> None:
    with pytest.raises(msgspec.ValidationError):
        read({"sessionId": "s", "configOptions": [{"type": "select"}] * (WRONG_PARTS + 1)})
