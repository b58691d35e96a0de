"""Files of the project: which one a prompt is about, and reading and writing it in the way the client offers."""

import os
import re
from typing import Any

from acp_nvim.demo_agent.improve import has_comments
from acp_nvim.demo_agent.turn import Turn
from acp_nvim.demo_agent.wire import Json, RpcError

SAMPLE = "greeting.py"
SMALL = 64 * 1024  # bytes of a file that the tour takes by itself
LARGEST = 1024 * 1024  # bytes of a file that it reads from the disk at all
LOOKED_AT = 500  # names of a large directory


class FileTrouble(Exception):
    """A file could not be read or written; the text says why, for the user."""


def pick(cwd: str, text: str, blocks: list[Json]) -> str | None:
    """The absolute path of the file that the tour is about."""
    return _from_context(blocks) or _named(cwd, text) or _sample(cwd) or _first_small(cwd)


def shown(cwd: str, path: str) -> str:
    """The path as a person would write it."""
    return path[len(cwd.rstrip("/")) + 1 :] if _inside(cwd, path) else path


def read(turn: Turn, path: str) -> str:
    if turn.fs.get("readTextFile") is not True:
        return _read_disk(path)
    result = _ask(turn, "fs/read_text_file", path=path)
    content = result.get("content") if isinstance(result, dict) else None
    if not isinstance(content, str):
        raise FileTrouble("The editor's answer has no text in it.")
    return content


def write(turn: Turn, path: str, text: str) -> None:
    if turn.fs.get("writeTextFile") is True:
        _ask(turn, "fs/write_text_file", path=path, content=text)
        return
    try:
        data = text.encode()  # before the file is opened, which empties it
        with open(path, "wb") as file:
            file.write(data)
    except UnicodeEncodeError as error:
        raise FileTrouble("The text is not valid Unicode.") from error
    except OSError as error:
        raise FileTrouble(f"{error.strerror or error}.") from error


def _ask(turn: Turn, method: str, **params: Any) -> Any:
    try:
        return turn.request(method, **params)
    except RpcError as error:
        raise FileTrouble(f"The editor said: {error.message} (code {error.code})") from error


def _read_disk(path: str) -> str:
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise FileTrouble("The file is too large for a demonstration.")
        return data.decode("utf-8")
    except OSError as error:
        raise FileTrouble(f"{error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise FileTrouble("The file is not UTF-8 text.") from error


def _from_context(blocks: list[Json]) -> str | None:
    for block in blocks:
        inner = block.get("resource") if block["type"] == "resource" else block
        uri = inner.get("uri") if isinstance(inner, dict) else None
        if isinstance(uri, str) and uri.startswith("file://"):
            path = _unquoted(re.sub(r"^file://[^/]*|[?#].*$", "", uri))
            if path.startswith("/") and "\0" not in path:
                return path
    return None


def _unquoted(path: str) -> str:
    data = re.sub(
        rb"%([0-9A-Fa-f]{2})", lambda found: bytes.fromhex(found[1].decode()), path.encode("utf-8", "replace")
    )
    return data.decode("utf-8", "replace")


def _named(cwd: str, text: str) -> str | None:
    """The first file of the project that the prompt names, with or without quotes around it."""
    for word in text.split()[:LOOKED_AT]:
        name = word.strip("`'\"()[]<>@,;:!?").rstrip(".")
        path = os.path.normpath(os.path.join(cwd, name)) if name and "\0" not in name else ""
        if path and _inside(cwd, path) and os.path.isfile(path):
            return path
    return None


def _sample(cwd: str) -> str | None:
    path = os.path.join(cwd, SAMPLE)
    return path if os.path.isfile(path) else None


def _first_small(cwd: str) -> str | None:
    """The first small text file by name; one that can hold a comment is better."""
    try:
        with os.scandir(cwd) as entries:
            found = [entry.name for entry, _ in zip(entries, range(LOOKED_AT), strict=False)]
    except OSError:
        return None
    visible = (name for name in found if not name.startswith("."))
    names = sorted(visible, key=lambda name: (not has_comments(name), name))
    return next((path for path in (os.path.join(cwd, name) for name in names) if _is_small_text(path)), None)


def _is_small_text(path: str) -> bool:
    try:
        path.encode()
        if not os.path.isfile(path) or not 0 < os.path.getsize(path) <= SMALL:
            return False
        with open(path, "rb") as file:
            data = file.read()
        return b"\0" not in data and bool(data.decode("utf-8"))
    except (OSError, UnicodeError):
        return False


def _inside(cwd: str, path: str) -> bool:
    return path.startswith(cwd.rstrip("/") + "/")
