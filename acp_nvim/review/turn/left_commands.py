"""Knows which commands of an agent run on after their turn, or after a cancel: by the processes that they started."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Final

import anyio
import anyio.to_thread

from acp_nvim.acp.tool_call import ToolCall
from acp_nvim.contract import events
from acp_nvim.evidence.activities import NEVER, Activity
from acp_nvim.evidence.work import Work
from acp_nvim.lazy import pattern
from acp_nvim.limits import KILL_SECONDS, TERM_GRACE_SECONDS
from acp_nvim.process import group
from acp_nvim.process.started import Started, can_see, running, started_since, wait_for_end, writes
from acp_nvim.tasks import Tasks
from acp_nvim.transcript.presenter import Presenter

GRACE_SECONDS: Final = 1.0
"""Time for a command to end, after its turn or a cancel, before the user is told that it runs on."""
SHOWN_SECONDS: Final = 600.0
"""Time for which a cancelled command is shown as background work, as a silent background turn is; it may run longer."""
END_POLL_SECONDS: Final = 0.05
"""Interval between two looks at whether commands that were sent a signal have ended."""
TOLD_LATE_NS: Final = 5_000_000_000
"""Time by which a busy host may read late that a command has begun: unlike files, processes have words to compare."""
SHELLS: Final = frozenset({"sh", "bash", "dash", "zsh", "fish", "ksh", "busybox"})
WORD: Final = pattern(r"[\w./@+-]{2,}")
"""Words of a command line, without what a shell interprets."""
DETACHES: Final = pattern(r"(?<![&<>])&(?![&>])|\b(?:nohup|setsid|disown|daemonize)\b")
"""In a command line that may leave something running: one too many is only doubted."""
TOLD_CHARS: Final = 10_000
"""Of a command line, to be compared with those of processes."""


class LeftCommand:
    """A command that runs on, with its processes as they were found last."""

    def __init__(self, activity: Activity, call: ToolCall | None, is_cancelled: bool) -> None:
        self.activity = activity
        self.call = call
        self.is_cancelled = is_cancelled
        self.is_shown = False
        """Whether the user sees it as background work."""
        self.until = activity.left or activity.time.ended
        """When its agent has reported its end (nanoseconds since 1970); None: it has not."""
        self.processes: dict[int, Started] = {}
        self.known: set[int] = set()
        """The ids of all its processes so far, and those of their groups and sessions."""
        self.block = 0
        """Of the notice about it."""
        self._told = set(WORD.findall(activity.told[:TOLD_CHARS] or activity.words))
        self._names = {os.path.basename(word) for word in self._told}

    @property
    def words(self) -> str:
        """The beginning of its command line, quoted, for messages."""
        return self.activity.why.removeprefix("by ")

    def may_have_started(self, process: Started, late: int = 0) -> bool:
        """Return whether the process began while the command ran, as far as its agent has told.

        The agent may have told of the command up to `late` nanoseconds late. A process that has lost its parent may
        have begun after the end: it was started by one that had not.
        """
        if process.began + late < self.activity.time.began:
            return False
        return self.until is None or bool(self.known) or process.has_lost_parent or process.began <= self.until

    def is_about(self, process: Started) -> bool:
        """Return whether the process has the command's words: it is its shell, or one of its programs."""
        if {os.path.basename(one) for one in process.arguments[:2]} & self._names:
            return True
        line = " ".join(process.arguments)
        return 2 * sum(word in line for word in self._told) > len(self._told)

    def take(self, process: Started, agent_pid: int | None) -> None:
        """Add a process of the command; its group and session are the command's, too, if not those of `agent_pid`."""
        self.processes[process.pid] = process
        self.known |= {process.pid, process.group, process.session} - {agent_pid}


def is_shell_line(process: Started) -> bool:
    """Return whether the process is a shell that runs one line."""
    name, *options = process.arguments[:3] or [""]
    return os.path.basename(name) in SHELLS and any(one[:1] == "-" and one[-1:] == "c" for one in options)


def assign(found: Iterable[Started], commands: Sequence[LeftCommand], agent: int | None) -> list[Started]:
    """Give each process to the command that has started it; return those of no command that run a line of a shell.

    Helpers of the agent, such as a language server that it happens to start meanwhile, belong to no command: they are
    its own children, and have other words. `agent` is the agent's process.
    """
    for command in commands:
        command.processes = {}
    others = []
    for process in found:
        if process.pid == agent:
            continue
        kin = {process.parent, process.group, process.session} - {agent}
        likely = [one for one in reversed(commands) if one.may_have_started(process)]
        likely += [one for one in commands if one not in likely and one.may_have_started(process, TOLD_LATE_NS)]
        owner = next((one for one in commands if process.parent in one.known - {agent}), None)
        owner = owner or next((one for one in likely if one.is_about(process)), None)
        owner = owner or next((one for one in commands if kin & one.known), None)
        if owner is None and likely and (process.has_lost_parent or is_shell_line(process)):
            owner = likely[0]
        if owner is not None:
            owner.take(process, agent)
        elif is_shell_line(process):
            others.append(process)
    return others


class LeftCommands:
    """The commands of a session that run on; `on_end` is called when one has ended, `on_change` when one is shown.

    `works` are those of all sessions.

    Where processes cannot be found (macOS, agents at an address), a cancelled command may run until its agent reports
    the end, or the next turn has ended; what a shell puts in the background may run until the next turn has ended.
    """

    def __init__(
        self,
        work: Work,
        works: Sequence[Work],
        presenter: Presenter,
        tasks: Tasks,
        on_end: Callable[[LeftCommand], None],
    ) -> None:
        self.grace = GRACE_SECONDS
        self.on_end = on_end
        self.on_change: Callable[[], None] = lambda: None
        self.running: list[LeftCommand] = []
        self.children: list[LeftCommands] = []
        """Those of the child sessions."""
        self._work = work
        self._works = works
        self._parent: LeftCommands | None = None
        self._none_runs = anyio.Event()
        self._none_runs.set()
        self._presenter = presenter
        self._tasks = tasks
        self._agent: tuple[int | None, str] = (None, "")
        self._unseen: list[LeftCommand] = []
        self._cancelled: list[Activity] | None = None
        """The commands that were open when the user cancelled the turn; None: that has not happened."""
        self._seen: list[LeftCommand] = []  # those of them that had processes
        self._looking = anyio.Lock()
        work.writes = self._writes

    def begin_agent(self, pid: int | None, mark: str) -> None:
        """Look for the processes of that agent from now on; `pid` is None if it is none of ours."""
        self._agent = pid, mark

    def adopt(self, child: LeftCommands) -> None:
        """Add the commands of a child session: `:AcpCancel!` in this one ends them, too."""
        child._parent = self
        self.children.append(child)

    async def wait(self) -> None:
        """Wait until none runs on any more, as the session is over."""
        await self._none_runs.wait()
        if self._parent is not None:
            self._parent.children.remove(self)

    def with_children(self) -> Iterator[LeftCommands]:
        """Yield this, and those of all child sessions below."""
        yield self
        for one in self.children:
            yield from one.with_children()

    @property
    def is_busy(self) -> bool:
        """Whether one runs on, of this session or of a child."""
        return any(one.running for one in self.with_children())

    @property
    def shown(self) -> list[LeftCommand]:
        """Those that the user sees as background work."""
        return [one for one in self.running if one.is_shown]

    # --- turns -------------------------------------------------------------------------------------------------------

    def note_cancel(self) -> None:
        """Note which commands run, before the agent is asked to stop: later nobody can know."""
        if self._cancelled is not None:
            return
        commands = [one for one in self._of_turn() if one.activity.time.ended is None and one.activity.left is None]
        self._cancelled = [one.activity for one in commands]
        self._seen = []
        if commands and can_see(*self._agent):
            self._assign(commands)
            self._seen = [one for one in commands if one.processes]

    def turn_begins(self) -> None:
        """Note that a turn begins: what runs on is not shown any more as the work of a turn."""
        self._cancelled = None
        for one in self.shown:
            self._hide(one)

    async def turn_over(self) -> None:
        """Find what the commands of the turn that is over have left running."""
        ended, cancelled, self._cancelled = time.time_ns(), self._cancelled, None
        earlier, self._unseen = self._unseen, []
        for one in earlier:
            self._work.end(one.activity)
        self._work.leave_terminals(ended)
        commands = self._of_turn()
        for one in commands:
            one.is_cancelled = any(activity is one.activity for activity in cancelled or ())
            one.known = next((seen.known for seen in self._seen if seen.activity is one.activity), set())
        if not commands and cancelled is None:
            return
        is_visible = await anyio.to_thread.run_sync(can_see, *self._agent)
        others = await self._look(commands) if is_visible else []
        if cancelled is not None:
            commands += self._untold(others)
        for one in commands:
            self._settle(one, ended, is_visible)

    def _of_turn(self) -> list[LeftCommand]:
        """Return the commands that the agent has reported in the turn, the oldest first."""
        turn, tracked = self._work.turn, [one.activity for one in self.running]
        began = 0 if turn is None else turn.began
        return [
            LeftCommand(one, self._presenter.transcript.call(one.tool_call), is_cancelled=False)
            for one in self._work.all_commands()
            if one.tool_call and (one.time.began >= began or not one.is_over) and all(one is not two for two in tracked)
        ]

    def _untold(self, others: Sequence[Started]) -> list[LeftCommand]:
        """Return commands that the agent had begun in a cancelled turn, and has not told of."""
        turn, made = self._work.turn, []
        young = [one for one in others if turn is not None and one.may_have_begun_since(turn.began)]
        for process in young:
            if not self._is_of_others(process):
                key, words = f"process {process.pid} {process.ticks}", process.arguments[-1]
                self._work.command(key, words, "")
                activity = self._work.find(key)
                assert activity is not None
                made.append(LeftCommand(activity, None, is_cancelled=True))
                made[-1].take(process, self._agent[0])
        return made

    def _is_of_others(self, process: Started) -> bool:
        """Return whether a command of another session of the agent, such as a child, has started the process."""
        works = [one for one in self._works if one is not self._work and self._agent[1] in one.marks]
        commands = [LeftCommand(one, None, is_cancelled=False) for work in works for one in work.all_commands()]
        return any(one.may_have_started(process, TOLD_LATE_NS) and one.is_about(process) for one in commands)

    def _settle(self, command: LeftCommand, ended: int, is_visible: bool) -> None:
        """Record what became of a command of the turn that is over, and watch it if it runs on."""
        activity = command.activity
        is_open = activity.time.ended is None and activity.left is None
        if command.processes:
            self._work.leave(activity, NEVER if command.is_cancelled else command.until or ended)
            self.running.append(command)
            if self._none_runs.is_set():
                self._none_runs = anyio.Event()
            self._tasks.spawn(self._watch, command)
            self._tasks.spawn(self._tell, command)
        elif is_visible and (activity.in_background or (is_open and not self._is_doubtful(command))):
            self._work.end(activity)
        elif is_open or (not is_visible and DETACHES.search(activity.told)):
            self._work.leave(activity, command.until or ended)
            self._unseen.append(command)

    def _is_doubtful(self, command: LeftCommand) -> bool:
        """Whether a cancelled command had no process to be seen, so that nothing shows that it has ended."""
        return command.is_cancelled and all(one.activity is not command.activity for one in self._seen)

    # --- while they run ----------------------------------------------------------------------------------------------

    def heard(self, call: ToolCall, is_closed_by_us: bool) -> bool:
        """Take news of a tool call; return whether it is about a command of an earlier turn."""
        for one in (*self.running, *self._unseen):
            if one.call is call:
                if call.finished and not is_closed_by_us and one in self._unseen:
                    self._unseen.remove(one)
                    self._over(one)
                return True
        return False

    async def _watch(self, command: LeftCommand) -> None:
        while command.processes:
            await wait_for_end(min(command.processes.values(), key=lambda one: (one.began, one.pid)))
            await self._look([])
        self.running.remove(command)
        self._over(command)
        if not self.running:
            self._none_runs.set()

    def _over(self, command: LeftCommand) -> None:
        self._work.end(command.activity)
        if command.block:
            self._presenter.renew_notice("info", f"{command.words} has ended.", command.block)
        self.on_end(command)  # first: the end of the turn tells that its changes are being collected
        self._show(command, False)

    async def _tell(self, command: LeftCommand) -> None:
        """Tell the user of a command that has not ended soon."""
        await anyio.sleep(self.grace)
        if command not in self.running:
            return
        if not command.is_cancelled:
            words = f"{command.words} still runs after its turn. :AcpCancel! ends it."
            command.block = self._presenter.renew_notice("info", words, 0)
            return
        words = f"{command.words} was cancelled, but still runs: the agent has not ended it. :AcpCancel! ends it."
        command.block = self._presenter.renew_notice("warn", words, 0)
        if not self._work.is_turn_open:
            self._show(command, True)
            await anyio.sleep(SHOWN_SECONDS)
        self._hide(command)

    def _hide(self, command: LeftCommand) -> None:
        """Let what the command changes from now on be in doubt: it is no background work of a turn any more."""
        if command in self.running:
            self._work.leave(command.activity, time.time_ns())
            self._show(command, False)

    def _show(self, command: LeftCommand, is_shown: bool) -> None:
        """Show that a command runs on, as a background turn of the session, or that it does not any more."""
        command.is_shown, was_shown = is_shown, command.is_shown
        if is_shown == was_shown:
            return
        key = self._presenter.transcript.session
        if self._parent is None and not any(one is not command for one in self.shown):
            began = events.TurnStart(session=key, background=True)
            ended = events.TurnEnd(session=key, stop_reason="end_turn", background=True)
            self._presenter.publish(began if is_shown else ended)
        self.on_change()

    async def end_all(self) -> None:
        """End all that runs on: SIGTERM, then SIGKILL; tell the user."""
        commands = list(self.running)
        await self._send(commands, signal.SIGTERM)
        with anyio.move_on_after(TERM_GRACE_SECONDS):
            while await self._still_run(commands):  # noqa: ASYNC110 - several processes, and those that they start
                await anyio.sleep(END_POLL_SECONDS)
        with anyio.move_on_after(KILL_SECONDS):
            while await self._still_run(commands):  # a process may have started another since they were found
                await self._send(commands, signal.SIGKILL)
                await anyio.sleep(END_POLL_SECONDS)
        left = await self._still_run(commands)
        if done := [one.words for one in commands if one not in left]:
            self._presenter.notice("info", f"Ended: {', '.join(done)}, with all that it had started.")
        if left:
            names = ", ".join(one.words for one in left)
            self._presenter.notice("warn", f"{names} cannot be ended; it is left alone.")

    async def _still_run(self, commands: Sequence[LeftCommand]) -> list[LeftCommand]:
        await self._look([])
        return [one for one in commands if one.processes]

    @staticmethod
    async def _send(commands: Sequence[LeftCommand], number: int) -> None:
        """Send a signal to all processes of the commands."""
        processes = [process for one in commands for process in one.processes.values()]
        await anyio.to_thread.run_sync(group.send_found, partial(running, processes), number)

    # --- looking -----------------------------------------------------------------------------------------------------

    async def _look(self, commands: Sequence[LeftCommand]) -> list[Started]:
        """Find the processes of these commands, and of all that run on; return others, see `assign`."""
        async with self._looking:
            everything = sorted((*self.running, *commands), key=lambda one: one.activity.time.began)
            since, (pid, mark) = self._since(everything), self._agent
            found = await anyio.to_thread.run_sync(started_since, mark, since)
            return assign(found, everything, pid)

    def _assign(self, commands: Sequence[LeftCommand]) -> None:
        """As `_look`, for these commands only. Blocks: about 50 microseconds for each process of the machine."""
        assign(started_since(self._agent[1], self._since(commands)), commands, self._agent[0])

    def _since(self, commands: Sequence[LeftCommand]) -> int:
        turn = self._work.turn
        began = turn.began if turn else time.time_ns()
        return min([began, *(one.activity.time.began - TOLD_LATE_NS for one in commands)])

    def _writes(self, activity: Activity, path: str) -> bool:
        """Return whether a process of that command has the file open for writing. Blocks."""
        found = next((one for one in self.running if one.activity is activity), None)
        return found is not None and any(writes(one, path) for one in list(found.processes.values()))
