"""The files of a project that its MCP servers run, as far as their commands, arguments and variables tell."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import Any, Final

from acp_nvim.agents.mcp_servers import (
    QUESTION_CHARS,
    SERVER_CHARS,
    ServerError,
    expanded,
    listed,
    shown_chars,
    used_members,
)
from acp_nvim.lazy import pattern

FILE_BYTES: Final = 8 * 1024 * 1024
"""Size of a file whose bytes are compared; of a larger one it is the size, the times and the inode."""
MOST_WORDS: Final = 2000
"""Words of a server that may name files: more than its question can show."""
MOST_PLACES: Final = 500
"""Files and directories that are looked at."""
MOST_BYTES: Final = 256 * 1024 * 1024
"""Bytes of all files that are compared, read within a second; of further files it is what is said of large ones."""
MOST_FILES: Final = 20_000
"""Files that are compared at all."""

_WORD = pattern(r"[^\s\"'`;|&()<>=,:{}\[\]$*?!]+")
_SUFFIXES = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".jsx", ".json")
_ADDS_SUFFIXES = frozenset({"node", "nodejs", "nodemon", "bun", "tsx", "ts-node"})
"""These run `server.js` when told to run `server`."""
_FILE_NAME = pattern(r"\.\w{1,5}$")
_MODULE = pattern(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_ENTRIES = (
    *("__main__.py", "__init__.py", "main.py", "server.py", "pyproject.toml", "package.json"),
    *("index.js", "index.mjs", "index.cjs", "index.ts", "Cargo.toml", "go.mod"),
)
"""A directory with one of these is a program; another one is data, which agents may write."""
_MANIFESTS: Final = {
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), "package.json"),
    **dict.fromkeys(("uv", "poetry", "pdm", "hatch"), "pyproject.toml"),
    "make": "Makefile",
    "just": "justfile",
    "deno": "deno.json",
}
"""The files with the commands that these programs run."""
_CACHES = frozenset({".git", ".venv", "node_modules", "__pycache__"})


def named_files(servers: Iterable[Mapping[str, Any]], root: str, variables: Mapping[str, str]) -> list[str]:
    """Return the paths below the real directory `root` that these servers run, or are given and may run.

    Paths of files that do not exist are included; so are directories, with everything below them, that are programs.
    """
    found: dict[str, None] = {}
    for server in servers:
        if server.get("type", "stdio") == "stdio":
            found |= dict.fromkeys(_of_server(server, root, variables))
    return list(islice(found, MOST_PLACES))


def _of_server(server: Mapping[str, Any], root: str, variables: Mapping[str, str]) -> Iterator[str]:
    texts = list(_texts([server.get(one) for one in ("command", "args", "env")], variables))
    words = list(islice(dict.fromkeys(word for one in texts for word in (one, *_WORD.findall(one))), MOST_WORDS))
    words += [word[2:] for word in words if word[:1] == "-" and word[1:2].isalpha() and os.sep in word]  # `-r./hook`
    adds_suffixes = not _ADDS_SUFFIXES.isdisjoint(map(os.path.basename, words))
    below = {word: place for word in words if (place := _below(root, root, word)) is not None}
    directories = [one for one in dict.fromkeys(below.values()) if os.path.isdir(one)]
    for word, place in below.items():
        is_name = not word.startswith("-") and _WORD.fullmatch(word) and (os.sep in word or _FILE_NAME.search(word))
        if (is_name or os.path.lexists(place)) and (place not in directories or _is_program(place)):
            yield place
        if adds_suffixes:
            yield from filter(os.path.isfile, map(place.__add__, _SUFFIXES))
    for directory in directories[:10]:  # the server may be started there
        yield from (one for word in words[:100] if (one := _below(root, directory, word)) and os.path.isfile(one))
    for base in (root, *directories[:10]):
        yield from (os.path.join(base, name) for one, name in _MANIFESTS.items() if one in map(os.path.basename, words))
        for parts in (one.split(".") for one in _modules(texts)):
            place = os.path.join(base, *parts)
            yield from (place, f"{place}.py") if base != os.path.join(root, parts[0]) else ()


def _texts(value: Any, variables: Mapping[str, str]) -> Iterator[str]:
    if isinstance(value, str):
        try:
            yield expanded(value, variables)
        except ServerError:
            yield value
    elif isinstance(value, dict):
        yield from _texts(value.get("value"), variables)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one, variables)


def _modules(texts: Sequence[str]) -> Iterator[str]:
    """Yield the modules that `python -m` runs: Python looks for them in the working directory first."""
    for words in (texts, *(_WORD.findall(one) for one in texts)):
        yield from (after for before, after in pairwise(words) if before == "-m" and _MODULE.fullmatch(after))
        yield from (one[2:] for one in words if one.startswith("-m") and _MODULE.fullmatch(one[2:]))


def _below(root: str, base: str, word: str) -> str | None:
    """Return the path that a word names, if it is below `root`; the word may be an option with its value."""
    if "\0" in word or word in (".", ".."):
        return None
    path = os.path.normpath(os.path.join(base, os.path.expanduser(word)))
    return path if path.startswith(root.rstrip(os.sep) + os.sep) else None


def _is_program(directory: str) -> bool:
    return any(os.path.lexists(os.path.join(directory, one)) for one in _ENTRIES)


def of_text(servers: Any, root: str) -> list[str]:
    """Return the `named_files` of the servers as a project writes them, without those that no session uses."""
    try:
        used = [one for one in map(used_members, listed(servers)) if shown_chars(one) <= SERVER_CHARS]
    except ServerError:
        return []
    return named_files(used, root, os.environ) if sum(map(shown_chars, used)) <= QUESTION_CHARS else []


def digest(paths: Iterable[str]) -> str:
    """Return a digest of the bytes of these files, and of those below directories. Blocks; never raises."""
    made, left = hashlib.sha256(), MOST_BYTES
    for path in islice((one for named in paths for one in _files(named)), MOST_FILES):
        content, size = _content(path, min(left, FILE_BYTES))
        left -= size
        made.update(repr((path, os.path.realpath(path), content)).encode("utf-8", "surrogatepass"))
    return made.hexdigest()


def _files(path: str) -> Iterator[str]:
    """Yield the files below a directory, and links there to others, which are not followed."""
    if not os.path.isdir(path):
        yield path
        return
    for directory, names, files in os.walk(path):
        names[:] = sorted(set(names) - _CACHES)
        yield from (os.path.join(directory, one) for one in sorted(files))
        yield from filter(os.path.islink, (os.path.join(directory, one) for one in names))


def _content(path: str, most: int) -> tuple[object, int]:
    """Return what a file is, and how many bytes of it were read.

    It is a digest of its bytes, or, if it has more than `most`, its size, times and inode; else the kind of an error.
    """
    try:
        with open(path, "rb", opener=lambda name, _: os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                return stat.S_IFMT(status.st_mode), 0
            if status.st_size > most:
                return (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino), 0
            data = file.read(most)
            return hashlib.sha256(data).hexdigest(), len(data)
    except (OSError, ValueError) as error:
        return type(error).__name__, 0
