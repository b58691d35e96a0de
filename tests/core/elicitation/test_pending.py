"""Questions that wait: the first answer counts, whoever gives it."""

from __future__ import annotations

import pytest

from acp_nvim.acp.elicitation import Address, ElicitationAsked
from acp_nvim.elicitation.pending import PendingElicitation, PendingElicitations

pytestmark = pytest.mark.anyio

ASKED = ElicitationAsked("m", Address("https://example.org", "e"), "s")


def one() -> PendingElicitation:
    return PendingElicitations().add(1, ASKED)


def test_an_answer_is_final() -> None:
    pending = one()
    assert pending.refuse("decline")
    assert not pending.accept({"x": 1}, [])
    assert not pending.refuse("cancel")
    pending.cancel("withdrawn")
    assert (pending.action, pending.content, pending.why) == ("decline", None, None)


def test_what_nobody_has_taken_can_be_overruled_for_the_user_gave_up_the_turn() -> None:
    pending = one()
    assert pending.accept({"x": 1}, [])
    pending.cancel("cancelled", overrule=True)
    assert (pending.action, pending.content, pending.why) == ("cancel", None, "cancelled")


async def test_what_is_on_its_way_cannot() -> None:
    pending = one()
    assert pending.accept({"x": 1}, [])
    await pending.wait()
    pending.cancel("cancelled", overrule=True)
    assert (pending.action, pending.content, pending.why) == ("accept", {"x": 1}, None)


def test_those_that_are_answered_do_not_wait() -> None:
    waiting = PendingElicitations()
    first, second, other = waiting.add(1, ASKED), waiting.add(1, ASKED), waiting.add(2, ASKED)
    assert waiting.of_session(1) == [first, second]
    first.refuse("decline")
    assert (waiting.of_session(1), waiting.get(first.id)) == ([second], None)
    assert waiting.get(other.id) is other
    waiting.remove(other)
    assert waiting.get(other.id) is None
