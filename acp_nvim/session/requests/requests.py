"""Dispatches the requests of a session's agent: permissions, questions, files and terminals."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from acp_nvim.acp.answers import Asked, CommandToRun, FileToRead, FileToWrite, PermissionAsked, TerminalAsked
from acp_nvim.connection.peer import AgentPeer
from acp_nvim.elicitation.pending import PendingElicitations
from acp_nvim.permissions.pending import PendingPermissions
from acp_nvim.permissions.policy import Policy
from acp_nvim.permissions.request.agent_permissions import AgentPermissions
from acp_nvim.permissions.request.bounds import Refusals, Share
from acp_nvim.permissions.request.broker import PermissionBroker
from acp_nvim.permissions.request.previews import Previews
from acp_nvim.permissions.request.subject import SessionPaths
from acp_nvim.process.guarding import Guard
from acp_nvim.review.turn.turn_changes import TurnChanges
from acp_nvim.session.requests.elicitations import Elicitations
from acp_nvim.session.requests.files import AgentFiles
from acp_nvim.session.requests.followed import FollowedFiles
from acp_nvim.session.requests.terminals import AgentTerminals
from acp_nvim.transcript.presenter import Presenter
from acp_nvim.workspace.last_seen import LastSeen
from acp_nvim.workspace.roots import Roots


class AgentRequests:
    """Serves one session's requests below `roots`; `on_permissions` is called when the number of waiting ones changes.

    `on_asked` is called with each valid request before it is served.
    """

    def __init__(
        self,
        agent: str,
        roots: Roots,
        presenter: Presenter,
        changes: TurnChanges,
        rules: Policy,
        pending: PendingPermissions,
        questions: PendingElicitations,
        seen: LastSeen,
        on_permissions: Callable[[], None],
        guard: Guard,
    ) -> None:
        tasks = changes.tasks
        self.where = where = SessionPaths(agent, presenter.cwd, roots)
        self.on_asked: Callable[[Asked], None] = lambda asked: None
        self.serving = 0
        """Number of unanswered requests, without those about existing terminals."""
        self._changes = changes
        self.refusals, self.share = Refusals(agent, presenter), Share()
        watched = changes.log.roots
        self.previews = Previews(presenter, changes.reviews.files, watched, tasks)
        self.permissions = broker = PermissionBroker(
            presenter, pending, rules, roots, self.previews, self.refusals, tasks, on_permissions
        )
        self.granted, self.rejected = broker.grants, broker.rejected
        self._asked = AgentPermissions(presenter, where, broker, self.refusals, changes.named.known)
        self.followed = FollowedFiles(presenter, watched, seen)
        self.files = AgentFiles(presenter, changes, where, seen, broker, self.share)
        self.terminals = AgentTerminals(presenter, where, broker, changes, self.share, self.refusals, guard)
        self.elicitations = Elicitations(agent, presenter, questions, on_permissions, broker, self.refusals)

    @property
    def waiting(self) -> int:
        """Number of permission requests and questions that wait for the user."""
        return self.permissions.count + self.elicitations.count

    def cancel_waiting(self, overrule: bool = False, of_session: bool = False) -> None:
        """Cancel what waits for the user; with `of_session` keep questions that belong to no session."""
        self._changes.tasks.all_of(
            "cancelling what waits for the user",
            partial(self.permissions.cancel, overrule),
            partial(self.elicitations.cancel, overrule, of_session),
        )

    def take_settings_of(self, other: AgentRequests) -> None:
        """Use the user's settings for files and commands that another conversation has."""
        self.files.save, self.files.access.asks = other.files.save, other.files.access.asks
        self.terminals.access.mode = other.terminals.access.mode
        self.terminals.shell = other.terminals.shell

    def begin_agent(self, peer: AgentPeer, fresh: bool) -> None:
        """Begin to serve an agent process; in a `fresh` session it has seen no file."""
        self.permissions.peer = peer
        self.share.room = peer.room
        self.files.quirks = peer.quirks
        self.followed.begin(fresh)
        self.granted.quirks = peer.quirks

    def begin_turn(self, same_commands: bool = False) -> None:
        """Begin a turn, without the rejections, grants and, unless `same_commands`, the commands of the last one."""
        self.rejected.clear()
        self.granted.begin_turn()
        if not same_commands:
            self.terminals.begin_turn()

    def serve(self, asked: Asked) -> Awaitable[Any]:
        """Return an awaitable of the answer. The screen is updated immediately, in the order of the messages."""
        self.on_asked(asked)
        work = self._serve(asked)
        return work if isinstance(asked, TerminalAsked) else self._counted(work)

    async def _counted(self, work: Awaitable[Any]) -> Any:
        self.serving += 1
        try:
            return await work
        finally:
            self.serving -= 1

    def _serve(self, asked: Asked) -> Awaitable[Any]:
        match asked:
            case FileToRead():
                return self._with_names_known(self.files.read(asked))
            case FileToWrite():
                return self.files.write(asked)
            case PermissionAsked():
                return self._asked.ask(asked)
            case CommandToRun():
                return self.terminals.create(asked)
            case TerminalAsked():
                return self.terminals.serve(asked)
            case _:
                assert self.permissions.peer is not None  # it sent the question
                return self.elicitations.ask(asked, self.permissions.peer)

    async def _with_names_known(self, answer: Awaitable[dict[str, Any]]) -> dict[str, Any]:
        """Delay the answer until the named files are known: the agent may change them once it has the answer."""
        answered = await answer
        await self._changes.named.known()
        return answered
