"""Which protocol version a peer and we come to, with version 2 switched on and off."""

from __future__ import annotations

import pytest

from acp_nvim.contract import events
from tests.peers import peers
from tests.peers.record import complaints
from tests.peers.talk import Talk

pytestmark = pytest.mark.anyio

SPEAKING = [peers.V1_OFFERED_V2, peers.PYTHON_OFFERED_V2, peers.BOTH_AS_V1, peers.BOTH_AS_V2]


@pytest.mark.parametrize("peer", SPEAKING, ids=lambda peer: peer.name)
async def test_the_best_version_that_both_speak_is_spoken(talk: Talk) -> None:
    assert await talk.say("state") == "mode=ask model=small verbose=false"
    await talk.host.until("the answer in the record", talk.record.agent)
    assert talk.record.agent()[0]["result"]["protocolVersion"] == talk.peer.version
    assert (talk.host.text(), talk.host.notices()) == ("mode=ask model=small verbose=false", [])


@pytest.mark.parametrize("peer", SPEAKING, ids=lambda peer: peer.name)
async def test_who_offers_version_2_is_understood_in_both(talk: Talk) -> None:
    await talk.open()
    await talk.until_sent("initialize")
    first = talk.record.client()[0]
    assert first["params"]["protocolVersion"] == (2 if talk.peer.v2 else 1)
    for version in (1, 2) if talk.peer.v2 else (1,):
        assert list(complaints(version, first, {})) == []


@pytest.mark.parametrize("peer", [peers.V2_NOT_OFFERED], ids=lambda peer: peer.name)
async def test_who_speaks_only_version_2_needs_it_switched_on(talk: Talk) -> None:
    talk.refusals = [("initialize", -32022)]
    talk.host.open()
    error = await talk.host.editor.until_event(events.Error)
    assert error.code == "protocol_version"
    assert "speaks ACP version 2" in error.text
    assert "protocol.v2 = true" in error.text
