"""Rules that only version 2 has: repeated states are no new ends, a withdrawn question is answered with `cancelled`."""

from __future__ import annotations

import pytest

from acp_nvim.contract import events
from tests.peers.peers import V2
from tests.peers.talk import Talk

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("words", ["snapshot", "snapshot of the last end"])
@pytest.mark.parametrize("peer", [V2], ids=lambda peer: peer.name)
async def test_a_repeated_idle_ends_no_turn(talk: Talk, words: str) -> None:
    assert await talk.say(words) == "Still here."
    assert await talk.say("state") == "mode=ask model=small verbose=false"
    assert len(talk.host.of(events.TurnEnd)) == 2
