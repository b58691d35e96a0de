"""The steps about what an agent does where nobody looks: after its turn has ended, and in records of its own."""

from __future__ import annotations

from typing import Any

from tests.interop.model.scenes import ADDED
from tests.interop.stage import ANSWER, NotOfferedError, Stage

LISTED = 'return require("acp_nvim").review()'


def listed(stage: Stage) -> list[dict[str, Any]]:
    """Return what is under review."""
    return list(stage.nvim.lua(LISTED))


def ends(stage: Stage) -> list[dict[str, Any]]:
    """The ends of turns that the agent began by itself."""
    return [end for end in stage.ends() if end.get("background")]


def background(stage: Stage) -> str:
    """A command goes on after the turn; when it ends the agent edits a file: that is a turn, and under review.

    Once more, with a long answer: one cancel stops it.
    """
    if not stage.agent.background:
        raise NotOfferedError
    path = stage.project / "util.py"
    stage.turn("later")
    assert not ends(stage), "the work in the background began before the end of the turn"
    stage.wait(lambda: stage.nvim.lua(ANSWER, "allow_once") or ADDED in path.read_text(), "the edit")
    stage.wait(lambda: stage.nvim.lua(ANSWER, "allow_once") or ends(stage), "the end of its turn")
    assert [end for end in stage.nvim.events("AcpTurnStart") if end.get("background")]
    stage.wait(lambda: str(path) in [one["path"] for one in listed(stage) if one["by"] == "agent"], "the review")
    changed = [one for one in stage.nvim.events("AcpFileChanged") if one["path"] == str(path)]
    assert changed, "AcpFileChanged"
    assert changed[-1]["by"] == "agent", changed
    stage.turn("later_slow")
    stage.wait(lambda: "word number 5," in stage.text().rpartition("scene:later_slow")[2], "a long answer")
    assert stage.status()["state"] == "background", stage.status()
    before = len(ends(stage))
    stage.nvim.command("AcpCancel")
    stage.wait(lambda: len(ends(stage)) > before, "the end of the cancelled turn")
    assert ends(stage)[-1]["stop_reason"] == "cancelled", ends(stage)
    assert "word number 1499," not in stage.nvim.chat_text()
    return "reviewed, cancelled"


def records(stage: Stage) -> str:
    """Its own records in the project are listed apart, and outlive the rejection of everything."""
    if not stage.agent.records:
        raise NotOfferedError
    places = [stage.project / name for name in stage.agent.records]
    stage.turn("recall", "before all is rejected")
    before = {path: path.read_bytes() for place in places for path in [place, *place.rglob("*")] if path.is_file()}
    assert before, f"there is nothing in {places}"
    known = {str(path) for path in before}
    stage.wait(lambda: known <= {one["path"] for one in listed(stage) if one["by"] == "state"}, "them to be listed")
    stage.nvim.command("AcpReview! rejectall")
    stage.wait(lambda: all(one["by"] == "state" for one in listed(stage)), "the rest to be rejected")
    assert {
        path: path.read_bytes() for place in places for path in [place, *place.rglob("*")] if path.is_file()
    } == before
    return f"`{'`, `'.join(stage.agent.records)}` stays"
