"""When a turn runs, by what agents of both versions say."""

from __future__ import annotations

import pytest

from acp_nvim.acp.schema_common import TextContent
from acp_nvim.acp.updates import MessageChunk, MessageReplaced, ModeChanged, StateChanged
from acp_nvim.session.turn import Turn

RUNNING, IDLE, WAITING = StateChanged("running"), StateChanged("idle", "end_turn"), StateChanged("requires_action")


def chunk(message_id: str | None, role: str = "user") -> MessageChunk:
    """Return a piece of a message."""
    return MessageChunk(role, TextContent(text="x"), message_id)  # type: ignore[arg-type]


@pytest.fixture
def prompted() -> Turn:
    """A turn that a prompt began, which nobody has accepted."""
    turn = Turn()
    turn.begin(prompted=True)
    return turn


def test_an_idle_from_before_the_agent_began_ends_nothing(prompted: Turn) -> None:
    assert prompted.take_state(IDLE) == "same"
    prompted.accept(None)
    assert prompted.take_state(IDLE) == "same"
    prompted.take_state(RUNNING)
    assert prompted.take_state(IDLE) == "ended"


def test_an_agent_that_was_asked_to_stop_need_not_begin(prompted: Turn) -> None:
    prompted.accept(None)
    prompted.cancel()
    assert prompted.take_state(IDLE) == "ended"


def test_running_before_the_answer_is_the_beginning_of_this_turn(prompted: Turn) -> None:
    assert prompted.take_state(RUNNING) == "same"
    assert prompted.take_state(IDLE) == "ended"


def test_an_agent_may_begin_by_itself_and_ends_by_itself() -> None:
    turn = Turn()
    assert turn.take_state(IDLE) == "same"
    assert turn.take_state(RUNNING) == "begun"
    turn.begin(prompted=False)
    assert turn.take_state(IDLE) == "ended"


def test_who_answers_without_saying_that_it_works_works(prompted: Turn) -> None:
    prompted.accept("m")
    assert prompted.take_message(chunk("a", "agent"), ids=True)
    assert prompted.take_state(IDLE) == "ended"


def test_an_echo_is_no_answer(prompted: Turn) -> None:
    prompted.accept("m")
    prompted.take_message(chunk("m"), ids=True)
    assert prompted.take_state(IDLE) == "same"


def test_who_is_idle_when_asked_to_stop_need_not_say_so_again(prompted: Turn) -> None:
    prompted.accept(None)
    prompted.take_state(IDLE)
    assert prompted.cancel()


def test_who_works_when_asked_to_stop_is_waited_for(prompted: Turn) -> None:
    prompted.take_state(IDLE)
    prompted.take_state(RUNNING)
    assert not prompted.cancel()


def test_requires_action_is_work_too() -> None:
    assert Turn().take_state(WAITING) == "begun"


def test_requires_action_lasts_until_it_runs_again_or_ends(prompted: Turn) -> None:
    prompted.take_state(WAITING)
    assert prompted.requires_action
    prompted.take_state(RUNNING)
    assert not prompted.requires_action
    prompted.take_state(WAITING)
    prompted.end("cancelled")
    assert not prompted.requires_action


def test_background_work_is_known_until_it_is_told_anew(prompted: Turn) -> None:
    prompted.take_state(StateChanged("running", background=frozenset({"c"})))
    prompted.take_state(IDLE)
    assert prompted.background == {"c"}
    prompted.take_state(StateChanged("idle", background=frozenset()))
    assert prompted.background == frozenset()


def test_the_end_is_an_event_with_a_reason(prompted: Turn) -> None:
    assert (prompted.running, prompted.over.is_set()) == (True, False)
    prompted.end("refusal")
    assert (prompted.running, prompted.over.is_set(), prompted.stop_reason) == (False, True, "refusal")


class TestEcho:
    """Our prompt stands in the transcript; some agents say it again."""

    def test_without_ids_all_that_is_said_for_the_user_while_it_runs(self, prompted: Turn) -> None:
        assert not prompted.take_message(chunk(None), ids=False)
        assert not prompted.take_message(chunk("m"), ids=False)
        prompted.end("end_turn")
        assert prompted.take_message(chunk(None), ids=False)

    def test_with_ids_it_is_the_message_that_the_answer_named(self, prompted: Turn) -> None:
        prompted.accept("m")
        assert prompted.take_message(chunk("other"), ids=True)
        assert not prompted.take_message(MessageReplaced("user", "m", []), ids=True)
        prompted.end("end_turn")
        assert not prompted.take_message(chunk("m"), ids=True)

    def test_with_ids_and_no_name_it_is_the_first(self, prompted: Turn) -> None:
        assert not prompted.take_message(chunk("first"), ids=True)
        assert not prompted.take_message(chunk("first"), ids=True)
        assert prompted.take_message(chunk("second"), ids=True)

    def test_nothing_else_is_one(self, prompted: Turn) -> None:
        assert prompted.take_message(chunk("m", "agent"), ids=True)
        assert prompted.take_message(ModeChanged("x"), ids=False)

    @pytest.mark.parametrize("ids", [True, False])
    def test_without_a_prompt_of_ours_there_is_none(self, ids: bool) -> None:
        turn = Turn()
        turn.begin(prompted=False)
        assert turn.take_message(chunk("m"), ids=ids)
