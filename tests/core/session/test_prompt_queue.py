"""The queue: it is told, can be edited, and loses nothing to a prompt that goes out meanwhile; steering."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.contract import events
from acp_nvim.contract.events import Queue, QueuedText, QueueLate
from acp_nvim.prompt.prompt import Prompt
from acp_nvim.session.journal import JournalEntry, SessionJournal
from acp_nvim.session.queue import PromptQueue
from acp_nvim.transcript.presenter import Presenter
from tests.core.session.host import Host
from tests.core.session.inner_agent import InnerHost, inner_host
from tests.support.fake_editor import FakeEditor

pytestmark = pytest.mark.anyio


def waiting(host: Host | InnerHost) -> dict[int, str]:
    """What the editor was told last: texts by id."""
    told = host.of(Queue)
    return {one.id: one.text for one in told[-1].prompts} if told else {}


async def with_three(host: InnerHost) -> list[int]:
    """Three prompts wait behind a turn: their ids."""
    for text in ("one", "two", "three"):
        host.say("prompt", text=text)
    assert list(waiting(host).values()) == ["one", "two", "three"]
    return list(waiting(host))


async def sent(host: InnerHost, count: int) -> list[str]:
    """The texts of the prompts that the agent got, once there are so many."""
    await host.editor.until(f"{count} prompts", lambda: len(host.agent.heard_of("session/prompt")) >= count)
    return [one["params"]["prompt"][0]["text"] for one in host.agent.heard_of("session/prompt")]


async def end_all(host: InnerHost, count: int) -> list[str]:
    """End each turn until the agent got so many prompts; return them."""
    for number in range(1, count):
        await sent(host, number)
        host.agent.end_turn("end_turn")
    return await sent(host, count)


async def test_what_goes_out_at_once_is_never_in_the_queue(tmp_path: Path) -> None:
    async with inner_host(tmp_path, v2=False) as host:
        assert [one for told in host.of(Queue) for one in told.prompts] == []


async def test_reordered_edited_removed_and_new_ones_go_out_as_the_user_wants(tmp_path: Path) -> None:
    async with inner_host(tmp_path, v2=False) as host:
        one, two, three = await with_three(host)
        prompts = [{"id": three, "text": "3"}, {"id": None, "text": "new"}, {"id": one, "text": "one"}, {"text": " "}]
        host.say("queue_set", prompts=prompts, known=[one, two, three])
        assert list(waiting(host).values()) == ["3", "new", "one"]
        assert host.editor.status().queue == 3
        assert await end_all(host, 4) == ["go", "3", "new", "one"]
        assert waiting(host) == {}


async def test_what_went_out_meanwhile_is_not_sent_again_and_what_came_meanwhile_stays(tmp_path: Path) -> None:
    async with inner_host(tmp_path, v2=False) as host:
        one, two, three = await with_three(host)
        host.agent.end_turn("end_turn")
        await sent(host, 2)
        host.say("prompt", text="four")
        wanted = [{"id": one, "text": "one"}, {"id": three, "text": "three"}]
        host.say("queue_set", prompts=wanted, known=[one, two, three])
        assert list(waiting(host).values()) == ["three", "four"]
        assert host.of(QueueLate) == []


async def test_an_edit_of_what_went_out_meanwhile_is_given_back(tmp_path: Path) -> None:
    async with inner_host(tmp_path, v2=False) as host:
        one, two, three = await with_three(host)
        host.agent.end_turn("end_turn")
        await sent(host, 2)
        host.say("queue_set", prompts=[{"id": one, "text": "one, better"}], known=[one, two, three])
        assert host.of(QueueLate) == [QueueLate(session=1, prompts=[QueuedText("one, better", one)])]
        assert waiting(host) == {}


async def test_what_new_texts_mention_comes_along_beside_what_did_before(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("text of a")
    note = {"uri": "file:///n", "name": "n", "text": "noted"}
    file = {"type": "file", "uri": "file:///a", "name": "a.txt", "path": str(tmp_path / "a.txt")}
    async with inner_host(tmp_path, v2=True) as host:
        host.say("prompt", text="one", context=[note])
        [one] = waiting(host)
        host.say("queue_set", prompts=[{"id": one, "text": "one, and a", "context": [file, note]}], known=[one])
        assert host.of(Queue)[-1].prompts[0].context_names == ["n", "a.txt"]
        host.agent.end_turn("end_turn")
        await sent(host, 2)
        content = json.dumps(host.agent.heard_of("session/prompt")[1]["params"]["prompt"])
        assert "one, and a" in content
        assert content.count("noted") == 1
        assert "text of a" in content or "file:///a" in content


async def test_a_redraw_tells_the_queue_again(tmp_path: Path) -> None:
    async with inner_host(tmp_path, v2=False) as host:
        await with_three(host)
        host.editor.events.clear()
        host.say("redraw")
        assert list(waiting(host).values()) == ["one", "two", "three"]


async def test_held_prompts_say_so(tmp_path: Path) -> None:
    async with inner_host(tmp_path, v2=False) as host:
        await with_three(host)
        host.say("cancel")
        assert host.of(Queue)[-1].held
        host.say("prompt", text="four")
        assert not host.of(Queue)[-1].held


ACTS = st.lists(
    st.one_of(
        st.just(("say",)),
        st.just(("take",)),
        st.just(("look",)),
        st.tuples(st.just("write"), st.permutations(range(4)), st.sets(st.integers(0, 3)), st.sets(st.integers(0, 3))),
    ),
    max_size=30,
)


@given(ACTS)
def test_whatever_is_edited_while_prompts_go_out_nothing_typed_is_lost_and_nothing_goes_out_twice(
    acts: list[tuple],  # type: ignore[type-arg]
) -> None:
    """A view of the queue is edited while prompts come and go; each text is unique."""
    editor = FakeEditor()
    queue = PromptQueue(Presenter(1, "/", editor, lambda: None), SessionJournal(None, JournalEntry(), Mock()))
    typed: set[str] = set()
    gone: list[str] = []
    removed: set[str] = set()
    view: list[QueuedText] = []
    for count, act in enumerate(acts):
        match act:
            case ("say",):
                typed.add(f"said {count}")
                queue.add(Prompt(f"said {count}"))
            case ("take",) if queue.next is not None:
                gone.append(queue.take().text)
            case ("look",):
                told = editor.all(Queue)
                view = [QueuedText(one.text, one.id) for one in told[-1].prompts] if told else []
            case ("write", order, dropped, changed):
                shown = [view[index] for index in order if index < len(view)] + view[4:]
                kept = [one for index, one in enumerate(shown) if index not in dropped]
                new = [
                    QueuedText(f"{one.text} edited {count}" if index in changed else one.text, one.id)
                    for index, one in enumerate(kept)
                ]
                removed |= {one.text for one in view}  # deleted, or another text now
                typed |= {one.text for one in new}
                removed -= {one.text for one in new}
                queue.set(new, [one.id for one in view if one.id is not None])
                told = editor.all(Queue)
                view = [QueuedText(one.text, one.id) for one in told[-1].prompts]
    waits = [one.text for one in editor.all(Queue)[-1].prompts] if editor.all(Queue) else []
    late = [one.text for told in editor.all(QueueLate) for one in told.prompts]
    assert len(set(gone)) == len(gone)
    assert not set(gone) & set(waits)
    assert typed - removed <= {*gone, *waits, *late}


# --- steering ---------------------------------------------------------------------------------------------------------

V1 = """
    INITIALIZE = {"_meta": {"steering": {"supported": %s}}}
    def turn(agent, prompt):
        prompt.say(f"<{prompt.text}>")
        GO.wait(30)

    import threading
    GO = threading.Event()

    def go_on(agent, request):
        GO.set()
"""
STEERED = """
    def session_steering(agent, request):
        text = request.params["prompt"][0]["text"]
        for kind, words in ("user_message_chunk", text), ("agent_message_chunk", f"+{text}"):
            update = {"sessionUpdate": kind, "content": {"type": "text", "text": words}}
            agent.notify("session/update", {"sessionId": request.params["sessionId"], "update": update})
        return {"outcome": "injected"}
"""


async def test_with_version_2_a_prompt_that_waits_goes_into_the_turn_that_runs(tmp_path: Path) -> None:
    async with inner_host(tmp_path, v2=True) as host:
        _, two, _ = await with_three(host)
        host.say("steer", id=two)
        assert await sent(host, 2) == ["go", "two"]
        assert list(waiting(host).values()) == ["one", "three"]
        content = [{"type": "text", "text": "two"}]
        number = host.agent.heard_of("session/prompt")[1]["id"]
        host.agent.update(sessionUpdate="user_message", messageId=f"p{number}", content=content)
        host.agent.update(sessionUpdate="user_message", messageId="another", content=[{"type": "text", "text": "!"}])
        await host.editor.until("the other message", lambda: host.of(events.Replace))
        shown = [one.text for one in host.editor.events if isinstance(one, events.Append | events.Replace)]
        assert shown == ["go", "two", "!"]
        assert host.of(events.TurnEnd) == []


async def test_the_echo_of_a_steered_prompt_may_come_before_an_answer_that_names_no_message(tmp_path: Path) -> None:
    async with inner_host(tmp_path, v2=True) as host:
        await with_three(host)
        usual = host.agent.react

        def echo_first(message: dict) -> None:  # type: ignore[type-arg]
            if message.get("method") != "session/prompt":
                usual(message)
                return
            content = message["params"]["prompt"]
            host.agent.update(sessionUpdate="user_message", messageId="m2", content=content)
            host.agent.say({"id": message["id"], "result": {}})
            host.agent.update(sessionUpdate="agent_message", messageId="m3", content=[{"type": "text", "text": "fine"}])

        host.agent.react = echo_first  # type: ignore[method-assign]
        host.say("steer")
        await host.editor.until("what it says", lambda: host.of(events.Replace))
        shown = [one.text for one in host.editor.events if isinstance(one, events.Append | events.Replace)]
        assert shown == ["go", "one", "fine"]


async def test_what_the_agent_refuses_is_the_next_one(tmp_path: Path) -> None:
    async with inner_host(tmp_path, v2=True) as host:
        await with_three(host)
        with_error = host.agent.react

        def refuse(message: dict) -> None:  # type: ignore[type-arg]
            if message.get("method") == "session/prompt":
                host.agent.say({"id": message["id"], "error": {"code": -32603, "message": "not now"}})
            else:
                with_error(message)

        host.agent.react = refuse  # type: ignore[method-assign]
        host.say("steer", id=list(waiting(host))[-1])
        await sent(host, 2)
        await host.editor.until("it to wait again", lambda: list(waiting(host).values()) == ["three", "one", "two"])
        assert "not now" in host.of(events.Notice)[-1].text


async def test_with_version_1_the_extension_is_used_where_it_is_offered(host: Host) -> None:
    host.script(V1 % "True" + STEERED)
    host.open()
    host.prompt("one")
    await host.until("the turn", lambda: host.text() == "<one>")
    host.prompt("two")
    host.app.receive("steer", {"session": 1})
    await host.until("its answer", lambda: host.text() == "<one>+two")
    assert host.text("user") == "onetwo"
    [request] = host.scripts["it"].received("_session/steering")
    assert request["params"]["_meta"] == {"steering": {"idleBehavior": "promptRequired"}}
    assert waiting(host) == {}


async def test_who_takes_none_gets_it_after_the_turn(host: Host) -> None:
    host.script(V1 % "False")
    host.open()
    host.prompt("one")
    await host.until("the turn", lambda: host.text() == "<one>")
    host.prompt("two")
    host.app.receive("steer", {"session": 1})
    assert host.notices()[-1] == "it takes no prompts while it works: your prompt is sent when it is done."
    host.app.sessions[1].peer.notify("go/on", {})
    await host.until("the next turn", lambda: host.text() == "<one><two>")


async def test_when_the_turn_has_just_ended_it_goes_out_as_a_prompt(host: Host) -> None:
    host.script(
        V1 % "True"
        + """
    def session_steering(agent, request):
        return {"outcome": "promptRequired", "reason": "noRunningTurn"}
    """
    )
    host.open()
    host.prompt("one")
    await host.until("the turn", lambda: host.text() == "<one>")
    host.prompt("two")
    host.app.receive("steer", {"session": 1})
    await host.until_received("_session/steering")
    host.app.sessions[1].peer.notify("go/on", {})
    await host.until("the next turn", lambda: host.text() == "<one><two>")
    assert host.text("user") == "onetwo"


async def test_without_a_turn_it_is_simply_the_next_one(tmp_path: Path) -> None:
    async with inner_host(tmp_path, v2=False) as host:
        _, two, _ = await with_three(host)
        host.say("cancel")
        host.agent.end_turn("cancelled")
        await host.editor.until("the end", lambda: host.of(events.TurnEnd))
        host.say("steer", id=two)
        assert await sent(host, 2) == ["go", "two"]


async def test_into_a_turn_that_is_to_end_nothing_is_sent(tmp_path: Path) -> None:
    async with inner_host(tmp_path, v2=True) as host:
        await with_three(host)
        host.say("cancel")
        host.say("steer")
        assert host.of(events.Notice)[-1].text == "inner takes no prompt just now: your prompt is sent when it is done."
        assert list(waiting(host).values()) == ["one", "two", "three"]


async def with_one_on_its_way_at_cancel(host: InnerHost) -> Any:
    """A prompt was sent into the turn, and the user has cancelled; returns the request, which is not answered yet."""
    usual = host.agent.react
    asked = []

    def wait(message: Any) -> None:
        if message.get("method") in ("session/prompt", "_session/steering"):
            asked.append(message)
        else:
            usual(message)

    host.agent.react = wait  # type: ignore[method-assign]
    host.say("prompt", text="two")
    host.say("steer")
    await host.editor.until("the request", lambda: asked)
    host.agent.react = usual  # type: ignore[method-assign]
    host.say("cancel")
    return asked[0]


REFUSED = {"error": {"code": -32603, "message": "not now"}}
TOO_LATE = {"result": {"outcome": "promptRequired", "reason": "noRunningTurn"}}


@pytest.mark.parametrize(("v2", "answer"), [(True, REFUSED), (False, REFUSED), (False, TOO_LATE)])
async def test_refused_after_a_cancel_it_waits_for_the_user(tmp_path: Path, v2: bool, answer: dict[str, Any]) -> None:
    async with inner_host(tmp_path, v2=v2) as host:
        asked = await with_one_on_its_way_at_cancel(host)
        host.agent.say({"id": asked["id"], **answer})
        await host.editor.until("it to be held", lambda: host.of(Queue)[-1].held)
        host.agent.end_turn("cancelled")
        await host.editor.until("the end", lambda: host.of(events.TurnEnd))
        assert list(waiting(host).values()) == ["two"]
        before = len(host.agent.heard_of("session/prompt"))
        host.say("steer")
        assert (await sent(host, before + 1))[-1] == "two"


async def test_refused_after_a_cancel_it_does_not_hold_up_what_was_sent_since(tmp_path: Path) -> None:
    async with inner_host(tmp_path, v2=True) as host:
        asked = await with_one_on_its_way_at_cancel(host)
        host.say("prompt", text="three")
        host.agent.say({"id": asked["id"], **REFUSED})
        await host.editor.until("both to wait", lambda: list(waiting(host).values()) == ["two", "three"])
        host.agent.end_turn("cancelled")
        assert await sent(host, 3) == ["go", "two", "two"]
        host.agent.end_turn("end_turn")
        assert await sent(host, 4) == ["go", "two", "two", "three"]
