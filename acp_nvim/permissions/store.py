"""The stored rules of a project ("always" answers): one file in the state directory, shared by all Neovims."""

from __future__ import annotations

import hashlib
import os
import re
import time
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, Literal

import msgspec

from acp_nvim.contract.request_events import RuleView
from acp_nvim.permissions.rules import Subject
from acp_nvim.state.private_file import SharedJson

STORED_RULES: Final = 1000
"""Rules kept for a project, the newest: a file of 300 kB."""
STORED_RULES_BYTES: Final = 64 * 1024 * 1024
"""Maximum size of the file, as command lines may be long: a larger one was not written by us."""


class StoredRule(msgspec.Struct, frozen=True, kw_only=True):
    """An "always" answer of the user; `time` is in seconds since 1970."""

    id: str
    action: Literal["allow", "reject"]
    about: Subject
    time: float

    @property
    def words(self) -> str:
        """The rule in words, for the user."""
        about = self.about
        what = f"command {about.command}" if about.command is not None else f"path {', '.join(about.paths)}"
        return f"{self.action} agent {about.agent} kind {about.kind} {what}"

    @property
    def view(self) -> RuleView:
        """The rule as it is shown in a list."""
        about = self.about
        return RuleView(
            id=self.id,
            source="stored",
            action=self.action,
            words=self.words,
            agent=about.agent,
            kind=[about.kind],
            path="\n".join(about.paths) or None,
            command=about.command,
            time=self.time,
        )


class _Project(msgspec.Struct):
    """The content of the file; `project` is only for human readers."""

    project: str
    rules: list[StoredRule] = []


class StoredRules:
    """The stored rules of the project at `root` (a real path), in the order of the answers.

    All methods block on the disk; those that change the file also wait for the lock of other Neovims.
    """

    def __init__(self, directory: Path, root: str) -> None:
        name = re.sub(r"[^\w.-]", "_", os.path.basename(root), flags=re.ASCII)[-40:]
        digest = hashlib.sha256(os.fsencode(root)).hexdigest()[:16]
        self._root = root
        self._file = directory / f"{name}-{digest}.json"
        self._shared = SharedJson(self._file, _Project, STORED_RULES_BYTES)
        self._read: tuple[int, ...] | None = None
        self._rules: tuple[StoredRule, ...] = ()

    def __repr__(self) -> str:
        return f"<StoredRules {self._file}>"

    def rules(self) -> Sequence[StoredRule]:
        """Return the rules; read them again if the file has changed. Raises `OSError`, once for each broken file."""
        stamp = self._stamp()
        if stamp != self._read:
            self._read, self._rules = None, ()
            known = self._shared.load()
            self._read, self._rules = stamp, tuple(known.rules if known else ())
        return self._rules

    def add(self, action: Literal["allow", "reject"], about: Subject) -> StoredRule:
        """Add a rule, replacing an earlier one about the same subject; return it. Raises `OSError`."""
        rule = StoredRule(id=uuid.uuid4().hex[:12], action=action, about=about, time=time.time())
        self._change(lambda rules: [*(one for one in rules if one.about != about), rule][-STORED_RULES:])
        return rule

    def remove(self, rule_id: str) -> None:
        """Remove the rule with that id, if it exists. Raises `OSError`."""
        self._change(lambda rules: [one for one in rules if one.id != rule_id])

    def _stamp(self) -> tuple[int, ...] | None:
        try:
            status = self._file.stat()
        except FileNotFoundError:
            return None
        return status.st_ino, status.st_mtime_ns, status.st_size

    def _change(self, change: Callable[[list[StoredRule]], list[StoredRule]]) -> None:
        self._shared.change(lambda known: _Project(self._root, change(known.rules if known else [])))
