"""The composition root: creates all parts, owns the sessions, and passes Lua's messages to their handlers."""

from __future__ import annotations

import logging
import os
from collections import ChainMap
from collections.abc import Awaitable, Coroutine
from functools import partial
from inspect import iscoroutine
from pathlib import Path
from typing import Any, Final

import anyio
import anyio.abc
import msgspec

from acp_nvim import __version__, decoders, pythons
from acp_nvim.acp.dialect import Place
from acp_nvim.acp.elicitation import ElicitationAsked
from acp_nvim.acp.schema_common import CreateElicitationResponse
from acp_nvim.agents.catalogue import DEMO, Catalogue
from acp_nvim.agents.first_agent import FirstAgent
from acp_nvim.connection.peer import AgentPeer
from acp_nvim.connection.peers import AgentLeases, Peers, nobody
from acp_nvim.connection.startup import PeerSettings
from acp_nvim.contract import events, messages
from acp_nvim.contract.editor import Editor
from acp_nvim.contract.mcp_messages import ProjectServersAnswer, ToolAnswered
from acp_nvim.contract.messages import MESSAGES, Handlers
from acp_nvim.contract.settings import Config
from acp_nvim.failures import failures
from acp_nvim.failures.failures import WarningDeduplicator
from acp_nvim.history.records import Recalled
from acp_nvim.history.store import TranscriptStore
from acp_nvim.host_log import configured_env, start_log
from acp_nvim.limits import FRAME_SECONDS
from acp_nvim.mcp.servers import McpServers
from acp_nvim.permissions.pending import PendingPermissions
from acp_nvim.permissions.policy import Policy
from acp_nvim.process import umask
from acp_nvim.process.child import ChildProcesses
from acp_nvim.review.records import Decided
from acp_nvim.review.reviews import Reviews
from acp_nvim.rpc.chat import ChatHandlers
from acp_nvim.rpc.history import HistoryHandlers
from acp_nvim.rpc.providers import ProviderHandlers
from acp_nvim.rpc.requests import ElicitationHandlers, permission_handlers, sign_in_handlers
from acp_nvim.rpc.resume import ResumeHandlers
from acp_nvim.rpc.review import review_handlers
from acp_nvim.rpc.session_lists import SessionListHandlers
from acp_nvim.rpc.sessions import SessionHandlers
from acp_nvim.session.auth.sign_ins import SignIns
from acp_nvim.session.cancelling import Patience
from acp_nvim.session.journal import Journal
from acp_nvim.session.kept_defaults import KeptDefaults
from acp_nvim.session.requests.followed import what_followed
from acp_nvim.session.services import FIRST_CHILD_KEY, Services
from acp_nvim.session.session import Session
from acp_nvim.session.subagents import ParentConversation
from acp_nvim.snapshots.renames import Naming
from acp_nvim.tasks import Tasks, failed, is_running
from acp_nvim.traffic.masking import LEARNED, secret_values
from acp_nvim.workspace.conflicts import Conflicts
from acp_nvim.workspace.last_seen import LastSeen
from acp_nvim.workspace.open_files import Followed, OpenFiles
from acp_nvim.workspace.roots import additional
from acp_nvim.workspace.saves import Saves
from acp_nvim.worktrees.worktree import Worktrees

TELLING_PAUSE: Final = 20
"""Pause between two times that all statuses are published, as a multiple of its duration: thousands of files count."""

log = logging.getLogger(__name__)

GONE = ("stopped", "failed")
"""States of a session without an agent."""
WAITING = ("failed", "starting")
"""States of sessions that wait for their agent to open them, or for a sign-in."""


class App:
    """The host of an editor that has said `hello`; all of its tasks run in the task group.

    `processes` starts its agents; `first` is one that was started before.
    """

    _telling: anyio.Event | None = None
    """The end of the task that publishes the statuses after a review."""
    _telling_took = 0.0
    """Seconds that the last of these tasks took to publish them."""

    def __init__(
        self,
        editor: Editor,
        group: anyio.abc.TaskGroup,
        processes: ChildProcesses,
        hello: messages.Hello,
        first: FirstAgent | None = None,
    ) -> None:
        state = Path(hello.state_path)
        self._editor = editor
        self._start_log(hello)
        for words in pythons.shortcomings():
            log.warning("%s", words)
        tasks = self._tasks = Tasks(group, self._on_bug)
        self.warnings = WarningDeduplicator()
        self.peers = Peers(tasks, processes, editor.next_batch, first)
        self.permissions = PendingPermissions()
        self._rules = Policy(state / "permissions", partial(self._trouble, "no_rules"))
        self._catalogue = Catalogue()
        self._config = Config()
        self.sessions: dict[int, Session] = {}
        self._early: list[tuple[str, Any]] = []  # messages that arrived before the journal was read
        self._journal = Journal(tasks, state / "journal", hello.instance, self._receive_early)
        self._files = OpenFiles(
            editor, Conflicts(state / "conflicts"), Saves(state / "saves"), self._followed, self._directories
        )
        self.reviews = Reviews(state, self._files, editor.publish, tasks)
        processes.guard.ends = self.reviews.journal.ends
        self.reviews.ledger.on_news, self._files.on_read = self._on_review, self.reviews.tracker.buffer_read
        self.reviews.tracker.on_decided, self.reviews.tracker.on_renamed = self._on_decided, self._on_renamed
        self.mcp = McpServers(editor, tasks, state, hello.temp_path)
        desk = self.sign_ins = SignIns(editor, self.peers, lambda name: self._catalogue.find(name), tasks.spawn)
        self._services = Services(
            editor,
            desk.find,
            self.peers,
            processes.guard,
            self.permissions,
            self.reviews,
            self._rules,
            desk,
            tasks,
            lambda: LastSeen(Path(hello.cache_path, "seen")),
            self.mcp,
            KeptDefaults(state),
        )
        by_key: list[Any] = [self._services.children.by_key, self.sessions]
        self.conversations: ChainMap[int, ParentConversation] = ChainMap(*by_key)
        self.peers.ask_user = self._ask_unscoped
        self.transcripts = TranscriptStore(tasks, state / "transcripts", partial(self._trouble, "no_transcripts"))
        self._resume = ResumeHandlers(
            self.transcripts, self.sessions, self.new_session, self.receive, editor, tasks, _worktrees(hello)
        )
        agents = AgentLeases(desk.find, self.peers, tasks)
        handlers = self._handlers(agents)
        self.methods = {name: (message, handlers[message]) for name, message in MESSAGES.items()}
        with tasks.contained("taking the settings"):
            self._take_settings(hello)

    def __repr__(self) -> str:
        return f"<App {list(self.sessions.values())}>"

    def _handlers(self, agents: AgentLeases) -> Handlers:
        editor, tasks = self._editor, self._tasks
        return {
            messages.Hello: self._hello,
            messages.Open: self._open,
            messages.DiskChanged: self._disk_changed,
            ToolAnswered: lambda news: self.mcp.answered(news.call, news.answer),
            ProjectServersAnswer: self._project_servers,
            **self._resume.handlers,
            **ChatHandlers(self.sessions, self.conversations, editor).handlers,
            **permission_handlers(self.permissions, self._rules, editor),
            **ElicitationHandlers(self._services.elicitations, editor, tasks).handlers,
            **sign_in_handlers(self.sign_ins, self.sessions),
            **review_handlers(self.reviews, self.conversations.values, tasks),
            **HistoryHandlers(
                self.transcripts, self.conversations, editor, partial(self._trouble, "no_history")
            ).handlers,
            **ProviderHandlers(agents, editor).handlers,
            **SessionListHandlers(self.transcripts, agents, self.peers, editor, tasks).handlers,
            **SessionHandlers(
                self.sessions, self.transcripts, self._journal, agents, self._resume.worktree_at, editor
            ).handlers,
        }

    def receive(self, method: str, params: Any) -> None:
        """Handle a message of Lua. Never raises: a malformed message or a bug is reported to the user."""
        try:
            if self._journal.is_reading:
                self._early.append((method, params))
            elif not (self._is_late(params) or self._resume.defers(method, params)):
                message, handle = self.methods[method]
                work = handle(decoders.convert(params, message))
                if iscoroutine(work):
                    self._tasks.spawn(self._finish, method, work)
        except (KeyError, msgspec.ValidationError) as error:
            not_taken(self._editor, method, error)
        except Exception as error:
            key = params.get("session") if isinstance(params, dict) else None
            failed(f"taking {method}", error, partial(self.on_bug_in, key))

    def _is_late(self, params: Any) -> bool:
        """Whether a message is about a child session that is not kept any more, which Lua did not know yet."""
        key = params.get("session") if isinstance(params, dict) else None
        return isinstance(key, int) and key > FIRST_CHILD_KEY and key not in self.conversations

    async def _finish(self, method: str, work: Coroutine[Any, Any, object]) -> None:
        with self._tasks.contained(f"taking {method}"):
            await work

    def on_bug_in(self, key: object, error: Exception) -> None:
        """Report a bug of the host in the session with that key; outside of the sessions if there is none."""
        session = self.conversations.get(key) if isinstance(key, int) else None
        (session.on_bug if session is not None else self._on_bug)(error)

    def _on_bug(self, error: Exception) -> None:
        """Report a bug outside of the sessions, once for each kind."""
        failure = failures.own_bug(error)
        if self.warnings.is_news(failure):
            self._editor.publish(events.Error(text=str(failure), code=failure.code))

    def _start_log(self, hello: messages.Hello) -> None:
        try:
            start_log(hello.log_path, configured_env(hello.config))
        except OSError as error:
            words = f"The log {hello.log_path} cannot be written: {error.strerror}. Everything else works."
            self._trouble("no_log", words)

    def _hello(self, hello: messages.Hello) -> None:
        self._start_log(hello)
        self._take_settings(hello)

    def _take_settings(self, hello: messages.Hello) -> None:
        config = self._config = hello.config
        LEARNED.learn(secret_values(configured_env(config)))
        self.reviews.workspaces.max_bytes = int(config.state.megabytes * 1e6)
        self.reviews.decisions.save = config.fs.write == "save"
        self._rules.configured = config.permissions.rules
        self.mcp.is_enabled, self.mcp.configured = config.mcp.enabled, config.mcp_servers
        self.mcp.projects.is_asking = config.project_mcp_servers == "ask"
        agents = config.agents if isinstance(config.agents, dict) else {}  # Lua's empty table is a list
        self._catalogue = Catalogue(agents, config.default_agent)
        traffic = Path(hello.log_path).with_suffix("") / "traffic"
        self.peers.settings = PeerSettings(
            config.timeouts.initialize / 1000,
            config.protocol.v2,
            config.protocol.draft_transports,
            traffic if config.log.traffic else None,
            config.timeouts.idle / 1000,
        )
        ours = (hello.state_path, hello.cache_path, os.path.join(os.path.dirname(hello.log_path), "acp_nvim"))
        self._resume.worktrees = _worktrees(hello)
        self._tasks.spawn(umask.narrow_all, ours, self._resume.worktrees.directory)
        self.transcripts.configure(config.history, configured_env(config))
        self._services.children.number_from(hello.last_subagent)
        for session in self.sessions.values():
            self._configure(session)
        for child in self._services.children.by_key.values():
            child.requests.take_settings_of(child.parent.requests)
        alive = [events.SessionRef(one.key, one.agent, one.place.cwd) for one in self.sessions.values()]
        self._editor.publish(events.Ready(version=__version__, pid=os.getpid(), sessions=alive))

    def _ask_unscoped(self, peer: AgentPeer, asked: ElicitationAsked) -> Awaitable[CreateElicitationResponse]:
        """Show a question that belongs to no session in the newest chat of the agent, or in one that waits for it.

        Returns an awaitable of the answer, which is `cancel` if there is none.
        """
        homes = [one for one in self.sessions.values() if one.agent == peer.name and one.place.cwd == peer.cwd]
        if not homes:
            return nobody(peer, asked)
        home = max(homes, key=lambda one: (WAITING.index(one.state) if one.state in WAITING else -1, one.key))
        return home.requests.elicitations.ask(asked, peer)

    def _receive_early(self) -> None:
        early, self._early = self._early, []
        for method, params in early:
            self.receive(method, params)

    def _open(self, wanted: messages.Open) -> None:
        if wanted.session <= FIRST_CHILD_KEY:  # the others are opened by agents
            (self.sessions.get(wanted.session) or self.new_session(wanted)).wake()

    def new_session(self, wanted: messages.Open, before: Recalled | None = None) -> Session:
        """Create a session with the key that the editor chose; `before` is the conversation that it continues."""
        agent = wanted.agent or self._catalogue.default_name()
        there, missing = additional(wanted.cwd, [*self._config.additional_directories, *wanted.additional_directories])
        place = Place(wanted.cwd, additional_directories=there)
        journal = self._journal.of(wanted.session, wanted.returned)
        session = Session(wanted.session, agent, place, self._services, journal)
        self.sessions[wanted.session] = session
        session.worktree = self._resume.worktree_at(wanted.cwd)
        self._configure(session)
        if before is not None:
            session.presenter.transcript.recall(before.blocks)
            session.presenter.metadata.title = before.about.title
        for one in missing:
            words = f"There is no directory {one!r}: the session goes on without it (additional_directories)."
            session.presenter.notice("warn", words)
        real = os.path.realpath(wanted.cwd)
        session.presenter.on_told = self.transcripts.begin(
            session.key, agent, real, session.presenter.transcript, before
        )
        session.changes.prepare()
        for prompt in session.queue.restore():
            prompt.reading = session.tasks.spawn(prompt.read)
        if agent == DEMO and wanted.agent is None:  # the editor has found no other one
            session.presenter.notice(
                "info",
                "No agent is installed or configured, so this is the bundled demo agent: it has no model. "
                "To work with a real one see :help acp_nvim-agents.",
            )
        return session

    def _configure(self, session: Session) -> None:
        session.requests.files.save = self._config.fs.write == "save"
        session.requests.terminals.access.mode = self._config.permissions.terminal
        session.requests.terminals.shell = session.after_turn.checks.shell = self._config.shell
        session.cancelling.patience = Patience(self._config.timeouts.cancel / 1000)
        session.changes.snapshot_wait = self._config.timeouts.snapshot / 1000
        session.turns.background.seconds = self._config.timeouts.background / 1000
        session.after_turn.settings = self._config.after_turn
        session.changes.decided.enabled = self._config.tell_agent
        session.after_turn.checks.seconds = self._config.timeouts.after_turn / 1000
        session.requests.files.access.asks = self._config.fs.outside == "ask"

    def _disk_changed(self, news: messages.DiskChanged) -> None:
        for path in news.paths:
            self._tasks.spawn(self._files.disk_changed, path)

    async def _project_servers(self, news: ProjectServersAnswer) -> None:
        try:
            await self.mcp.projects.answered(news.id, news.answer)
        except OSError as error:
            self._trouble("no_trust", f"The answer about the project's MCP servers cannot be kept: {error.strerror}.")

    def _trouble(self, code: str, words: str) -> None:
        self._editor.publish(events.Error(text=words, code=code))

    def close(self) -> None:
        """Write everything that is not written yet: the process ends."""
        self._tasks.all_of(
            "closing", self.mcp.listener.stop, self.transcripts.close, self.reviews.close, self._journal.close
        )

    def _on_review(self) -> None:
        """Publish the statuses of all sessions soon, once for many changes of a review."""
        if not is_running(self._telling):
            self._telling = self._tasks.spawn(self._tell_of_review)

    def _on_decided(self, decided: Decided) -> None:
        """Have the sessions whose agents have changed a file told what the user has decided on it."""
        sessions = [one for one in self.sessions.values() if one.key in decided.sessions]
        for session in sessions or self.sessions.values():
            if session.key in decided.sessions or session.roots.contains(decided.path):
                session.changes.decided.take(decided)

    def _on_renamed(self, renamed: Naming) -> None:
        """Have what the sessions are to be told named as the files are now."""
        for session in self.sessions.values():
            session.changes.decided.rename(renamed)

    async def _tell_of_review(self) -> None:
        await anyio.sleep(max(FRAME_SECONDS, self._telling_took * TELLING_PAUSE))
        self._telling = None
        began = anyio.current_time()
        changed = self.reviews.ledger.sessions()
        for session in list(self.conversations.values()):
            if session.key in self.sessions or session.key in changed or session.had_changes:
                session.had_changes = session.key in changed
                with session.tasks.contained("telling of a review"):
                    session.publish_status()
        self._telling_took = anyio.current_time() - began

    def _directories(self) -> list[str]:
        """Return the real paths of all directories in which agents work."""
        return [directory for session in self.sessions.values() for directory in session.roots.directories]

    async def _followed(self, what: Followed) -> None:
        """Report a change of a file to the sessions that work on it; a conflict also if there are none."""
        there = [
            one
            for one in self.conversations.values()
            if one.roots.contains(what.path) or one.reviewed.is_outside(what.path)
        ]
        concerned = [one for one in there if one.state not in GONE] or there
        for session in concerned:
            with session.tasks.contained("telling of a file"):
                await session.requests.followed.take(what)  # first: an agent may only write what it has seen
        await self.reviews.tracker.followed(what)
        if not concerned and what.kind == "conflict":
            self._editor.publish(events.Error(text=what_followed(what), code="conflict"))


def _worktrees(hello: messages.Hello) -> Worktrees:
    return Worktrees(Path(hello.config.worktree_directory or Path(hello.state_path, "worktrees")).expanduser())


def not_taken(editor: Editor, method: str, error: Exception) -> None:
    """Report a message of Lua that is malformed."""
    words = f"acp_nvim failed to take {method!r} of its Lua side. Please report it with the log (:AcpLog)."
    failed(f"taking {method}", error, lambda _: editor.publish(events.Error(text=words, code="host_bug")))
