"""The agent of a recording says what it said then, when the client does what it did then, in the client's own names."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.replay.player import Player, Write
from tests.core.replay.messages import Heard, answer, call, note, recorded

NEW = call(0, "session/new", cwd="/old", mcpServers=[])
PROMPT = call(1, "session/prompt", sessionId="s", prompt=[{"type": "text", "text": "do it"}])
UPDATE = note("session/update", sessionId="s", update={"sessionUpdate": "x", "path": "/old/a.py"})
OPENED = [(">", NEW), ("<", answer(0, {"sessionId": "s"}))]
NEW_LIVE = call("n", "session/new", cwd="/new", mcpServers=[])


def test_answers_go_to_the_ids_of_the_live_client() -> None:
    heard = Heard(recorded((">", call(7, "a")), (">", call(8, "a")), ("<", answer(8, "b")), ("<", answer(7, "a"))))
    assert heard.say(call("x", "a"), call(7, "a")) == [answer(7, "b"), answer("x", "a")]


def test_a_request_waits_for_its_turn() -> None:
    heard = Heard(recorded((">", call(1, "a")), ("<", answer(1)), (">", call(2, "b")), ("<", answer(2))))
    assert heard.say(call(10, "b")) == []
    assert heard.say(call(11, "a")) == [answer(11), answer(10)]
    assert heard.deviations == []


def test_what_the_recording_has_no_more_is_refused_in_words() -> None:
    heard = Heard(recorded((">", call(1, "session/prompt")), ("<", answer(1)), (">", call(2, "b")), ("<", answer(2))))
    error = {"code": -32603, "message": "the recording has no further session/prompt"}
    assert heard.say(call(5, "session/prompt"), call(6, "session/prompt")) == [
        answer(5),
        {"jsonrpc": "2.0", "id": 6, "error": error},
    ]
    assert heard.deviations == [error["message"]]
    assert heard.say(note("session/cancel")) == []
    assert heard.deviations[1:] == ["the recording has no further session/cancel"]


def test_a_request_for_a_session_that_the_recording_does_not_have_is_refused_and_holds_up_nobody() -> None:
    heard = Heard(recorded(*OPENED, (">", PROMPT), ("<", answer(1))))
    heard.say(NEW_LIVE)
    [refused] = heard.say(call(9, "session/prompt", sessionId="u"))
    assert (refused["id"], refused["error"]["code"]) == (9, -32603)
    assert heard.say(call(10, "session/prompt", sessionId="s")) == [answer(10)]


def test_a_request_that_never_gets_its_turn_is_refused_at_the_end() -> None:
    load = call(1, "session/load", sessionId="old", cwd="/old")
    heard = Heard(recorded((">", load), ("<", answer(1)), (">", call(2, "x", sessionId="old")), ("<", answer(2))))
    assert heard.say(call(7, "x", sessionId="theirs"), call(8, "session/load", sessionId="mine")) == [answer(8)]
    played, refused = heard.say(call(9, "x", sessionId="mine"))
    assert played == answer(9)
    assert (refused["id"], refused["error"]["code"]) == (7, -32603)
    assert heard.deviations == ["the recording has no further x"]


def test_the_agents_requests_are_answered_before_it_goes_on() -> None:
    heard = Heard(recorded(("<", call("r1", "fs/read")), (">", answer("r1", {"content": "then"})), ("<", note("on"))))
    assert heard.written == [call("r1", "fs/read")]
    assert heard.say({"jsonrpc": "2.0", "id": "r1", "error": {"code": 1, "message": "whatever"}}) == [note("on")]


def test_an_answer_may_come_before_the_recording_has_it() -> None:
    cancel = note("session/cancel", sessionId="s")
    steps = [("<", call(3, "ask")), (">", cancel), (">", answer(3)), ("<", note("on"))]
    heard = Heard(recorded(*steps))
    assert heard.say(answer(3, "cancelled")) == []
    assert heard.say(cancel) == [note("on")]


def test_each_answer_counts_once() -> None:
    steps = [("<", call(3, "ask")), (">", answer(3)), ("<", call(3, "ask")), (">", answer(3)), ("<", note("on"))]
    heard = Heard(recorded(*steps))
    assert heard.say(answer(3)) == [call(3, "ask")]
    assert heard.say(answer(3)) == [note("on")]


def test_an_answer_to_nothing_is_a_deviation() -> None:
    heard = Heard(recorded((">", call(1, "a"))))
    assert heard.say(answer(3)) == []
    assert heard.deviations == ["an answer to nothing, id 3"]


def test_a_recorded_answer_to_a_request_before_the_recording_is_not_waited_for() -> None:
    assert Heard(recorded((">", answer(3)), ("<", note("on")))).written == [note("on")]


def test_an_answer_of_the_agent_to_a_request_before_the_recording_is_left_out() -> None:
    heard = Heard(recorded(("<", answer(3)), ("<", note("on"))))
    assert heard.written == [note("on")]
    assert heard.words == ["line 1: an answer whose request is not in the recording was left out"]


def test_errors_of_the_agent_about_no_request_are_played() -> None:
    errors = [{"jsonrpc": "2.0", "id": None, "error": {"code": -32700}}, {"jsonrpc": "2.0", "error": {"code": -32601}}]
    assert Heard(recorded(*(("<", error) for error in errors))).written == errors


def test_noise_of_the_agent_is_played_and_noise_of_the_client_is_not_waited_for() -> None:
    heard = Heard(recorded((">", "noise"), (">", 7), ("<", "hello\tyou"), ("<", 7)))
    assert heard.written == ["hello\tyou", 7]


def test_nonsense_of_the_live_client_is_passed_over() -> None:
    heard = Heard(recorded((">", call(1, "a")), ("<", answer(1))))
    assert heard.say(None, 3, [], {"id": 1}, {"method": 3}) == []
    assert len(heard.words) == 6
    assert heard.say(call(4, "a")) == [answer(4)]


def test_a_notification_is_waited_for_and_the_person_is_told() -> None:
    heard = Heard(recorded((">", note("session/cancel", sessionId="s")), ("<", note("on"))))
    assert heard.words == ["waiting for session/cancel, as recorded"]
    heard.say({"jsonrpc": "2.0", "id": 0, "result": 1})
    assert heard.words.count("waiting for session/cancel, as recorded") == 1
    assert heard.say(note("session/cancel", sessionId="s")) == [note("on")]


def test_the_person_is_told_which_prompt_is_next() -> None:
    heard = Heard(recorded((">", PROMPT)))
    assert heard.words == ["waiting for session/prompt “do it”, as recorded"]


def test_a_recorded_cancellation_of_a_request_is_not_waited_for() -> None:
    assert Heard(recorded((">", note("$/cancel_request", requestId=1)), ("<", note("on")))).written == [note("on")]


def test_a_live_cancellation_of_a_request_before_its_turn_answers_it() -> None:
    heard = Heard(recorded((">", call(1, "a")), (">", call(2, "b"))))
    heard.say(call(5, "b"))
    [refused] = heard.say(note("$/cancel_request", requestId=5))
    assert (refused["id"], refused["error"]["code"]) == (5, -32800)
    assert heard.say(note("$/cancel_request", requestId=5)) == []
    assert len(heard.deviations) == 1


def test_the_directory_of_the_live_session_is_named() -> None:
    heard = Heard(recorded(*OPENED, (">", PROMPT), ("<", UPDATE), ("<", answer(1))))
    heard.say(NEW_LIVE)
    [update, _] = heard.say(call(9, "session/prompt", sessionId="s"))
    assert update["params"]["update"]["path"] == "/new/a.py"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/old", "/new"),
        ("file:///old/x y", "file:///new/x y"),
        ('{"path":"/old/x"} in /old.', '{"path":"/new/x"} in /new.'),
        ("cd /old; ls /old:/old", "cd /new; ls /new:/new"),
        ("/older /old-2 /old.d /a/old ./old x/old", "/older /old-2 /old.d /a/old ./old x/old"),
    ],
)
def test_only_that_directory_and_what_is_below_it_is_renamed(text: str, shown: str) -> None:
    heard = Heard(recorded((">", NEW), ("<", note("said", text=text, **{"/old": [text]}))))
    [said] = heard.say(NEW_LIVE)
    assert said["params"] == {"text": shown, "/new": [shown]}


def test_a_session_of_another_time_has_the_live_clients_id() -> None:
    load = call(1, "session/load", sessionId="old", cwd="/old")
    update = note("session/update", sessionId="old", update={"text": "old times"})
    heard = Heard(recorded((">", load), ("<", update), ("<", answer(1))))
    [said, _] = heard.say(call(1, "session/load", sessionId="mine", cwd="/old"))
    assert said["params"] == {"sessionId": "mine", "update": {"text": "old times"}}


def test_two_sessions_are_told_apart() -> None:
    opened = [(">", NEW), ("<", answer(0, {"sessionId": "s"})), (">", NEW), ("<", answer(0, {"sessionId": "t"}))]
    first, second = (call(number, "session/prompt", sessionId=name) for number, name in ((1, "s"), (2, "t")))
    heard = Heard(recorded(*opened, (">", first), (">", second), ("<", answer(2, "t")), ("<", answer(1, "s"))))
    heard.say(NEW_LIVE, NEW_LIVE)
    live = [call(8, "session/prompt", sessionId="t"), call(9, "session/prompt", sessionId="s")]
    assert heard.say(*live) == [answer(8, "t"), answer(9, "s")]


def test_arrays_are_played_as_arrays() -> None:
    heard = Heard(recorded((">", call(1, "a")), ("<", [answer(1), answer(2), note("on")])))
    assert heard.say(call(5, "a")) == [[answer(5), note("on")]]


def test_the_pace_is_that_of_the_recording() -> None:
    records = recorded(("<", note("a")), (">", call(1, "b")), ("<", answer(1)), ("<", note("c")))
    player = Player(records)
    actions = [*player.advance(), *player.take(call(1, "b"))]
    assert [one.seconds for one in actions if isinstance(one, Write)] == [1.0, 1.0, 1.0]


MESSAGES = st.sampled_from(
    [
        *(call(number, method, sessionId=name) for number in (1, "1") for method in "ab" for name in "st"),
        *(note(method) for method in ("a", "$/cancel_request", "session/cancel")),
        *(answer(number) for number in (1, "1", None)),
        {},
        [],
        None,
        "noise",
    ]
)


@given(st.lists(st.tuples(st.sampled_from("<>"), MESSAGES), max_size=8), st.lists(MESSAGES, max_size=8))
def test_whatever_the_client_does_each_request_is_answered_at_most_once(steps: list[Any], said: list[Any]) -> None:
    heard = Heard(recorded(*steps))
    heard.say(*said)
    asked = [repr(one["id"]) for one in said if isinstance(one, dict) and "method" in one and "id" in one]
    answers = [
        one for one in heard.written if isinstance(one, dict) and "method" not in one and one.get("id") is not None
    ]
    assert all(asked.count(repr(one["id"])) >= 1 for one in answers)
    assert len(answers) <= len(asked)
    if not heard.player.left:
        assert heard.player._waiting == []
