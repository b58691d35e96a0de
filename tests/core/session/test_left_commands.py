"""Commands that run on after a cancel, or after their turn: real processes, which end when the test wants."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from acp_nvim.contract import events, review_events
from acp_nvim.process.started import TICK_NS, Started, started_since
from acp_nvim.review.turn import left_commands
from tests.core.session.host import Host
from tests.support.processes import processes

pytestmark = pytest.mark.anyio

AGENT = """
    import json
    import subprocess

    RUNNING = {}

    def launch(*argv):
        quiet = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        child = subprocess.Popen(argv, start_new_session=True, **quiet)
        return child

    def turn(agent, prompt):
        for step in json.loads(prompt.text):
            match step:
                case ["run", id, line, *more]:
                    given = {"rawInput": {"command": line}, **(more[0] if more else {})}
                    prompt.tool(id, line, kind="execute", status="in_progress", **given)
                    RUNNING[id] = launch("sh", "-c", line)
                case ["secretly", id, line]:
                    RUNNING[id] = launch("sh", "-c", line)
                case ["helper", id, *argv]:
                    RUNNING[id] = launch(*argv)
                case ["wait", id]:
                    RUNNING[id].wait()
                case ["tell", id, status]:
                    prompt.tool_update(id, status=status)
                case ["cancelled", *ids]:
                    prompt.until_heard()
                    agent.note(runs=True)
                    prompt.wait_cancelled()
                    for id in ids:
                        RUNNING[id].kill()
                        RUNNING[id].wait()
                    return "cancelled"

    def tell_end(agent, request):
        RUNNING[request.params["id"]].wait()
        agent.update("session-1", {"sessionUpdate": "tool_call_update", "toolCallId": request.params["id"],
                     "status": "completed"})
"""
STILL = "was cancelled, but still runs: the agent has not ended it. :AcpCancel! ends it."


class Desk:
    """A host with that agent; commands wait for the file `go`, which is elsewhere."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.go = host.directory / "go"
        self.file = host.cwd / "util.py"
        self.file.write_text("one\n")
        host.script(AGENT)
        host.open()
        host.app.sessions[1].changes.left.grace = 0.0

    def line(self, text: str = "late", file: Path | None = None) -> str:
        """A command that changes a file when it may."""
        until = f"while [ ! -e {shlex.quote(str(self.go))} ]; do sleep 0.01; done"
        return f"{until}; echo {text} >> {shlex.quote(str(file or self.file))}"

    def say(self, *steps: list[object]) -> None:
        self.host.prompt(json.dumps(steps))

    async def turn(self, *steps: list[object]) -> None:
        """Play one turn to its end."""
        ends = len(self.host.of(events.TurnEnd))
        self.say(*steps)
        await self.host.until("the end of the turn", lambda: len(self.host.of(events.TurnEnd)) > ends)

    async def cancelled(self, *steps: list[object], killed: Sequence[str] = ()) -> None:
        """A turn that the user cancels while its command runs; the agent kills these."""
        ends, runs = len(self.host.of(events.TurnEnd)), len(self.host.scripts["it"].notes("runs"))
        self.say(*steps, ["cancelled", *killed])
        await self.host.until_note("runs", runs + 1)
        self.host.cancel()
        await self.host.until("the end of the turn", lambda: len(self.host.of(events.TurnEnd)) > ends)

    def listed(self) -> dict[str, tuple[str, str]]:
        """What is under review: by whom, and why."""
        last = {Path(one.path).name: one for one in self.host.editor.all(review_events.Review)}
        return {name: (one.by, one.why or "") for name, one in last.items() if one.operation != "none"}

    async def until_listed(self, name: str = "util.py") -> tuple[str, str]:
        await self.host.until(f"{name} under review", lambda: name in self.listed())
        return self.listed()[name]

    async def rejected(self) -> str:
        """What the file is once everything is rejected that is the agent's."""
        self.host.app.receive("review", {"action": "reject"})
        await self.host.until("the answer", lambda: self.host.editor.all(review_events.Judged))
        return self.file.read_text()

    async def settled(self) -> None:
        """Until what the last turn has changed is known, and what is changed from now on comes after it."""
        await self.host.app.sessions[1].changes.settled()
        await self.host.nothing_comes_late()

    def running(self) -> list[str]:
        """Return the running processes of the commands."""
        return [str(one) for one in processes() if str(self.go) in " ".join(one.command)]


@pytest.fixture
async def desk(host: Host) -> Desk:
    return Desk(host)


async def test_a_cancelled_command_is_background_work_until_its_process_is_gone(desk: Desk) -> None:
    host, line = desk.host, desk.line()
    await desk.cancelled(["run", "c", line])
    assert host.of(events.TurnEnd)[-1].stop_reason == "cancelled"
    await host.until_state("background")
    assert any(STILL in one for one in host.notices()), host.notices()
    desk.go.touch()
    by, why = await desk.until_listed()
    assert (by, why.startswith("by `while")) == ("agent", True)
    await host.until_state("idle")
    await host.until("a summary", lambda: host.of(review_events.Summary))
    assert [one.path for one in host.of(review_events.Summary)[-1].files] == [str(desk.file)]
    assert any("has ended." in one for one in host.notices())
    assert [one.background for one in host.of(events.TurnEnd)] == [False, True]
    told = [one for one in host.editor.events if isinstance(one, (events.TurnEnd, review_events.ReviewProgress))]
    at_end = told[: told.index(host.of(events.TurnEnd)[-1])]
    assert isinstance(at_end[-1], review_events.ReviewProgress), "that its changes are being collected comes first"
    assert not at_end[-1].is_over


async def test_its_end_may_be_told_later_or_never_and_is_told_once(desk: Desk) -> None:
    host = desk.host
    await desk.cancelled(["run", "c", desk.line()])
    await host.until_state("background")
    host.app.sessions[1].peer.notify("tell/end", {"id": "c"})
    desk.go.touch()
    assert (await desk.until_listed())[0] == "agent"
    await host.until(
        "the end that the agent tells", lambda: [one.status for one in host.calls().values()] == ["completed"]
    )
    await host.until_state("idle")
    await host.until("a summary", lambda: host.of(review_events.Summary))
    assert await desk.rejected() == "one\n"
    assert len(host.of(review_events.Summary)) == 1


async def test_one_that_ends_with_the_cancel_is_not_told_of(desk: Desk) -> None:
    host = desk.host
    await desk.cancelled(["run", "c", f"exec sleep 1000; {desk.go}"], killed=["c"])
    await desk.settled()
    await host.until("the end of it", lambda: not host.app.sessions[1].changes.log.active)
    assert host.notices() == ["Stopped: cancelled"]
    desk.file.write_text("by the user\n")
    await desk.turn()
    await desk.settled()
    assert desk.listed() == {}


@pytest.mark.parametrize("line", ["{0}", "nohup sh -c {1} &", "setsid sh -c {1} & :", "(setsid -f sh -c {1})"])
async def test_a_command_that_is_reported_as_over_runs_on(desk: Desk, line: str) -> None:
    host, work = desk.host, desk.line()
    await desk.turn(["run", "c", line.format(work, shlex.quote(work))], ["tell", "c", "completed"])
    await host.until("words about it", lambda: any("still runs after its turn" in one for one in host.notices()))
    assert host.status().state == "idle"
    assert desk.listed() == {}
    desk.go.touch()
    by, why = await desk.until_listed()
    assert (by, "or by something else" in why) == ("unknown", True)
    await host.until("a summary", lambda: host.of(review_events.Summary))
    await host.until("words about its end", lambda: any("has ended." in one for one in host.notices()))
    assert len(host.of(events.TurnEnd)) == 1


async def test_what_it_has_open_for_writing_is_its_own(desk: Desk) -> None:
    """For example, the log of a server."""
    host, log = desk.host, desk.host.cwd / "server.log"
    until = f"while [ ! -e {shlex.quote(str(desk.go))} ]; do sleep 0.01; done"
    line = f"exec >> {shlex.quote(str(log))}; {until}; echo ready; rm {shlex.quote(str(desk.go))}; {until}"
    await desk.turn(["run", "c", line], ["tell", "c", "completed"])
    await host.until("words about it", lambda: any("still runs after its turn" in one for one in host.notices()))
    desk.go.touch()
    await host.until("its log", lambda: log.read_text() == "ready\n" and not desk.go.exists())
    desk.file.write_text("who knows\n")
    await desk.turn()
    assert (await desk.until_listed("server.log"))[0] == "agent"
    assert desk.listed()["server.log"][1].endswith("(still runs)")
    assert (await desk.until_listed())[0] == "unknown"
    desk.go.touch()
    await host.until("words about its end", lambda: any("has ended." in one for one in host.notices()))


async def test_the_next_prompt_does_not_wait_for_it(desk: Desk) -> None:
    host = desk.host
    await desk.cancelled(["run", "c", desk.line()])
    await host.until_state("background")
    ends = len(host.of(events.TurnEnd))
    desk.say(
        ["run", "c", "true"], ["wait", "c"], ["tell", "c", "completed"], ["run", "d", desk.line("more")], ["wait", "d"]
    )
    await host.until("the end of what was shown", lambda: len(host.of(events.TurnEnd)) > ends)
    await host.until_state("running")
    desk.go.touch()
    await host.until("the end of the turn", lambda: len(host.of(events.TurnEnd)) > ends + 1)
    assert (await desk.until_listed())[0] in ("agent", "unknown")
    await host.until_state("idle")
    await host.until("a summary", lambda: host.of(review_events.Summary))
    assert sorted(desk.file.read_text().split()) == ["late", "more", "one"]


async def test_cancelling_by_force_ends_it_and_leaves_the_agent_alone(desk: Desk) -> None:
    host = desk.host
    await desk.cancelled(["run", "c", f"trap '' TERM; {desk.line()}"])
    await host.until_state("background")
    assert desk.running()
    host.cancel()
    assert any("the agent is asked again" in one for one in host.notices())
    assert host.status().state == "background"
    host.cancel(force=True)
    await host.until_state("idle")
    await host.until("words", lambda: any(one.startswith("Ended: `trap") for one in host.notices()))
    assert desk.running() == []
    await desk.turn(["run", "d", "true"])
    assert len(host.scripts["it"].notes("started")) == 1
    assert desk.file.read_text() == "one\n"


async def test_one_that_the_agent_has_not_told_of_is_seen_too(desk: Desk) -> None:
    host = desk.host
    await desk.cancelled(["secretly", "c", desk.line()])
    await host.until_state("background")
    desk.go.touch()
    assert (await desk.until_listed())[0] == "agent"
    await host.until_state("idle")


async def test_one_that_seems_a_clock_tick_older_than_its_turn_is_seen_too(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Linux gives the start of a process in whole clock ticks, rounded down."""
    turns = desk.host.app.sessions[1].changes.work

    def early(mark: str, moment: int) -> list[Started]:
        return [one._replace(began=turns.turn_began_at - TICK_NS) for one in started_since(mark, moment)]

    monkeypatch.setattr(left_commands, "started_since", early)
    await desk.cancelled(["secretly", "c", desk.line()])
    await desk.host.until_state("background")
    desk.go.touch()
    assert (await desk.until_listed())[0] == "agent"


async def test_helpers_of_the_agent_are_no_commands(desk: Desk) -> None:
    host = desk.host
    await desk.turn(["run", "c", "true"], ["helper", "h", "sleep", "1000"], ["wait", "c"], ["tell", "c", "completed"])
    await desk.settled()
    assert host.notices() == []
    desk.file.write_text("by the user\n")
    await desk.turn()
    await desk.settled()
    assert desk.listed() == {}


async def test_it_ends_with_its_agent(desk: Desk) -> None:
    host = desk.host
    await desk.cancelled(["run", "c", desk.line()])
    await host.until_state("background")
    host.stop()
    await host.until_state("stopped")
    await host.until("the end of its processes", lambda: desk.running() == [])
    await host.until("the end of it", lambda: not host.app.sessions[1].changes.left.running)
    assert [one.background for one in host.of(events.TurnEnd)] == [False, True]


async def test_where_processes_are_not_seen_it_may_run_until_the_agent_says_so(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Systems without `/proc` show no processes, nor do agents at an address."""
    monkeypatch.setattr(left_commands, "can_see", lambda pid, mark: False)
    host = desk.host
    await desk.cancelled(["run", "c", desk.line()])
    await desk.settled()
    assert host.status().state == "idle"
    host.app.sessions[1].peer.notify("tell/end", {"id": "c"})
    desk.go.touch()
    by, why = await desk.until_listed()
    assert (by, "or by something else" in why) == ("unknown", True)
    await host.until("a summary", lambda: host.of(review_events.Summary))
    await desk.settled()
    (host.cwd / "other.txt").write_text("by the user\n")
    await desk.turn()
    await desk.settled()
    assert list(desk.listed()) == ["util.py"]


async def test_where_processes_are_not_seen_it_ends_with_the_next_turn(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(left_commands, "can_see", lambda pid, mark: False)
    host, other = desk.host, desk.host.cwd / "other.txt"
    await desk.cancelled(["run", "c", desk.line()])
    await desk.turn()
    await desk.settled()
    other.write_text("by the user\n")
    await desk.turn()
    await desk.settled()
    assert desk.listed() == {}
    assert len(host.of(events.TurnEnd)) == 3
    desk.go.touch()


async def test_an_id_that_is_used_again_is_another_command(desk: Desk) -> None:
    host = desk.host
    await desk.turn(["run", "c", desk.line()], ["tell", "c", "completed"])
    await host.until("words about it", lambda: any("still runs after its turn" in one for one in host.notices()))
    await desk.turn(["run", "c", "echo again >> made"], ["wait", "c"], ["tell", "c", "completed"])
    assert await desk.until_listed("made") == ("agent", "by `echo again >> made`")
    assert "util.py" not in desk.listed()
    desk.go.touch()
    assert (await desk.until_listed())[0] == "unknown"


async def test_what_was_over_before_the_cancel_was_not_cancelled(desk: Desk) -> None:
    host = desk.host
    await desk.cancelled(
        ["run", "c", desk.line()],
        ["tell", "c", "completed"],
        ["run", "c", f"exec sleep 1000; {desk.go}"],
        killed=["c"],
    )
    await host.until("words about it", lambda: any("still runs after its turn" in one for one in host.notices()))
    assert not any(STILL in one for one in host.notices())
    desk.go.touch()
    await desk.until_listed()


async def test_what_a_terminal_of_ours_leaves_running_is_seen_too(free_host: Host) -> None:
    host = free_host
    go, file = host.directory / "go", host.cwd / "util.py"
    line = f"(while [ ! -e {go} ]; do sleep 0.01; done; echo late >> {file}) >/dev/null 2>&1 &"
    host.script(f"""
        def turn(agent, prompt):
            terminal = prompt.terminal("sh", "-c", {line!r})
            prompt.ask_terminal("wait_for_exit", terminal)
            prompt.ask_terminal("release", terminal)
    """)
    file.write_text("one\n")
    await host.turn()
    await host.app.sessions[1].changes.settled()
    assert host.app.sessions[1].is_busy
    go.touch()
    await host.until("a summary", lambda: host.of(review_events.Summary))
    assert [(Path(one.path).name, one.by) for one in host.of(review_events.Summary)[-1].files] == [
        ("util.py", "unknown")
    ]
    await host.until("the end of it", lambda: not host.app.sessions[1].is_busy)


async def test_a_command_of_a_subagent_runs_on(host: Host) -> None:
    go, file = host.directory / "go", host.cwd / "util.py"
    line = f"while [ ! -e {go} ]; do sleep 0.01; done; echo late >> {file}"
    host.script(f"""
        import subprocess

        def turn(agent, prompt):
            agent.update(prompt.session_id, {{"sessionUpdate": "subagent_update", "sessionId": "kid", "title": "Kid",
                         "state": {{"state": "running"}}}})
            agent.update("kid", {{"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Run", "kind": "execute",
                         "status": "in_progress", "rawInput": {{"command": {line!r}}}}})
            subprocess.Popen(["sh", "-c", {line!r}], start_new_session=True, stdin=-3, stdout=-3, stderr=-3)
            prompt.until_heard()
            agent.note(runs=True)
            prompt.wait_cancelled()
            agent.update(prompt.session_id, {{"sessionUpdate": "subagent_update", "sessionId": "kid",
                         "state": {{"state": "idle", "stopReason": "cancelled"}}}})
            return "cancelled"
    """)
    file.write_text("one\n")
    host.open()
    host.prompt("go")
    await host.until_note("runs")
    host.cancel()
    session = host.app.sessions[1]
    await host.until("the command to be known", lambda: any(one.running for one in session.changes.left.children))
    assert session.subagents.is_busy
    session.subagents.discard()  # like the chat, which forgets it
    await anyio.wait_all_tasks_blocked()
    assert [len(one.running) for one in session.changes.left.with_children()] == [0, 1]
    host.cancel(force=True)
    await host.until("its end", lambda: not session.changes.left.is_busy)
    assert len(host.scripts["it"].notes("started")) == 1
    assert file.read_text() == "one\n"


async def test_a_command_in_a_terminal_of_ours_goes_on_after_its_turn(free_host: Host) -> None:
    """The agent has reported its call as completed, and waits for the end without a turn."""
    host = free_host
    go, file = host.directory / "go", host.cwd / "util.py"
    line = f"while [ ! -e {go} ]; do sleep 0.01; done; echo late >> {file}"
    host.script(f"""
        def turn(agent, prompt):
            prompt.tool("t", "Run", kind="execute", status="in_progress",
                        rawInput={{"command": {line!r}, "run_in_background": True}})
            prompt.terminal("sh", "-c", {line!r})
            prompt.tool_update("t", status="completed")
    """)
    file.write_text("one\n")
    await host.turn()
    await host.app.sessions[1].changes.settled()
    go.touch()
    await host.until("a summary", lambda: host.of(review_events.Summary))
    assert [(Path(one.path).name, one.by) for one in host.of(review_events.Summary)[-1].files] == [
        ("util.py", "unknown")
    ]


async def test_where_processes_are_not_seen_what_a_shell_puts_in_the_background_may_run_on(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(left_commands, "can_see", lambda pid, mark: False)
    line = f"nohup sh -c {shlex.quote(desk.line())} &"
    await desk.turn(["run", "c", line], ["wait", "c"], ["tell", "c", "completed"])
    await desk.settled()
    desk.go.touch()
    await desk.host.until("the change", lambda: "late" in desk.file.read_text())
    await desk.turn()
    assert (await desk.until_listed())[0] == "unknown"


@pytest.mark.parametrize(
    ("line", "detaches"),
    [
        ("make &", True),
        ("make & echo $!", True),
        ("(make &)", True),
        ("nohup make", True),
        ("setsid -f make", True),
        ("make && make install", False),
        ("make 2>&1", False),
        ("make &> log", False),
        ("make >& log", False),
        ("cat a 2>&1 | grep b", False),
    ],
)
def test_what_puts_something_in_the_background(line: str, detaches: bool) -> None:
    assert bool(left_commands.DETACHES.search(line)) == detaches


async def test_a_late_change_has_a_checkpoint_of_its_own_that_can_be_restored(desk: Desk) -> None:
    host = desk.host
    await desk.cancelled(["run", "c", desk.line()])
    await host.until_state("background")
    desk.go.touch()
    await desk.until_listed()
    await host.until("a summary", lambda: host.of(review_events.Summary))
    [summary] = host.of(review_events.Summary)
    assert desk.file.read_text() == "one\nlate\n"
    host.app.receive("restore", {"cwd": str(host.cwd), "id": summary.id})
    done = await host.editor.until_event(review_events.Restored)
    assert (done.problem, desk.file.read_text()) == (None, "one\n")


async def test_restoring_the_turn_before_takes_the_late_change_back_too(desk: Desk) -> None:
    host, made = desk.host, desk.host.cwd / "made"
    await desk.turn(["run", "d", "echo made > made"], ["wait", "d"], ["tell", "d", "completed"])
    await host.until("a summary", lambda: host.of(review_events.Summary))
    await desk.cancelled(["run", "c", desk.line()])
    await host.until_state("background")
    desk.go.touch()
    await host.until("another summary", lambda: len(host.of(review_events.Summary)) == 2)
    first, late = host.of(review_events.Summary)
    assert [[Path(one.path).name for one in summary.files] for summary in (first, late)] == [["made"], ["util.py"]]
    host.app.receive("restore", {"cwd": str(host.cwd), "id": first.id})
    await host.editor.until_event(review_events.Restored)
    assert (desk.file.read_text(), made.exists()) == ("one\n", False)
