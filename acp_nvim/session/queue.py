"""The prompts of a session that wait for their turn; after a cancelled turn they wait for the user."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable
from itertools import count
from typing import Final

from acp_nvim.session.journal import KeptPrompt, SessionJournal
from acp_nvim.session.prompt import Prompt
from acp_nvim.session.transcript.presenter import Presenter
from acp_nvim.ui.events import PromptsTaken, Queue, QueuedText, QueueLate, WaitingView

SENT_PROMPTS: Final = 100
"""Prompts that went out and are remembered, so that an older view of the queue does not send them again."""


class PromptQueue:
    """Prompts in the order in which they were sent; while they are held, none is taken. What changes is told.

    What waits is in the `journal`. The editor is told which prompts it need not keep any more: those that are in the
    journal, and those that were sent or are not wanted any more. One that stands in the transcript before it is sent
    stays with the editor until its turn begins: if this host dies, the user gets it back at once.
    """

    def __init__(self, presenter: Presenter, journal: SessionJournal) -> None:
        self._waiting: deque[Prompt] = deque()
        self._leaving: list[Prompt] = []  # they were taken, and are about to be sent
        self._held = False
        self._presenter = presenter
        self._journal = journal
        self._ids = count(-1, -1)
        self._unsafe: dict[int, int] = {}  # the editor still keeps these: which revision we heard of
        self._sent: dict[int, str] = {}  # the last ones that went out
        self._told = Queue(session=presenter.transcript.session, held=False, prompts=[])
        journal.on_kept = self._acknowledge

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
        return None if self._held or not self._waiting else self._waiting[0]

    def restore(self) -> list[Prompt]:
        """Take what another host has left: it is held. Returns those whose `read` is to be called."""
        left = self._journal.before.prompts
        self._waiting.extend(Prompt(one.text, one.context, one.id) for one in left)
        self._held = bool(left)
        if left:
            self.tell()
        return [one for one in self._waiting if one.needs_reading()]

    def add(self, prompt: Prompt, show: bool = False) -> None:
        """One more. Those that were held go out before it. `show`: the next one, as `show` does."""
        self._waiting.append(self._numbered(prompt))
        self._held = False
        if show:
            self.show()
        self.tell()

    def show(self) -> None:
        """The next one stands in the transcript, although it was not sent yet."""
        if self.next is not None:
            self._presenter.prompt(self.next)
            self.tell()

    def unshow(self) -> None:
        """The transcript was forgotten: what stands in it is shown when it goes out."""
        for one in self._waiting:
            one.shown = False
        self.tell()

    def take(self) -> Prompt:
        """The next one. `leave` is to be awaited before it is sent; `left` is to be called when it never is."""
        return self._gone(self._waiting.popleft())

    async def leave(self, prompt: Prompt) -> None:
        """Wait until a prompt that was taken is not in the journal any more: who dies now does not send it twice."""
        self.left(prompt)
        await self._journal.written()

    def left(self, prompt: Prompt) -> None:
        """Drop a prompt that was sent, or is not wanted any more."""
        if any(one is prompt for one in self._leaving):
            self._leaving = [one for one in self._leaving if one is not prompt]
            self.tell()

    def find(self, number: int | None) -> int | None:
        """The number of that one, if it waits; without a number, of the first."""
        return next((one.id for one in self._waiting if number is None or one.id == number), None)

    def take_out(self, number: int) -> Prompt:
        """Take that prompt, whatever its turn and whether it is held; otherwise as `take`."""
        [one] = [one for one in self._waiting if one.id == number]
        self._waiting.remove(one)
        return self._gone(one)

    def put_back(self, prompt: Prompt) -> None:
        """Put back a prompt that did not go out after all: it is the next one."""
        self._waiting.appendleft(self._numbered(prompt))
        self._sent.pop(prompt.id or 0, None)
        self._leaving = [one for one in self._leaving if one is not prompt]
        self.tell()

    def set(
        self, wanted: Iterable[QueuedText], known: Collection[int], held: bool = False, revision: int = 0
    ) -> list[Prompt]:
        """What the user made of those that they knew: another order, other texts, some more, some not any more.

        The others stay, at the end. What went out meanwhile is not sent again; if its text was changed, that is told.
        With `held` they wait for the user. `revision` is told when the editor need not keep them. Returns those whose
        `read` is to be called.
        """
        unread = []
        self._held = self._held or held
        there = {one.id: one for one in self._waiting if not one.shown}
        ordered = [one for one in self._waiting if one.shown]
        gone = self._sent | {one.id: one.text for one in ordered}
        late = []
        for item in wanted:
            is_new = item.id is None or not (item.id in there or item.id in known or item.id in gone)
            one = self._numbered(Prompt("", id=item.id)) if is_new else there.pop(item.id, None)
            if one is not None:
                one, is_unread = one.changed(item.text, item.context)
                unread += [one] if is_unread else []
                ordered.append(one)
            elif item.id is not None and gone.get(item.id) != item.text:
                late.append(QueuedText(item.text, item.id))
            if item.id is not None:
                self._unsafe[item.id] = revision  # the editor keeps its version until it is told otherwise
        self._waiting = deque([*ordered, *(one for one in there.values() if one.id not in known)])
        if late:
            self._presenter.publish(QueueLate(session=self._told.session, prompts=late))
        self.tell(again=True)
        return unread

    def release(self) -> None:
        """Let the waiting prompts go out again, in their order."""
        self._held = False
        self.tell()

    def hold(self) -> None:
        """Keep the waiting prompts until the user sends another one, and say so in the chat."""
        if self._waiting and not self._held:
            self._held = True
            many = len(self) > 1
            stay = f"{len(self)} prompts stay in the queue, and go" if many else "1 prompt stays in the queue, and goes"
            words = f"{stay} out before your next one. When nothing runs, :AcpCancel empties the queue."
            self._presenter.notice("info", words)
            self.tell()

    def give_up(self, held_only: bool = True) -> None:
        """The user wants no more to happen: no prompt goes out; those that were held are not wanted any more.

        Without `held_only` all of them are dropped.
        """
        if not self._waiting:
            return
        if held_only and not self.held:
            self.hold()
            return
        words = "1 prompt was" if len(self) == 1 else f"{len(self)} prompts were"
        self._waiting.clear()
        self._presenter.notice("info", f"{words} taken out of the queue: the history of the prompt has them.")
        self.tell()

    def drop_shown(self) -> bool:
        """Prompts that stand in the transcript, and will never be sent; whether there were any."""
        before = len(self)
        self._waiting = deque(one for one in self._waiting if not one.shown)
        self.tell()
        return len(self) < before

    def tell(self, again: bool = False) -> None:
        """Tell the editor, if it is different from what it knows, or does not know it any more; and the journal."""
        self._journal.keep_prompts([_kept(one) for one in (*self._leaving, *self._waiting)])
        self._acknowledge()
        views = [_view(one) for one in self._waiting if not one.shown]
        now = Queue(session=self._told.session, held=self._held and bool(views), prompts=views)
        if again or now != self._told:
            self._told = now
            self._presenter.publish(now)

    def _acknowledge(self) -> None:
        """Tell the editor which of its prompts are safe without it."""
        on_disk = self._journal.on_disk
        unsafe = {one.id for one in self._waiting if one.shown or on_disk.get(one.id or 0) != _kept(one)}
        unsafe |= {one.id for one in self._leaving if one.id not in on_disk}
        safe = sorted(self._unsafe.keys() - unsafe)
        if safe:
            revisions = [self._unsafe.pop(one) for one in safe]
            self._presenter.publish(PromptsTaken(session=self._told.session, ids=safe, revisions=revisions))

    def _numbered(self, prompt: Prompt) -> Prompt:
        if prompt.id is None:
            prompt.id = next(self._ids)
        self._unsafe.setdefault(prompt.id, 0)
        return prompt

    def _gone(self, prompt: Prompt) -> Prompt:
        self._leaving.append(prompt)
        self._sent[prompt.id or 0] = prompt.text
        if len(self._sent) > SENT_PROMPTS:
            del self._sent[next(iter(self._sent))]
        self.tell()
        return prompt


def _kept(prompt: Prompt) -> KeptPrompt:
    return KeptPrompt(prompt.id or 0, prompt.text, prompt.context)


def _view(prompt: Prompt) -> WaitingView:
    return WaitingView(prompt.id or 0, prompt.text, [item.name for item in prompt.context])
