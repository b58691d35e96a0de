"""Conversations for the tests: a transcript that grows at random, and what a reader must find of it."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import strategies as st

from acp_nvim.contract import events
from acp_nvim.contract.views import CallView, DiffItem, TextItem
from acp_nvim.history.recorder import Recorder

TEXTS = st.text(max_size=40) | st.text(alphabet="ab \n`é€😀\ud800\x00\x1b", max_size=60)


class Growing:
    """A transcript (`acp_nvim.history.recorder.Source`) in which blocks come and change; a recorder hears of all."""

    def __init__(self) -> None:
        self.blocks: list[Any] = []
        self.recorder = Recorder(1, "it", "/p", self)

    def message(self, number: int) -> tuple[Any, bytearray] | None:
        block = self.blocks[number - 1]
        return block if isinstance(block, tuple) else None

    def shown(self, number: int) -> list[events.Event]:
        return list(self.blocks[number - 1])

    def say(self, kind: Any, text: str, number: int | None = None) -> None:
        """More of a message: of a new one, or of one that is there."""
        if number is None:
            self.blocks.append((kind, bytearray()))
            number = len(self.blocks)
        kind, said = self.blocks[number - 1]
        said += text.encode("utf-8", "surrogatepass")
        self.recorder.on_event(events.Append(session=1, block=number, kind=kind, text=text))

    def replace(self, number: int, text: str) -> None:
        """Replace the text of a message."""
        kind, _ = self.blocks[number - 1]
        self.blocks[number - 1] = (kind, bytearray(text.encode("utf-8", "surrogatepass")))
        self.recorder.on_event(events.Replace(session=1, block=number, kind=kind, text=text))

    def call(self, title: str, status: str, number: int | None = None) -> None:
        """Add a tool call, or change it."""
        number = number or len(self.blocks) + 1
        content = [TextItem(title), DiffItem("/p/f", title, "old")]
        view = CallView(f"c{number}", title, "edit", status, content, [])
        event = events.ToolCall(session=1, block=number, call=view)
        self.blocks[number - 1 :] = [[event], *self.blocks[number:]]
        self.recorder.on_event(event)

    def ask(self, title: str) -> None:
        """Add a permission request."""
        number = len(self.blocks) + 1
        request = events.RequestView(number, "c", title, "edit", [events.Option("y", "Yes", "allow_once")], [], [])
        self.blocks.append([events.Permission(session=1, block=number, request=request)])
        self.recorder.on_event(self.blocks[-1][0])

    def answer(self, number: int) -> None:
        """Answer a permission request."""
        done = events.PermissionDone(session=1, block=number, id=number, outcome="selected", option_id="y", name="Yes")
        self.blocks[number - 1] = [self.blocks[number - 1][0], done]
        self.recorder.on_event(done)

    def end_turn(self) -> None:
        self.recorder.on_event(events.TurnEnd(session=1, stop_reason="end_turn"))

    def expected(self) -> list[Any]:
        """Return each block as a reader gives it, in `plain` form."""
        return [plain(list(self.shown_whole(number))) for number in range(1, len(self.blocks) + 1)]

    def shown_whole(self, number: int) -> list[events.Event]:
        message = self.message(number)
        if message is None:
            return self.shown(number)
        text = message[1].decode("utf-8", "surrogatepass")
        return [events.Append(session=1, block=number, kind=message[0], text=text)]


def plain(block: list[Any]) -> Any:
    """A block without what does not matter: the session, and in how many pieces a text came."""
    if isinstance(block[0], events.Append | events.Replace):
        return block[0].block, block[0].kind, "".join(one.text for one in block)
    return [msgspec.structs.replace(one, session=0) for one in block]


ACTS = st.lists(
    st.one_of(
        st.tuples(st.just("say"), st.sampled_from(["user", "agent", "thought"]), TEXTS),
        st.tuples(st.just("go on"), st.integers(0, 9), TEXTS),
        st.tuples(st.just("replace"), st.integers(0, 9), TEXTS),
        st.tuples(st.just("call"), TEXTS, st.sampled_from(["pending", "in_progress", "completed"])),
        st.tuples(st.just("update"), st.integers(0, 9), TEXTS),
        st.tuples(st.just("ask"), TEXTS),
        st.tuples(st.just("answer"), st.integers(0, 9)),
        st.tuples(st.just("end")),
        st.tuples(st.just("write"), st.booleans()),
    ),
    max_size=25,
)


def play(growing: Growing, act: tuple[Any, ...]) -> None:
    """One of the acts, but for "write"; numbers choose among what there is."""

    def choose(number: int, kind: type[Any]) -> int | None:
        found = [index for index, block in enumerate(growing.blocks, 1) if isinstance(one_of(block), kind)]
        return found[number % len(found)] if found else None

    match act:
        case ("say", kind, text):
            growing.say(kind, text)
        case ("go on", number, text) if chosen := choose(number, tuple):
            growing.say(None, text, chosen)
        case ("replace", number, text) if chosen := choose(number, tuple):
            growing.replace(chosen, text)
        case ("call", title, status):
            growing.call(title, status)
        case ("update", number, title) if chosen := choose(number, events.ToolCall):
            growing.call(title, "completed", chosen)
        case ("ask", title):
            growing.ask(title)
        case ("answer", number) if chosen := choose(number, events.Permission):
            growing.answer(chosen)
        case ("end",):
            growing.end_turn()


def one_of(block: Any) -> Any:
    """What a block is: a message, or its first event."""
    return block if isinstance(block, tuple) else block[0]
