"""The prompts of a session that wait for their turn; who cancels a turn does not want the next ones to go out."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable
from itertools import count

from acp_nvim.limits.history import SENT_PROMPTS
from acp_nvim.queue_events import Queue, QueuedText, QueueLate, WaitingView
from acp_nvim.session.context import context_items
from acp_nvim.session.narrator import Narrator
from acp_nvim.session.prompt import Prompt


class _Waiting:
    """A prompt, and the number by which the editor knows it."""

    def __init__(self, number: int, prompt: Prompt) -> None:
        self.id = number
        self.prompt = prompt

    @property
    def view(self) -> WaitingView:
        """As it is told."""
        return WaitingView(self.id, self.prompt.text, [item.name for item in self.prompt.context])

    def change(self, item: QueuedText) -> bool:
        """It gets that text, and what comes along with it beside what does already; whether that is to be read."""
        known = {one.name for one in self.prompt.context}
        more = [one for one in context_items(item.context) if one.name not in known]
        if not more:
            self.prompt.text = item.text
            return False
        self.prompt = Prompt(item.text, [*self.prompt.context, *more])
        return self.prompt.needs_reading()


class PromptQueue:
    """Prompts in the order in which they were sent; while they are held, none is taken. What changes is told."""

    def __init__(self, narrator: Narrator) -> None:
        self._waiting: deque[_Waiting] = deque()
        self._held = False
        self._narrator = narrator
        self._ids = count(1)
        self._sent: dict[int, str] = {}  # the last ones that went out
        self._told = Queue(session=narrator.transcript.session, held=False, prompts=[])

    def __repr__(self) -> str:
        return f"<PromptQueue {len(self)}{' held' if self._held else ''}>"

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def held(self) -> bool:
        """Whether there are some that wait for the user."""
        return self._held and bool(self._waiting)

    @property
    def next(self) -> Prompt | None:
        """The one that goes out as soon as the agent takes prompts."""
        return None if self._held or not self._waiting else self._waiting[0].prompt

    def add(self, prompt: Prompt, show: bool = False) -> None:
        """One more. Those that were held go out before it. `show`: the next one, as `show` does."""
        self._waiting.append(_Waiting(next(self._ids), prompt))
        self._held = False
        if show:
            self.show()
        self.tell()

    def show(self) -> None:
        """The next one stands in the transcript, although it was not sent yet."""
        if self.next is not None:
            self._narrator.prompt(self.next)
            self.tell()

    def unshow(self) -> None:
        """The transcript was forgotten: what stands in it is shown when it goes out."""
        for one in self._waiting:
            one.prompt.shown = False
        self.tell()

    def take(self) -> Prompt:
        """The next one."""
        return self._gone(self._waiting.popleft())

    def find(self, number: int | None, newest: bool = False) -> int | None:
        """The number of that one, if it waits; without a number, of the first, or the `newest`."""
        found = [one.id for one in self._waiting if number is None or one.id == number]
        return found[-1 if newest else 0] if found else None

    def take_out(self, number: int) -> Prompt:
        """That one, whatever its turn and whether it is held."""
        [one] = [one for one in self._waiting if one.id == number]
        self._waiting.remove(one)
        return self._gone(one)

    def put_back(self, prompt: Prompt) -> None:
        """It did not go out after all: it is the next one."""
        self._waiting.appendleft(_Waiting(next(self._ids), prompt))
        self.tell()

    def set(self, wanted: Iterable[QueuedText], known: Collection[int]) -> list[Prompt]:
        """What the user made of those that they knew: another order, other texts, some more, some not any more.

        The others stay, at the end. What went out meanwhile is not sent again; if its text was changed, that is told.
        Returns those whose `read` is to be called.
        """
        unread = []
        there = {one.id: one for one in self._waiting if not one.prompt.shown}
        ordered = [one for one in self._waiting if one.prompt.shown]
        late = []
        for item in wanted:
            one = _Waiting(next(self._ids), Prompt(item.text)) if item.id is None else there.pop(item.id, None)
            if one is not None:
                unread += [one.prompt] if one.change(item) else []
                ordered.append(one)
            elif item.id is not None and self._sent.get(item.id) != item.text:
                late.append(QueuedText(item.text, item.id))
        self._waiting = deque([*ordered, *(one for one in there.values() if one.id not in known)])
        if late:
            self._narrator.publish(QueueLate(session=self._told.session, prompts=late))
        self.tell(again=True)
        return unread

    def release(self) -> None:
        """They go out again."""
        self._held = False
        self.tell()

    def hold(self) -> None:
        """Until the user sends another one."""
        if self._waiting and not self._held:
            self._held = True
            many = len(self) > 1
            stay = f"{len(self)} prompts stay in the queue, and go" if many else "1 prompt stays in the queue, and goes"
            words = f"{stay} out before your next one. When nothing runs, :AcpCancel empties the queue."
            self._narrator.notice("info", words)
            self.tell()

    def give_up(self) -> None:
        """The user wants no more to happen: no prompt goes out; those that were held are not wanted any more."""
        if not self.held:
            self.hold()
            return
        words = "1 prompt was" if len(self) == 1 else f"{len(self)} prompts were"
        self._waiting.clear()
        self._narrator.notice("info", f"{words} taken out of the queue: the history of the prompt has them.")
        self.tell()

    def drop_shown(self) -> bool:
        """Prompts that stand in the transcript, and will never be sent; whether there were any."""
        before = len(self)
        self._waiting = deque(one for one in self._waiting if not one.prompt.shown)
        return len(self) < before

    def tell(self, again: bool = False) -> None:
        """The editor, if it is different from what it knows, or does not know it any more."""
        views = [one.view for one in self._waiting if not one.prompt.shown]
        now = Queue(session=self._told.session, held=self._held and bool(views), prompts=views)
        if again or now != self._told:
            self._told = now
            self._narrator.publish(now)

    def _gone(self, one: _Waiting) -> Prompt:
        self._sent[one.id] = one.prompt.text
        if len(self._sent) > SENT_PROMPTS:
            del self._sent[next(iter(self._sent))]
        self.tell()
        return one.prompt
