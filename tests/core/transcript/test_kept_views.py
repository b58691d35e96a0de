"""What was going on when a conversation ended goes on no more when it is shown again."""

from __future__ import annotations

import pytest

from acp_nvim.contract import events
from acp_nvim.contract.views import CallView
from acp_nvim.transcript.kept_views import shown


@pytest.mark.parametrize(
    ("status", "words"),
    [("pending", "unfinished"), ("in_progress", "unfinished"), ("completed", "completed"), ("failed", "failed")],
)
def test_no_tool_call_runs(status: str, words: str) -> None:
    call = CallView(id="c", title="t", kind="read", status=status, content=[], locations=[])
    [told] = shown(7, [events.ToolCall(session=1, block=3, call=call)])
    assert isinstance(told, events.ToolCall)
    assert (told.session, told.block, told.call.status) == (7, 3, words)
