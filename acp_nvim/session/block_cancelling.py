"""Cancels one item of a session, a tool call or a command, while the rest of the turn goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from acp_nvim.acp.dialect import Call
from acp_nvim.acp.fields import shortened
from acp_nvim.acp.terminal import Terminal
from acp_nvim.acp.tool_call import ToolCall
from acp_nvim.connection.calls import send
from acp_nvim.connection.peer import AgentPeer
from acp_nvim.errors import FailureError
from acp_nvim.failures.plain_words import reason
from acp_nvim.jsonrpc.messages import RpcError
from acp_nvim.session.requests.terminals import AgentTerminals
from acp_nvim.transcript.call_views import title
from acp_nvim.transcript.presenter import Presenter

NAME_CHARS: Final = 60
"""Characters of a title or a command in a message: it must fit into a line of the screen. Some are whole scripts."""
WHOLE_TURN: Final = ":AcpCancel stops the whole turn."


class Item:
    """A tool call, or a terminal, that can be cancelled alone; `name` is what the chat calls it."""

    def __init__(self, subject: ToolCall | Terminal, name: str) -> None:
        self.subject = subject
        self.name = repr(shortened(" ".join(name.split()), NAME_CHARS))

    @property
    def is_over(self) -> bool:
        """Whether it has ended, so that there is nothing to cancel any more."""
        return self.subject.finished if isinstance(self.subject, ToolCall) else self.subject.exit is not None


class BlockCancelling:
    """Finds what can be cancelled at a block of a session, and cancels it.

    A tool call or a terminal is cancelled by its agent if that allows it at the moment (ACP version 2, "Cancelling Tool
    Calls", "Cancelling Terminals"); a command that the host runs is ended by the host.
    """

    def __init__(
        self,
        presenter: Presenter,
        terminals: AgentTerminals,
        at_work: Callable[[], tuple[AgentPeer, str] | None],
    ) -> None:
        self._presenter = presenter
        self._terminals = terminals
        self._at_work = at_work
        self.own_commands: dict[str, Callable[[], object]] = {}
        """How to end commands that the plugin runs for itself, by the ids of their terminals."""
        self._asked: list[Item] = []  # those that have not ended

    def find(self, number: int, terminal: int = 0, ours: bool = True) -> Item | str:
        """Return what to cancel at that block, or a sentence that says why nothing can be cancelled there.

        `terminal` is the number of the terminal under the cursor, which comes before its tool call; 0: there is none.
        Without `ours` commands that the host runs are passed over.
        """
        items = list(self._items(number, terminal))
        self._asked = [item for item in self._asked if not item.is_over]
        if not items:
            return f"There is no tool call and no command here that could be cancelled. {WHOLE_TURN}"
        if all(item.is_over for item in items):
            return "This has ended already."
        for item in items:
            if any(item.subject is one.subject for one in self._asked):
                return f"{item.name} is being cancelled already. {WHOLE_TURN}"
            if not item.is_over and self._can_cancel(item.subject, ours):
                return item
        at_work = self._at_work()
        if at_work is None:
            return f"This cannot be cancelled alone. {WHOLE_TURN}"
        return f"Agent {at_work[0].name!r} cannot cancel only this. {WHOLE_TURN}"

    async def cancel(self, item: Item) -> None:
        """Cancel an item that `find` has returned. A refusal is shown in the chat, unless the item has ended."""
        subject, at_work = item.subject, self._at_work()
        self._asked.append(item)
        if isinstance(subject, Terminal) and subject.terminal_id in self.own_commands:
            self.own_commands[subject.terminal_id]()
        elif isinstance(subject, Terminal) and subject.ours:
            self._terminals.end(subject.terminal_id)
        elif at_work is not None and (call := _call(*at_work, subject)) is not None:
            peer = at_work[0]
            try:
                await send(peer, call)
            except FailureError as error:
                self._asked = [one for one in self._asked if one is not item]
                if not item.is_over and peer.alive and not peer.silent:
                    cause = error.__cause__
                    why = reason(cause) if isinstance(cause, RpcError) else error.failure.what.rstrip(".")
                    words = f"Agent {peer.name!r} did not cancel {item.name}{why and ': '}{why}. {WHOLE_TURN}"
                    self._presenter.notice("warn", words)

    def _items(self, number: int, terminal: int) -> Iterator[Item]:
        """Yield what there is at a block: the terminal under the cursor, the tool call, its other terminals."""
        block = self._presenter.transcript.call_block(number)
        if block is None:
            return
        under_cursor = [one for one in block.terminals.values() if one.number == terminal != 0]
        others = [one for one in block.terminals.values() if one not in under_cursor]
        yield from (Item(one, one.command or title(block)) for one in under_cursor)
        yield Item(block.call, title(block))
        yield from (Item(one, one.command or title(block)) for one in others)

    def _can_cancel(self, subject: ToolCall | Terminal, ours: bool) -> bool:
        """Whether that can be cancelled alone; a later agent process may use its id for something else."""
        transcript = self._presenter.transcript
        if isinstance(subject, Terminal) and subject.ours:
            is_running = subject.terminal_id in self.own_commands or self._terminals.is_running(subject.terminal_id)
            return ours and is_running
        if not subject.cancellable or self._at_work() is None:
            return False
        if isinstance(subject, Terminal):
            return transcript.terminals.is_current(subject)
        return transcript.call(subject.tool_call_id) is subject


def _call(peer: AgentPeer, session_id: str, subject: ToolCall | Terminal) -> Call[None] | None:
    if isinstance(subject, Terminal):
        return peer.dialect.cancel_terminal(session_id, subject.terminal_id)
    return peer.dialect.cancel_tool_call(session_id, subject.tool_call_id)
