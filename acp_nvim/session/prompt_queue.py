"""The prompts of a session that wait for their turn; who cancels a turn does not want the next ones to go out."""

from __future__ import annotations

from collections import deque

from acp_nvim.session.narrator import Narrator
from acp_nvim.session.prompt import Prompt


class PromptQueue:
    """Prompts in the order in which they were sent; while they are held, none is taken."""

    def __init__(self, narrator: Narrator) -> None:
        self._waiting: deque[Prompt] = deque()
        self._held = False
        self._narrator = narrator

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

    def add(self, prompt: Prompt) -> None:
        """One more. Those that were held go out before it."""
        self._waiting.append(prompt)
        self._held = False

    def show(self) -> None:
        """The next one stands in the transcript, although it was not sent yet."""
        if self.next is not None:
            self._narrator.prompt(self.next)

    def take(self) -> Prompt:
        """The next one."""
        return self._waiting.popleft()

    def hold(self) -> None:
        """Until the user sends another one."""
        if self._waiting and not self._held:
            self._held = True
            many = len(self) > 1
            stay = f"{len(self)} prompts stay in the queue, and go" if many else "1 prompt stays in the queue, and goes"
            words = f"{stay} out before your next one. When nothing runs, :AcpCancel empties the queue."
            self._narrator.notice("info", words)

    def give_up(self) -> None:
        """The user wants no more to happen: no prompt goes out; those that were held are not wanted any more."""
        if not self.held:
            self.hold()
            return
        words = "1 prompt was" if len(self) == 1 else f"{len(self)} prompts were"
        self._waiting.clear()
        self._narrator.notice("info", f"{words} taken out of the queue: the history of the prompt has them.")

    def drop_shown(self) -> bool:
        """Prompts that stand in the transcript, and will never be sent; whether there were any."""
        before = len(self)
        self._waiting = deque(prompt for prompt in self._waiting if not prompt.shown)
        return len(self) < before
