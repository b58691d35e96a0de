"""The steps about commands that go on: after a cancel, and in the background after the end of a turn."""

from __future__ import annotations

from pathlib import Path

from tests.interop.model.scenes import BEHIND, LATE, LATE_COMMAND
from tests.interop.stage import ANSWER, NotOfferedError, Stage
from tests.interop.unseen_steps import listed
from tests.support.processes import processes

FINAL = ("completed", "failed")
WORDS = {"agent": "reviewed", "unknown": "reviewed as not sure who"}


def survives(stage: Stage) -> str:
    """A turn is cancelled while its command runs: if the command runs on, what it changes then is under review."""
    if stage.agent.is_example:
        raise NotOfferedError
    path, before, updates = stage.project / "util.py", len(ends(stage)), len(stage.wire.received("session/update"))
    stage.say("outlive")
    stage.wait(lambda: not stage.nvim.lua(ANSWER, "allow_once") and is_running(path), "the command to run")
    if announces(stage):
        stage.wait(
            lambda: "'tool_call'" in str(stage.wire.received("session/update")[updates:]), "the command to be told of"
        )
    stage.nvim.command("AcpCancel")
    stage.wait(lambda: len(ends(stage)) > before, "the end of the cancelled turn")
    assert ends(stage)[before]["stop_reason"] == "cancelled", ends(stage)[before]
    told, waited = len(ended_calls(stage)), not is_running(path)
    stage.wait(lambda: not is_running(path), "the end of the command")
    stage.wait(lambda: stage.status()["state"] == "idle", "the session to be idle")
    stage.wait(lambda: not stage.wire.open_requests(), "an answer to all that the agent has asked")
    if LATE not in path.read_text():
        return "ended by it"
    how = WORDS[by(stage, path)]
    if waited:
        return f"waited for, {how}"
    stage.wait(lambda: LATE_COMMAND in stage.text().rpartition("Stopped: cancelled")[2], "words about the command")
    says = "says when it ends" if len(ended_calls(stage)) > told else "never says that it ends"
    return f"runs on, {how}; {says}"


def left(stage: Stage) -> str:
    """A command that goes on after its turn, in the background, changes a file: that is under review."""
    if stage.agent.is_example:
        raise NotOfferedError
    path = stage.project / "notes.txt"
    stage.turn("leave")
    asked = lambda: stage.nvim.lua(ANSWER, "allow_once")  # noqa: E731
    stage.wait(lambda: not asked() and "It runs in the background." in stage.text(), "the end of the turn")
    is_early = BEHIND in path.read_text()
    stage.wait(lambda: not is_running(path), "the end of the command")
    stage.wait(lambda: not asked() and stage.status()["state"] == "idle", "an idle session")
    if BEHIND not in path.read_text():
        return "ended with its call"
    if stage.agent.listens:  # its processes are not ours to see: what they did is found before the next turn
        stage.turn("recall", "after a command that nobody sees")
    return f"{'waited for' if is_early else 'runs on'}, {WORDS[by(stage, path)]}"


def ends(stage: Stage) -> list[dict[str, object]]:
    """The ends of turns that were prompted."""
    return [one for one in stage.ends() if not one["background"]]


def announces(stage: Stage) -> bool:
    """Whether it announces calls beside asking for them, by those that it has asked for; some agents only ask."""
    asked = {one["params"]["toolCall"]["toolCallId"] for one in stage.wire.received("session/request_permission")}
    updates = [one["params"]["update"] for one in stage.wire.received("session/update")]
    announced = {one["toolCallId"] for one in updates if one["sessionUpdate"] == "tool_call"}
    return not asked or bool(asked & announced)


def is_running(path: Path) -> bool:
    """Whether a command runs that names the file."""
    return any(str(path) in " ".join(one.command) for one in processes())


def ended_calls(stage: Stage) -> list[object]:
    """The updates that end a tool call."""
    updates = [one["params"]["update"] for one in stage.wire.received("session/update")]
    return [one for one in updates if one.get("status") in FINAL]


def by(stage: Stage, path: Path) -> str:
    """Waits until the file is under review; who has changed it, as the review has it."""

    def found() -> str | None:
        return next((str(one["by"]) for one in listed(stage) if one["path"] == str(path)), None)

    who: str = stage.wait(found, f"{path.name} to be under review")
    return who
