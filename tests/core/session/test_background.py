"""Turns that an agent begins by itself: what begins one, what ends one, what a cancel and a prompt mean for one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_nvim.acp.answers import CommandToRun
from acp_nvim.connection import peer as peer_module
from acp_nvim.contract import events
from acp_nvim.contract.review_events import CheckpointsListed, Summary
from acp_nvim.session import background
from tests.core.jsonrpc.peer import all_done
from tests.core.session.host import Host, running_host
from tests.core.session.inner_agent import InnerHost, inner_host
from tests.support.processes import marked

pytestmark = pytest.mark.anyio

LONG = {"background": 60_000}
SHORT = {"background": 20}
DIED = {"after its words": "os._exit(3)", "asking": "prompt.ask('c', title='Edit')"}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def chunk(words: str = "more", role: str = "agent_message") -> dict[str, Any]:
    return {"sessionUpdate": f"{role}_chunk", "content": text(words)}


def call(tool_call_id: str, status: str | None, announced: bool = False, **more: Any) -> dict[str, Any]:
    kind = {"sessionUpdate": "tool_call" if announced else "tool_call_update", "toolCallId": tool_call_id}
    return {**kind, **({} if status is None else {"status": status}), **({"title": "Run"} if announced else {}), **more}


PLAN = {"sessionUpdate": "plan", "entries": [{"content": "a", "status": "pending", "priority": "low"}]}
NEWS = [
    {"sessionUpdate": "usage_update", "used": 1, "size": 2},
    {"sessionUpdate": "session_info_update", "title": "A title"},
    {"sessionUpdate": "available_commands_update", "availableCommands": []},
    {"sessionUpdate": "current_mode_update", "currentModeId": "a"},
    {"sessionUpdate": "config_option_update", "configOptions": []},
    {"sessionUpdate": "what_nobody_knows"},
    chunk("an echo", "user_message"),
]
"""What an agent says of the session at any time, without working."""


@asynccontextmanager
async def after_turn(tmp_path: Path, stop_reason: str = "end_turn", v2: bool = False) -> AsyncIterator[InnerHost]:
    """A session whose agent has had a turn: `done` is finished, `open` was left open."""
    (tmp_path / "project").mkdir()
    async with inner_host(tmp_path / "project", v2=v2, timeouts=LONG) as host:
        host.agent.update(**call("done", "completed", announced=not v2))
        host.agent.update(**call("open", "in_progress", announced=not v2))
        await host.editor.until("the calls", lambda: len(host.of(events.ToolCall)) == 2)
        if stop_reason == "cancelled":
            host.say("cancel", force=False)
        host.agent.end_turn(stop_reason)
        await host.editor.until("the end of the turn", lambda: host.of(events.TurnEnd))
        yield host


def begun(host: InnerHost | Host) -> list[bool]:
    """Return for each turn whether the agent began it by itself."""
    return [one.background for one in host.of(events.TurnStart)]


def state(host: InnerHost) -> str:
    return str(host.of(events.Status)[-1].status.state)


# --- what begins one -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("update", "begins"),
    [
        (chunk(), True),
        (chunk(role="agent_thought"), True),
        (PLAN, True),
        (call("new", "pending", announced=True), True),
        (call("new", "in_progress"), True),
        (call("new", "completed", announced=True), True),
        (call("open", "in_progress"), True),
        (call("done", "pending", announced=True), True),
        (call("open", "completed"), False),
        (call("open", "failed"), False),
        (call("open", None, content=[]), False),
        (call("done", "in_progress"), False),
        (call("done", "completed", announced=True), False),
        *((one, False) for one in NEWS),
    ],
    ids=lambda one: str(one)[:60],
)
async def test_what_shows_that_it_works_begins_a_turn(tmp_path: Path, update: dict[str, Any], begins: bool) -> None:
    async with after_turn(tmp_path) as host:
        host.agent.update(**update)
        await all_done()
        assert begun(host) == ([False, True] if begins else [False])
        assert state(host) == ("background" if begins else "idle")


@pytest.mark.parametrize(
    ("method", "begins"),
    [
        ("session/request_permission", True),
        ("fs/read_text_file", True),
        ("fs/write_text_file", True),
        ("terminal/create", True),
        ("terminal/output", False),
        ("terminal/release", False),
    ],
)
async def test_what_it_asks_begins_a_turn(tmp_path: Path, method: str, begins: bool) -> None:
    async with after_turn(tmp_path) as host:
        options = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
        params = {"sessionId": "s", "toolCall": {"toolCallId": "c"}, "options": options, "terminalId": "t"}
        params |= {"path": str(tmp_path / "project" / "f"), "content": "x", "command": "true"}
        host.agent.say({"id": "r", "method": method, "params": params})
        await host.editor.until("an answer, or a question", lambda: host.agent.answers() or host.of(events.Permission))
        assert begun(host) == ([False, True] if begins else [False])


async def test_before_any_turn_a_greeting_and_a_look_for_instructions_are_none(tmp_path: Path) -> None:
    script = """
        def opened(agent, session_id):
            agent.call("fs/read_text_file", {"sessionId": session_id, "path": os.path.abspath("AGENTS.md")})
            content = {"type": "text", "text": "Welcome!"}
            agent.update(session_id, {"sessionUpdate": "agent_message_chunk", "content": content})
    """
    async with running(tmp_path, script) as host:
        host.open()
        await host.until("the greeting", lambda: host.text() == "Welcome!")
        assert begun(host) == []


CHUNK = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "[MODE_UPDATE] b"}}
CALL = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "[MODE_UPDATE] b", "kind": "think"}


@pytest.mark.parametrize(
    ("update", "begins"),
    [
        (CHUNK, False),
        (CALL | {"status": "completed"}, False),
        (CALL | {"status": "in_progress"}, True),
        (CALL | {"status": "completed", "kind": "edit"}, True),
    ],
)
async def test_a_report_about_a_setting_is_none(tmp_path: Path, update: dict[str, Any], begins: bool) -> None:
    script = f"""
        SESSION = {{"modes": {{"currentModeId": "a", "availableModes": [
            {{"id": "a", "name": "A"}}, {{"id": "b", "name": "B"}}]}}}}

        def session_set_mode(agent, request):
            agent.update("session-1", {update!r})
            return {{}}
    """
    async with running(tmp_path, script) as host:
        await host.turn()
        host.app.receive("config_set", {"session": 1, "option": "mode", "value": "b"})
        await host.until("the report", lambda: "[MODE_UPDATE]" in host.text() + str(host.calls()))
        assert begun(host) == ([False, True] if begins else [False])


@pytest.mark.parametrize("when", ["before the answer", "after the answer"])
async def test_what_is_told_again_is_none(tmp_path: Path, when: str) -> None:
    script = f"""
        INITIALIZE = {{"agentCapabilities": {{"loadSession": True}}}}

        def session_load(agent, request):
            if {when!r} == "after the answer":
                request.reply({{}})
            for number in range(3):
                agent.update(request.params["sessionId"], {{"sessionUpdate": "tool_call", "toolCallId": f"c{{number}}",
                    "title": "Run", "status": "completed"}})
            return {{}} if {when!r} == "before the answer" else NO_ANSWER
    """
    async with running(tmp_path, script) as host:
        host.open()
        await host.until_state("idle")
        host.stop()
        await host.until_state("stopped")
        host.app.sessions[1].restore("kept", "load")
        await host.until("what was said", lambda: len(host.calls()) == 3)
        await host.until_state("idle")
        assert begun(host) == []


# --- what ends one ---------------------------------------------------------------------------------------------------


@asynccontextmanager
async def running(tmp_path: Path, script: str, **timeouts: float) -> AsyncIterator[Host]:
    """A host with an agent of that script, and `git` for what it changes."""
    async with running_host(tmp_path) as host:
        host.hello(timeouts=timeouts or LONG, permissions={"terminal": "allow"})
        host.script(script)
        yield host


def works_on(what: str, more: str = "") -> str:
    """An agent that goes on after the answer to the prompt `go`, when the file `go` is there."""
    return f"""
        import threading

        def turn(agent, prompt):
            if prompt.text != "go":
                return prompt.say("<" + prompt.text + ">")
            prompt.reply({{"stopReason": "end_turn"}})
            while not os.path.exists("../go"):
                time.sleep(0.01)
            {what}
            return NO_ANSWER
        {more}
    """


async def begin(host: Host) -> None:
    """Its turn is over, and it goes on."""
    await host.turn("go")
    (host.directory / "go").touch()
    await host.until("a turn of its own", lambda: begun(host) == [False, True])


async def ended(host: Host, count: int = 2) -> list[tuple[str, bool]]:
    """The ends of so many turns."""
    await host.until("the end", lambda: len(host.of(events.TurnEnd)) == count)
    return [(one.stop_reason, one.background) for one in host.of(events.TurnEnd)]


async def test_silence_ends_it_with_a_checkpoint_and_one_summary(tmp_path: Path) -> None:
    what = "prompt.write(os.path.join(os.getcwd(), 'made'), 'text\\n'); prompt.say('made it')"
    async with running(tmp_path, works_on(what), **SHORT) as host:
        await begin(host)
        assert await ended(host) == [("end_turn", False), ("end_turn", True)]
        await host.until("a summary", lambda: host.of(Summary))
        [summary] = host.of(Summary)
        assert [Path(one.path).name for one in summary.files] == ["made"]
        host.app.receive("checkpoints", {"cwd": str(host.cwd)})
        checkpoints = (await host.editor.until_event(CheckpointsListed)).checkpoints
        assert [(one.id, one.kind) for one in checkpoints] == [(summary.id, "turn")]
        assert (await host.until_state("idle")).turn_started is None


async def test_a_last_word_leaves_neither_a_state_nor_a_summary(tmp_path: Path) -> None:
    async with running(tmp_path, works_on("prompt.say('bye')"), **SHORT) as host:
        await begin(host)
        assert await ended(host) == [("end_turn", False), ("end_turn", True)]
        await host.until_state("idle")
        await host.app.sessions[1].changes.settled()
        assert host.of(Summary) == []
        assert host.notices() == []


@pytest.mark.parametrize(
    "what",
    [
        "prompt.ask('c', title='Edit'); prompt.tool_update('c', status='completed')",
        "prompt.elicit({'name': {'type': 'string'}})",
        "prompt.tool('c', 'Run', status='in_progress')",
        "prompt.terminal('while [ ! -e ../enough ]; do sleep 0.01; done')",
    ],
    ids=["a permission", "a form", "a call", "a command"],
)
async def test_what_is_open_keeps_it_open(tmp_path: Path, what: str) -> None:
    async with running(tmp_path, works_on(what), **SHORT) as host:
        await begin(host)
        watched = host.app.sessions[1].turns.background
        before = anyio.current_time()
        await host.until("it to be seen open", lambda: watched._last_open > before + 10 * SHORT["background"] / 1000)
        assert len(host.of(events.TurnEnd)) == 1
        if "ask" in what:
            host.answer(host.of(events.Permission)[0].request.id, "allow")
        elif "terminal" in what:
            (host.directory / "enough").touch()
        else:
            host.cancel()
        assert (await ended(host))[1][1]


async def test_a_call_that_is_never_closed_does_not_keep_it_open_for_ever(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(background, "OPEN_SECONDS", 0.1)
    async with running(tmp_path, works_on("prompt.tool('c', 'Run', status='in_progress')"), **SHORT) as host:
        await begin(host)
        assert (await ended(host))[1] == ("end_turn", True)
        assert [one.status for one in host.calls().values()] == ["unfinished"]


@pytest.mark.parametrize("how", DIED)
async def test_the_end_of_the_agent_ends_it(tmp_path: Path, how: str) -> None:
    what = f"prompt.tool('t', 'Run', status='in_progress'); {DIED[how]}"
    async with running(tmp_path, works_on(what)) as host:
        await begin(host)
        if how == "asking":
            await host.editor.until_event(events.Permission)
            host.app.sessions[1].peer._transport._process.kill()
        assert (await ended(host))[1] == ("error", True)
        assert all(one.status == "unfinished" for one in host.calls().values())
        assert [error.code for error in host.of(events.Error)] == ["agent_exited"]
        assert (await host.until_state("failed")).pending_permissions == 0


async def test_the_agent_is_not_stopped_for_want_of_work_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peer_module, "IDLE_LOOK_SECONDS", 0.02)
    script = works_on(
        "prompt.say('thinks')",
        "INITIALIZE = {'agentCapabilities': {'sessionCapabilities': {'resume': {}}}}",
    )
    async with running(tmp_path, script) as host:
        await begin(host)
        host.hello(timeouts={**LONG, "idle": 50})  # not before: it may have no work for longer until it begins
        peer = host.app.sessions[1].peer
        assert peer is not None
        await host.until("time to pass", lambda: anyio.current_time() - peer.last_word > 0.3)
        assert peer.alive
        host.cancel()
        await host.until("sleep", lambda: (status := host.status()) is not None and status.asleep)


# --- a cancel --------------------------------------------------------------------------------------------------------


async def own_turn(host: InnerHost) -> None:
    """The agent works by itself, on the call `c`."""
    host.agent.update(**call("c", "in_progress", announced=True))
    await host.editor.until("a turn of its own", lambda: state(host) == "background")


async def test_one_press_ends_it_at_once_and_the_agent_is_asked_once(tmp_path: Path) -> None:
    async with after_turn(tmp_path) as host:
        await own_turn(host)
        host.say("cancel", force=False)
        await all_done()
        assert [one.stop_reason for one in host.of(events.TurnEnd)] == ["end_turn", "cancelled"]
        assert [one["params"] for one in host.agent.heard_of("session/cancel")] == [{"sessionId": "s"}]
        assert host.of(events.ToolCall)[-1].call.status == "cancelled"
        assert [one.text for one in host.of(events.Notice)] == ["Stopped: cancelled"]
        assert state(host) == "idle"


@pytest.mark.parametrize("prompted", [False, True])
@pytest.mark.parametrize(
    "update",
    [chunk(), PLAN, call("new", "pending", announced=True), call("c", "in_progress"), call("open", "completed")],
    ids=lambda one: str(one)[:60],
)
async def test_what_comes_just_after_a_cancel_belongs_to_it(
    tmp_path: Path, update: dict[str, Any], prompted: bool
) -> None:
    async with after_turn(tmp_path, "cancelled" if prompted else "end_turn") as host:
        if not prompted:
            await own_turn(host)
            host.say("cancel", force=False)
        turns = len(begun(host))
        host.agent.update(**update)
        await all_done()
        assert len(begun(host)) == turns
        assert state(host) == "idle"


async def test_later_words_begin_another_but_not_those_of_a_cancelled_call(tmp_path: Path) -> None:
    async with after_turn(tmp_path) as host:
        host.app.sessions[1].turns.background.seconds = 0.02
        await own_turn(host)
        host.say("cancel", force=False)
        host.agent.update(**call("late", "in_progress", announced=True))
        late = host.app.sessions[1].turns.background
        await host.editor.until("the time after the cancel to be over", lambda: late._late is None)
        assert {one.call.id: one.call.status for one in host.of(events.ToolCall)}["late"] == "cancelled"
        for one in ("c", "late"):
            host.agent.update(**call(one, "in_progress"))
        await all_done()
        assert begun(host) == [False, True]
        host.agent.update(**chunk())
        await host.editor.until("another turn", lambda: begun(host) == [False, True, True])


async def test_what_is_asked_just_after_a_cancel_is_refused_and_a_write_is_shown(tmp_path: Path) -> None:
    async with after_turn(tmp_path) as host:
        await own_turn(host)
        host.say("cancel", force=False)
        asked = {"sessionId": "s", "toolCall": {"toolCallId": "c"}, "options": [], "command": "true"}
        asked["options"] = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
        host.agent.say({"id": "p", "method": "session/request_permission", "params": asked})
        host.agent.say({"id": "t", "method": "terminal/create", "params": asked})
        await host.editor.until("the answers", lambda: len(host.agent.answers()) == 2)
        answers = {one["id"]: one for one in host.agent.answers()}
        assert answers["p"]["result"] == {"outcome": {"outcome": "cancelled"}}
        assert "cancelled this" in answers["t"]["error"]["message"]
        assert begun(host) == [False, True]
        path = str(tmp_path / "project" / "f")
        params = {"sessionId": "s", "path": path, "content": "x"}
        host.agent.say({"id": "w", "method": "fs/write_text_file", "params": params})
        await host.editor.until("another turn", lambda: begun(host) == [False, True, True])


RUNS = """
    import threading

    def turn(agent, prompt):
        if prompt.text != "first":
            agent.started = prompt.terminal("echo begun; exec sleep 1000")
            while "begun" not in prompt.ask_terminal("output", agent.started)["output"]:
                time.sleep(0.01)
            agent.note(started_in=prompt.text)
            prompt.wait_cancelled()
            agent.note(signal=prompt.ask_terminal("wait_for_exit", agent.started)["signal"])
            output = prompt.ask_terminal("output", agent.started)
            agent.note(output=output["output"], exit=output["exitStatus"])
            agent.note(released=prompt.ask_terminal("release", agent.started))
            return "cancelled"
        agent.first = prompt.terminal("exec sleep 1000")
"""


@pytest.mark.usefixtures("patient")
async def test_a_cancel_ends_the_commands_of_its_turn_and_their_output_stays(free_host: Host) -> None:
    host = free_host
    script = host.script(RUNS)
    await host.turn("first")
    host.prompt("second")
    await host.until_note("started_in")
    host.cancel()
    assert await host.until_note("signal") == ["SIGTERM"]
    await host.until_note("released")
    assert script.notes("output") == ["begun\n"]
    assert script.notes("exit") == [{"exitCode": None, "signal": "SIGTERM"}]
    assert script.notes("released") == [{}]
    await host.until("the end", lambda: len(host.of(events.TurnEnd)) == 2)
    assert host.app.sessions[1].requests.terminals.running  # the terminal of the turn before
    host.cancel()
    await host.until("no command", lambda: not host.app.sessions[1].requests.terminals.running)
    assert host.notices() == ["Stopped: cancelled", "Stopped: 1 command that went on after the turn"]


@pytest.mark.usefixtures("patient")
async def test_a_command_that_the_user_allows_while_it_is_cancelled_does_not_go_on(free_host: Host) -> None:
    host = free_host
    host.script("""
        def turn(agent, prompt):
            created = agent.call("terminal/create", {"sessionId": prompt.session_id, "command": "exec sleep 1000"})
            prompt.say("now")
            prompt.wait_cancelled()
            try:
                agent.note(signal=prompt.ask_terminal("wait_for_exit", created.result()["terminalId"])["signal"])
            except Error:
                agent.note(signal="not begun")
            return "cancelled"
    """)
    host.open()
    host.prompt("go")
    await host.until("a word", lambda: host.text() == "now")
    host.cancel()
    assert (await host.until_note("signal"))[0] in ("SIGTERM", "not begun")
    await host.until("no command", lambda: not host.app.sessions[1].requests.terminals.running)


async def test_a_cancel_ends_a_command_that_was_taken_before_and_begins_after_it(free_host: Host, mark: str) -> None:
    free_host.script("")
    await free_host.turn()
    terminals = free_host.app.sessions[1].requests.terminals
    created = terminals.create(CommandToRun(command="sleep", args=["1000"]))
    terminals.cancel_turn()
    await created
    await free_host.until("the end of the command", lambda: not terminals.running)
    assert [one for one in marked(mark) if "sleep" in one.command] == []


# --- a prompt --------------------------------------------------------------------------------------------------------


async def test_a_prompt_takes_the_work_over(tmp_path: Path) -> None:
    async with after_turn(tmp_path) as host:
        await own_turn(host)
        host.say("prompt", text="more")
        await host.editor.until("the prompt", lambda: len(host.agent.heard_of("session/prompt")) == 2)
        assert begun(host) == [False, True, False]
        assert [(one.stop_reason, one.background) for one in host.of(events.TurnEnd)] == [
            ("end_turn", False),
            ("end_turn", True),
        ]
        assert state(host) == "running"
        assert host.of(events.ToolCall)[-1].call.status == "in_progress"
        host.agent.update(**call("c", "completed"))
        host.agent.end_turn("end_turn")
        await host.editor.until("the end", lambda: len(host.of(events.TurnEnd)) == 3)
        calls = {one.call.id: one.call.status for one in host.of(events.ToolCall)}
        assert calls == {"done": "completed", "open": "unfinished", "c": "completed"}
        shown = [one for one in host.of(events.Append) if one.kind == "user"]
        assert [one.text for one in shown] == ["go", "more"]


async def test_a_cancel_before_the_prompt_is_out_stops_the_work_too(tmp_path: Path) -> None:
    script = works_on("prompt.tool('c', 'Run', status='in_progress')")
    async with running(tmp_path, script) as host:
        await begin(host)
        host.prompt("more")
        await host.until("the turn of the prompt", lambda: begun(host) == [False, True, False])
        host.cancel()
        await host.until_received("session/cancel")
        assert await ended(host, 3) == [("end_turn", False), ("end_turn", True), ("cancelled", False)]
        assert [one.status for one in host.calls().values()] == ["cancelled"]
        await host.until("the prompt to be shown", lambda: host.text("user") == "gomore")
        assert await host.turn("again") == "end_turn"


async def test_version_2_says_itself_when_it_is_over(tmp_path: Path) -> None:
    async with after_turn(tmp_path, v2=True) as host:
        host.app.sessions[1].turns.background.seconds = 0.01
        host.agent.update(sessionUpdate="state_update", state="running")
        await host.editor.until("a turn of its own", lambda: state(host) == "background")
        host.say("prompt", text="more")
        watched = host.app.sessions[1].turns.background
        before = anyio.current_time()
        await host.editor.until("time to pass", lambda: anyio.current_time() > before + 10 * watched.seconds)
        assert state(host) == "background"
        assert len(host.agent.heard_of("session/prompt")) == 1
        host.agent.update(sessionUpdate="state_update", state="idle", stopReason="end_turn")
        await host.editor.until("the prompt", lambda: len(host.agent.heard_of("session/prompt")) == 2)
        assert begun(host) == [False, True, False]


async def test_version_2_tells_of_calls_in_the_background_without_a_turn(tmp_path: Path) -> None:
    async with after_turn(tmp_path, v2=True) as host:
        work = [{"type": "tool_call", "toolCallId": "watch"}]
        host.agent.update(sessionUpdate="state_update", state="idle", background=work)
        host.agent.update(**call("watch", "in_progress", title="Watch"))
        await all_done()
        assert begun(host) == [False]
        host.agent.update(**call("new", "in_progress", title="Edit"))
        await host.editor.until("a turn of its own", lambda: state(host) == "background")
        host.agent.update(sessionUpdate="state_update", state="idle", stopReason="end_turn")
        await host.editor.until("its end", lambda: state(host) == "idle")
