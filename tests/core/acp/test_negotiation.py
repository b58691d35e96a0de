"""Which version is spoken, by what the agent answers and whether version 2 is switched on."""

from __future__ import annotations

import msgspec
import pytest

from acp_nvim.acp.negotiation import VersionError, choose_dialect


def answer(version: object) -> msgspec.Raw:
    """An answer to `initialize`, with more than is looked at."""
    return msgspec.Raw(msgspec.json.encode({"protocolVersion": version, "agentInfo": 5}))


@pytest.mark.parametrize(("version", "v2"), [(1, False), (1, True), (2, True)])
def test_the_version_of_the_agent_is_spoken(version: int, v2: bool) -> None:
    assert choose_dialect(answer(version), v2).version == version


@pytest.mark.parametrize(("version", "v2"), [(2, False), (0, True), (3, True)])
def test_what_is_off_or_nobody_knows_is_not_spoken(version: int, v2: bool) -> None:
    with pytest.raises(VersionError) as refused:
        choose_dialect(answer(version), v2)
    assert refused.value.version == version


def test_an_answer_without_a_version_is_none() -> None:
    with pytest.raises(msgspec.ValidationError, match="protocolVersion"):
        choose_dialect(answer("two"), v2=True)
