"""Child sessions, which agents create for their subagents (ACP "Subagents"): they are shown, and never prompted."""

from __future__ import annotations

from collections.abc import Awaitable
from functools import partial
from typing import Any, Final

from msgspec import UNSET

from acp_nvim.acp import updates
from acp_nvim.acp.answers import Asked, FileToRead, TerminalAsked
from acp_nvim.acp.dialect import Place
from acp_nvim.acp.fields import shortened
from acp_nvim.connection.peer import AgentPeer
from acp_nvim.contract import events
from acp_nvim.errors import Failure
from acp_nvim.failures import failures
from acp_nvim.session.connecting import ABOUT
from acp_nvim.session.conversation import Conversation
from acp_nvim.session.services import Services
from acp_nvim.session.subagent_work import SubagentWork, status_of, view_of
from acp_nvim.transcript.presenter import ChildPresenter
from acp_nvim.workspace.roots import Roots

SUBAGENTS: Final = 100
"""Child sessions kept for one session; the oldest that has nothing to do makes room for a new one."""
NESTING: Final = 8
"""Maximum depth of child sessions in each other."""
TITLE_CHARS: Final = 200
"""Characters of a child's title, which is a line in the chat and a name in lists."""


class ParentConversation(Conversation):
    """A conversation in which the agent may create child sessions."""

    subagents: Subagents


class Subagent(ParentConversation):
    """The child session with the id `session_id` at the agent, which has created it in the session `parent`."""

    session_id: str
    presenter: ChildPresenter

    def __init__(self, key: int, session_id: str, parent: ParentConversation, services: Services) -> None:
        self.parent = parent
        self.title: str | None = None
        self.description: str | None = None
        self.block = 0
        """Its block in the transcript of the parent; 0: none."""
        self.has_block = False
        """Whether it is to have one: not if an agent only repeats that it has created it."""
        self.can_cancel = False
        self._cwd: str | None = None
        self._directories: list[str] | None = None
        roots = Roots(parent.roots.directories)
        presenter = ChildPresenter(key, parent.place.cwd, services.editor, self.publish_status)
        super().__init__(key, parent.agent, self.author, parent.place, roots, parent.reviewed, presenter, services)
        self.session_id = session_id
        self.changes.log.parent = parent.changes.log
        parent.changes.left.adopt(self.changes.left)
        self.changes.snapshot_wait = parent.changes.snapshot_wait
        self.requests.take_settings_of(parent.requests)
        self.requests.followed.is_quiet = True
        broker = parent.requests.permissions
        self.work = SubagentWork(
            self.agent, presenter, self.requests, self.changes, lambda: broker.refusing, self._work_changed
        )
        self.subagents = Subagents(self, services)

    def __repr__(self) -> str:
        return f"<Subagent {self.key} of {self.parent.key} {self.state}>"

    @property
    def name(self) -> str:
        """A title for the user: the agent's, else the description, else the id."""
        words = (self.title or "").strip() or (self.description or "").strip() or f"subagent {self.session_id}"
        return shortened(words.partition("\n")[0], TITLE_CHARS)

    @property
    def author(self) -> str:
        """The name for its changes: its own and that of the agent."""
        return f"{self.name if self.title else 'a subagent'} ({self.parent.agent})"

    @property
    def state(self) -> str:
        """The state of the child session as in `SubagentView.state`."""
        return self.work.state(bool(self.requests.waiting)) if self.peer is not None else "stopped"

    @property
    def is_busy(self) -> bool:
        """Whether it needs the process at the moment."""
        mine = self.work.is_reported or self.requests.waiting > 0 or self.requests.terminals.running
        return mine or bool(self.changes.left.running) or self.subagents.is_busy

    def take(self, said: updates.SubagentChanged) -> None:
        """Apply what the agent says of it; absent members keep their values."""
        if said.title is not UNSET:
            self.title = said.title
        if said.description is not UNSET:
            self.description = said.description
        if said.can_cancel is not UNSET:
            self.can_cancel = said.can_cancel
        if said.cwd is not UNSET or said.additional_directories is not UNSET:
            self._cwd = self._cwd if said.cwd is UNSET else said.cwd
            if said.additional_directories is not UNSET:
                self._directories = said.additional_directories
            self._move()
        self.changes.log.agent = self.changes.work.agent = self.author
        if said.state is not UNSET:
            self.work.take_state(said.state, self.name, self.is_replaying)
        self.publish_status()

    def _work_changed(self) -> None:
        self.has_block |= self.work.runs
        self.publish_status()

    def _move(self) -> None:
        """Move it to the directories that the agent reports, as far as they are in those of the parent.

        An agent cannot give a child more than the user has given the parent.
        """
        within = self.parent.roots
        more = within.directories[1:] if self._directories is None else self._directories
        kept = within.inside([self._cwd or self.parent.place.cwd, *more])
        self.roots.move(kept)
        self.place = Place(kept[0], additional_directories=kept[1:])
        self.presenter.cwd = self.requests.where.cwd = kept[0]

    def attach(self, peer: AgentPeer) -> None:
        """Take what the agent sends for it from now on. An id that another session has is not taken."""
        if self.peer is peer:
            return
        if peer.router.sessions.get(self.session_id, self) is not self:
            peer.router.odd(f"it announces the session {self.session_id!r} as a subagent, which is another session")
            return
        self.peer = peer
        self.changes.begin_agent(peer.pid, peer.mark, peer.began)
        self.requests.begin_agent(peer, fresh=True)
        peer.router.adopt(self.session_id, self, parent=self.parent.session_id)
        self.subagents.attach(peer)
        self.publish_status()

    def at_work(self) -> None:
        """Return None: no request about a child session may be sent, whatever the agent offers for others."""

    def name_of(self, session_id: str) -> str:
        """Return the name of another session of the agent, for the user."""
        if session_id == self.parent.session_id:
            return "the agent that created this subagent"
        return self.subagents.named(session_id) or self.parent.name_of(session_id)

    def takes(self, update: updates.Update) -> bool:
        """Whether to show an update: not if it repeats what is shown already."""
        return self.parent.takes(update)

    @property
    def is_replaying(self) -> bool:
        """Whether the agent may be repeating an earlier conversation."""
        return self.parent.is_replaying

    def on_update(self, update: updates.Update) -> None:
        """Show an update of the agent; it begins the child's work unless that was cancelled."""
        if isinstance(update, updates.SubagentChanged):
            self.subagents.take(update)
        elif isinstance(update, updates.StateChanged):
            self.work.take_state(update, self.name, self.is_replaying)
            self.publish_status()
        elif isinstance(update, updates.SessionMessage | updates.SessionMessageChunk):
            if self.takes(update):
                self.messages.take(update)
        elif self.takes(update):
            if not (type(update) in ABOUT or self.is_replaying):
                self.work.heard(update, self.name)
            self.presenter.update(update)

    def on_request(self, method: str, asked: Asked) -> Awaitable[Any]:
        """See `Conversation.on_request`; the child works, as it wants something that may change files, or the user."""
        if not isinstance(asked, FileToRead | TerminalAsked):
            self.work.asked(self.name)
        return super().on_request(method, asked)

    def on_caught_up(self) -> None:
        """See `Conversation.on_caught_up`."""
        super().on_caught_up()
        self.work.caught_up()

    def on_idle(self) -> None:
        """Leave the idle process, which is stopped."""
        self.leave()

    def on_gone(self, _failure: Failure | None) -> None:
        """Leave the process, which has ended; the parent reports why."""
        self.leave()

    def leave(self) -> None:
        """End what it does, as the agent is gone or the session was left; its conversation stays."""
        if self.peer is None:
            return
        self.work.reported = None
        self.tasks.all_of(
            "leaving a subagent",
            partial(self.work.end, "error"),
            self.requests.terminals.close,
            self.requests.cancel_waiting,
            self.subagents.leave,
            self._forget_peer,
        )

    def _forget_peer(self) -> None:
        self.peer = None
        self.publish_status()

    def cancel(self, force: bool = False) -> None:
        """Cancel its work, if the agent allows it for this child (its `capabilities.cancel`)."""
        if (why := self.why_not_cancelled) is not None:
            self.presenter.failure(why)
        elif self.peer is not None:
            self.refuse()
            self.peer.notify(*self.peer.dialect.cancel(self.session_id))
            self.presenter.notice("info", "The agent was asked to stop this subagent.")

    @property
    def why_not_cancelled(self) -> Failure | None:
        """The reason why it cannot be cancelled alone; None if it can."""
        if self.peer is None or not self.peer.alive:
            return failures.not_cancelled(self.agent, self.name, "gone")
        works = self.is_busy or self.work.runs or self.state == "unknown"
        why = "idle" if not works else "not offered" if not self.can_cancel else "asked already"
        is_possible = works and self.can_cancel and not self.work.is_cancelled
        return None if is_possible else failures.not_cancelled(self.agent, self.name, why)

    def cancel_rest(self) -> tuple[int, int]:
        """Cancel it between turns of the parent, and its own children. Return as `Subagents.cancel_rest`."""
        commands, working = self.requests.terminals.end_all(), 0
        if self.state in ("running", "waiting"):
            working = 1
            if self.why_not_cancelled is None:
                self.cancel()
            else:
                self.work.refuse()
        below = self.subagents.cancel_rest()
        return commands + below[0], working + below[1]

    def refuse(self) -> None:
        """Cancel its questions and commands: the user has cancelled it, or its parent."""
        self.work.refuse()
        self.subagents.refuse()

    def begin_turn(self) -> None:
        """Note that the user has prompted the parent."""
        self.work.prompted()
        self.subagents.begin_turn()

    def end_turn(self) -> None:
        """Note that the turn of the parent has ended: a child that reports no state has ended with it."""
        if not self.work.is_reported:
            self.work.end("end_turn")
        self.subagents.end_turn()

    def discard(self) -> None:
        """Forget it, as the transcript of its parent no longer has it, or is too long."""
        self.leave()
        self.changes.forget()
        self.subagents.discard()

    def publish_status(self) -> None:
        """Show it in the transcript of its parent, which announces it to the editor, and publish its own status."""
        self.parent.subagents.show(self)
        self.presenter.publish(events.Status(session=self.key, status=status_of(self, self.work, self.name)))


class Subagents:
    """The child sessions of one session, which its agent has created, by their ids."""

    def __init__(self, parent: ParentConversation, services: Services) -> None:
        self._parent = parent
        self._services = services
        self._children: dict[str, Subagent] = {}
        self._announced: set[str] = set()  # since the connection began

    def __repr__(self) -> str:
        return f"<Subagents {list(self._children.values())}>"

    @property
    def is_busy(self) -> bool:
        """Whether one of them needs the process at the moment."""
        return any(child.is_busy for child in self._children.values())

    def take(self, said: updates.SubagentChanged) -> None:
        """Create the child that the agent announces, or apply what it says of a known one."""
        is_shown = self._parent.takes(said)
        if (child := self._children.get(said.session_id) or self._create(said.session_id)) is None:
            return
        self._announced.add(said.session_id)
        child.has_block |= is_shown
        child.take(said)
        if self._parent.peer is not None:
            child.attach(self._parent.peer)

    def _create(self, session_id: str) -> Subagent | None:
        if _depth(self._parent) >= NESTING or not self._has_room():
            self._parent.on_trouble(failures.too_many_subagents(self._parent.agent, SUBAGENTS))
            return None
        child = Subagent(self._services.children.new_key(), session_id, self._parent, self._services)
        if self._parent.requests.permissions.refusing:
            child.refuse()  # the user has cancelled what creates it
        self._children[session_id] = self._services.children.by_key[child.key] = child
        return child

    def _has_room(self) -> bool:
        if len(self._children) < SUBAGENTS:
            return True
        parent = self._parent
        for oldest in self._children.values():
            if not (oldest.is_busy or oldest.work.runs or oldest.presenter.is_shown):
                self._discard(oldest)
                parent.on_trouble(failures.forgotten_subagents(parent.agent, SUBAGENTS))
                parent.presenter.publish(events.SubagentForgotten(session=parent.key, subagent=oldest.key))
                return True
        return False

    def _discard(self, child: Subagent) -> None:
        del self._children[child.session_id]
        self._services.children.by_key.pop(child.key, None)
        if child.peer is not None:
            child.peer.router.forget(child.session_id)
        child.discard()

    def show(self, child: Subagent) -> None:
        """Show a child to the editor, and in the transcript of the parent if it has a block there."""
        if self._children.get(child.session_id) is child:
            presenter = self._parent.presenter
            view = view_of(child, child.work, child.name, child.description, child.can_cancel)
            told = events.Subagent(session=self._parent.key, block=0, subagent=view)
            if child.has_block:
                told = presenter.transcript.subagent(view, child.block)
                child.block = told.block
            presenter.publish(told)

    def at_block(self, block: int) -> Subagent | None:
        """Return the child that the transcript of the parent shows at that block."""
        return next((one for one in self._children.values() if 0 < one.block == block), None)

    def named(self, session_id: str) -> str | None:
        """Return the name of the child with that id; None if there is none."""
        return child.name if (child := self._children.get(session_id)) is not None else None

    def attach(self, peer: AgentPeer) -> None:
        """Attach the children that were announced while the parent was being opened."""
        for child in [one for id_, one in self._children.items() if id_ in self._announced]:
            child.attach(peer)

    def leave(self) -> None:
        """Leave the agent with all children; their conversations stay."""
        self._announced.clear()
        for child in list(self._children.values()):
            child.leave()

    def discard(self) -> None:
        """Forget all children, as their parent is over."""
        for child in list(self._children.values()):
            self._discard(child)

    def refuse(self) -> None:
        """Cancel the questions and commands of all children, as their parent is cancelled."""
        for child in self._children.values():
            if child.peer is not None:
                child.refuse()

    def cancel_rest(self) -> tuple[int, int]:
        """Cancel the work, questions and commands of all children at any depth, between turns of the user's session.

        Return how many commands were ended, and how many children worked.
        """
        ended = [child.cancel_rest() for child in self._children.values() if child.peer is not None]
        return sum(commands for commands, _ in ended), sum(working for _, working in ended)

    def replayed(self) -> None:
        """Begin the work of children that the agent has reported as running while it replayed the conversation."""
        for child in self._children.values():
            child.work.replayed(child.name)
            child.subagents.replayed()

    def begin_turn(self) -> None:
        """Tell all children that the user has prompted the parent."""
        for child in self._children.values():
            child.begin_turn()

    def end_turn(self) -> None:
        """Tell all children that the turn of the parent has ended."""
        for child in self._children.values():
            child.end_turn()


def _depth(conversation: Conversation) -> int:
    return 1 + _depth(conversation.parent) if isinstance(conversation, Subagent) else 0
