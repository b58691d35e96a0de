"""What the sessions of users and the child sessions of agents have in common: they are shown, reviewed and served."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable
from typing import Any, Final

from acp_nvim.acp import updates
from acp_nvim.acp.answers import Asked
from acp_nvim.acp.dialect import Place
from acp_nvim.connection.peer import AgentPeer
from acp_nvim.connection.peer_session import PeerSession
from acp_nvim.errors import Failure
from acp_nvim.failures import failures
from acp_nvim.jsonrpc.messages import RpcError
from acp_nvim.review.turn.turn_changes import TurnChanges
from acp_nvim.session.block_cancelling import BlockCancelling
from acp_nvim.session.requests.requests import AgentRequests
from acp_nvim.session.services import Services
from acp_nvim.transcript.presenter import Presenter
from acp_nvim.transcript.session_messages import SessionMessages
from acp_nvim.workspace.roots import Roots, WatchedRoots

LABEL_CHARS: Final = 60
"""Characters of a title that name a chat within a message."""


class Conversation(PeerSession):
    """A conversation with an agent; `key` is the number by which the editor knows it.

    `author` is the name under which its changes are reviewed. The agent works below `roots`, from `place` on; its
    changes are looked for in `reviewed`, which contains them (None: these), and the files outside that its calls name.
    """

    def __init__(
        self,
        key: int,
        agent: str,
        author: str,
        place: Place,
        roots: Roots,
        reviewed: WatchedRoots | None,
        presenter: Presenter,
        services: Services,
    ) -> None:
        self.key, self.agent, self.place, self.roots = key, agent, place, roots
        self.reviewed = reviewed or WatchedRoots(roots.directories)
        self._services = services
        self.session_id: str | None = None
        self.peer: AgentPeer | None = None
        self.presenter = presenter
        presenter.is_replaying = lambda: self.is_replaying
        self.tasks = services.tasks.owned_by(self.on_bug)
        self.changes = TurnChanges(key, author, self.reviewed, services.reviews, presenter, self.tasks)
        self.requests = AgentRequests(
            agent,
            roots,
            presenter,
            self.changes,
            services.rules,
            services.permissions,
            services.elicitations,
            services.last_seen(),
            self.publish_status,
            services.guard,
        )
        self.changes.left.on_change = self.publish_status
        self.blocks = BlockCancelling(presenter, self.requests.terminals, self.at_work)
        self.changes.named.on_outside = self.publish_status
        self.had_changes = False
        """Whether the editor was told of changes of it that are to be reviewed."""
        self.messages = SessionMessages(presenter, self.name_of)
        self._warnings = failures.WarningDeduplicator()

    @property
    def label(self) -> str:
        """How messages to the user name the chat: by its title, else by its number."""
        title = (self.presenter.metadata.title or "").strip().partition("\n")[0][:LABEL_CHARS]
        return f"the chat {title!r}" if title else f"chat {self.key}"

    @property
    @abstractmethod
    def state(self) -> str:
        """The state as in the status of the conversation."""

    @abstractmethod
    def at_work(self) -> tuple[AgentPeer, str] | None:
        """Return the agent and the id of the session there if requests about it may be sent; None otherwise."""

    @abstractmethod
    def name_of(self, session_id: str) -> str:
        """Return the name of another session of the agent, for the user."""

    @abstractmethod
    def takes(self, update: updates.Update) -> bool:
        """Whether to show an update: not if it repeats what is shown already."""

    @property
    @abstractmethod
    def is_replaying(self) -> bool:
        """Whether the agent may be repeating an earlier conversation."""

    @abstractmethod
    def publish_status(self) -> None:
        """Publish the status of the conversation, as it is now, to the editor."""

    @abstractmethod
    def cancel(self, force: bool = False) -> None:
        """Cancel what the agent does in it; `force`: also if it does not answer."""

    @property
    def is_open(self) -> bool:
        """Whether the conversation is open at an agent."""
        return self.peer is not None

    def has_call(self, tool_call_id: str) -> bool:
        """Whether the agent has reported that tool call in this conversation."""
        return self.presenter.transcript.call(tool_call_id) is not None

    def redraw(self, after: bool) -> None:
        """Publish everything again that the editor shows of it; `after`: only the part after another host's."""
        self.presenter.redraw(after)
        self.publish_status()
        self.requests.previews.tell_again()

    def on_caught_up(self) -> None:
        """Show what has changed since the last call, when all received messages are handled."""
        self.requests.refusals.caught_up()
        self.presenter.caught_up()

    def on_request(self, method: str, asked: Asked) -> Awaitable[Any]:
        """Serve a request of the agent for a permission, file, terminal or elicitation."""
        return self.requests.serve(asked)

    def on_crowd(self, what: str, most: int) -> RpcError:
        """Return the error for a request if `most` of its kind wait already; notify the user once in a turn."""
        return self.requests.refusals.refuse(what, most)

    def on_trouble(self, failure: Failure, is_news: bool = False) -> None:
        """Report a lost or malformed message, once for each kind; `is_news`: it may have been about a tool call."""
        if is_news:
            self.presenter.transcript.note_lost()
        self.requests.refusals.had_trouble = True
        if self._warnings.is_news(failure):
            self.presenter.notice(failure.severity, str(failure))

    def on_bug(self, error: Exception) -> None:
        """Report a bug of this plugin in the conversation, once for each kind."""
        failure = failures.bug(self.agent, error)
        if self._warnings.is_news(failure):
            self.presenter.failure(failure)
