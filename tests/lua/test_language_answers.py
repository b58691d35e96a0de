"""What language servers answer has a bound in each direction, and no file is read that could not be read at once."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lua.conftest import LuaEditor
from tests.lua.direct_tools import SYMBOLS, DirectTools
from tests.support.cases import case
from tests.support.language_server import edit

DEFINITION, HOVER, ACTION = "textDocument/definition", "textDocument/hover", "textDocument/codeAction"
REFERENCES, FORMAT, RENAME = "textDocument/references", "textDocument/formatting", "textDocument/rename"
UNREADABLE = "The language server has sent an answer that cannot be read. Go on without it."
OUTSIDE = "Of files outside of the session's directories only the place is told, not the text."
MEGABYTE = 1024 * 1024
SPAN = edit(0, 0, 0, 1, "")["range"]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DirectTools]:
    started = LuaEditor(tmp_path_factory.mktemp("shared"))
    yield DirectTools(started)
    started.close()


@pytest.fixture
def tools(shared: DirectTools) -> Iterator[DirectTools]:
    """For tests that give the language server all of its replies; none says anything to the user."""
    shared.forget()
    yield shared
    assert shared.nvim.messages() == []
    assert shared.nvim.printed() == ""
    assert shared.nvim.api("get_mode") == {"mode": "n", "blocking": False}


def place(path: Path | str, line: int = 0, character: int = 0, end: int | None = None) -> dict[str, Any]:
    uri = path.as_uri() if isinstance(path, Path) else path
    return {"uri": uri, "range": edit(line, character, line, character if end is None else end, "")["range"]}


def a_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        here = os.getcwd()
        os.chdir(path.parent)
        made.bind(path.name)
        os.chdir(here)


def large(path: Path) -> None:
    with path.open("wb") as file:
        file.write(b"first line\nsecond\n")
        file.truncate(10 << 30)


MAKERS = {
    "fifo": os.mkfifo,
    "socket": a_socket,
    "directory": Path.mkdir,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "kernel": lambda path: path.symlink_to("/proc/kmsg"),
    "loop": lambda path: path.symlink_to(path.name),
    "missing": lambda path: None,
}


def test_a_file_that_is_none_is_told_without_its_text(tools: DirectTools) -> None:
    for name, make in MAKERS.items():
        path = tools.project / f"{name}.py"
        make(path)
        tools.server.replies(DEFINITION, place(path, 1, 2))
        with case(name):
            assert tools.definition() == [f"{name}.py:2:3"]
    assert tools.opened() == []


def test_of_a_huge_file_only_the_beginning_is_read(tools: DirectTools) -> None:
    large(tools.project / "huge.py")
    one_line = tools.project / "line.py"
    one_line.write_text("x" * 50 * MEGABYTE)
    found = [place(tools.project / "huge.py", line) for line in (0, 1, 9, 10**9)]
    tools.server.replies(DEFINITION, [*found, place(one_line, 0, 10**7)])
    *lines, last = tools.definition()
    assert lines[:2] == ["huge.py:1:1: first line", "huge.py:2:1: second"]
    assert lines[2:] == ["huge.py:10:1", "huge.py:1000000001:1"]
    assert last.startswith("line.py:1:10000001: xxx")
    assert last.endswith("xxx ...")
    assert len(last) < 2000
    assert tools.opened() == [str(tools.project / "huge.py"), str(one_line)]
    assert tools.nvim.lua("return _G.read_bytes") == [MEGABYTE] * 2


URIS = [
    ("jdt://contents/x.class", "jdt://contents/x.class:1:1"),
    ("untitled:Untitled-1", "untitled:Untitled-1:1:1"),
    ("file://host/etc/hostname", "file://host/etc/hostname:1:1"),
    ("file:///tmp/%00x", "file:///tmp/%00x:1:1"),
    ("no scheme", "no scheme:1:1"),
    ("", ":1:1"),
    ("file:" + "/x" * 10000, "file:" + "/x" * 247 + "/:1:1"),
]


def test_what_is_no_file_of_this_machine_is_only_named(tools: DirectTools) -> None:
    buffers = tools.nvim.api("list_bufs")
    for uri, line in URIS:
        with case(uri[:40]):
            tools.server.replies(DEFINITION, place(uri))
            assert tools.definition() == [line]
    assert tools.opened() == []
    assert tools.nvim.api("list_bufs") == buffers


SPELLINGS = ["file://{}", "file:{}", "file://localhost{}", "FILE://{}", "file:///{}", "file://{}#L1"]


def test_spellings_of_a_uri_of_a_file(tools: DirectTools) -> None:
    path = tools.project / "a b é.py"
    path.write_text("text\n")
    for spelling in SPELLINGS:
        with case(spelling):
            tools.server.replies(DEFINITION, place(spelling.format(path.as_uri().removeprefix("file://"))))
            assert tools.definition() == ["a b é.py:1:1: text"]


COUNT_PATHS = """
local uri = require("acp_nvim.problems.uri")
local path = uri.path
_G.looked = 0
uri.path = function(...) _G.looked = _G.looked + 1 return path(...) end
"""
MANY = """
local project = PROJECT
local found = {}
for number = 0, 99999 do
  local at = { line = math.floor(number / 1000), character = 0 }
  local uri = ("file://%s/%d.py"):format(project, number % 1000)
  found[#found + 1] = { uri = uri, range = { start = at, ["end"] = at } }
end
return found
"""


def test_many_places(tools: DirectTools) -> None:
    for number in range(300):
        (tools.project / f"{number}.py").write_text("".join(f"line {line}\n" for line in range(1, 101)))
    tools.server.makes(REFERENCES, MANY.replace("PROJECT", f"[[{tools.project}]]"))
    tools.nvim.lua(COUNT_PATHS)
    lines = tools.lines("references", **tools.at)
    assert len(lines) == 5001
    assert lines[-1] == "... only the first 5000 are listed"
    assert lines[0] == "0.py:1:1: line 1"
    assert tools.nvim.lua("return _G.looked") == 1000  # of the first 5,000 places
    assert len(tools.opened()) == 200  # of 1,000 that are named
    for number in range(300):
        (tools.project / f"{number}.py").unlink()


COUNT_SPLIT = """
local util = vim.lsp.util
local convert = util.convert_input_to_markdown_lines
_G.converted = 0
util.convert_input_to_markdown_lines = function(input, lines)
  _G.converted = _G.converted + #(type(input) == "table" and input.value or input)
  return convert(input, lines)
end
"""
HOVERS = {
    "one text": 'return { contents = { kind = "markdown", value = ("some words\\n"):rep(6 * 1024 * 1024) } }',
    "one line": 'return { contents = ("x"):rep(60 * 1024 * 1024) }',
    "many parts": 'local all = {} for n = 1, 1e5 do all[n] = ("é"):rep(1000) end return { contents = all }',
    "code": 'return { contents = { language = "c", value = ("x\\n"):rep(1024 * 1024) } }',
}


def test_a_large_description_is_cut_before_it_is_split(tools: DirectTools) -> None:
    tools.nvim.lua(COUNT_SPLIT)
    for name, chunk in HOVERS.items():
        tools.server.makes(HOVER, chunk)
        tools.nvim.lua("_G.converted = 0")
        with case(name):
            lines = tools.lines("hover", **tools.at)
            assert lines[-1].startswith("... ")
            assert sum(len(line.encode()) for line in lines) < 40_000
            assert 0 < tools.nvim.lua("return _G.converted") <= 32 * 1024


DEEP = """
local at = { start = { line = 0, character = 0 }, ["end"] = { line = 0, character = 1 } }
local top = { name = "end", kind = 12, range = at }
for _ = 1, 10000 do top = { name = ("n"):rep(100), kind = 5, range = at, children = { top } } end
return { top }
"""


def test_symbols_that_are_deep_or_many(tools: DirectTools) -> None:
    tools.server.makes(SYMBOLS, DEEP)
    lines = tools.lines("symbols", path=tools.main)
    assert len(lines) == 51
    assert lines[-1] == "... only the first 5000 are listed"
    assert max(map(len, lines)) < 600
    tools.nvim.command(f"edit {tools.main}")
    tools.nvim.lua("require('acp_nvim.mentions.symbols').list(function(all) _G.offered = #all end)")
    assert tools.nvim.wait_until("_G.offered") == 50


NOTHING = ["The language server says nothing of `shapes`."]
DESCRIPTIONS: list[tuple[Any, list[str]]] = [
    ("plain", ["plain"]),
    ({"kind": "markdown", "value": "a\r\nb\n"}, ["a", "b"]),
    ({"language": "c", "value": "int x;"}, ["```c", "int x;", "```"]),
    (["a", {"language": "c", "value": "b"}], ["a", "```c", "b", "```"]),
    ("", NOTHING),
    ([], NOTHING),
]


def test_a_description_has_its_usual_forms(tools: DirectTools) -> None:
    for contents, lines in DESCRIPTIONS:
        tools.server.replies(HOVER, {"contents": contents})
        with case(str(contents)):
            assert tools.lines("hover", **tools.at) == lines


def test_entries_that_cannot_be_read_are_left_out_and_that_is_told(tools: DirectTools) -> None:
    good = place(tools.project / "main.py")
    odd = [5, None, {"uri": 5}, {"uri": "file:///x"}, {**good, "range": []}, place("file:///x", -1)]
    tools.server.replies(DEFINITION, [good, *odd])
    answer = tools.answer("definition", **tools.at)
    assert answer["lines"] == ["main.py:1:1: from shapes import area"]
    assert answer["note"].startswith("6 entries of what the language server has answered cannot be read")
    tools.server.replies(DEFINITION, odd)
    assert tools.answer("definition", **tools.at)["error"] == UNREADABLE


def test_actions_whose_members_are_odd(tools: DirectTools) -> None:
    at = {"path": tools.main, "line": 1}
    good = {"title": "Good", "kind": 5, "disabled": {"reason": 7}}
    tools.server.replies(ACTION, [{"title": 5}, {"title": None}, {"title": ["x"]}, 5, good])
    assert tools.answer("code_action", **at)["lines"] == ["Good, by fake"]
    assert tools.answer("code_action", **at)["note"] == "Other actions cannot be read."
    assert tools.answer("code_action", **at, title="x")["error"].splitlines() == [
        "No action has such a title. There are:",
        "Good, by fake",
    ]
    assert tools.answer("code_action", **at, title="Good")["error"] == "Good: it cannot be done now"
    tools.server.replies(ACTION, [{"title": 5}])
    assert tools.answer("code_action", **at, title="5")["error"] == UNREADABLE
    tools.server.replies(ACTION, [{"title": "Good"}])
    for resolved in (5, {"title": 5}, "x"):
        tools.server.replies("codeAction/resolve", resolved)
        assert tools.answer("code_action", **at, title="Good")["error"] == UNREADABLE, resolved


def test_edits_that_are_too_large_are_refused_as_a_whole(tools: DirectTools) -> None:
    one = 'range = { start = { line = 0, character = 0 }, ["end"] = { line = 0, character = 0 } }'
    cases = {
        f'local all = {{}} for n = 1, 20001 do all[n] = {{ newText = "", {one} }} end return all': "20000 places",
        f"return {{ {{ newText = ('x'):rep(17 * 1024 * 1024), {one} }} }}": "16 MB",
    }
    for chunk, words in cases.items():
        tools.server.makes(FORMAT, chunk)
        assert words in tools.answer("format", path=tools.main)["error"]
    files = 'local all = {} for n = 1, 1001 do all["file:///" .. n] = {} end return { changes = all }'
    tools.server.makes(RENAME, files)
    assert "1000 files" in tools.answer("rename", **tools.at, new_name="x")["error"]


def test_an_edit_of_another_machine_or_of_no_file_is_refused(tools: DirectTools) -> None:
    for uri in ("jdt://x", "file://host/x", "file:///a%00b", "untitled:1"):
        tools.server.replies(RENAME, {"changes": {uri: [edit(0, 0, 0, 1, "")]}})
        error = tools.answer("rename", **tools.at, new_name="x")["error"]
        assert error == f"The language server wants to change {uri}, which is no file. Nothing was done."


def test_a_line_that_is_too_long_is_not_searched(tools: DirectTools) -> None:
    path = tools.project / "long.py"
    path.write_text("a " * MEGABYTE + "\nshort a\n")
    at = {"path": str(path), "line": 1}
    for tool, more in (("definition", {"symbol": "a"}), ("code_action", {})):
        error = tools.answer(tool, **at, **more)["error"]
        assert error == "Line 1 of long.py is too long: nothing is looked for in it."
    path = tools.project / "words.py"
    path.write_text("a " * 1000 + "\n")
    assert "`a` stands 100 times" in tools.answer("definition", path=str(path), line=1, symbol="a")["error"]


AT_ONCE = """
local defer = vim.defer_fn
vim.defer_fn = function(run, ms) return defer(run, ms >= 20000 and 1 or ms) end
"""
LATE = """
_G.replies["textDocument/definition"] = function()
  _G.reply_count = 0
  return {}
end
"""


def test_a_server_that_says_nothing(tools: DirectTools) -> None:
    tools.nvim.lua(AT_ONCE + LATE)
    assert tools.answer("definition", **tools.at)["error"] == "fake has not answered in 20 s. Try again."
    tools.nvim.lua("_G.reply_count = 3 _G.replies[...] = 'null'", DEFINITION)
    ((answer,), (again,)) = tools.all_answers([("definition", tools.at), ("hover", tools.at)])
    assert answer["lines"] == ["The language server knows no definition of `shapes`."]
    assert again
    tools.nvim.lua("_G.reply_count = 1")


SET = """
local severities, namespace = ..., vim.api.nvim_create_namespace("test")
local all = {}
for severity, number in ipairs(severities) do
  for line = 1, number do
    all[#all + 1] = { lnum = line, col = 0, severity = severity, message = ("m"):rep(3000), code = { {} }, source = 5 }
  end
end
vim.diagnostic.config({ underline = false, signs = false, virtual_text = false })
vim.diagnostic.set(namespace, vim.fn.bufnr("main.py"), all)
"""
COUNT_COPIES = """
local get = vim.diagnostic.get
_G.copied = 0
vim.diagnostic.get = function(...)
  local found = get(...)
  _G.copied = _G.copied + #found
  return found
end
"""


def test_many_diagnostics(tools: DirectTools) -> None:
    nvim = tools.nvim
    nvim.lua(COUNT_COPIES)
    nvim.lua(SET, [3, 5, 10000])
    answer = tools.lines("diagnostics", path=tools.main, paths=[tools.main], severity="hint", wait_ms=0)
    assert len(answer) == 9
    assert answer[0].startswith("main.py:2:1: error: mmm")
    assert len(answer[0]) < 1600
    assert answer[-1] == "... 10000 more are not listed: ask for one path, or for severe ones only"
    nvim.lua("require('acp_nvim.problems').mark(1)")
    assert nvim.lua("return require('acp_nvim.problems').is_marked(1)") is False
    nvim.lua("vim.cmd.buffer('main.py')")
    words = nvim.lua("return require('acp_nvim.mentions.words').diagnostics(..., true).text", str(tools.project))
    assert words.splitlines()[-1] == "(and 10000 more diagnostics)"
    assert nvim.lua("return _G.copied") == 16
    nvim.lua(SET, [1])
    nvim.lua("require('acp_nvim.problems').mark(1)")
    assert nvim.lua("return require('acp_nvim.problems').is_marked(1)") is True
    nvim.lua(SET, [])


QUICKFIX = """
local get = vim.fn.getqflist
local items = {}
for number = 1, 2000 do items[number] = { filename = "main.py", lnum = number, text = ("q"):rep(5000) } end
vim.fn.setqflist(items)
_G.copied = 0
vim.fn.getqflist = function(what)
  local found = get(what)
  _G.copied = _G.copied + #(found.items or {})
  return found
end
local item = require("acp_nvim.mentions.words").quickfix(vim.fn.getcwd())
vim.fn.getqflist = get
vim.fn.setqflist({}, "f")
return { item.text, _G.copied }
"""


def test_a_long_quickfix_list(tools: DirectTools) -> None:
    text, copied = tools.nvim.lua(QUICKFIX)
    lines = text.splitlines()
    assert (len(lines), lines[-1]) == (501, "(and 1500 more entries)")
    assert max(map(len, lines)) < 2100
    assert copied == 500


def test_a_server_may_name_an_encoding_that_there_is_not(tools: DirectTools) -> None:
    encode = "for _, one in ipairs(vim.lsp.get_clients({ name = 'fake' })) do one.offset_encoding = ... end"
    tools.server.replies(DEFINITION, place(tools.project / "main.py", 0, 5))
    tools.server.replies(ACTION, [{"title": "Good"}])
    tools.nvim.lua(SET, [1])
    for encoding in ("utf-9", 5, [], "utf-16"):
        tools.nvim.lua(encode, encoding)
        assert tools.definition() == ["main.py:1:6: from shapes import area"], encoding
        assert tools.lines("code_action", path=tools.main, line=2) == ["Good, by fake"], encoding
    tools.nvim.lua(SET, [])


PUBLISH = """
local client = vim.lsp.get_clients({ name = "fake" })[1]
local ok, err = pcall(client.handlers["textDocument/publishDiagnostics"], nil, ..., { client_id = client.id })
return ok or err
"""


def test_diagnostics_of_what_is_no_file_are_not_read(tools: DirectTools) -> None:
    fifo = tools.project / "pipe.py"
    os.mkfifo(fifo)
    problem = {"range": SPAN, "message": "odd", "severity": 1}
    tools.nvim.lua("require('acp_nvim.problems')")
    odd = [5, {"uri": 5}, {"uri": "x", "diagnostics": 5}, {"uri": fifo.as_uri(), "diagnostics": [problem]}]
    for one in odd:
        with case(str(one)):
            assert tools.nvim.lua(PUBLISH, one) is True
    assert tools.opened() == []
    assert tools.nvim.lua(PUBLISH, {"uri": (tools.project / "main.py").as_uri(), "diagnostics": [problem]}) is True
    assert tools.nvim.lua("return vim.diagnostic.get(vim.fn.bufnr('main.py'))[1].message") == "odd"
    assert tools.nvim.lua(PUBLISH, {"uri": (tools.project / "main.py").as_uri(), "diagnostics": []}) is True


def test_a_debugger_may_say_anything(tools: DirectTools) -> None:
    odd = [5, "x", [], {"a": 1}, [5], [{"variables": [{"name": 5, "value": {"a": "x"}}], "name": []}]]
    for value in odd:
        frame = {"name": value, "line": value, "column": value, "source": value, "scopes": value}
        for state in (
            {"threads": value, "stopped_thread_id": 1},
            {"threads": [{"frames": value}], "stopped_thread_id": 1, "current_frame": value},
            {"threads": [{"frames": [frame]}], "stopped_thread_id": 1, "current_frame": frame},
        ):
            tools.nvim.lua("local state = ... package.loaded.dap = { session = function() return state end }", state)
            with case(str(state)):
                assert "Neovim failed" not in tools.answer("debug_state").get("error", "")
    tools.nvim.lua("package.loaded.dap = nil")


def test_a_selection_of_long_lines_is_cut(tools: DirectTools) -> None:
    path = tools.project / "selected.txt"
    path.write_text("y" * MEGABYTE + "\n" + "short\n")
    tools.nvim.command(f"edit {path}")
    tools.nvim.keys("ggVG")
    lines = tools.lines("editor_state")
    assert lines[1] == "selected: selected.txt, lines 1 to 2:"
    assert lines[2].endswith("yyy ...")
    assert lines[3] == "short"
    tools.nvim.keys("<Esc>")


@pytest.fixture
def secret(tools: DirectTools, tmp_path: Path) -> Iterator[Path]:
    """A file outside of the session's directories that the user edits, has a comment on, and has problems in."""
    path = tmp_path / "secret.py"
    path.write_text("SECRET = 1\n")
    nvim = tools.nvim
    nvim.command(f"edit {path}")
    nvim.command("1AcpReview comment SECRET comment")
    nvim.api("buf_set_lines", 0, 1, 1, True, ["MORE_SECRET = 2"])
    nvim.lua(
        "vim.diagnostic.set(vim.api.nvim_create_namespace('test'), 0,"
        "{ { lnum = 0, col = 0, message = 'SECRET problem' } })"
    )
    yield path
    nvim.command("%bdelete!")
    nvim.lua("_G.acp_test.messages = {} vim.cmd('messages clear')")


def test_nothing_is_told_of_the_text_of_files_outside(tools: DirectTools, secret: Path) -> None:
    unopened = secret.with_name("unopened.py")
    unopened.write_text("SECRET = 3\n")
    found = [place(secret), place(unopened), place(tools.project / "main.py")]
    symbols = [{"name": f"SECRET_{one['uri'][-9]}", "kind": 12, "location": one} for one in found[:2]]
    symbols.append({"name": "known", "kind": 12, "location": found[2]})
    for method in (DEFINITION, REFERENCES, "textDocument/implementation"):
        tools.server.replies(method, found)
    tools.server.replies("workspace/symbol", symbols)
    tools.forget()
    wide = {"severity": "hint", "wait_ms": 0, "lines": 100}
    calls: dict[str, dict[str, Any]] = {
        **dict.fromkeys(("definition", "references", "implementations"), tools.at),
        **dict.fromkeys(("editor_state", "unsaved_diff", "diagnostics", "review_comments", "terminal_output"), wide),
        "symbols": {"query": "S"},
    }
    for tool, arguments in calls.items():
        with case(tool):
            answer = tools.answer(tool, **arguments)
            assert "SECRET" not in str(answer)
    assert str(unopened) not in tools.opened()
    answer = tools.answer("definition", **tools.at)
    assert set(answer["lines"]) == {f"{secret}:1:1", f"{unopened}:1:1", "main.py:1:1: from shapes import area"}
    assert answer["note"] == OUTSIDE
    answer = tools.answer("symbols", query="S")
    assert set(answer["lines"]) == {"main.py:1:1: function known"}  # each of the two servers says it
    assert answer["note"] == "4 more symbols are outside of the session's directories."


def test_a_file_that_leads_outside_is_outside(tools: DirectTools, tmp_path: Path) -> None:
    outside = tmp_path / "outside.py"
    outside.write_text("SECRET = 1\n")
    link = tools.project / "link.py"
    link.symlink_to(outside)
    tools.server.replies(DEFINITION, place(link))
    assert tools.definition() == ["link.py:1:1"]
    assert tools.answer("definition", **tools.at)["note"] == OUTSIDE
    link.unlink()
