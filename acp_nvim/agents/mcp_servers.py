"""MCP servers as users write them: in the configuration, and in a project's `.mcp.json`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from acp_nvim.lazy import pattern

_BLANKS: Final = pattern(" {9,}")
"""Blanks that would push the rest of a line off the screen, as in permission requests (`blocks/reveal.lua`)."""
_ODD_NAME: Final = pattern(r'[:()"]')

SERVER_CHARS: Final = 2000
"""Characters of what one server of a project runs: the question shows all of them."""
QUESTION_CHARS: Final = 8000
"""Characters of what all servers of a project run: a few screens."""

RESERVED: Final = "nvim"
"""The name of the editor's own server."""

_VARIABLE: Final = pattern(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_HTTP: Final = frozenset({"http", "streamable-http", "streamableHttp", "streamable_http"})


class ServerError(Exception):
    """A server cannot be used; the text says why, as in `MCP server 'x' is left out: ...`."""


def listed(written: Any) -> list[dict[str, Any]]:
    """Return servers in the form of the protocol (ACP "Session Setup", MCP servers); others keep what is wrong.

    `written` is a list of servers, or a map from names to servers; `env` and `headers` may be maps. Raises
    `ServerError` if it is neither.
    """
    if isinstance(written, dict):
        found = [{**one, "name": name} if isinstance(one, dict) else {"name": name} for name, one in written.items()]
    elif isinstance(written, list) and all(isinstance(one, dict) for one in written):
        found = list(written)
    else:
        raise ServerError("it should be a map from names to servers")
    return [_in_form(one) for one in found]


def _in_form(server: dict[str, Any]) -> dict[str, Any]:
    server = {name: _pairs(one) if name in ("env", "headers") else one for name, one in server.items()}
    kind = server.pop("type", None)
    if (isinstance(kind, str) and kind in _HTTP) or (kind is None and "url" in server and "command" not in server):
        return {"type": "http", **server}
    return server if kind in (None, "stdio") else {"type": kind, **server}


def _pairs(written: Any) -> Any:
    if not isinstance(written, dict):
        return written
    return [{"name": name, "value": value} for name, value in written.items()]


def merged(*sources: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the servers of all sources; of those with the same name the one of the last source."""
    by_name = {str(one.get("name")): one for source in sources for one in source}
    return list(by_name.values())


def prepared(server: dict[str, Any], variables: Mapping[str, str], cwd: str, is_remote: bool) -> dict[str, Any]:
    """Return a server with its variables replaced (`${NAME}`, `${NAME:-default}`), and its program as a path.

    The program is looked for on the PATH of `variables`, unless the agent is somewhere else (`is_remote`). Raises
    `ServerError`.
    """
    name = server.get("name")
    if not isinstance(name, str) or not name:
        raise ServerError("it has no name")
    if name == RESERVED:
        raise ServerError("the name is that of the editor's own server, give it another one")
    found = {member: expanded(value, variables) for member, value in server.items() if member != "name"}
    if found.get("type", "stdio") == "stdio":
        found["command"] = _program(found.get("command"), variables, cwd, is_remote)
    elif not isinstance(found.get("url"), str):
        raise ServerError("it has no url")
    return {"name": name, **found}


def expanded(value: Any, variables: Mapping[str, str]) -> Any:
    """Return a value with the variables in all of its texts replaced. Raises `ServerError` for one that is not set."""
    if isinstance(value, str):
        return "".join(_parts(value, variables))
    if isinstance(value, list):
        return [expanded(one, variables) for one in value]
    if isinstance(value, dict):
        return {name: expanded(one, variables) for name, one in value.items()}
    return value


def _parts(text: str, variables: Mapping[str, str]) -> Iterator[str]:
    at = 0
    for found in _VARIABLE.finditer(text):
        name, default = found.groups()
        value = variables.get(name) or default
        if value is None:
            raise ServerError(f"the environment variable {name} is not set")
        yield text[at : found.start()]
        yield value
        at = found.end()
    yield text[at:]


def _program(command: Any, variables: Mapping[str, str], cwd: str, is_remote: bool) -> str:
    if not isinstance(command, str) or not command:
        raise ServerError("it has no command")
    if is_remote:
        return command
    wanted = os.path.expanduser(command)
    if os.sep in wanted:
        wanted = os.path.join(cwd, wanted)
    import shutil  # here: the host starts without it

    path = shutil.which(wanted, path=variables.get("PATH"))
    if path is None:
        raise ServerError(f"its program {command[:200]} is not found, install it or correct the path")
    return path


def used_members(server: Mapping[str, Any]) -> dict[str, Any]:
    """Return a server with only the members that a server of its type is made of, which `words_for` shows."""
    own = ("command", "args", "env") if server.get("type", "stdio") == "stdio" else ("type", "url", "headers")
    return {member: value for member, value in server.items() if member in ("name", *own)}


def words_for(server: Mapping[str, Any]) -> str:
    """Return what would run, or the address, with variables and headers, for the user; it has no control characters.

    These are all `used_members`: a program is shown even if there is an address, too, which is not used then.
    """
    used = used_members(server)
    args = used.get("args") or []
    words = [used.get("command", used.get("url")), *(args if isinstance(args, list) else [args])]
    for member in ("env", "headers"):
        written = used.get(member) or []
        for one in written if isinstance(written, list) else [written]:
            pair = one if isinstance(one, dict) else {"name": "?", "value": one}
            words.append(f"({member}: {pair.get('name')}={pair.get('value')})")
    return shown(" ".join(map(str, words)))


def shown_name(server: Mapping[str, Any]) -> str:
    """Return the name of a server for the user; in quotes if it could be taken for something else in its line."""
    name = str(server.get("name"))
    return shown(name if name == name.strip() and not _ODD_NAME.search(name) else f'"{name}"')


def shown_chars(server: Mapping[str, Any]) -> int:
    """Return the number of characters of a server that the question shows; above `SERVER_CHARS` it is left out."""
    return len(shown_name(server)) + len(words_for(server))


def shown(text: str) -> str:
    """Return a text of a project for the user: `printable`, and with many adjacent blanks counted."""
    return _BLANKS.sub(lambda found: f" ··· {len(found[0])} spaces ··· ", printable(text))


def printable(text: str) -> str:
    """Return a text of a project for the user: without control characters, which are shown as escapes."""
    return text if text.isprintable() else text.encode("unicode_escape").decode("ascii")
