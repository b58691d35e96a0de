"""A repository whose configuration names a program wherever git would run one; each writes down that it was run."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ATTRIBUTES = "*.evil filter=evil diff=evil merge=evil\n*.dotted filter=dotted.name\n*.long filter=long\n"
HOOKS = (
    "post-checkout",
    "post-index-change",
    "reference-transaction",
    "pre-commit",
    "post-merge",
    "fsmonitor-watchman",
)
SETTINGS = (
    *("core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass", "core.alternateRefsCommand"),
    *("diff.external", "diff.evil.command", "diff.evil.textconv", "merge.evil.driver", "credential.helper"),
    *("filter.evil.clean", "filter.evil.smudge", "filter.dotted.name.clean", "filter.long.process"),
    *("gpg.program", "sequence.editor", "interactive.diffFilter", "pager.diff", "pager.status", "pager.ls-files"),
    *("hook.evil.command", "uploadpack.packObjectsHook", "remote.origin.uploadpack", "submodule.inner.update"),
)


class HostileRepository:
    """A repository at `root`: committed files with many attributes, touched or changed since, and a submodule."""

    def __init__(self, root: Path, proof: Path) -> None:
        self.root = root
        self.proof = proof
        root.mkdir(parents=True, exist_ok=True)
        self._git(root, "init", "-q")
        (root / ".gitattributes").write_text(ATTRIBUTES)
        for name in ("a.evil", "b.dotted", "c.long", "plain.txt"):
            (root / name).write_text("first\n")
        self._submodule()
        self._git(root, "add", "-A")
        self._git(root, "commit", "-qm", "first")
        for place in (root / ".git", root / "inner" / ".git"):
            self._arm(place)
        for name in ("a.evil", "b.dotted", "c.long", "plain.txt", "inner/x.evil"):
            os.utime(root / name, (1, 1))  # the index does not say any more what is in them
        (root / "plain.txt").write_text("changed\n")

    def executed(self) -> list[str]:
        """The names of what was run."""
        return self.proof.read_text().split() if self.proof.exists() else []

    def _submodule(self) -> None:
        inner = self.root / "inner"
        inner.mkdir()
        self._git(inner, "init", "-q")
        (inner / "x.evil").write_text("first\n")
        (inner / ".gitattributes").write_text("*.evil filter=evil diff=evil\n")
        self._git(inner, "add", "-A")
        self._git(inner, "commit", "-qm", "inner")
        (self.root / ".gitmodules").write_text('[submodule "inner"]\n\tpath = inner\n\turl = ./inner\n')

    def _arm(self, directory: Path) -> None:
        for setting in SETTINGS:
            self._set(directory, setting, self._program(setting))
        for name in ("evil", "dotted.name", "long"):
            self._set(directory, f"filter.{name}.required", "true")
        for setting, value in (
            ("hook.evil.event", "post-checkout"),
            ("diff.submodule", "diff"),
            ("status.submoduleSummary", "true"),
            ("submodule.recurse", "true"),
            ("extensions.partialClone", "origin"),
            ("core.repositoryFormatVersion", "1"),
            ("remote.origin.url", str(self.root / "nowhere")),
            ("remote.origin.promisor", "true"),
            ("protocol.allow", "always"),
            ("protocol.file.allow", "always"),
        ):
            self._set(directory, setting, value)
        (directory / "hooks").mkdir(exist_ok=True)
        for name in HOOKS:
            hook = directory / "hooks" / name
            hook.write_text(f"#!/bin/sh\n{self._program(name)}\n")
            hook.chmod(0o755)

    def _program(self, name: str) -> str:
        tail = "; cat" if name.startswith("filter.") and not name.endswith(".process") else ""
        return f"echo {name} >> {self.proof}{tail} #"

    def _set(self, directory: Path, setting: str, value: str) -> None:
        self._git(directory, "config", "--file", str(directory / "config"), "--replace-all", setting, value)

    @staticmethod
    def _git(cwd: Path, *words: str) -> None:
        user = ["-c", "user.name=n", "-c", "user.email=e", "-c", "advice.addEmbeddedRepo=false"]
        done = subprocess.run(["git", *user, *words], cwd=cwd, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (words, done.stderr)
