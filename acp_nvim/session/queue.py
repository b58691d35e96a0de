"""The queue of a session's unsent prompts; after a cancelled turn they are held for the user."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable
from itertools import count
from typing import Final

from acp_nvim.contract.events import PromptsTaken, Queue, QueuedText, QueueLate, WaitingView
from acp_nvim.prompt.prompt import Prompt
from acp_nvim.session.journal import KeptPrompt, SessionJournal
from acp_nvim.transcript.presenter import Presenter

SENT_PROMPTS: Final = 100
"""Number of sent prompts to remember, so that an outdated view of the queue does not send them again."""


class PromptQueue:
    """Prompts in the order in which they will be sent; while they are held, none is. Changes are published.

    Waiting prompts are in the `journal`. `PromptsTaken` names prompts that the editor may drop: those that are in the
    journal, were sent, or were removed. The editor keeps one that is shown early until its turn begins: if this host
    dies, the user gets it back at once.
    """

    def __init__(self, presenter: Presenter, journal: SessionJournal) -> None:
        self._waiting: deque[Prompt] = deque()
        self._leaving: list[Prompt] = []  # taken, and about to be sent
        self._held = False
        self._presenter = presenter
        self._journal = journal
        self._ids = count(-1, -1)
        self._unsafe: dict[int, int] = {}  # kept by the editor, with the revision that we know
        self._sent: dict[int, str] = {}  # texts of the last sent prompts
        self._published = Queue(session=presenter.transcript.session, held=False, prompts=[])
        journal.on_kept = self._acknowledge

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def next(self) -> Prompt | None:
        """The prompt to send as soon as the agent takes it; None if there is none, or they are held."""
        return None if self._held or not self._waiting else self._waiting[0]

    def restore(self) -> list[Prompt]:
        """Hold the prompts of the previous host. Return those whose `read` is to be called."""
        left = self._journal.before.prompts
        self._waiting.extend(Prompt(one.text, one.context, one.id) for one in left)
        self._held = bool(left)
        if left:
            self.publish()
        return [one for one in self._waiting if one.needs_reading()]

    def add(self, prompt: Prompt, show: bool = False) -> None:
        """Append a prompt and release held ones before it; with `show`, call `show`."""
        self._waiting.append(self._numbered(prompt))
        self._held = False
        if show:
            self.show()
        self.publish()

    def show(self) -> None:
        """Show the next prompt in the transcript before it is sent."""
        if self.next is not None:
            self._presenter.prompt(self.next)
            self.publish()

    def unshow(self) -> None:
        """Show prompts again when they are sent, because the transcript was cleared."""
        for one in self._waiting:
            one.shown = False
        self.publish()

    def take(self) -> Prompt:
        """Remove and return the next prompt. Await `leave` before sending it; call `left` if it is not sent."""
        return self._gone(self._waiting.popleft())

    async def leave(self, prompt: Prompt) -> None:
        """Wait until a taken prompt is out of the journal, so that no other host sends it again."""
        self.left(prompt)
        await self._journal.written()

    def left(self, prompt: Prompt) -> None:
        """Drop a taken prompt that was sent, or is no longer wanted."""
        if any(one is prompt for one in self._leaving):
            self._leaving = [one for one in self._leaving if one is not prompt]
            self.publish()

    def find(self, number: int | None) -> int | None:
        """Return `number` if that prompt waits; for None, the number of the first prompt."""
        return next((one.id for one in self._waiting if number is None or one.id == number), None)

    def take_out(self, number: int) -> Prompt:
        """Like `take`, for the prompt with that number, at any position and even if held."""
        [one] = [one for one in self._waiting if one.id == number]
        self._waiting.remove(one)
        return self._gone(one)

    def put_back(self, prompt: Prompt) -> None:
        """Put a taken prompt that was not sent back at the front."""
        self._waiting.appendleft(self._numbered(prompt))
        self._sent.pop(prompt.id or 0, None)
        self._leaving = [one for one in self._leaving if one is not prompt]
        self.publish()

    def set(
        self, wanted: Iterable[QueuedText], known: Collection[int], held: bool = False, revision: int = 0
    ) -> list[Prompt]:
        """Replace the prompts that the user `known` (ids) by `wanted`, an edited list of them.

        Other prompts stay, at the end. A prompt that was sent meanwhile is not sent again; a changed text of it is
        published as late. With `held` they wait for the user. `revision`, a number of the editor, is published when it
        may drop them. Return those whose `read` is to be called.
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
                self._unsafe[item.id] = revision
        self._waiting = deque([*ordered, *(one for one in there.values() if one.id not in known)])
        if late:
            self._presenter.publish(QueueLate(session=self._published.session, prompts=late))
        self.publish(again=True)
        return unread

    def release(self) -> None:
        """Release the held prompts, which are sent in their order."""
        self._held = False
        self.publish()

    def hold(self) -> None:
        """Hold the waiting prompts until the user sends them or another one, with a notice."""
        if self._waiting and not self._held:
            self._held = True
            stay, them = (f"{len(self)} prompts stay", "them") if len(self) > 1 else ("1 prompt stays", "it")
            self._presenter.notice(
                "info",
                f"{stay} in the queue. An empty prompt sends {them} now, your next one sends {them} first. "
                "When nothing runs, :AcpCancel empties the queue.",
            )
            self.publish()

    def give_up(self, held_only: bool = True) -> None:
        """Hold the waiting prompts; drop them if they are held already, or `held_only` is False."""
        if not self._waiting:
            return
        if held_only and not self._held:
            self.hold()
            return
        words = "1 prompt was" if len(self) == 1 else f"{len(self)} prompts were"
        self._waiting.clear()
        self._presenter.notice("info", f"{words} taken out of the queue: the history of the prompt has them.")
        self.publish()

    def drop_shown(self) -> bool:
        """Drop the prompts that are in the transcript. Return whether there were any."""
        before = len(self)
        self._waiting = deque(one for one in self._waiting if not one.shown)
        self.publish()
        return len(self) < before

    def publish(self, again: bool = False) -> None:
        """Update the journal, and publish the queue if it has changed, or `again`."""
        self._journal.keep_prompts([_kept(one) for one in (*self._leaving, *self._waiting)])
        self._acknowledge()
        waiting = [one for one in self._waiting if not one.shown]
        views = [WaitingView(one.id or 0, one.text, [item.name for item in one.context]) for one in waiting]
        now = Queue(session=self._published.session, held=self._held and bool(views), prompts=views)
        if again or now != self._published:
            self._published = now
            self._presenter.publish(now)

    def _acknowledge(self) -> None:
        """Publish which prompts the editor may drop."""
        on_disk = self._journal.on_disk
        unsafe = {one.id for one in self._waiting if one.shown or on_disk.get(one.id or 0) != _kept(one)}
        unsafe |= {one.id for one in self._leaving if one.id not in on_disk}
        safe = sorted(self._unsafe.keys() - unsafe)
        if safe:
            revisions = [self._unsafe.pop(one) for one in safe]
            self._presenter.publish(PromptsTaken(session=self._published.session, ids=safe, revisions=revisions))

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
        self.publish()
        return prompt


def _kept(prompt: Prompt) -> KeptPrompt:
    return KeptPrompt(prompt.id or 0, prompt.text, prompt.context)
