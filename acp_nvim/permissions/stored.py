"""What the user has answered for good in a project: one file of it in the state directory, for all Neovims."""

from __future__ import annotations

import fcntl
import hashlib
import logging
import os
import re
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

import msgspec

from acp_nvim.limits import STORED_RULES
from acp_nvim.permission_events import RuleView
from acp_nvim.workspace.private_file import make_directory, write_new

log = logging.getLogger(__name__)


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """What an answer is about: just this command there, or what tool calls of a kind do to just these files."""

    agent: str
    kind: str
    command: str | None = None
    cwd: str | None = None
    paths: tuple[str, ...] = ()


class StoredRule(msgspec.Struct, frozen=True, kw_only=True):
    """An answer; `time` is in seconds since 1970."""

    id: str
    action: Literal["allow", "reject"]
    about: Subject
    time: float

    @property
    def words(self) -> str:
        """As a user reads it."""
        about = self.about
        what = f"command {about.command}" if about.command is not None else f"path {', '.join(about.paths)}"
        return f"{self.action} agent {about.agent} kind {about.kind} {what}"

    @property
    def view(self) -> RuleView:
        """As it is shown in a list."""
        about = self.about
        path = "\n".join(about.paths) or None
        return RuleView(
            id=self.id,
            source="stored",
            action=self.action,
            words=self.words,
            agent=about.agent,
            kind=[about.kind],
            path=path,
            command=about.command,
            time=self.time,
        )


class _Project(msgspec.Struct):
    """The file: the directory is there for who reads it."""

    project: str
    rules: list[StoredRule] = []


class StoredRules:
    """Those of the project at `root` (a real path), in the order in which they were made.

    Everything here takes a moment of the disk's time, and what changes the file also that of other Neovims.
    """

    def __init__(self, directory: Path, root: str) -> None:
        name = re.sub(r"[^\w.-]", "_", os.path.basename(root), flags=re.ASCII)[-40:]
        digest = hashlib.sha256(os.fsencode(root)).hexdigest()[:16]
        self._root = root
        self._file = directory / f"{name}-{digest}.json"
        self._read: tuple[int, ...] | None = None
        self._rules: tuple[StoredRule, ...] = ()

    def __repr__(self) -> str:
        return f"<StoredRules {self._file}>"

    def rules(self) -> Sequence[StoredRule]:
        """Read again when the file is another one. Raises `OSError`, once for each file that is broken."""
        stamp = self._stamp()
        if stamp != self._read:
            self._rules = tuple(self._load())
            self._read = stamp
        return self._rules

    def add(self, action: Literal["allow", "reject"], about: Subject) -> StoredRule:
        """It takes the place of an earlier answer about the same. Raises `OSError`."""
        rule = StoredRule(id=uuid.uuid4().hex[:12], action=action, about=about, time=time.time())
        self._change(lambda rules: [*(one for one in rules if one.about != about), rule][-STORED_RULES:])
        return rule

    def remove(self, rule_id: str) -> None:
        """If it is there. Raises `OSError`."""
        self._change(lambda rules: [one for one in rules if one.id != rule_id])

    def _stamp(self) -> tuple[int, ...] | None:
        try:
            status = self._file.stat()
        except FileNotFoundError:
            return None
        return status.st_ino, status.st_mtime_ns, status.st_size

    def _load(self) -> list[StoredRule]:
        try:
            data = self._file.read_bytes()
        except FileNotFoundError:
            return []
        try:
            return msgspec.json.decode(data, type=_Project).rules
        except msgspec.MsgspecError as error:
            aside = self._file.with_name(f"{self._file.stem}.broken-{uuid.uuid4().hex[:6]}")
            self._file.rename(aside)
            self._read, self._rules = None, ()
            raise OSError(0, f"it was not written by acp_nvim ({error}), and is {aside} now") from error

    def _change(self, change: Callable[[list[StoredRule]], list[StoredRule]]) -> None:
        make_directory(self._file.parent)
        with self._alone():
            project = _Project(self._root, change(self._load()))
            temporary = self._file.with_name(f"{self._file.stem}.new-{uuid.uuid4().hex[:6]}")
            write_new(temporary, msgspec.json.format(msgspec.json.encode(project)))
            try:
                temporary.replace(self._file)
            except OSError:
                with suppress(OSError):
                    temporary.unlink()
                raise

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """No other Neovim changes the file meanwhile."""
        descriptor = os.open(self._file.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)
