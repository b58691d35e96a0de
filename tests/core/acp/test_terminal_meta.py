"""What adapters say of their commands in `_meta`, in the shapes that they send."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from acp_nvim.acp.terminal import Exit, TerminalPatch
from acp_nvim.acp.updates import TerminalChanged, TerminalNews, TerminalPrinted
from acp_nvim.acp.v1 import terminal_news

JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=3), lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["data", "terminal_id", "exit_code", "signal", "cwd"]), inner, max_size=4), max_leaves=6)  # fmt: skip # noqa: E501
NAMES = ["terminal_info", "terminal_output", "terminal_output_delta", "terminal_exit"]


def changed(terminal_id: str = "t", **fields: Any) -> TerminalNews:
    return TerminalChanged(TerminalPatch(terminal_id=terminal_id, **fields))


@pytest.mark.parametrize(
    ("meta", "news"),
    [
        ({"terminal_info": {"terminal_id": "t", "cwd": "/p"}}, [changed(cwd="/p")]),
        ({"terminal_info": {"terminal_id": "t"}}, [changed()]),
        ({"terminal_output": {"terminal_id": "t", "data": "grün\r\n"}}, [TerminalPrinted("t", "grün\r\n".encode())]),
        ({"terminal_output_delta": {"terminal_id": "t", "data": "a"}}, [TerminalPrinted("t", b"a")]),
        ({"terminal_output_delta": {"data": "a"}}, [TerminalPrinted("call", b"a")]),
        ({"terminal_exit": {"terminal_id": "t", "exit_code": 3, "signal": None}}, [changed(exit=Exit(3))]),
        ({"terminal_exit": {"terminal_id": "t", "signal": "SIGINT"}}, [changed(exit=Exit(None, "SIGINT"))]),
        (
            {
                "claudeCode": {"toolName": "Bash"},
                "terminal_exit": {"terminal_id": "t", "exit_code": 0, "signal": None},
                "terminal_output": {"terminal_id": "t", "data": "a.txt\n"},
            },
            [TerminalPrinted("t", b"a.txt\n"), changed(exit=Exit(0))],
        ),
        ({"terminal_output": {"data": 5}, "terminal_info": "x", "terminal_exit": None}, []),
        ({}, []),
        (None, []),
        (UNSET, []),
    ],
)
def test_what_is_said_of_terminals(meta: Any, news: list[TerminalNews]) -> None:
    assert list(terminal_news("call", meta)) == news


@given(st.dictionaries(st.sampled_from(NAMES), JSON))
def test_whatever_stands_there_is_no_error(meta: dict[str, Any]) -> None:
    for one in terminal_news("call", meta):
        terminal_id = one.patch.terminal_id if isinstance(one, TerminalChanged) else one.terminal_id
        assert isinstance(terminal_id, str)
