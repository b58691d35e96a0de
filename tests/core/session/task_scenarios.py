"""What users and agents do, so that together every background task of a host is started."""

from __future__ import annotations

import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import anyio

from acp_nvim.agents.first_agent import start_first
from acp_nvim.contract import events
from acp_nvim.contract.request_events import Elicitation
from acp_nvim.contract.review_events import Restored, Review, ReviewProgress
from acp_nvim.contract.session_events import SessionsListed
from acp_nvim.contract.settings import CheckSettings
from acp_nvim.jsonrpc.connection import ByteSink, ByteSource
from acp_nvim.process.child import ChildProcesses
from acp_nvim.process.guarding import guard_of_host
from tests.core.session.hit_agent import HIT, HIT_V2
from tests.core.session.stage import Stage

Scenario = Callable[[Stage], Awaitable[Any]]


async def edits(stage: Stage) -> None:
    stage.open()
    stage.host.editor.open(stage.cwd / "file")
    stage.prompt("edit", context=[{"type": "file", "uri": "file:///f", "name": "f", "path": str(stage.cwd / "file")}])
    await stage.host.until("the edit", lambda: stage.host.of(events.TurnEnd, stage.key))
    await stage.host.until("news of the review", lambda: (told := stage.host.status(stage.key)) and told.review)


async def deletes(stage: Stage) -> None:
    """The user deletes a file under review, after the turn that has changed it."""
    await edits(stage)
    await stage.host.until_state("idle", stage.key)
    await stage.host.app.sessions[stage.key].changes.settled()
    file = stage.cwd / "file"
    file.unlink()
    stage.host.app.receive("disk_changed", {"paths": [str(file)]})
    await stage.host.until(
        "news of it", lambda: [one for one in stage.host.editor.all(Review) if one.path == str(file)][-1].removed != 1
    )


async def asks(stage: Stage) -> None:
    stage.open()
    stage.prompt("ask")
    await stage.host.until("a request", lambda: stage.host.of(events.Permission, stage.key))
    request = stage.host.of(events.Permission, stage.key)[0].request
    ours = next(one for one in request.options if one.ours)
    stage.host.answer(request.id, ours.option_id)
    await stage.until_said("reject")


async def commands(stage: Stage) -> None:
    stage.open()
    stage.prompt("command /bin/sleep 60")
    await stage.host.until("a request", lambda: stage.host.of(events.Permission, stage.key))
    stage.host.answer(stage.host.of(events.Permission, stage.key)[0].request.id, "allow_once")
    await stage.host.until("output", lambda: "printed" in str(stage.host.calls(stage.key)))
    stage.tell("stop")


async def leaves_a_command(stage: Stage) -> None:
    """Leave a command that runs on after its turn, until the user ends it."""
    stage.open()
    stage.host.app.sessions[stage.key].changes.left.grace = 0.0
    stage.prompt("leave")
    await stage.host.until("a notice", lambda: "still runs after its turn" in "".join(stage.host.notices(stage.key)))
    stage.tell("cancel", force=True)
    await stage.host.until(
        "all that it has changed",
        lambda: len([one for one in stage.host.of(ReviewProgress, stage.key) if one.is_over]) > 1,
    )


async def strays(stage: Stage) -> None:
    """A message for a session that nobody has announced."""
    stage.open()
    stage.prompt("stray")
    await stage.host.until("a notice", lambda: "not open here" in "".join(stage.host.notices(stage.key)))


async def delegates(stage: Stage) -> None:
    """A subagent that writes a file, and is then forgotten."""
    stage.open()
    stage.prompt("delegate")
    await stage.host.until("the turn", lambda: stage.host.of(events.TurnEnd, stage.key))
    stage.host.app.sessions[stage.key].subagents.discard()


async def elicits(stage: Stage) -> None:
    stage.open()
    stage.prompt("elicit")
    await stage.host.until("a question", lambda: stage.host.of(Elicitation, stage.key))
    number = stage.host.of(Elicitation, stage.key)[0].request.id
    stage.host.app.receive("elicitation_check", {"id": number, "values": {}})
    stage.host.app.receive("elicitation_answer", {"id": number, "values": {}, "action": "accept"})
    await stage.host.until("the turn", lambda: stage.host.of(events.TurnEnd, stage.key))


async def batches(stage: Stage) -> None:
    stage.open()
    stage.prompt("batch")
    await stage.host.until("a request", lambda: stage.host.of(events.Permission, stage.key))


async def cancels(stage: Stage) -> None:
    stage.open()
    stage.prompt("resist")
    await stage.until_said("waits")
    stage.tell("cancel")
    stage.tell("cancel", force=True)
    stage.tell("cancel", force=True)
    await stage.host.until("a closing", lambda: "Closing the session" in "".join(stage.host.notices(stage.key)))
    (stage.cwd / "enough").touch()
    await stage.host.until("its end", lambda: stage.host.of(events.TurnEnd, stage.key))


async def ends(stage: Stage) -> None:
    stage.open()
    await stage.host.until_state("idle", stage.key)
    stage.tell("cancel", force=True)
    await stage.host.until_state("stopped", stage.key)


async def stops(stage: Stage) -> None:
    stage.open()
    await stage.host.until_state("idle", stage.key)
    stage.tell("stop")
    await stage.host.until_state("stopped", stage.key)


async def steers(stage: Stage) -> None:
    stage.open()
    stage.prompt("obey")
    await stage.until_said("waits")
    stage.prompt("say more")
    stage.tell("steer")
    stage.tell(
        "queue_set",
        prompts=[
            {
                "text": "say this",
                "context": [{"type": "file", "uri": "file:///f", "name": "f", "path": str(stage.cwd / "file")}],
            }
        ],
        known=[],
    )
    await stage.host.until_received("_session/steering", name=stage.agent)


async def configures(stage: Stage) -> None:
    stage.open()
    await stage.host.until_state("idle", stage.key)
    stage.tell("config_set", option="mode", value="b")
    stage.tell("config_forget")
    await stage.host.until_received("session/set_mode", name=stage.agent)


async def signs_in(stage: Stage) -> None:
    (stage.cwd / "locked").touch()
    stage.open()
    await stage.host.until_state("failed", stage.key)
    at = {"agent": stage.agent, "cwd": str(stage.cwd)}
    stage.host.app.receive("login_methods", at)
    (stage.cwd / "open").touch()
    stage.host.app.receive("login", {**at, "method": "browser", "session": stage.key})
    await stage.host.until_state("idle", stage.key)
    stage.host.app.receive("logout", at)
    await stage.host.until_received("logout", name=stage.agent)


async def begins_itself(stage: Stage) -> None:
    stage.open()
    await stage.host.until("its turn", lambda: stage.host.of(events.TurnEnd, stage.key))


async def says_nothing(stage: Stage) -> None:
    stage.open()
    await stage.turn("nothing")


async def goes_on_with_another_host(stage: Stage) -> None:
    stage.key = next(stage.restored)
    stage.open()
    await stage.host.until_state("idle", stage.key)
    stage.prompt("say hello")
    await stage.until_said("said: again")
    await stage.until_said("said: hello")


async def works_on(stage: Stage) -> None:
    stage.open()
    stage.prompt("later")
    await stage.host.until("a turn of its own", lambda: len(stage.host.of(events.TurnStart, stage.key)) == 2)


async def hurries(stage: Stage) -> None:
    """The prompt waits for no snapshot."""
    stage.open()
    stage.host.app.sessions[stage.key].changes.snapshot_wait = 0
    stage.prompt("say hello")
    await stage.until_said("said: hello")


async def looks(stage: Stage) -> None:
    """What the user does beside the turns."""
    listed, restored = (len(stage.host.editor.all(kind)) for kind in (SessionsListed, Restored))
    stage.open()
    at, cwd = {"id": 1, "path": str(stage.cwd)}, str(stage.cwd)
    stage.host.app.receive("disk_changed", {"paths": [str(stage.cwd / "file")]})
    stage.tell("call_media", block=1, place=0, directory=cwd)
    stage.host.app.receive("transcript_open", {"session": 9999, "id": "none"})
    stage.host.app.receive("transcript_call", {"session": 9999, "id": "none", "block": 1})
    stage.tell("export")
    stage.host.app.receive("permission_forget", {"cwd": cwd, "id": "none"})
    wanted = {"id": 1, "cwd": cwd, "open": [], "query": "x", "agents": [stage.agent]}
    stage.host.app.receive("sessions_list", wanted)
    stage.host.app.receive("sessions_more", {"id": 1, "agent": stage.agent})
    for name in ("worktree_look", "worktree_remove"):
        stage.host.app.receive(name, at)
    stage.host.app.receive("session_delete", {"id": 1, "agent": stage.agent, "cwd": cwd})
    stage.host.app.receive("session_close", {"id": 1, "session": 9999})
    stage.host.app.receive("resume", {"session": next(stage.keys), "agent": stage.agent, "cwd": cwd})
    for name in ("saved", "review_open"):
        stage.host.app.receive(name, {"path": str(stage.cwd / "file")})
    stage.host.app.receive("checkpoints", {"cwd": cwd})
    stage.host.app.receive("review_load", {"cwd": cwd})
    stage.host.app.receive("review", {"action": "keep"})
    for name in ("restore_plan", "restore"):
        stage.host.app.receive(name, {"cwd": cwd, "id": "none"})
    # a slow agent comes with a later list
    await stage.host.until(
        "the agent's answer",
        lambda: any(stage.agent in one.asked for one in stage.host.editor.all(SessionsListed)[listed:]),
    )
    await stage.host.editor.until_event(Restored, restored + 1)


async def starts_another_agent_first(stage: Stage) -> None:
    """The process that was started before the host was loaded is not the one that the session wants."""
    hello = {"state_path": str(stage.cwd), "config": {"agents": {stage.agent: {"command": ["/bin/sleep", "60"]}}}}
    opened = {"session": stage.key, "agent": stage.agent, "cwd": str(stage.cwd)}
    first = await start_first([("hello", hello), ("open", opened)], ChildProcesses(guard_of_host()))
    assert first is not None
    stage.host.app.peers._first = first
    stage.open()
    await stage.host.until_state("idle", stage.key)


async def remembers(stage: Stage) -> None:
    """A line of the history of prompts."""
    stage.open()
    path = stage.cwd / "prompts.jsonl"
    path.unlink(missing_ok=True)
    stage.host.app.receive("remember_prompt", {"path": str(path), "text": "a prompt", "time": 1})
    await stage.host.until("the prompt in the history", path.exists)


async def connects_to_the_editor(stage: Stage) -> None:
    """A client of an MCP server."""
    stage.open()
    served = anyio.Event()

    async def serve(source: ByteSource, sink: ByteSink) -> None:
        served.set()

    path, token = await stage.host.app.mcp.listener.open(serve)
    async with await anyio.connect_unix(path) as client:
        await client.send(f"{token}\n".encode())
        await stage.host.until("the client", served.is_set)


async def has_its_work_checked(stage: Stage) -> None:
    """A command after the turn, which fails."""
    stage.open()
    stage.host.app.sessions[stage.key].after_turn.settings = CheckSettings(command="exit 1")
    stage.host.editor.open(stage.cwd / "file")
    stage.prompt("edit")
    await stage.host.until("an offer", lambda: (told := stage.host.status(stage.key)) and told.checks == "found")


async def ends_what_another_chat_has(stage: Stage) -> None:
    """A start that waits for a process that hangs is cancelled with force."""
    stage.open()
    await stage.host.until_state("idle", stage.key)
    peer = stage.host.app.sessions[stage.key].peer
    assert peer is not None
    assert peer.pid is not None
    os.kill(peer.pid, signal.SIGSTOP)
    stage.key = next(stage.keys)
    stage.open()
    await stage.host.until_state("starting", stage.key)
    await stage.host.nothing_comes_late()  # the start waits
    stage.tell("cancel", force=True)
    await stage.host.until_state("stopped", stage.key)
    with suppress(ProcessLookupError):
        os.kill(peer.pid, signal.SIGCONT)


SCENARIOS: list[tuple[Scenario, str]] = [
    (edits, HIT),
    (deletes, HIT),
    (stops, HIT),
    (asks, HIT),
    (hurries, HIT),
    (commands, HIT),
    (leaves_a_command, HIT),
    (strays, HIT),
    (elicits, HIT),
    (delegates, HIT),
    (batches, HIT),
    (cancels, HIT),
    (ends, HIT),
    (steers, HIT),
    (configures, HIT),
    (signs_in, HIT),
    (begins_itself, HIT_V2),
    (works_on, HIT),
    (says_nothing, HIT),
    (goes_on_with_another_host, HIT),
    (looks, HIT),
    (remembers, HIT),
    (starts_another_agent_first, HIT),
    (connects_to_the_editor, HIT),
    (has_its_work_checked, HIT),
    (ends_what_another_chat_has, HIT),
]
