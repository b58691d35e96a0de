"""Whatever a language server answers: each call of a tool has one answer, within bounds, and the user sees no error."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.lua.conftest import LuaEditor
from tests.lua.direct_tools import SYMBOLS, DirectTools
from tests.support.examples import examples
from tests.support.language_server import edit

LINES, BYTES, WORDS = 5002, 1_100_000, 4000
"""Bounds of one answer: its lines, the bytes of all of them, and those of a note or an error."""

URIS = [
    "file:///PROJECT/main.py",
    "file:///PROJECT/pipe.py",
    "file:///PROJECT/device.py",
    "file:///PROJECT",
    "file:///PROJECT/missing.py",
    "file://host/PROJECT/main.py",
    "file:///PROJECT/main.py%00",
    "file:///dev/zero",
    "file:///proc/self/mem",
    "file:",
    "FILE:///etc/../PROJECT/main.py#L3",
    "jdt://contents/main.py",
    "untitled:1",
    "%",
    "",
]
POSITION = {"line": 0, "character": 5}
RANGE = {"start": POSITION, "end": {"line": 0, "character": 11}}
LOCATION = {"uri": "file:///PROJECT/main.py", "range": RANGE}
LINK = {"targetUri": "file:///PROJECT/main.py", "targetRange": RANGE, "targetSelectionRange": RANGE}
SYMBOL = {"name": "area", "kind": 12, "range": RANGE, "selectionRange": RANGE}
EDIT = edit(0, 5, 0, 11, "forms")
CHANGES = {"changes": {"file:///PROJECT/main.py": [EDIT]}}
VERSIONED = {"documentChanges": [{"textDocument": {"uri": "file:///PROJECT/main.py", "version": 0}, "edits": [EDIT]}]}
OPERATION = {"documentChanges": [{"kind": "rename", "oldUri": "file:///PROJECT/a", "newUri": "file:///PROJECT/b"}]}
COMMAND = {"title": "Run", "command": "run", "arguments": []}

AT: dict[str, Any] = {"line": 1, "symbol": "shapes"}
SHAPES: dict[str, tuple[list[tuple[str, dict[str, Any]]], list[Any]]] = {
    "textDocument/definition": ([("definition", AT)], [LOCATION, [LOCATION, LOCATION], [LINK], None]),
    "textDocument/references": ([("references", AT)], [[LOCATION, {**LOCATION, "uri": "file:///PROJECT/pipe.py"}]]),
    "textDocument/implementation": ([("implementations", AT)], [[LINK, LOCATION]]),
    "textDocument/hover": (
        [("hover", AT)],
        [
            {"contents": {"kind": "markdown", "value": "a\n\nb"}, "range": RANGE},
            {"contents": "a"},
            {"contents": [{"language": "c", "value": "int"}, "b"]},
        ],
    ),
    SYMBOLS: ([("symbols", {})], [[{**SYMBOL, "children": [SYMBOL, {**SYMBOL, "children": [SYMBOL]}]}]]),
    "workspace/symbol": (
        [("symbols", {"query": "x", "path": None})],
        [[{"name": "area", "kind": 12, "location": LOCATION, "containerName": "x"}]],
    ),
    "textDocument/rename": ([("rename", {**AT, "new_name": "forms"})], [CHANGES, VERSIONED, OPERATION]),
    "textDocument/codeAction": (
        [("code_action", {"line": 1}), ("code_action", {"line": 1, "title": "x"})],
        [
            [{"title": "x", "kind": "quickfix", "edit": CHANGES, "disabled": {"reason": "no"}}, COMMAND],
            [{"title": "x"}],
        ],
    ),
    "codeAction/resolve": ([("code_action", {"line": 1, "title": "x"})], [{"title": "x", "edit": CHANGES}]),
    "textDocument/formatting": ([("format", {})], [[EDIT, edit(0, 0, 2**40, 0, "\n")]]),
}

ODD: list[Any] = [
    *(None, True, False, 0, -1, 1.5, 2**31, 2**64, 1e308, [], {}, [[]], [None], [5, "x"], {"a": {"b": []}}),
    *("", "x", "\0", "a\nb\r\n\tc", "é😀" * 50, "\x1b[2J\u202e", "x" * 5000, "%s%n", "kind", "uri"),
    *(LOCATION, RANGE, POSITION, SYMBOL, EDIT, COMMAND, CHANGES),
]
odd = st.one_of(
    st.sampled_from(ODD),
    st.sampled_from(URIS),
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(max_size=9),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
        max_leaves=6,
    ),
)


def paths(value: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to all values within a value, itself included."""
    yield here
    inner: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value))
    for key, one in inner:
        yield from paths(one, (*here, key))


def changed(value: Any, way: tuple[Any, ...], how: str, other: Any) -> Any:
    """The value with one within it replaced, removed, or there often."""
    if not way:
        return other
    copy = dict(value) if isinstance(value, dict) else list(value)
    if len(way) > 1:
        copy[way[0]] = changed(value[way[0]], way[1:], how, other)
    elif how == "remove":
        del copy[way[0]]
    elif how == "repeat" and isinstance(copy, list):
        copy[way[0] : way[0]] = [value[way[0]]] * 300
    else:
        copy[way[0]] = other
    return copy


@st.composite
def results(draw: st.DrawFn, shapes: list[Any]) -> Any:
    """A result that was right, with up to four changes."""
    value = draw(st.sampled_from(shapes))
    for _ in range(draw(st.integers(0, 4))):
        way = draw(st.sampled_from(list(paths(value))))
        value = changed(value, way, draw(st.sampled_from(["replace", "replace", "remove", "repeat"])), draw(odd))
    return value


@st.composite
def cases(draw: st.DrawFn) -> tuple[str, Any, tuple[str, dict[str, Any]]]:
    """A method, its result, and a call of a tool that asks for it."""
    method = draw(st.sampled_from(sorted(SHAPES)))
    calls, shapes = SHAPES[method]
    return method, draw(results(shapes)), draw(st.sampled_from(calls))


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DirectTools]:
    started = LuaEditor(tmp_path_factory.mktemp("any"))
    made = DirectTools(started)
    os.mkfifo(made.project / "pipe.py")
    (made.project / "device.py").symlink_to("/dev/zero")
    started.command(f"edit {made.main}")
    yield made
    started.close()


BEGIN = """
_G.opened = {}
_G.replies["textDocument/codeAction"] = vim.json.encode({ { title = "x" } })
_G.replies[...], _G.reply_count = select(2, ...), select(3, ...)
"""
AFTER = """
local tests = _G.acp_test
return { _G.opened, vim.api.nvim_list_bufs(), tests.messages, vim.fn.execute("messages"), vim.api.nvim_get_mode().mode }
"""


def within_bounds(answer: dict[str, Any]) -> bool:
    lines = answer.get("lines") or []
    size = sum(len(str(line).encode("utf-8", "surrogateescape")) for line in lines)
    words = [str(answer.get(name) or "") for name in ("note", "error", "title")]
    return len(lines) <= LINES and size <= BYTES and all(len(one) <= WORDS for one in words)


@settings(max_examples=examples(300))
@given(case=cases(), count=st.integers(1, 2))
def test_any_answer(tools: DirectTools, case: tuple[str, Any, tuple[str, dict[str, Any]]], count: int) -> None:
    method, result, (tool, arguments) = case
    nvim = tools.nvim
    text = json.dumps(result).replace("PROJECT", str(tools.project).lstrip("/"))
    nvim.lua(BEGIN, method, text, count)
    given_path = {"path": tools.main, **arguments}
    answer = tools.answer(tool, **{name: value for name, value in given_path.items() if value is not None})
    assert within_bounds(answer), answer
    assert "Neovim failed" not in str(answer.get("error")), answer
    opened, buffers, *rest = nvim.lua(AFTER)
    assert set(tools.files(opened)) <= {tools.main}
    assert len(buffers) == 2  # the first, and that of the file
    assert rest == [[], "", "n"]
