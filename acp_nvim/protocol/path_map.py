"""What a path of this machine is called where the agent runs, and the other way round."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Sequence
from urllib.parse import quote, unquote_to_bytes, urlsplit

from acp_nvim.errors import Failure

Table = Sequence[tuple[str, str]]


class PathMap:
    """Pairs of directories: one of this machine, and the same one there; both absolute. The longest that fits wins.

    What is relative is left as it is. Without pairs all paths are the same in both places. Symbolic links of this
    machine are known by both of their names.
    """

    def __init__(self, name: str, pairs: Table) -> None:
        self.name = name
        there = [(_plain(here), _plain(there)) for here, there in pairs]
        self._there = _longest_first(there)
        self._here = _longest_first([(two, one) for one, two in there])
        real = [(os.path.realpath(here), here) for here, _ in there]
        self._names = _longest_first([(one, two) for one, two in real if one != two])

    def __repr__(self) -> str:
        return f"<PathMap {self.name} {self._there}>"

    def __bool__(self) -> bool:
        return bool(self._there)

    @property
    def elsewhere(self) -> list[str]:
        """The directories that are known there."""
        return [there for _, there in self._there]

    def missing(self, paths: Sequence[str]) -> list[str]:
        """Those of ours that are not to be found there."""
        return [path for path in paths if self.to_there(path) is None]

    def to_there(self, path: str) -> str | None:
        """What that path of ours is called there; None: it is not to be found there."""
        if not self._there or not path.startswith("/"):
            return path
        ours = _plain(path)
        found = _moved(ours, self._there)
        if found is None:
            ours = _moved(ours, self._names) or ours
            found = _moved(ours, self._there)
        if found is None or _moved(found, self._here) != ours:  # another one lies over it
            return None
        return found

    def to_here(self, path: str) -> str | None:
        """What that path of the agent is called here; None: it is nowhere here."""
        if not self._there or not path.startswith("/"):
            return path
        return _moved(_plain(path), self._here)

    def shown(self, path: str) -> str:
        """The same, in any case as something that can be shown, and that is no file of ours when it is none."""
        return self.to_here(path) or f"/{self.name}:{path}"

    def uri_there(self, uri: str) -> str:
        """A URI of ours; of files that are not to be found there, and of other things, it stays the same."""
        return _uri(uri, lambda path: self.to_there(path) or path)

    def uri_here(self, uri: str) -> str:
        """A URI of the agent."""
        return _uri(uri, self.shown)


def _plain(path: str) -> str:
    """Without `..`, doubled slashes and a slash at the end: nothing leads out of a directory by its name."""
    return "/" + posixpath.normpath(path).lstrip("/")


def _longest_first(table: Table) -> list[tuple[str, str]]:
    return sorted(table, key=lambda pair: -len(pair[0]))


def _moved(path: str, table: Table) -> str | None:
    for before, after in table:
        if path == before:
            return after
        top = before.rstrip("/") + "/"
        if path.startswith(top):
            return after.rstrip("/") + "/" + path[len(top) :]
    return None


def _uri(uri: str, move: Callable[[str], str]) -> str:
    if not uri.startswith("file:"):
        return uri
    try:
        parts = urlsplit(uri)
    except ValueError:  # a strange host
        return uri
    if parts.netloc not in ("", "localhost"):
        return uri
    path = os.fsdecode(unquote_to_bytes(parts.path))
    moved = move(path)
    return uri if moved == path else parts._replace(path=quote(os.fsencode(moved))).geturl()


def unmapped(name: str, path: str) -> Failure:
    """Nobody knows what a directory of ours is called where the agent runs."""
    what = f"Agent {name!r} runs elsewhere, and nothing says where {path} is there."
    return Failure("agent_misconfigured", what, f"Add it to agents.{name}.paths (:help acp_nvim-remote).", name)
