"""Joins the parts: takes what Lua says, owns the sessions, and knows every other layer."""

from __future__ import annotations

import logging
import os
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import msgspec

from acp_nvim import __version__, events
from acp_nvim.agents.catalogue import DEMO, Catalogue
from acp_nvim.editor import Editor
from acp_nvim.handlers.calls import Calls
from acp_nvim.handlers.configuring import Configuring
from acp_nvim.handlers.eliciting import Eliciting
from acp_nvim.handlers.keeping import Keeping
from acp_nvim.handlers.method import Methods
from acp_nvim.handlers.permission_rules import PermissionRules
from acp_nvim.handlers.queueing import Queueing
from acp_nvim.handlers.reviewing import Reviewing
from acp_nvim.handlers.sessions_ending import SessionsEnding
from acp_nvim.handlers.sessions_listing import SessionsListing
from acp_nvim.handlers.sessions_taking_up import SessionsTakingUp
from acp_nvim.handlers.signing_in import SigningIn
from acp_nvim.history.keeper import Keeper
from acp_nvim.history.recalled import Recalled
from acp_nvim.host_log import configured_env, start_log
from acp_nvim.limits.batches import FRAME_SECONDS
from acp_nvim.messages import (
    Answer,
    Cancel,
    Config,
    DiskChanged,
    Hello,
    Named,
    NamedTerminal,
    Open,
    Redraw,
    Say,
)
from acp_nvim.permissions.pending import PendingPermissions
from acp_nvim.permissions.rule_book import RuleBook
from acp_nvim.process import umask
from acp_nvim.protocol.dialect import Place
from acp_nvim.review.reviews import Reviews
from acp_nvim.session import failures
from acp_nvim.session.asked_agents import AskedAgents
from acp_nvim.session.cancelling import Patience
from acp_nvim.session.context import context_items
from acp_nvim.session.files import what_followed
from acp_nvim.session.greeting import PeerSettings
from acp_nvim.session.peers import Peers
from acp_nvim.session.prompt import Prompt
from acp_nvim.session.session import Session
from acp_nvim.session.sessionless import Sessionless
from acp_nvim.session.shared import Shared
from acp_nvim.session.sign_ins import SignIns
from acp_nvim.session.troubles import Troubles
from acp_nvim.tasks import Tasks, failed, is_running
from acp_nvim.traffic.learned import LEARNED, secret_values
from acp_nvim.workspace.conflicts import Conflicts
from acp_nvim.workspace.directories import additional
from acp_nvim.workspace.last_seen import LastSeen
from acp_nvim.workspace.open_files import Followed, OpenFiles
from acp_nvim.worktrees.worktree import Worktrees

log = logging.getLogger(__name__)

GONE = ("stopped", "failed")
"""States of a session without an agent."""


class App:
    """The whole host behind an editor; lives in the task group it is given."""

    def __init__(self, editor: Editor, group: anyio.abc.TaskGroup) -> None:
        self._editor = editor
        tasks = self._tasks = Tasks(group, self._on_bug)
        self._troubles = Troubles()
        self._peers = Peers(tasks)
        self._permissions = PendingPermissions()
        self._rules = RuleBook(partial(self._trouble, "no_rules"))
        self._catalogue = Catalogue()
        self._config = Config()
        self._sessions: dict[int, Session] = {}
        self._files = OpenFiles(editor, Conflicts(None), self._followed, self._directories)
        self._reviews = Reviews(self._files, editor.publish, tasks)
        self._files.on_read = self._reviews.witness.buffer_is
        self._reviews.ledger.on_news = self._on_review
        desk = self._sign_ins = SignIns(editor, self._peers, lambda name: self._catalogue.find(name), tasks.spawn)
        self._shared = Shared(
            editor, desk.find, self._peers, self._permissions, self._reviews, self._rules, desk, tasks
        )
        self._peers.ask_user = Sessionless(self._sessions.values).ask
        self._keeper = Keeper(tasks, partial(self._trouble, "no_transcripts"))
        self._seen_directory: Path | None = None
        self._telling: anyio.Event | None = None  # of news of the review; set when that has failed
        self._taking_up = SessionsTakingUp(self._keeper, self._sessions, self._new_session, self.receive, editor, tasks)
        asked = AskedAgents(desk.find, self._peers, tasks)
        self._methods: Methods = {
            "hello": (Hello, self._hello),
            "open": (Open, self._open),
            "prompt": (Say, self._prompt),
            "cancel": (Cancel, self._cancel),
            "stop": (Named, self._stop),
            "answer": (Answer, self._answer),
            "redraw": (Redraw, self._redraw),
            "terminal_open": (NamedTerminal, self._terminal_open),
            "terminal_close": (NamedTerminal, self._terminal_close),
            "disk_changed": (DiskChanged, self._disk_changed),
            **Reviewing(self._reviews, self._sessions.values, tasks).methods,
            **Queueing(self._sessions).methods,
            **Keeping(self._keeper, self._sessions, editor, tasks).methods,
            **PermissionRules(self._rules, editor, tasks).methods,
            **Calls(self._sessions, editor).methods,
            **self._taking_up.methods,
            **SessionsListing(asked, self._peers, editor, tasks).methods,
            **SessionsEnding(self._sessions, self._keeper, asked, self._taking_up.worktree_at, editor, tasks).methods,
            **Configuring(self._sessions).methods,
            **SigningIn(self._sign_ins, self._sessions).methods,
            **Eliciting(self._shared.elicitations, editor, tasks).methods,
        }

    def __repr__(self) -> str:
        return f"<App {list(self._sessions.values())}>"

    def receive(self, method: str, params: Any) -> None:
        """Something that Lua says. Nothing that it says raises, nor a bug of ours in taking it."""
        try:
            if not self._taking_up.defers(method, params):
                shape, act = self._methods[method]
                act(msgspec.convert(params, shape))
        except (KeyError, msgspec.ValidationError) as error:
            words = f"acp_nvim: {method}: {error!r}"
            failed(f"taking {method}", error, lambda _: self._editor.publish(events.Error(text=words, code="host_bug")))
        except Exception as error:
            key = params.get("session") if isinstance(params, dict) else None
            failed(f"taking {method}", error, partial(self.on_bug_in, key))

    def on_bug_in(self, key: object, error: Exception) -> None:
        """Something of ours has failed in the session of that key; beside the sessions, if there is none."""
        session = self._sessions.get(key) if isinstance(key, int) else None
        (session.on_bug if session is not None else self._on_bug)(error)

    def _on_bug(self, error: Exception) -> None:
        """Beside the sessions: each kind is told once."""
        failure = failures.own_bug(error)
        if self._troubles.is_news(failure):
            self._editor.publish(events.Error(text=str(failure), code=failure.code))

    def _hello(self, hello: Hello) -> None:
        try:
            start_log(hello.log_path, configured_env(hello.config))
        except OSError as error:
            words = f"The log {hello.log_path} cannot be written: {error.strerror}. Everything else works."
            self._editor.publish(events.Error(text=words, code="no_log"))
        if self._seen_directory is None:
            self._seen_directory = Path(hello.cache_path, "seen")
            self._files.conflicts = Conflicts(Path(hello.state_path, "conflicts"))
            self._reviews.begin(Path(hello.state_path))
            self._peers.write_ends(self._reviews.moments)
            self._rules.directory = Path(hello.state_path, "permissions")
            self._shared.defaults.directory = Path(hello.state_path)
        config = self._config = hello.config
        LEARNED.learn(secret_values(configured_env(config)))
        self._reviews.max_bytes = int(config.state.megabytes * 1e6)
        self._reviews.judging.save = config.fs.write == "save"
        self._rules.configured = config.permissions.rules
        agents = config.agents if isinstance(config.agents, dict) else {}  # Lua's empty table is a list
        self._catalogue = Catalogue(agents, config.default_agent)
        traffic = Path(hello.log_path).with_suffix("") / "traffic"
        self._peers.settings = PeerSettings(
            config.timeouts.initialize / 1000,
            config.protocol.v2,
            traffic if config.log.traffic else None,
            config.timeouts.idle / 1000,
        )
        worktrees = config.worktree_directory or Path(hello.state_path, "worktrees")
        ours = (hello.state_path, hello.cache_path, os.path.join(os.path.dirname(hello.log_path), "acp_nvim"))
        self._tasks.spawn(umask.narrow_all, ours, Path(worktrees).expanduser())
        self._taking_up.worktrees = Worktrees(Path(worktrees).expanduser())
        self._keeper.configure(Path(hello.state_path, "transcripts"), config.history, configured_env(config))
        for session in self._sessions.values():
            self._configure(session)
        alive = [events.SessionRef(one.key, one.agent, one.place.cwd) for one in self._sessions.values()]
        self._editor.publish(events.Ready(version=__version__, pid=os.getpid(), sessions=alive))

    def _open(self, wanted: Open) -> None:
        self._known(wanted).wake()

    def _known(self, wanted: Open) -> Session:
        return self._sessions.get(wanted.session) or self._new_session(wanted)

    def _new_session(self, wanted: Open, before: Recalled | None = None) -> Session:
        agent = wanted.agent or self._catalogue.default_name()
        there, missing = additional(wanted.cwd, [*self._config.additional_directories, *wanted.additional_directories])
        place = Place(wanted.cwd, additional_directories=there)
        seen = LastSeen(self._seen_directory)
        session = Session(wanted.session, agent, place, self._shared, seen)
        self._sessions[wanted.session] = session
        session.worktree = self._taking_up.worktree_at(wanted.cwd)
        self._configure(session)
        if before is not None:
            session.narrator.transcript.recall(before.blocks)
            session.narrator.facts.title = before.about.title
        for one in missing:
            words = f"There is no directory {one!r}: the session goes on without it (additional_directories)."
            session.narrator.notice("warn", words)
        real = os.path.realpath(wanted.cwd)
        session.narrator.on_told = self._keeper.begin(session.key, agent, real, session.narrator.transcript, before)
        session.changes.prepare()
        if agent == DEMO and wanted.agent is None:
            session.narrator.notice(
                "info",
                "No agent is configured, so this is the bundled demo agent: it has no model. "
                "To work with a real one see :help acp_nvim-agents.",
            )
        return session

    def _configure(self, session: Session) -> None:
        session.requests.files.save = self._config.fs.write == "save"
        session.requests.terminals.permissions.mode = self._config.permissions.terminal
        session.cancelling.patience = Patience(self._config.timeouts.cancel / 1000)
        session.changes.snapshot_wait = self._config.timeouts.snapshot / 1000
        session.turns.background.seconds = self._config.timeouts.background / 1000
        session.requests.files.outside.asks = self._config.fs.outside == "ask"

    def _prompt(self, said: Say) -> None:
        session = self._sessions[said.session]
        prompt = Prompt(said.text, context_items(said.context))
        if prompt.needs_reading():
            session.tasks.spawn(prompt.read)
        session.prompt(prompt)

    def _cancel(self, wanted: Cancel) -> None:
        self._sessions[wanted.session].cancel(wanted.force)

    def _stop(self, wanted: Named) -> None:
        self._sessions[wanted.session].stop()

    def _answer(self, answer: Answer) -> None:
        if not self._permissions.choose(answer.id, answer.option_id):
            log.info("permission %d does not wait any more, or has no option %r", answer.id, answer.option_id)

    def _redraw(self, wanted: Redraw) -> None:
        session = self._sessions[wanted.session]
        session.narrator.redraw(wanted.after)
        if session.queue:
            session.queue.tell(again=True)

    def _terminal_open(self, wanted: NamedTerminal) -> None:
        self._sessions[wanted.session].narrator.open_terminal(wanted.terminal)

    def _terminal_close(self, wanted: NamedTerminal) -> None:
        self._sessions[wanted.session].narrator.close_terminal(wanted.terminal)

    def _disk_changed(self, news: DiskChanged) -> None:
        for path in news.paths:
            self._tasks.spawn(self._files.disk_changed, path)

    def _trouble(self, code: str, words: str) -> None:
        self._editor.publish(events.Error(text=words, code=code))

    def close(self) -> None:
        """The process ends: what is not written yet is written."""
        self._tasks.all_of("closing", self._keeper.close, self._reviews.close)

    def _on_review(self) -> None:
        """Of many news at once the sessions tell once."""
        if not is_running(self._telling):
            self._telling = self._tasks.spawn(self._tell_of_review)

    async def _tell_of_review(self) -> None:
        await anyio.sleep(FRAME_SECONDS)
        self._telling = None
        for session in list(self._sessions.values()):
            with session.tasks.contained("telling of a review"):
                session.narrator.on_facts()

    def _directories(self) -> list[str]:
        """The real paths of all directories in which the agents of all sessions work."""
        return [directory for session in self._sessions.values() for directory in session.roots.directories]

    async def _followed(self, what: Followed) -> None:
        """Told where somebody works on that file; else wherever the user is."""
        there = [one for one in self._sessions.values() if one.roots.contains(what.path)]
        concerned = [one for one in there if one.state not in GONE] or there
        for session in concerned:
            with session.tasks.contained("telling of a file"):
                await session.requests.files.followed(what)  # first: what the agent has seen decides what it may write
        await self._reviews.witness.followed(what)
        if not concerned and what.kind == "conflict":
            self._editor.publish(events.Error(text=what_followed(what), code="conflict"))
