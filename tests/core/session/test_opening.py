"""Several chats of one agent process open at once: in any order of answers, updates and requests nothing is lost."""

from __future__ import annotations

import json
import tempfile
from itertools import count
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from acp_nvim.connection import early_requests
from acp_nvim.contract import events
from tests.core.session.host import Host, running_host
from tests.support.examples import examples
from tests.support.waiting import LIMIT

Step = tuple[str, int]
"""What the agent does, and for which of the sessions that are being opened."""

CHATS = 3

CONDUCTED = """
    import queue
    import threading

    OPENINGS = queue.Queue()

    def session_new(agent, request):
        if "first" not in globals():
            globals()["first"] = True
            return {"sessionId": "conductor"}
        OPENINGS.put(request)
        return NO_ANSWER

    def turn(agent, prompt):
        plan = json.loads(prompt.text)
        requests = [OPENINGS.get() for _ in range(plan["chats"])]
        calls = []
        for number, (what, which) in enumerate(plan["steps"]):
            name = plan["names"][which]
            if what == "answer":
                requests[which].reply({"sessionId": name})
            elif what == "error":
                requests[which].fail(-32603, f"no {name}")
            elif what == "say":
                agent.update(name, {
                    "sessionUpdate": "agent_message_chunk",
                    "content": {"type": "text", "text": f"{name}.{number} "}})
            elif what == "read":
                path = os.path.join(os.getcwd(), "file")
                calls.append((number, agent.call("fs/read_text_file", {"sessionId": name, "path": path})))
            elif what == "ask":
                options = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
                calls.append((number, agent.call("session/request_permission", {
                    "sessionId": name, "options": options,
                    "toolCall": {"toolCallId": f"c{number}", "title": f"{name}.{number}"}})))
        for number, call in calls:
            try:
                result = call.result()
            except Error as error:
                result = error.code
            agent.note(result=[plan["round"], number, result])
        agent.note(over=plan["round"])
"""


@st.composite
def plays(draw: st.DrawFn) -> list[Step]:
    """Each opening is answered once, by a session or an error; the rest comes in any order."""
    ends = [(draw(st.sampled_from(["answer", "answer", "error"])), which) for which in range(CHATS)]
    more = draw(st.lists(st.tuples(st.sampled_from(["say", "say", "read", "ask"]), st.integers(0, CHATS - 1))))
    return draw(st.permutations(ends + more))


async def play(host: Host, keys: Any, number: int, steps: list[Step]) -> None:
    """Open the chats, have the agent do its steps, and compare what each chat shows with what was sent for it."""
    chats = [next(keys) for _ in range(CHATS)]
    for key in chats:
        host.open(key)
    await host.until("the requests at the agent", lambda: len(host.scripts["it"].received("session/new")) > chats[-1])
    names = [f"s{number}-{which}" for which in range(CHATS)]
    plan = {"round": number, "chats": CHATS, "names": names, "steps": steps}
    host.prompt(json.dumps(plan), 0)
    opened = {names[which] for what, which in steps if what == "answer"}
    asked = [number for number, (what, which) in enumerate(steps) if what == "ask" and names[which] in opened]
    titles = {f"{names[steps[index][1]]}.{index}": index for index in asked}

    def new_permissions() -> list[events.Permission]:
        return [one for one in host.editor.all(events.Permission) if one.session in chats]

    def ended() -> bool:
        states = [one.state for one in map(host.status, chats) if one is not None]
        is_open = [state in ("idle", "background") for state in states]
        return sum(is_open) == len(opened) and states.count("failed") == CHATS - len(opened)

    await host.until("the questions", lambda: len(new_permissions()) == len(titles))
    for one in new_permissions():
        host.answer(one.request.id, "yes")
    await host.until("the end of the play", lambda: number in host.scripts["it"].notes("over"))
    await host.until("the ends of the openings", ended)
    shown = {event.session_id: event.session for event in host.editor.all(events.SessionReady)}
    assert opened == {name for name in names if name in shown}
    for name in opened:
        said = "".join(f"{name}.{index} " for index, step in enumerate(steps) if step == ("say", names.index(name)))
        await host.until(repr(said), lambda key=shown[name], said=said: host.text(key=key) == said)
        questions = [one.request.title for one in host.of(events.Permission, shown[name])]
        assert questions == [title for title in titles if title.startswith(f"{name}.")]
    results = {index: result for which, index, result in host.scripts["it"].notes("result") if which == number}
    for index, (what, which) in enumerate(steps):
        if what in ("read", "ask"):
            read = {"content": "text\n"} if what == "read" else {"outcome": {"outcome": "selected", "optionId": "yes"}}
            refused = -32602 if what == "read" else {"outcome": {"outcome": "cancelled"}}
            assert results[index] == (read if names[which] in opened else refused), (index, what)
    for key in chats:
        host.stop(key)
    for key in chats:
        await host.until_state("stopped" if key in shown.values() else "failed", key)


async def play_all(directory: Path, all_steps: list[list[Step]]) -> None:
    """One agent process plays them one after the other."""
    keys = count(1)
    async with running_host(directory) as host:
        (host.cwd / "file").write_text("text\n")
        host.script(CONDUCTED)
        host.open(0)
        await host.until_state("idle", 0)
        for number, steps in enumerate(all_steps):
            await play(host, keys, number, steps)
        assert len(host.scripts["it"].notes("started")) == 1


@settings(max_examples=examples(8), phases=[Phase.generate])
@given(st.lists(plays(), min_size=8, max_size=8))
def test_any_order_of_answers_updates_and_requests(all_steps: list[list[Step]]) -> None:
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as directory:
        patch.setattr(early_requests, "EARLY_REQUEST_SECONDS", LIMIT)
        patch.setenv("PATH", "/nowhere")  # no git: snapshots take most of the time, and nothing here is about them
        anyio.run(play_all, Path(directory), all_steps)
