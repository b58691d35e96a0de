"""Child sessions in any order of what agent and user do: all lands where it belongs, and nothing forbidden is sent."""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from acp_nvim.contract import events
from acp_nvim.session.subagents import Subagent
from tests.core.jsonrpc.peer import all_done
from tests.core.session.inner_agent import InnerHost, inner_host
from tests.support.examples import examples

IDS = ("a", "b", "c")
STATES = (None, "running", "idle", "requires_action", "unknown", "_odd")
OPTIONS = [
    {"optionId": "y", "name": "Yes", "kind": "allow_once"},
    {"optionId": "n", "name": "No", "kind": "reject_once"},
]

Step = tuple[Any, ...]

FROM_LUA: dict[str, dict[str, Any]] = {
    "open": {"agent": "inner", "cwd": "/"},
    "resume": {"agent": "inner", "cwd": "/", "session_id": "a"},
    "prompt": {"text": "hi"},
    "steer": {},
    "queue_set": {"prompts": [{"text": "x"}]},
    "cancel": {},
    "stop": {},
    "config_set": {"option": "mode", "value": "x"},
    "session_close": {"id": 1},
    "redraw": {},
    "call_details": {"block": 1},
    "export": {},
}
"""What Lua could say of a session, whichever it is."""


class Play:
    """What agent and user do; `said` is what each child has said, `asked` how often it has asked."""

    def __init__(self, host: InnerHost) -> None:
        self.host = host
        self.said: dict[str, str] = defaultdict(str)
        self.asked: Counter[str] = Counter()
        self.allowed: set[str] = set()
        self.count = 0

    def step(self, step: Step) -> None:
        name, *rest = step
        getattr(self, name)(*rest)

    def update(self, session_id: str, **update: Any) -> None:
        """Send an update of any session of the agent."""
        self.host.agent.say({"method": "session/update", "params": {"sessionId": session_id, "update": update}})

    def announce(self, child: str, parent: str, state: str | None, cancel: Any) -> None:
        """Announce a child session, or change it."""
        said: dict[str, Any] = {"title": f"Child {child}"}
        if state is not None:
            said["state"] = {"state": state}
        if cancel is not None:
            said["capabilities"] = {"cancel": {}} if cancel else None
            self.allowed |= {child} if cancel else set()
        self.update(parent, sessionUpdate="subagent_update", sessionId=child, **said)

    def say(self, child: str) -> None:
        """Let a child say something."""
        self.count += 1
        text = f"{child}{self.count} "
        self.said[child] += text
        self.update(child, sessionUpdate="agent_message_chunk", messageId="m", content={"type": "text", "text": text})

    def call(self, child: str, status: str) -> None:
        """Let a child announce or change a tool call."""
        kind = "tool_call_update" if self.host.agent.v2 else "tool_call"
        self.update(child, sessionUpdate=kind, toolCallId=f"{child}:t", title=f"Tool of {child}", status=status)

    def ask(self, child: str) -> None:
        """Let a child ask for a permission."""
        number = self.asked[child]
        self.asked[child] += 1
        call = {"toolCallId": f"{child}:{number}", "title": f"Ask of {child}"}
        params: dict[str, Any] = {"sessionId": child, "options": OPTIONS}
        if self.host.agent.v2:
            params |= {"title": f"Ask of {child}", "subject": {"type": "tool_call", "toolCall": call}}
        else:
            params |= {"toolCall": call}
        self.host.agent.say({"id": f"{child}{number}", "method": "session/request_permission", "params": params})

    def message(self, child: str) -> None:
        """Let the parent send a message to a child."""
        content = [{"type": "text", "text": "do it"}]
        self.update(child, sessionUpdate="session_message", messageId="x", senderSessionId="s", content=content)

    def settle(self) -> None:
        """Wait until all is handled."""

    def end(self) -> None:
        """The agent ends the turn of the parent."""
        if self.host.agent.heard_of("session/prompt"):
            self.host.agent.end_turn("end_turn")

    def user(self, method: str, which: int) -> None:
        """Something that Lua could say, of the parent or of a child."""
        keys = sorted(self.host.app.conversations)
        key = keys[which % len(keys)]
        if key > 1 or method not in ("session_close", "stop", "resume"):
            self.host.app.receive(method, {"session": key, **FROM_LUA[method]})

    def answer(self, which: int, option: str) -> None:
        """The user answers one that is on the screen."""
        shown = self.host.of(events.Permission)
        if shown:
            self.host.app.receive("answer", {"id": shown[which % len(shown)].request.id, "option_id": option})

    def children(self) -> dict[str, Subagent]:
        """Return the child sessions that take the agent's updates, by id."""
        found = (one for one in self.host.app.conversations.values() if isinstance(one, Subagent))
        return {child.session_id: child for child in found if child.peer is not None}

    def check(self) -> None:
        """All is where it belongs; nothing was sent for a child but a cancel that it allows."""
        children = self.children()
        for child_id, child in children.items():
            transcript = child.presenter.transcript
            messages = (transcript.message(number) for number in range(1, len(transcript) + 1))
            said = b"".join(bytes(text) for role, text in filter(None, messages) if role == "agent")
            assert said.decode() == self.said[child_id]
        keys = {child.key: child_id for child_id, child in children.items()}
        for event in (*self.host.of(events.Permission), *self.host.of(events.ToolCall)):
            told = event.request.tool_call_id if isinstance(event, events.Permission) else event.call.id
            assert keys[event.session] == told.partition(":")[0]
        self.check_wire()

    def check_wire(self) -> None:
        """Check what was sent to the agent."""
        for heard in self.host.agent.heard:
            session_id = (heard.get("params") or {}).get("sessionId")
            if "method" in heard and session_id in IDS:
                assert heard["method"] == "session/cancel"
                assert session_id in self.allowed
        answers = Counter(one["id"] for one in self.host.agent.answers())
        assert answers == Counter({f"{child}{n}": 1 for child, many in self.asked.items() for n in range(many)})


async def play(steps: list[Step], v2: bool) -> None:
    """Do all that, then end it, and look."""
    with tempfile.TemporaryDirectory() as directory:
        async with inner_host(Path(directory), v2) as host:
            game = Play(host)
            for step in steps:
                game.step(step)
                if step[0] in ("user", "answer", "settle"):
                    await all_done()
            for child in IDS:  # who was not announced is now
                game.announce(child, "s", None, None)
            await all_done()
            host.app.receive("cancel", {"session": 1})
            await all_done()
            game.end()
            await all_done()
            host.app.receive("cancel", {"session": 1})  # what goes on between turns
            for child in game.children().values():
                child.refuse()
            await all_done()
            game.check()


ids = st.sampled_from(IDS)
steps = st.one_of(
    st.tuples(
        st.just("announce"),
        ids,
        st.sampled_from(("s", "s", *IDS)),
        st.sampled_from(STATES),
        st.sampled_from((None, True, False)),
    ),
    st.tuples(st.just("say"), ids),
    st.tuples(st.just("call"), ids, st.sampled_from(("in_progress", "completed", "failed"))),
    st.tuples(st.just("ask"), ids),
    st.tuples(st.just("message"), ids),
    st.tuples(st.just("user"), st.sampled_from(sorted(FROM_LUA)), st.integers(0, 5)),
    st.tuples(st.just("answer"), st.integers(0, 9), st.sampled_from("yn")),
    st.tuples(st.just("user"), st.just("cancel"), st.integers(1, 5)),
    st.sampled_from((("end",), ("settle",), ("settle",))),
)


@pytest.mark.hypothesis
@pytest.mark.timeout(300)
@pytest.mark.parametrize("v2", [False, True])
def test_all_lands_at_its_child_and_nothing_forbidden_is_sent(v2: bool) -> None:
    @settings(max_examples=examples(80))
    @given(st.lists(steps, max_size=24))
    @example(
        [
            ("announce", "a", "s", "running", True),
            ("announce", "b", "a", None, None),
            ("ask", "b"),
            ("user", "cancel", 1),
        ]
    )
    def any_order(order: list[Step]) -> None:
        anyio.run(play, order, v2)

    any_order()
