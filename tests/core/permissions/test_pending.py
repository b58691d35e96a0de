"""Permission requests that wait: each is answered once, by the first who does."""

from __future__ import annotations

import anyio
import pytest

from acp_nvim.contract.events import Option
from acp_nvim.permissions.pending import PendingPermission, PendingPermissions

pytestmark = pytest.mark.anyio

ALLOW = Option("yes", "Allow", "allow_once")
REJECT = Option("no", "Reject", "reject_once")


def ask(pending: PendingPermissions, session: int = 1) -> PendingPermission:
    """Add a request with two options."""
    return pending.add(session, "call", [ALLOW, REJECT])


async def test_the_chosen_option_is_the_answer() -> None:
    pending = PendingPermissions()
    request = ask(pending)
    assert pending.choose(request.id, "no")
    assert await request.wait() == REJECT


async def test_cancelled_is_an_answer_without_an_option() -> None:
    request = ask(PendingPermissions())
    request.cancel()
    assert await request.wait() is None


async def test_the_first_answer_counts() -> None:
    pending = PendingPermissions()
    request = ask(pending)
    assert pending.choose(request.id, "yes")
    assert not pending.choose(request.id, "no")
    assert await request.wait() == ALLOW
    request.cancel()
    assert (request.chosen, request.why) == (ALLOW, None)


async def test_a_cancel_counts_more_than_a_choice_that_nobody_has_taken_yet() -> None:
    request = ask(PendingPermissions())
    assert request.choose("yes")
    request.cancel("withdrawn")
    assert request.chosen is not None
    request.cancel("agent_gone", overrule=True)
    request.cancel(overrule=True)
    assert await request.wait() is None
    assert request.why == "agent_gone"


async def test_who_waits_is_woken() -> None:
    pending = PendingPermissions()
    request = ask(pending)
    got: list[Option | None] = []

    async def wait() -> None:
        got.append(await request.wait())

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            await anyio.lowlevel.checkpoint()
            assert got == []
            pending.choose(request.id, "yes")
    assert got == [ALLOW]


def test_an_option_that_was_not_offered_is_no_answer() -> None:
    pending = PendingPermissions()
    request = ask(pending)
    assert not pending.choose(request.id, "maybe")
    assert not request.answered


def test_a_request_that_does_not_wait_takes_no_answer() -> None:
    pending = PendingPermissions()
    request = ask(pending)
    pending.remove(request)
    pending.remove(request)
    assert not pending.choose(request.id, "yes")
    assert not pending.choose(99, "yes")


def test_ids_are_never_used_again() -> None:
    pending = PendingPermissions()
    first = ask(pending)
    pending.remove(first)
    assert ask(pending, session=2).id != first.id


def test_the_waiting_ones_of_a_session_are_listed_oldest_first() -> None:
    pending = PendingPermissions()
    first, other, second, answered = ask(pending), ask(pending, 2), ask(pending), ask(pending)
    answered.cancel()
    assert pending.of_session(1) == [first, second]
    assert pending.of_session(2) == [other]


def test_cancelling_some_leaves_the_others() -> None:
    pending = PendingPermissions()
    mine, other = ask(pending), ask(pending, 2)
    pending.cancel_session(1)
    assert (mine.answered, other.answered) == (True, False)


def test_repr_shows_the_state() -> None:
    pending = PendingPermissions()
    request = ask(pending)
    assert repr(request) == "<PendingPermission 1 of session 1: waiting>"
    request.choose("yes")
    assert repr(request) == f"<PendingPermission 1 of session 1: {ALLOW!r}>"
