"""Tools that need no language server, in a real Neovim; and that the user's prompts and settings are respected."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client

from tests.nvim.agent_tools import AGENT, tools
from tests.support import mcp_clients
from tests.support.agent_scripts import agent_script
from tests.support.editor import HeadlessEditor
from tests.support.language_server import FakeServer, edit
from tests.support.screen import ScreenEditor
from tests.support.waiting import LIMIT

Start = Callable[..., HeadlessEditor]


def test_the_agent_sees_what_the_user_sees(editor: Start, tmp_path: Path) -> None:
    here = tools(editor, tmp_path)
    nvim = here.nvim
    here.open("main.py")
    nvim.api("buf_set_lines", 0, 1, 1, True, ["# not saved"])
    nvim.api("win_set_cursor", 0, [3, 0])
    nvim.keys("Vk")
    state = here.call("editor_state").splitlines()
    assert state == [
        "current file: main.py:2:1: # not saved",
        "selected: main.py, lines 2 to 3:",
        "# not saved",
        "",
        "visible: main.py, lines 1 to 4",
        "unsaved changes: main.py",
    ]
    nvim.keys("<Esc>")
    assert here.call("unsaved_diff").splitlines() == [
        "--- main.py (on disk)",
        "+++ main.py (unsaved)",
        "@@ -1,3 +1,4 @@",
        " from shapes import area",
        "+# not saved",
        " ",
        " TOTAL = area(3, 4) + area(5, 6)",
    ]
    assert here.call("unsaved_diff", path="shapes.py").startswith("Nothing is unsaved")
    text = here.call("read_buffer", path="main.py", first=1, last=2)
    assert text.splitlines()[1:] == ["1\tfrom shapes import area", "2\t# not saved"]
    assert "main.py: lines 1 to 2 of 4, unsaved changes, revision" in text
    assert "on disk, not open in the editor" in here.call("read_buffer", path="shapes.py")
    assert here.error("read_buffer", path="main.py", first=9) == "main.py has 4 lines: there are none from 9 to 4."


def test_what_is_outside_is_not_read(editor: Start, tmp_path: Path) -> None:
    here = tools(editor, tmp_path)
    (tmp_path / "secret").write_text("secret\n")
    (here.nvim.project / "link").symlink_to(tmp_path / "secret")
    for path in (str(tmp_path / "secret"), "../../secret", "link", "/dev/stdin"):
        assert "secret\n" not in here.error("read_buffer", path=path)
        assert "is outside of the session's directory" in here.error("show", path=path, line=1)
    assert here.error("read_buffer", path="nonesuch").endswith("nonesuch does not exist")


def test_text_that_is_not_utf_8_is_told_with_replacements(editor: Start, tmp_path: Path) -> None:
    here = tools(editor, tmp_path)
    nvim = here.nvim
    file = nvim.project / "odd.txt"
    file.write_bytes(b"caf\xe9\n")
    nvim.command(f"edit ++enc=utf-8 ++bad=keep {file}")
    assert here.call("editor_state").splitlines()[0] == "current file: odd.txt:1:1: caf\ufffd"
    nvim.api("buf_set_lines", 0, 1, 1, True, ["x"])
    assert "+x" in here.call("unsaved_diff")
    assert here.call("read_buffer", path="odd.txt").splitlines()[1:] == ["1\tcaf\ufffd", "2\tx"]
    assert nvim.messages() == []


def test_a_place_that_is_not_there_is_not_shown(editor: Start, tmp_path: Path) -> None:
    here = tools(editor, tmp_path)
    os.mkfifo(here.nvim.project / "fifo")
    for path, words in {"nonesuch": "does not exist", "fifo": "is a FIFO", ".": "is a directory"}.items():
        assert words in here.error("show", path=path, line=1)
    assert here.error("show", path="shapes.py", line=9) == "shapes.py has only 8 lines."
    assert here.call("show", path="shapes.py", line=8) == "shapes.py:8 is shown."


def test_a_long_selection_is_cut(editor: Start, tmp_path: Path) -> None:
    here = tools(editor, tmp_path)
    nvim = here.nvim
    here.open("main.py")
    nvim.api("buf_set_lines", 0, 0, -1, True, [f"line {number}" for number in range(1, 1001)])
    for keys, first in (("V", "line 1"), ("v", "ine 1"), ("<C-v>", "i"), ("Vgg1GoG", "line 1")):
        nvim.keys("gg0l" + keys + "G")
        lines = here.call("editor_state").splitlines()
        assert lines[1:3] == ["selected: main.py, lines 1 to 1000:", first], keys
        assert lines[202] == "... 800 more lines", keys
        assert lines[201] == {"<C-v>": "i"}.get(keys, "line 200"), keys
        nvim.keys("<Esc>")


def test_large_texts_are_not_compared(editor: Start, tmp_path: Path) -> None:
    here = tools(editor, tmp_path)
    nvim = here.nvim
    here.open("main.py")
    nvim.api("buf_set_lines", 0, 0, -1, True, [f"line {number}" for number in range(6000)])
    assert here.call("unsaved_diff", cursor="4990").endswith(
        "... 1006 more lines: ask for one path, or use read_buffer"
    )
    nvim.lua("vim.api.nvim_buf_set_lines(0, 0, 1, true, { ('x'):rep(2 * 1024 * 1024) })")
    assert here.call("unsaved_diff") == "main.py: too large to be compared here; read_buffer has its text"


def test_the_text_of_a_file_outside_is_told_by_no_tool(editor: Start, tmp_path: Path) -> None:
    here = tools(editor, tmp_path)
    nvim = here.nvim
    (tmp_path / "secret").write_text("password=1\n")
    nvim.command(f"edit {tmp_path / 'secret'}")
    nvim.api("buf_set_lines", 0, 0, 0, True, ["password=2"])
    nvim.lua(
        "vim.diagnostic.set(vim.api.nvim_create_namespace('it'), 0, {{ lnum = 0, col = 0, message = 'password' }})"
    )
    nvim.keys("V")
    words = "outside of the session's directories: its text is not shown"
    assert here.call("editor_state").splitlines() == [
        f"current file: {tmp_path}/secret:2:1 ({words})",
        f"visible: {tmp_path}/secret, lines 1 to 2",
        f"unsaved changes: {tmp_path}/secret",
    ]
    nvim.keys("<Esc>")
    assert here.call("unsaved_diff") == f"{tmp_path}/secret: {words}"
    assert here.call("diagnostics") == "No diagnostics."


def test_the_user_is_shown_a_line_and_keeps_the_cursor(editor: Start, tmp_path: Path) -> None:
    here = tools(editor, tmp_path)
    nvim = here.nvim
    here.open("main.py")
    before = nvim.api("win_get_cursor", 0)
    assert here.call("show", path="shapes.py", line=5, note="Here\nit is.") == "shapes.py:5 is shown."
    nvim.wait_until(lambda: "it shows shapes.py:5: Here it is." in nvim.chat_text(), what="the note")
    assert nvim.api("win_get_cursor", 0) == before
    assert nvim.api("buf_get_name", 0).endswith("main.py")


def test_only_a_terminal_that_the_user_shares_is_read(editor: Start, tmp_path: Path) -> None:
    here = tools(editor, tmp_path)
    nvim = here.nvim
    nvim.command("AcpShareTerminal")
    assert nvim.messages()[-1].endswith("this window is not a terminal: use the command in the window of one")
    nvim.command("terminal printf 'one\\ntwo\\nthree\\n'; cat")
    nvim.wait_until(lambda: "three" in nvim.buffer_text(), what="the output")
    assert "The user has shared no terminal." in here.error("terminal_output")
    nvim.command("AcpShareTerminal")
    assert here.call("terminal_output", lines=2).splitlines()[1:] == ["two", "three"]
    assert "with such a name" in here.error("terminal_output", name="nonesuch")
    nvim.command("AcpShareTerminal!")
    assert "The user has shared no terminal." in here.error("terminal_output")


def test_the_debugger_is_read_when_there_is_one(editor: Start, tmp_path: Path) -> None:
    here = tools(editor, tmp_path)
    here.call("editor_state")
    frame = {"name": "area", "line": 5, "column": 3, "source": {"path": str(here.nvim.project / "shapes.py")}}
    scopes = [{"name": "Locals", "variables": [{"name": "width", "value": "1\n2"}]}]
    state = {
        "stopped_thread_id": 1,
        "threads": {1: {"frames": [frame]}},
        "current_frame": {**frame, "scopes": scopes},
    }
    here.nvim.lua(
        """
        local state = vim.json.decode(...)
        state.threads = { state.threads["1"] }
        package.loaded["dap"] = { session = function() return state end }
        """,
        json.dumps(state),
    )
    assert here.call("debug_state").splitlines() == [
        "shapes.py:5:3: area",
        "current frame: shapes.py:5:3: area",
        "== Locals",
        "width = 1 2",
    ]


def test_a_call_waits_while_neovim_waits_for_the_user(screen: Callable[..., ScreenEditor], tmp_path: Path) -> None:
    here = tools(screen, tmp_path)
    nvim = here.nvim
    with ThreadPoolExecutor(1) as threads:
        nvim.api("input", ":echo 'a' | echo 'b' | echo 'c'<CR>")
        nvim.wait_until(lambda: nvim.api("get_mode")["blocking"], what="a hit-enter prompt")
        called = threads.submit(here.call, "editor_state")
        assert nvim.api("get_mode") == {"mode": "r", "blocking": True}
        assert not called.done()
        nvim.api("input", "<CR>")
        assert called.result(LIMIT).startswith("current file:")


def test_a_call_says_so_when_neovim_waits_for_long(editor: Start, tmp_path: Path) -> None:
    here = tools(editor, tmp_path)
    nvim = here.nvim
    nvim.api("input", '"')  # a register is to follow
    nvim.wait_until(lambda: nvim.api("get_mode")["blocking"], what="a half-typed command")
    at = {"path": "main.py", "line": 1, "symbol": "area"}
    calls: dict[str, dict[str, Any]] = {
        "editor_state": {},
        "read_buffer": {"path": "main.py"},
        "definition": at,
        "diagnostics": {"since_turn": True},
    }
    words: dict[str, str] = {}

    async def use(client: Client) -> None:
        async def call(tool: str) -> None:
            words[tool] = str(await client.call_tool(tool, calls[tool]))

        async with anyio.create_task_group() as group:
            for tool in calls:
                group.start_soon(call, tool)

    mcp_clients.with_client(here.entry, use)
    assert {tool for tool in calls if "Neovim cannot answer now: it waits for its user" in words[tool]} == {*calls}
    nvim.api("input", "<Esc>")
    assert here.call("editor_state").startswith("current file:")


def test_a_macro_that_is_recorded_stays_as_it_is_typed(editor: Start, tmp_path: Path) -> None:
    here = tools(editor, tmp_path)
    nvim = here.nvim
    server = FakeServer(nvim)
    server.replies("textDocument/definition", {"uri": server.uri("shapes.py"), "range": edit(3, 4, 3, 8, "")["range"]})
    here.open("main.py")
    nvim.keys("qaiab")
    assert "main.py:1:3" in here.call("editor_state")
    assert here.call("definition", path="shapes.py", line=8, symbol="area").startswith("shapes.py:4:5")
    nvim.keys("c<Esc>q")
    assert nvim.lua("return vim.fn.getreg('a')") == "iabc\x1b"
    assert nvim.buffer_text().startswith("abcfrom shapes")


HOSTILE = ("|let g:run = 1", "'); vim.g.run = 1 --", "`touch run`", "%{luaeval('1')}", "$(touch run)", "\x16\x0d")


def test_no_argument_is_run(editor: Start, tmp_path: Path) -> None:
    here = tools(editor, tmp_path)
    nvim = here.nvim
    FakeServer(nvim).replies("textDocument/codeAction", [{"title": "x"}])

    async def use(client: Client) -> None:
        at: dict[str, Any] = {"path": "shapes.py", "line": 4}
        for words in HOSTILE:
            for tool, arguments in (
                ("read_buffer", {"path": words}),
                ("definition", {**at, "symbol": words}),
                ("terminal_output", {"name": words}),
                ("code_action", {**at, "title": words}),
                ("rename", {**at, "symbol": words, "new_name": "x"}),
            ):
                assert (await client.call_tool(tool, arguments)).is_error, (tool, words)
            assert not (await client.call_tool("show", {**at, "note": words})).is_error, words

    mcp_clients.with_client(here.entry, use)
    assert nvim.lua("return vim.g.run") is None
    assert not (nvim.project / "run").exists()


def test_the_server_ends_with_the_session(editor: Start, tmp_path: Path) -> None:
    here = tools(editor, tmp_path)
    command = [here.entry["command"], *here.entry["args"]]
    env = {one["name"]: one["value"] for one in here.entry["env"]}
    here.nvim.command("AcpStop")
    here.nvim.wait_until('require("acp_nvim").status().state == "stopped"')
    request = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'
    done = subprocess.run(command, env=env, input=request, capture_output=True, timeout=LIMIT, check=False)
    assert done.returncode == 1
    assert "it ends with the session that it was made for" in json.loads(done.stdout)["error"]["message"]


def test_the_user_is_told_which_servers_there_are(editor: Start, tmp_path: Path) -> None:
    servers = [{"name": "mine", "command": "/bin/true"}]
    script = agent_script(tmp_path, AGENT)
    here = tools(editor, tmp_path)
    assert here.nvim.lua('return require("acp_nvim").status().mcp') == [{"name": "nvim", "calls": {}}]
    here.call("unsaved_diff")
    here.nvim.wait_until('require("acp_nvim").status().mcp[1].calls.unsaved_diff == 1')
    here.nvim.command("AcpMcp")
    assert here.nvim.messages()[-1] == "acp_nvim: MCP servers of it:\n  nvim (the editor): unsaved_diff 1"
    nvim = editor(agents={"it": {"command": script.argv, "mcp_servers": servers, "mcp": {"enabled": False}}})
    nvim.command("AcpChat it")
    nvim.wait_until(lambda: nvim.events("AcpSessionReady"), what="the session")
    nvim.command("AcpMcp")
    assert nvim.messages()[-1] == "acp_nvim: MCP servers of it:\n  mine"


@pytest.mark.parametrize("where", ["everywhere", "for one agent", "elsewhere"])
def test_it_can_be_switched_off(editor: Start, tmp_path: Path, where: str) -> None:
    script = agent_script(tmp_path, AGENT)
    agent = {"command": script.argv}
    more = {"for one agent": {"mcp": {"enabled": False}}, "elsewhere": {"prefix": ["env"]}}.get(where, {})
    config = {"mcp": {"enabled": False}} if where == "everywhere" else {}
    nvim = editor(agents={"it": {**agent, **more}}, config=config)
    nvim.command("AcpChat it")
    nvim.wait_until(lambda: nvim.events("AcpSessionReady"), what="the session")
    assert script.received("session/new")[0]["params"]["mcpServers"] == []
    assert nvim.lua("return package.loaded['acp_nvim.mcp']") is None


def test_an_agent_elsewhere_uses_its_own_connection(editor: Start, tmp_path: Path) -> None:
    script = agent_script(
        tmp_path,
        """
        INITIALIZE = {"agentCapabilities": {"mcpCapabilities": {"acp": True}}}
        META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {}}

        def turn(agent, prompt):
            server = SERVERS[0]["serverId"]
            def ask(method, server=server, **params):
                inner = {"_meta": META, **params}
                call = {"serverId": server, "requestId": "1", "method": method, "params": inner}
                try:
                    return agent.request("mcp/message", call)
                except Error as error:
                    return {"refused": error.message}
            agent.note(listed=ask("tools/list"))
            agent.note(called=ask("tools/call", name="unsaved_diff", arguments={}))
            agent.note(unknown=ask("nonesuch"))
            agent.note(stranger=ask("tools/list", server="x"))

        SERVERS = []
        def session_new(agent, request):
            SERVERS.extend(request.params["mcpServers"])
            return {"sessionId": "session-1"}
        """,
    )
    nvim = editor(agents={"it": {"command": script.argv, "prefix": ["env"]}}, config={"default_agent": "it"})
    nvim.command("AcpPrompt go")
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"), what="the end of the turn")
    server = script.received("session/new")[0]["params"]["mcpServers"]
    assert [(one["type"], one["name"]) for one in server] == [("acp", "nvim")]
    assert len(script.notes("listed")[0]["result"]["tools"]) == 15
    assert "Nothing is unsaved" in script.notes("called")[0]["result"]["content"][0]["text"]
    assert script.notes("unknown")[0] == {"error": {"code": -32601, "message": "Method not found: nonesuch"}}
    assert "there is no MCP server 'x'" in script.notes("stranger")[0]["refused"]


def test_a_loaded_session_gets_a_server_of_its_own(editor: Start, tmp_path: Path) -> None:
    script = agent_script(
        tmp_path,
        """
        INITIALIZE = {"agentCapabilities": {"loadSession": True, "sessionCapabilities": {"resume": {}}}}
        def turn(agent, prompt):
            os._exit(1)
        """,
    )
    nvim = editor(agents={"it": {"command": script.argv}}, config={"default_agent": "it"})
    nvim.command("AcpPrompt end")
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"), what="the end of the agent")
    nvim.command("AcpPrompt end")
    nvim.wait_until(lambda: script.received("session/resume") or script.received("session/load"), what="a reopening")
    again = (script.received("session/resume") or script.received("session/load"))[0]["params"]["mcpServers"]
    first = script.received("session/new")[0]["params"]["mcpServers"]
    assert [one["name"] for one in again] == ["nvim"]
    assert again[0]["env"][0] == first[0]["env"][0]
    assert again[0]["env"][1] != first[0]["env"][1]
