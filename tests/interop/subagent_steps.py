"""The step about subagents: one that asks and changes a file, and one that is cancelled alone."""

from __future__ import annotations

from typing import Any

from tests.interop.model.scenes import CHILD_FILE
from tests.interop.setting_steps import choose
from tests.interop.stage import ANSWER, NotOfferedError, Stage
from tests.interop.unseen_steps import listed

TO_BLOCK = """
local bufnr, words = ...
vim.api.nvim_set_current_win(vim.fn.bufwinid(bufnr))
vim.fn.cursor(vim.fn.line("$"), vim.fn.col({ vim.fn.line("$"), "$" }))
assert(vim.fn.search("\\\\V" .. vim.fn.escape(words, "\\\\"), "bcW") > 0, "no block")
"""
OVER = "The subagent is over."


class Parent:
    """The session at hand, also when the chat of a child is in front of it."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self.bufnr: int = stage.nvim.lua('return require("acp_nvim.host.sessions").current().bufnr')
        self.key: int = stage.nvim.lua('return require("acp_nvim.host.sessions").current().key')

    def children(self) -> list[dict[str, Any]]:
        """The subagents, as its status has them."""
        return list(self._stage.nvim.lua('return require("acp_nvim").status(...).subagents or {}', self.key))

    def new_child(self, known: list[dict[str, Any]], state: str) -> dict[str, Any]:
        """Waits until there is another one, in that state."""

        def found() -> dict[str, Any] | None:
            new = self.children()[len(known) :]
            return new[0] if new and new[0]["state"] == state else None

        child: dict[str, Any] = self._stage.wait(found, f"a subagent that is {state}")
        return child

    def text(self, scene: str) -> str:
        """The chat since the last prompt with that scene."""
        return self._stage.nvim.buffer_text(self.bufnr).rpartition(f"scene:{scene} ")[2]

    def block(self, child: dict[str, Any]) -> str:
        """The first line of the last block that has the child's title; empty when there is none."""
        lines = f"{self._stage.nvim.buffer_text(self.bufnr)}\n".split("\n")
        own = [line for line in lines if f"{line}  ".partition(f" {child['title']}  ")[1]]
        return own[-1] if own else ""

    def go_to_block(self, child: dict[str, Any]) -> None:
        """Puts the cursor on the last block with the child's title."""
        self._stage.nvim.lua(TO_BLOCK, self.bufnr, self.block(child))


def are_told_again(stage: Stage) -> None:
    """All of them are in a conversation that the agent has told anew, with what they said."""
    ids = {one["sessionId"] for one in stage.offers.subagents()}
    parent = Parent(stage)
    stage.wait(lambda: {one["session_id"] for one in parent.children()} == ids, "the subagents, once more")
    for child in parent.children():
        assert parent.block(child), child
        assert child["state"] == "idle", child
        assert "review" not in child, "it counts what others have changed"
    for child in parent.children()[:1]:
        stage.nvim.lua('require("acp_nvim.events.subagents").open(...)', child["session"])
        stage.wait(lambda: "The child is done." in stage.nvim.buffer_text(), "what the first of them said")
        stage.nvim.keys("q")


def sent_for(stage: Stage, child: dict[str, Any]) -> list[str | None]:
    """The methods of all that was sent and has the child's id."""
    return [
        one.get("method") for way, one in stage.wire.messages() if way == "sent" and child["session_id"] in str(one)
    ]


def subagents(stage: Stage) -> str:
    """One asks in its own name and changes a file; another one is cancelled, and the turn of the agent goes on."""
    if "subagents" not in stage.agent.offers:
        assert "subagents" not in stage.offers.steps(), "it offers subagents, which its file does not say"
        raise NotOfferedError
    parent = Parent(stage)
    before = stage.status().get("mode", "")
    if stage.agent.asks_in:
        choose(stage, "mode", stage.agent.asks_in)
    works(stage, parent)
    if stage.agent.asks_in:
        choose(stage, "mode", before)
    is_cancelled(stage, parent)
    return "asks, reviewed, cancelled"


def works(stage: Stage, parent: Parent) -> None:
    """Its block, its request, its chat, its change, and nothing that is sent for it."""
    known, count = parent.children(), len(stage.ends())
    stage.say("delegate")
    child = parent.new_child(known, "waiting")
    said = stage.offers.subagents()[0]
    assert child["title"] == (said.get("title") or said["description"]), (child, said)
    asked = stage.wait(lambda: stage.nvim.lua('return require("acp_nvim").permissions()'), "its request")
    assert [one["session"] for one in asked] == [child["session"]], asked
    stage.wait(lambda: "waits for you" in parent.block(child), "its block")
    parent.go_to_block(child)
    stage.nvim.keys("<CR>")
    stage.wait(lambda: "The child reads." in stage.nvim.buffer_text(), "what it said, in its own chat")
    stage.nvim.lua(ANSWER, "allow_once")
    child = parent.new_child(known, "idle")
    assert child["stop_reason"] == "end_turn", child
    stage.wait(lambda: "The child is done." in stage.nvim.buffer_text(), "the end of what it said")
    assert stage.nvim.api("get_current_buf") != parent.bufnr
    stage.nvim.keys("q")
    assert stage.nvim.api("get_current_buf") == parent.bufnr
    path = str(stage.project / CHILD_FILE)
    found = stage.wait(lambda: [one for one in listed(stage) if one["path"] == path], "the review")
    assert [(one["by"], one["session"]) for one in found] == [("agent", child["session"])], found
    stage.wait(lambda: len(stage.ends()) > count, "the end of the turn")
    stage.wait(lambda: OVER in parent.text("delegate"), "the agent's last words")
    told = [one["subagent"] for one in stage.nvim.events("AcpSubagent")]
    states = iter([one["state"] for one in told if one["session"] == child["session"]])
    assert all(state in states for state in ("running", "waiting", "idle")), told
    assert sent_for(stage, child) == []


def is_cancelled(stage: Stage, parent: Parent) -> None:
    """Cancel a child on its block while it gives a long answer."""
    known, count = parent.children(), len(stage.ends())
    cancels = len(stage.wire.sent("session/cancel"))
    before = sum(scene == "slow" for scene, _ in stage.model.turns)
    stage.say("delegate_slow")
    stage.wait(lambda: sum(scene == "slow" for scene, _ in stage.model.turns) > before, "the child's long answer")
    child = parent.new_child(known, "running")
    stage.wait(lambda: parent.children()[-1]["cancel"], "that it can be cancelled")
    stage.wait(lambda: "  works" in parent.block(child), "its block")
    parent.go_to_block(child)
    stage.nvim.command("AcpCancel")
    child = parent.new_child(known, "idle")
    assert child["stop_reason"] == "cancelled", child
    stage.wait(lambda: "  cancelled" in parent.block(child), "its block")
    assert stage.wire.sent("session/cancel")[cancels:] == [{"sessionId": child["session_id"]}]
    assert sent_for(stage, child) == ["session/cancel"]
    stage.wait(lambda: len(stage.ends()) > count, "the end of the turn")
    assert stage.ends()[-1]["stop_reason"] == "end_turn", stage.ends()[-1]
    stage.wait(lambda: OVER in parent.text("delegate_slow"), "the agent's last words")
