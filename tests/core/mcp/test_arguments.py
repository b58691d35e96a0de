"""Arguments of tools are taken as they are, or refused."""

from __future__ import annotations

import pytest

from acp_nvim.mcp.tools.reading import NOTE_CHARS, TOOLS, Show
from acp_nvim.mcp.tools.tool import ToolError


def test_a_note_that_is_too_long_to_be_shown_is_refused() -> None:
    show = next(one for one in TOOLS if one.name == "show")
    fits = show.read({"path": "a", "line": 1, "note": "x" * NOTE_CHARS})
    assert isinstance(fits, Show)
    assert fits.note == "x" * NOTE_CHARS
    with pytest.raises(ToolError, match=f"length <= {NOTE_CHARS} - at `\\$.note`"):
        show.read({"path": "a", "line": 1, "note": "x" * (NOTE_CHARS + 1)})
    assert show.described()["inputSchema"]["properties"]["note"]["maxLength"] == NOTE_CHARS
