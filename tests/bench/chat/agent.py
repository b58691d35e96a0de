"""The agent of the bench of the chat: says bytes that were made before, as fast as they are taken or at given times.

`python agent.py JOB.json`. The job is `{"log": path, "turns": {name: [step, ...]}}`: the text of a prompt names the
turn, `session/load` is the turn `load`. A step is `{"file": path, "lines": n, "every": seconds}`: that many lines at a
time, one time every so many seconds, or without `every` the whole file at once; with `stays` the turn does not end. It
does as little as an agent can, so that it is the client that is measured. After each turn the log says when
(`time.monotonic`) it began, ended, and wrote each time.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import threading
import time
from itertools import islice
from typing import Any

READ_BYTES = 1 << 20
RESULTS: dict[str, Any] = {
    "initialize": {"protocolVersion": 1, "agentCapabilities": {"loadSession": True}},
    "session/new": {"sessionId": "bench"},
    "session/prompt": {"stopReason": "end_turn"},
}


def write(data: bytes) -> None:
    """All of it to the client."""
    left = memoryview(data)
    while left:
        left = left[os.write(1, left) :]


def read_all() -> None:
    """Take what the client says, until it says no more."""
    while os.read(0, READ_BYTES):
        pass


def write_paced(data: bytes, lines: int, every: float) -> list[float]:
    """Write the lines at this pace; return the times just before each write."""
    times = []
    rest = iter(data.splitlines(keepends=True))
    begun = time.monotonic()
    while part := b"".join(islice(rest, lines)):
        wait = begun + len(times) * every - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        times.append(time.monotonic())
        write(part)
    return times


def play(steps: list[dict[str, Any]], log: str) -> None:
    """One turn; its log is there when the last step is done."""
    files = []
    for step in steps:
        with open(step["file"], "rb") as file:
            files.append(file.read())
    stays = any("stays" in step for step in steps)
    reader = threading.Thread(target=read_all)
    if stays:
        reader.start()  # nobody answers who is not listened to
    times, begun = [], time.monotonic()
    for step, data in zip(steps, files, strict=True):
        if "every" in step:
            times += write_paced(data, step["lines"], step["every"])
        else:
            write(data)
    told = {"begun": begun, "ended": time.monotonic(), "times": times}
    with open(f"{log}.new", "w", encoding="utf-8") as file:
        json.dump(told, file)
    os.replace(f"{log}.new", log)
    if stays:
        reader.join()


def main() -> None:
    """Answers what every client asks, and plays the turn that it is prompted for."""
    with open(sys.argv[1], encoding="utf-8") as file:
        job = json.load(file)
    gc.disable()
    rest = b""
    while True:
        while b"\n" not in rest:
            data = os.read(0, READ_BYTES)
            if not data:
                return
            rest += data
        line, _, rest = rest.partition(b"\n")
        request = json.loads(line)
        method = request.get("method")
        if method == "session/prompt":
            play(job["turns"][request["params"]["prompt"][0]["text"]], job["log"])
        elif method == "session/load":
            play(job["turns"]["load"], job["log"])
        if method is not None and "id" in request:
            answer = {"jsonrpc": "2.0", "id": request["id"], "result": RESULTS.get(method, {})}
            write(json.dumps(answer).encode() + b"\n")


if __name__ == "__main__":
    main()
