"""The step about the editor's own MCP server: the model asks for diagnostics, and has a symbol renamed."""

from __future__ import annotations

from typing import Any

from tests.interop.model.scenes import MODULE
from tests.interop.stage import FILES, NotOfferedError, Stage
from tests.interop.unseen_steps import listed
from tests.nvim.agent_tools import ENABLE, SERVERS

UNUSED = "`os` imported but unused"
MOST_QUESTIONS = 3
"""For the two calls: agents may ask for each of them, and we ask for the edit."""


def server(stage: Stage) -> dict[str, Any] | None:
    """The server of the editor, as the status has it."""
    return next((one for one in stage.status().get("mcp") or [] if one["name"] == "nvim"), None)


def tools(stage: Stage) -> str:
    """Diagnostics reach the model, and the renaming is asked for, done and under review."""
    if stage.agent.is_example or server(stage) is None:
        raise NotOfferedError
    path = stage.project / MODULE
    stage.nvim.lua(ENABLE, SERVERS)
    stage.edit(path)
    stage.wait(lambda: stage.nvim.lua("return #vim.lsp.get_clients({ bufnr = 0 })") == 2, "the language servers")
    end, asked = stage.turn("tools")
    assert end["stop_reason"] == "end_turn", stage.describe()
    found = server(stage)
    assert found is not None
    if stage.agent.no_tools:
        assert found["calls"] == {}, found
        return f"not reached: {stage.agent.no_tools}"
    assert found["calls"] == {"diagnostics": 1, "rename": 1}, f"{found}\n{stage.describe()}"
    assert UNUSED in stage.model.last_body, stage.model.last_body[-4000:]
    assert path.read_text() == FILES[MODULE].replace("area", "surface")
    stage.wait(lambda: str(path) in [one["path"] for one in listed(stage) if one["by"] == "agent"], "the review")
    assert 1 <= len(asked) <= MOST_QUESTIONS, asked
    times = {1: "once", 2: "twice"}.get(len(asked), f"{len(asked)} times")
    return f"diagnostics, rename; asked {times}"
