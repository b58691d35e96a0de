"""An ACP agent that does what a test tells it: `python obedient_agent.py SOCKET [TRAFFIC.jsonl]`.

The test listens on the Unix socket, and sends commands as JSON, one a line; each is answered by `{"result": ...}` or
`{"error": {"code", "message"}}` (the client's error answer, or code 0 for a mistake of the command), in order:

- `{"do": "begin_turn"}`: waits for a prompt; its turn runs until `{"do": "end_turn"}`.
- `{"do": "read", "path", "line"?, "limit"?}` gives the content; `{"do": "write", "path", "content"}`.
- `{"do": "disk_write", "path", "data" (base64), "mtime_ns"?, "in_place"?}`, `{"do": "delete", "path"}` and
  `{"do": "rename", "path", "to"}`: done by the agent's own process, and told as a completed tool call.
- `{"do": "say", "text"}`: a message.
- `{"do": "told", "kind", "path"}`: a completed tool call about something that somebody else did.
- `{"do": "start_tool", "kind", "title", "paths", "ask"}`: a tool call that goes on until `{"do": "end_tool", "ask"}`;
  `ask` is a file that is read through the client: when that is answered, the client knows that the call has begun, or
  has ended, before anything else changes.
- `{"do": "work", "path", "data" (base64; null: delete)}`: its own process writes a file, and tells nothing.
- `{"do": "terminal", "argv", "cwd"?}`: runs a command through the client to its end.
- `{"do": "tell", "updates"}`: these updates of the session, each an object; `{"do": "ask", "method", "params"}`: that
  request of the session gives its result.
"""

from __future__ import annotations

import base64
import json
import os
import socket
import sys
import threading
from collections.abc import Callable
from queue import SimpleQueue

# Run as a script, from anywhere: what it imports lies beside it in the package `tests`.
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from tests.agents.scripted import Agent
from tests.agents.scripted_prompt import Prompt
from tests.agents.scripted_wire import LIMIT, Error, Json, Pipes, Record, Threads

MISTAKE = 0


class Obedience:
    """Takes commands from the socket, and acts as the agent in the session that was opened last."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._agent: Agent | None = None
        self._session = ""
        self._calls = 0
        self._begun: SimpleQueue[Prompt] = SimpleQueue()
        self._end: SimpleQueue[str] = SimpleQueue()

    def script(self) -> Json:
        """The functions that the scripted agent calls."""
        return {"start": self.start, "opened": self.opened, "turn": self.turn}

    def start(self, agent: Agent) -> None:
        self._agent = agent
        threading.Thread(target=self._obey, daemon=True).start()

    def opened(self, _agent: Agent, session_id: str) -> None:
        self._session = session_id

    def turn(self, _agent: Agent, prompt: Prompt) -> str:
        self._begun.put(prompt)
        return self._end.get()

    def _obey(self) -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.connect(self._path)
            with connection.makefile("rwb") as lines:
                for line in lines:
                    lines.write(json.dumps(self._answer(json.loads(line))).encode() + b"\n")
                    lines.flush()

    def _answer(self, command: Json) -> Json:
        try:
            return {"result": getattr(self, "do_" + command.pop("do"))(**command)}
        except Error as error:
            return {"error": error.as_json()}
        except Exception as error:
            return {"error": {"code": MISTAKE, "message": repr(error)}}

    # Commands

    def do_begin_turn(self) -> None:
        self._begun.get(timeout=LIMIT)

    def do_end_turn(self) -> None:
        self._end.put("end_turn")

    def do_say(self, text: str) -> None:
        self._update("agent_message_chunk", content={"type": "text", "text": text})

    def do_read(self, path: str, **part: int) -> str:
        content: str = self._request("fs/read_text_file", path=path, **part)["content"]
        return content

    def do_write(self, path: str, content: str) -> None:
        self._request("fs/write_text_file", path=path, content=content)

    def do_disk_write(self, path: str, data: str, mtime_ns: int | None = None, in_place: bool = False) -> None:
        self._tool("edit", [path], lambda: write_bytes(path, base64.b64decode(data), mtime_ns, in_place))

    def do_delete(self, path: str) -> None:
        self._tool("delete", [path], lambda: os.unlink(path))

    def do_rename(self, path: str, to: str) -> None:
        self._tool("move", [path, to], lambda: os.rename(path, to))

    def do_told(self, kind: str, path: str) -> None:
        self._tool(kind, [path], lambda: None)

    def do_start_tool(self, kind: str, title: str, paths: list[str], ask: str) -> None:
        self._calls += 1
        shown: Json = {"rawInput": {"command": title}} if kind == "execute" else {}
        shown["locations"] = [{"path": path} for path in paths]
        self._update(
            "tool_call", toolCallId=f"call-{self._calls}", title=title, kind=kind, status="in_progress", **shown
        )
        self.do_read(ask)

    def do_end_tool(self, ask: str) -> None:
        self._update("tool_call_update", toolCallId=f"call-{self._calls}", status="completed")
        self.do_read(ask)

    def do_work(self, path: str, data: str | None, in_place: bool = False) -> None:
        if data is None:
            os.unlink(path)
        else:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            write_bytes(path, base64.b64decode(data), None, in_place)

    def do_terminal(self, argv: list[str], **more: object) -> None:
        terminal = self._request("terminal/create", command=argv[0], args=argv[1:], **more)["terminalId"]
        for what in ("wait_for_exit", "release"):
            self._request(f"terminal/{what}", terminalId=terminal)

    def do_tell(self, updates: list[Json]) -> None:
        assert self._agent is not None
        for update in updates:
            self._agent.update(self._session, update)

    def do_ask(self, method: str, params: Json) -> Json:
        return self._request(method, **params)

    # The wire

    def _request(self, method: str, **params: object) -> Json:
        assert self._agent is not None
        result: Json = self._agent.request(method, {"sessionId": self._session, **params})
        return result

    def _tool(self, kind: str, paths: list[str], act: Callable[[], None]) -> None:
        self._calls += 1
        call = {"toolCallId": f"call-{self._calls}"}
        places = [{"path": path} for path in paths]
        self._update(
            "tool_call", **call, title=f"{kind} {paths[-1]}", kind=kind, status="in_progress", locations=places
        )
        act()
        self._update("tool_call_update", **call, status="completed")

    def _update(self, update: str, /, **fields: object) -> None:
        assert self._agent is not None
        self._agent.update(self._session, {"sessionUpdate": update, **fields})


def write_bytes(path: str, data: bytes, mtime_ns: int | None = None, in_place: bool = False) -> None:
    """Write a file as other programs do, in place or with a new file; `mtime_ns` is its time of modification."""
    name = path if in_place else f"{path}.new"
    with open(name, "wb") as file:
        file.write(data)
    if mtime_ns is not None:
        os.utime(name, ns=(mtime_ns, mtime_ns))
    if not in_place:
        os.replace(name, path)


def main() -> None:
    record = Record(sys.argv[2] if len(sys.argv) > 2 else None)
    Agent(Obedience(sys.argv[1]).script(), record, Threads, Pipes()).run()


if __name__ == "__main__":
    main()
