"""The commands that show one feature each: edits in two places, a form, an image, a command in a terminal."""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from typing import Any

from acp_nvim.demo_agent import files, texts
from acp_nvim.demo_agent.files import FileTrouble
from acp_nvim.demo_agent.turn import ToolCall, Turn
from acp_nvim.demo_agent.wire import Json, RpcError

PICTURE_SIDE = 96  # pixels


def edits(turn: Turn, text: str, blocks: list[Json]) -> None:
    """Change a file at its top and at its end, so that there are two hunks to review."""
    path = files.pick(turn.session.cwd, text.partition(" ")[2], blocks)
    if path is None:
        turn.say(texts.NO_FILE)
        return
    name = files.shown(turn.session.cwd, path)
    try:
        content = files.read(turn, path)
        changed = files.noted_twice(name, content)
        if changed is None:
            turn.say(f"I know of no change that could do no harm in `{name}`.\n")
            return
        diff = {"type": "diff", "path": path, "oldText": content, "newText": changed}
        call = ToolCall(turn, "edit", f"Add two comments in {name}", content=[diff], locations=[{"path": path}])
        if not call.allowed():
            call.end("failed")
            turn.say(f"You did not allow the edit, so I left `{name}` alone.\n")
            return
        call.start()
        files.write(turn, path, changed)
    except FileTrouble as trouble:
        turn.say(f"That did not work with `{name}`. {trouble}\n")
        return
    call.end("completed")
    turn.say(f"`{name}` has a new comment at its top and one at its end: keep or reject each of them.\n")


FORM: Json = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Your name", "minLength": 2},
        "language": {
            "type": "string",
            "title": "Language of the greeting",
            "oneOf": [{"const": "en", "title": "English"}, {"const": "fr", "title": "French"}],
            "default": "en",
        },
        "loud": {"type": "boolean", "title": "Greet loudly"},
    },
    "required": ["name"],
}
GREETINGS = {"en": "Hello", "fr": "Bonjour"}


def form(turn: Turn) -> None:
    """Ask the user for a name in a form, and greet them."""
    turn.say("I need to know whom to greet.\n\n")
    try:
        answer = turn.request("elicitation/create", mode="form", message="Whom shall I greet?", requestedSchema=FORM)
    except RpcError as error:
        turn.say(f"The form could not be shown: {error.message}\n")
        return
    values = answer.get("content") if isinstance(answer, dict) else None
    if not isinstance(values, dict) or answer.get("action") != "accept":
        turn.say("You gave no answer, so I greet nobody.\n")
        return
    greeting = f"{GREETINGS.get(str(values.get('language')), 'Hello')}, {values.get('name')}"
    turn.say(f"{greeting.upper()}!\n" if values.get("loud") is True else f"{greeting}.\n")


def image(turn: Turn) -> None:
    """Send a small picture as content of a message."""
    turn.say("Here is a picture:\n\n")
    content = {"type": "image", "mimeType": "image/png", "data": b64encode(picture()).decode()}
    turn.update("agent_message_chunk", content=content)
    turn.say("\n\nOpen it from the chat; it is a file until Neovim ends.\n")


def picture() -> bytes:
    """Return the bytes of a PNG: a colour gradient."""
    pixels = range(PICTURE_SIDE)
    rows = b"".join(b"\0" + b"".join(bytes((40 + x, 60 + y, 160)) for x in pixels) for y in pixels)
    header = struct.pack(">IIBBBBB", PICTURE_SIDE, PICTURE_SIDE, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


def terminal(turn: Turn) -> None:
    """Have the client run a command in a terminal, and show it in a tool call."""
    call = ToolCall(turn, "execute", "List the files", rawInput={"command": "ls -l", "cwd": turn.session.cwd})
    try:
        made: Any = turn.request("terminal/create", command="ls", args=["-l"], cwd=turn.session.cwd)
        number = made["terminalId"]
    except (RpcError, TypeError, KeyError) as error:
        call.end("failed", error.message if isinstance(error, RpcError) else "The editor gave no terminal.")
        turn.say("The command did not run.\n")
        return
    call.show_terminal(number)
    try:
        turn.request("terminal/wait_for_exit", terminalId=number)
        turn.request("terminal/release", terminalId=number)
    except RpcError as error:
        call.end("failed", error.message)
        return
    call.end("completed")
    turn.say("The editor ran the command for me. Open its output from the chat.\n")
