"""What agents say in the bench of the chat: markdown in chunks, tool calls, requests; ready to be written."""

from __future__ import annotations

import json
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal

LINES_PER_CHUNK = 0.9
SESSION = "bench"
END = "#1;"
"""The last text of a turn; the probe looks for numbers like this."""

Marks = Literal["none", "end", "each"]

PARAGRAPHS = """\
## Part {n}: what was found

The module `parser_{n}` reads **every** record twice, which is *slow* for large files; see
[the notes](docs/notes-{n}.md) for the figures. The first reading only counts, the second one
keeps. Both could be one.

- first, the records are counted
- then room is made for `{n}` of them
  - on disk, when there are many
- at last they are read again

```python
def read_{n}(path: str) -> list[int]:
    with open(path) as file:
        count = sum(1 for _ in file)
        file.seek(0)
        return [int(line) for line in file][:count]  # twice!
```

| records | before | after |
|---|---|---|
| {n} | 1.5 s | 0.7 s |

1. read once
2. grow the list as needed

```lua
local function read(path)
  for line in io.lines(path) do
    records[#records + 1] = tonumber(line) or {n}
  end
end
```

> A record is a line. Nothing else is a record.

"""


@lru_cache(maxsize=4)
def markdown(lines: int) -> str:
    """Ordinary markdown of so many lines."""
    text: list[str] = []
    number = 0
    while len(text) < lines:
        number += 1
        text += PARAGRAPHS.replace("{n}", str(number)).splitlines(keepends=True)
    return "".join(text[:lines])


@lru_cache(maxsize=8)
def chunks(count: int, marks: Marks = "end") -> tuple[str, ...]:
    """Markdown in so many pieces of about one length; the last ends with `END`, or each with its own number."""
    text = markdown(round(count * LINES_PER_CHUNK))
    cuts = [len(text) * number // count for number in range(count + 1)]
    pieces = [text[begin:end] for begin, end in pairwise(cuts)]
    if marks == "each":
        return tuple(f"{piece}#{number};" for number, piece in enumerate(pieces))
    return (*pieces[:-1], pieces[-1] + END) if marks == "end" else tuple(pieces)


def update_line(update: dict[str, Any]) -> bytes:
    """One `session/update`."""
    message = {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": SESSION, "update": update}}
    return json.dumps(message, ensure_ascii=False).encode() + b"\n"


def said(text: str, kind: str = "agent_message_chunk") -> bytes:
    """Return an update with a piece of a message."""
    return update_line({"sessionUpdate": kind, "content": {"type": "text", "text": text}})


@lru_cache(maxsize=8)
def said_all(count: int, marks: Marks = "end") -> bytes:
    """Return updates with all `chunks`."""
    return b"".join(map(said, chunks(count, marks)))


def filling(lines: int) -> bytes:
    """Markdown of so many lines, of which nobody asks when it has come."""
    return said_all(round(lines / LINES_PER_CHUNK), "none")
