"""The agent of the bench of files: reads and writes one file through its client, and times it from its own side.

`python agent.py JOB.json`; the job says what to do, and where to put the times. It does as little as an agent can, so
that it is the client that is measured: blocking calls, one thread, no record of what was said.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time
import traceback
from typing import Any

READ_BYTES = 1 << 20
# [0, 1, "nvim_exec_lua", ["bench_edit()", []]] in msgpack
USER_EDITS = b"\x94\x00\x01\xadnvim_exec_lua\x92\xacbench_edit()\x90"


class Client:
    """The other side of stdin and stdout."""

    def __init__(self) -> None:
        self._rest = b""
        self._next_id = 0

    def receive(self) -> bytes:
        """Return the next line."""
        pieces = [self._rest]
        while b"\n" not in pieces[-1]:
            data = os.read(0, READ_BYTES)
            if not data:
                sys.exit()
            pieces.append(data)
        line, _, self._rest = b"".join(pieces).partition(b"\n")
        return line

    def send(self, line: bytes) -> None:
        """Write a whole line, with its end."""
        left = memoryview(line)
        while left:
            left = left[os.write(1, left) :]

    def call(self, method: str, params: Any) -> tuple[Any, float]:
        """The result of a request, and the milliseconds from its first byte until its answer was parsed."""
        self._next_id += 1
        line = encoded({"id": self._next_id, "method": method, "params": params})
        start = time.perf_counter()
        self.send(line)
        answer = json.loads(self.receive())
        took = (time.perf_counter() - start) * 1000
        if answer["id"] != self._next_id or "result" not in answer:
            raise ValueError(f"the answer to {method} is {answer}")
        return answer["result"], took


def encoded(message: dict[str, Any]) -> bytes:
    """Encode a message as a line."""
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


class Work:
    """The work of one turn."""

    def __init__(self, client: Client, session: str, job: dict[str, Any]) -> None:
        self._client = client
        self._job = job
        self._file = {"sessionId": session, "path": job["path"]}

    def run(self) -> dict[str, Any]:
        """Milliseconds of each call, by what was done, and the text as the agent last wrote it."""
        reads = [self._read() for _ in range(self._job["reads"])]
        parts = [self._read_part(row) for row in self._job["parts"]]
        text = self._client.call("fs/read_text_file", self._file)[0]["content"]
        lines = text.split("\n")
        writes = [self._write(lines, number, row) for number, row in enumerate(self._job["rows"])]
        edits = [self._read_after_edit() for _ in range(self._job["edits"])]
        return {
            "reads": reads,
            "parts": parts,
            "writes": writes,
            "edits": edits,
            "before": text,
            "after": "\n".join(lines),
        }

    def _read(self) -> float:
        return self._client.call("fs/read_text_file", self._file)[1]

    def _read_part(self, row: int) -> float:
        wanted = {**self._file, "line": row + 1, "limit": self._job["part_lines"]}
        found, took = self._client.call("fs/read_text_file", wanted)
        lines = found["content"].splitlines()
        if len(lines) != self._job["part_lines"] or not lines[0].startswith(f"{row:05d} "):
            raise ValueError(f"{len(lines)} lines from {row} begin with {lines[:1]}")
        return took

    def _write(self, lines: list[str], number: int, row: int) -> float:
        lines[row] = f"{lines[row][:-4]}w{number:03d}"
        return self._client.call("fs/write_text_file", {**self._file, "content": "\n".join(lines)})[1]

    def _read_after_edit(self) -> float:
        with socket.socket(socket.AF_UNIX) as editor:
            editor.connect(self._job["editor"])
            editor.sendall(USER_EDITS)
            editor.recv(READ_BYTES)
        return self._read()


def worked(work: Work) -> dict[str, Any]:
    """What came of it, or why nothing did: `failed`."""
    try:
        return work.run()
    except Exception:
        return {"failed": traceback.format_exc()}


def tell(path: str, found: dict[str, Any]) -> None:
    """Write the result, so that nobody reads half of it."""
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        json.dump(found, file)
    os.replace(f"{path}.new", path)


def main() -> None:
    """Answers what every client asks, and works when it is prompted."""
    with open(sys.argv[1], encoding="utf-8") as file:
        job = json.load(file)
    client, results = Client(), {"initialize": {"protocolVersion": 1}, "session/new": {"sessionId": "bench"}}
    while True:
        request = json.loads(client.receive())
        method = request["method"]
        if method == "session/prompt":
            tell(job["times"], worked(Work(client, request["params"]["sessionId"], job)))
            results[method] = {"stopReason": "end_turn"}
        if "id" in request:
            client.send(encoded({"id": request["id"], "result": results[method]}))


if __name__ == "__main__":
    main()
