"""What a tool call of an agent costs beyond Neovim's own function, and whether the editor feels a thousand of them."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.agent_scripts import agent_script
from tests.support.editor import HeadlessEditor
from tests.support.language_server import CONNECT
from tests.support.ping import Ping, Report, report_of

CALLS = 1000
"""All of them at once, which no agent does."""
SINGLE = 200
"""The number of calls of which each waits for the one before."""

PREPARE = (
    CONNECT
    + """
local cmd = connect({ definitionProvider = true }, function(_, params, reply)
  local at = { line = 3, character = 4 }
  reply(nil, { uri = params.textDocument.uri, range = { start = at, ["end"] = at } })
end)
vim.lsp.config("bench", { filetypes = { "python" }, cmd = cmd })
vim.lsp.enable("bench")
vim.cmd.edit(...)
"""
)

OWN = """
local begun, found = vim.uv.hrtime(), nil
vim.lsp.buf_request_all(0, "textDocument/definition", function(client)
  return vim.lsp.util.make_position_params(0, client.offset_encoding)
end, function(results)
  local _, one = next(results)
  vim.lsp.util.locations_to_items({ one.result }, "utf-16")
  bench_took = (vim.uv.hrtime() - begun) / 1e6
end)
"""
MODULE = "import os\n\n\ndef area(width, height):\n    return width * height\n\n\nprint(area(1, 2))\n"
CALL = {"name": "definition", "arguments": {"path": "shapes.py", "line": 8, "symbol": "area"}}


@dataclass(frozen=True)
class Called:
    """Milliseconds of single calls, of Neovim's own function, and of pings of editor and server while many run."""

    single: Report
    own: Report
    editor: Report
    server: Report
    seconds: float


class Client:
    """The relay as an agent runs it."""

    def __init__(self, entry: dict[str, Any]) -> None:
        env = {one["name"]: one["value"] for one in entry["env"]}
        pipe = subprocess.PIPE
        self.process = subprocess.Popen([entry["command"], *entry["args"]], env=env, stdin=pipe, stdout=pipe)
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "b", "version": "1"}}
        self.ask("initialize", params, 0)

    def say(self, method: str, params: Any, number: int) -> None:
        """Send a request."""
        assert self.process.stdin is not None
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def hear(self) -> Any:
        """Read the next answer."""
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def ask(self, method: str, params: Any, number: int) -> Any:
        """An answer to a request of which there is only one."""
        self.say(method, params, number)
        return self.hear()

    def close(self) -> None:
        """End the process as agents do: close its stdin."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def timed(act: Any, *args: Any) -> float:
    """Return the milliseconds that the call takes."""
    begun = time.perf_counter()
    act(*args)
    return (time.perf_counter() - begun) * 1000


def own(editor: HeadlessEditor) -> float:
    """Milliseconds of Neovim's own function."""
    editor.lua("bench_took = nil " + OWN)
    return float(editor.wait_until("bench_took"))


def called(directory: Path) -> Called:
    """Measure one round."""
    script = agent_script(directory, "def turn(agent, prompt):\n    pass\n")
    editor = HeadlessEditor(directory, agents={"it": {"command": script.argv}}, config={"default_agent": "it"})
    try:
        path = editor.project / "shapes.py"
        path.write_text(MODULE)
        editor.command("AcpChat")
        editor.wait_until(lambda: editor.events("AcpSessionReady"), what="the session")
        editor.command("wincmd p")
        editor.lua(PREPARE, str(path))
        editor.lua("vim.api.nvim_win_set_cursor(0, { 8, 6 })")
        client = Client(script.received("session/new")[0]["params"]["mcpServers"][0])
        try:
            return _measure(editor, client)
        finally:
            client.close()
    finally:
        editor.close()


def _measure(editor: HeadlessEditor, client: Client) -> Called:
    answer = client.ask("tools/call", CALL, 1)
    assert answer["result"]["content"][0]["text"].startswith("shapes.py:4:5: def area"), answer
    single = [timed(client.ask, "tools/call", CALL, number) for number in range(SINGLE)]
    by_neovim = [own(editor) for _ in range(SINGLE)]
    begun, pings, sent = time.perf_counter(), [], {}
    with Ping(editor.places.socket) as ping:
        for number in range(CALLS):
            client.say("tools/call", CALL, number)
        left, next_ping = CALLS, CALLS
        sent[next_ping] = time.perf_counter()
        client.say("ping", {}, next_ping)
        while left:
            found = client.hear()
            if found["id"] in sent:
                pings.append((time.perf_counter() - sent[found["id"]]) * 1000)
                next_ping += 1
                sent[next_ping] = time.perf_counter()
                client.say("ping", {}, next_ping)
            else:
                assert not found["result"]["isError"], found
                left -= 1
    seconds = time.perf_counter() - begun
    client.hear()  # the last ping
    return Called(report_of(single), report_of(by_neovim), ping.report, report_of(pings), seconds)


if __name__ == "__main__":
    print(called(Path(sys.argv[1])))
