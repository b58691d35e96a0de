"""What language servers may answer, and some do: odd results, ends of texts, and files by two names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.nvim.agent_tools import USER, Tools, shared_tools, tools
from tests.support import mcp_clients
from tests.support.cases import case
from tests.support.editor import HeadlessEditor
from tests.support.language_server import FakeServer, edit
from tests.support.waiting import LIMIT


@pytest.fixture
def here(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> Tools:
    return tools(editor, tmp_path)


@pytest.fixture
def server(here: Tools) -> FakeServer:
    return FakeServer(here.nvim)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Tools, FakeServer]]:
    """Tools for tests that change only files of their own."""
    with shared_tools(tmp_path_factory.mktemp("shared")) as here:
        yield here, FakeServer(here.nvim)


@pytest.fixture
def unchanged(shared: tuple[Tools, FakeServer]) -> tuple[Tools, FakeServer]:
    """The server has no replies yet."""
    shared[0].nvim.lua("_G.replies, _G.acp_test.messages = {}, {}")
    return shared


AT = {"path": "main.py", "line": 1, "symbol": "shapes"}
RENAME = {**AT, "new_name": "forms"}
SYMBOLS = "textDocument/documentSymbol"
UNREADABLE = "The language server has sent an answer that cannot be read. Go on without it."
MALFORMED = "The language server has sent a malformed edit. Nothing was done."
CALLS: list[tuple[str, str, Any, dict[str, Any]]] = [
    (SYMBOLS, "symbols", [{"kind": 1}], {"path": "main.py"}),
    (SYMBOLS, "symbols", [5], {"path": "main.py"}),
    ("workspace/symbol", "symbols", [{"name": "x", "kind": 1}], {"query": "x"}),
    ("textDocument/definition", "definition", [{"uri": "file:///x"}], AT),
    ("textDocument/hover", "hover", {"contents": 5}, AT),
    ("textDocument/rename", "rename", {"changes": 5}, RENAME),
    ("textDocument/rename", "rename", {"documentChanges": [{"textDocument": {}}]}, RENAME),
    ("textDocument/codeAction", "code_action", [{}], {"path": "main.py", "line": 1, "title": "x"}),
    ("textDocument/formatting", "format", [{"newText": "x"}], {"path": "main.py"}),
]


def test_a_result_that_cannot_be_read_is_told_at_once(unchanged: tuple[Tools, FakeServer]) -> None:
    here, server = unchanged
    for method, tool, result, arguments in CALLS:
        server.replies(method, result)
        words = MALFORMED if tool in ("rename", "format") else UNREADABLE
        assert here.error(tool, **arguments) == words, (tool, result)
    assert here.nvim.messages() == []


ODD = [edit(-1, 0, 0, 1, "x"), edit(0, 0, 1.5, 0, ""), {**edit(0, 0, 0, 1, ""), "newText": 5}]


def test_an_edit_that_is_none_is_refused(unchanged: tuple[Tools, FakeServer]) -> None:
    here, server = unchanged
    for odd in ODD:
        server.replies("textDocument/formatting", [odd])
        assert here.error("format", path="main.py") == MALFORMED, odd
    assert here.nvim.messages() == []


def test_the_end_of_a_text_may_be_any_large_number(unchanged: tuple[Tools, FakeServer]) -> None:
    here, server = unchanged
    file = here.nvim.project / "large.py"
    file.write_text(USER)
    server.replies("textDocument/formatting", [edit(0, 0, 2**64, 2**64, "x = 1\n")])
    assert here.answered("allow", "format", path="large.py") == ("Format large.py: changed large.py.", False)
    assert file.read_text() == "x = 1\n"


ENDS = [
    (b"a\nb", edit(1, 0, 1, 1, "c\n"), b"a\nc\n"),
    (b"a\nb", edit(0, 0, 2, 0, "a\nc\n"), b"a\nc\n"),
    (b"a\nb", edit(1, 0, 1, 1, "c"), b"a\nc\n"),
    (b"a\r\nb", edit(1, 0, 1, 1, "c\n"), b"a\r\nc\r\n"),
    (b"", edit(0, 0, 1, 0, "a\n"), b"a\n"),
    (b"\xef\xbb\xbfa\r\n\xf0\x9f\x98\x80b\r\n", edit(1, 2, 1, 3, "c"), b"\xef\xbb\xbfa\r\n\xf0\x9f\x98\x80c\r\n"),
]


def test_texts_with_any_end_are_edited(unchanged: tuple[Tools, FakeServer]) -> None:
    here, server = unchanged
    for number, (before, change, after) in enumerate(ENDS):
        with case(f"{before!r}, {change}"):
            name = f"it{number}.py"
            file = here.nvim.project / name
            file.write_bytes(before)
            server.replies("textDocument/formatting", [change])
            assert here.answered("allow", "format", path=name) == (f"Format {name}: changed {name}.", False)
            assert file.read_bytes() == after


def test_columns_count_bytes_in_all_results(unchanged: tuple[Tools, FakeServer]) -> None:
    here, server = unchanged
    (here.nvim.project / "columns.py").write_text("é = '😀'; name = 1\n")
    span = edit(0, 10, 0, 14, "")["range"]
    symbol = {"name": "name", "kind": 13}
    server.replies(SYMBOLS, [{**symbol, "range": span, "selectionRange": span}])
    server.replies("workspace/symbol", [{**symbol, "location": {"uri": server.uri("columns.py"), "range": span}}])
    server.replies("textDocument/definition", {"uri": server.uri("columns.py"), "range": span})
    line = "columns.py:1:14: "
    assert here.call("definition", path="columns.py", line=1, symbol="name") == f"{line}é = '😀'; name = 1"
    assert here.call("symbols", path="columns.py") == f"{line}variable name"
    assert here.call("symbols", query="name") == f"{line}variable name"


def test_a_list_that_is_cut_says_so(unchanged: tuple[Tools, FakeServer]) -> None:
    here, server = unchanged
    span = edit(0, 0, 0, 1, "")["range"]
    server.replies(SYMBOLS, [{"name": "x", "kind": 13, "selectionRange": span}] * 5010)
    ends = [here.call("symbols", path="main.py", cursor=cursor).splitlines()[-1] for cursor in ("4990", "5000")]
    assert ends == ["... only the first 5000 are listed"] * 2


def test_only_the_end_of_a_text_is_no_change(unchanged: tuple[Tools, FakeServer]) -> None:
    here, server = unchanged
    (here.nvim.project / "end.py").write_bytes(b"a\nb")
    server.replies("textDocument/formatting", [edit(1, 1, 1, 1, "\n")])
    assert here.error("format", path="end.py") == "Format end.py: nothing would change."  # :write adds it


def test_a_name_that_cannot_be_shown_is_refused(unchanged: tuple[Tools, FakeServer]) -> None:
    here, _ = unchanged
    for name in ("forms\nin a comment", "\x1b[2J", "a\u202eb"):
        words = here.error("rename", **{**RENAME, "new_name": name})
        assert words == "The new name has characters that cannot be shown."


def test_the_command_of_an_action_is_not_run_and_that_is_told(here: Tools, server: FakeServer) -> None:
    command = {"title": "x", "command": "x"}
    change = {"changes": {server.uri("main.py"): [edit(0, 5, 0, 11, "forms")]}}
    server.replies("textDocument/codeAction", [{"title": "Both", "edit": change, "command": command}])
    text, is_error = here.answered("allow", "code_action", path="main.py", line=1, title="Both")
    assert text.splitlines() == [
        "Only the edit is done: the action would also run a command of the language server fake.",
        "Both: changed main.py.",
    ]
    assert not is_error
    server.replies("textDocument/codeAction", [command])
    server.replies("codeAction/resolve", command)
    assert "runs a command of the language server fake" in here.error("code_action", path="main.py", line=1, title="x")


def test_keys_that_are_half_typed_are_finished_after_a_call(here: Tools, server: FakeServer) -> None:
    nvim = here.nvim
    server.replies("textDocument/definition", None)
    for number in range(4):
        (nvim.project / f"{number}.py").write_text("two\n")
    here.open("main.py")
    nvim.api("buf_set_lines", 0, 0, -1, True, ["one two three four"])
    for number, (before, after, line) in enumerate(
        [
            ("gg0d", "w", "two three four"),  # the call reads a file into a buffer, which runs autocommands
            ("wv", "ed", "two  four"),
            ("0cw", "2<Esc>", "2  four"),
            (":s/four/", "4/<CR>", "2  4"),
        ]
    ):
        nvim.api("input", before)
        at = {"path": f"{number}.py", "line": 1, "symbol": "two"}
        assert here.call("definition", **at).endswith("knows no definition of `two`.")
        assert here.call("editor_state").startswith("current file: main.py:1:")
        nvim.api("input", after)
        nvim.wait_until(lambda line=line: nvim.buffer_text() == line, what=line)


def test_what_is_typed_while_the_user_is_asked_stays_unsaved(here: Tools, server: FakeServer) -> None:
    nvim = here.nvim
    here.open("main.py")
    server.replies("textDocument/rename", {"changes": {server.uri("main.py"): [edit(0, 5, 0, 11, "forms")]}})
    with ThreadPoolExecutor(1) as threads:
        called = threads.submit(mcp_clients.call, here.entry, "rename", **RENAME)
        nvim.wait_until(lambda: nvim.events("AcpPermissionRequest"), what="a request")
        nvim.api("buf_set_lines", 0, -1, -1, True, ["# mine"])
        here.choose("allow", 0, called)
        assert called.result(LIMIT) == ("Rename shapes to forms: changed main.py (not saved).", False)
    assert nvim.buffer_text() + "\n" == USER.replace("shapes", "forms") + "# mine\n"
    assert (nvim.project / "main.py").read_text() == USER
    nvim.command("undo")
    assert nvim.buffer_text() + "\n" == USER + "# mine\n"


def test_a_file_with_two_names_is_changed_once(here: Tools, server: FakeServer) -> None:
    project = here.nvim.project
    (project / "link.py").symlink_to("main.py")
    change = [edit(0, 5, 0, 11, "forms")]
    server.replies("textDocument/rename", {"changes": {server.uri("main.py"): change, server.uri("link.py"): change}})
    assert here.answered("allow", "rename", **RENAME) == ("Rename shapes to forms: changed main.py.", False)
    request = here.nvim.events("AcpPermissionRequest")[0]["request"]
    assert [Path(one["path"]).name for one in request["locations"]] == ["main.py"]
    assert (project / "main.py").read_text() == USER.replace("shapes", "forms")


def test_a_file_that_is_edited_differently_by_two_names_is_left_alone(here: Tools, server: FakeServer) -> None:
    (here.nvim.project / "link.py").symlink_to("main.py")
    one, other = [edit(0, 5, 0, 11, "forms")], [edit(2, 0, 2, 5, "ALL")]
    server.replies("textDocument/rename", {"changes": {server.uri("main.py"): one, server.uri("link.py"): other}})
    assert "edits main.py by two names, in different ways" in here.error("rename", **RENAME)
    assert (here.nvim.project / "main.py").read_text() == USER
