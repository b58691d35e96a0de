"""Where things are in a shadow repository, and who uses it: several hosts may, each with an index of its own."""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from acp_nvim.workspace.private_file import make_directory

CONFIG: Final = """\
[core]
	repositoryformatversion = 0
	bare = false
	fileMode = true
	symlinks = true
	ignoreCase = false
	precomposeUnicode = false
	protectHFS = false
	protectNTFS = false
	autocrlf = false
	safecrlf = false
	quotePath = false
	compression = 1
	logAllRefUpdates = false
	hooksPath = /dev/null
	attributesFile = /dev/null
	fsmonitor = false
	untrackedCache = false
	splitIndex = false
[index]
	version = 4
	sparse = false
[gc]
	auto = 0
[maintenance]
	auto = false
[pack]
	threads = 1
[diff]
	renames = false
"""
"""Names and bytes as they are, nothing that runs programs, nothing that starts by itself."""

ATTRIBUTES: Final = "* -text -crlf -eol -ident -filter -working-tree-encoding !diff\n"
"""Stronger than any `.gitattributes` file: bytes are bytes, and what is text is seen by its bytes."""


class Places:
    """The git directory `directory`; made by `prepare`."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.objects = directory / "objects"
        self.held = directory / "refs" / "held"
        self._indexes = directory / "indexes"
        self._token = f"{os.getpid()}-{os.urandom(4).hex()}"
        self._preparing = threading.Lock()
        self._lock: int | None = None
        self._asking: int | None = None

    def __repr__(self) -> str:
        return f"<Places {self.directory}>"

    def own_index(self, name: str) -> Path:
        """Our index of one work tree."""
        return self._indexes / f"{self._token}-{name}"

    def saved_index(self, name: str) -> Path:
        """The last one that anybody has written."""
        return self._indexes / f"saved-{name}"

    def excludes(self, name: str) -> Path:
        """Our rules of one work tree about files to ignore."""
        return self._indexes / f"{self._token}-{name}.excludes"

    def prepare(self) -> None:
        """Make what is not there, and tell others that we use it. Blocks; raises `OSError`. From any thread."""
        with self._preparing:  # two at once would wait for each other's locks, for ever
            if self._lock is None or not self.objects.is_dir():
                self._prepare()

    def _prepare(self) -> None:
        self.close()
        for directory in (self.directory, self.objects / "pack", self.held, self._indexes, self.directory / "info"):
            make_directory(directory)
        _write_if_other(self.directory / "config", CONFIG)
        _write_if_other(self.directory / "info" / "attributes", ATTRIBUTES)
        _write_if_other(self.directory / "HEAD", "ref: refs/heads/none\n")
        self._lock, self._asking = (
            os.open(self.directory / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600) for name in ("users", "asking")
        )
        if self.alone():
            self.forget_left()
        self.share()

    def alone(self) -> bool:
        """Whether nobody else uses it; then nobody else can until `share`, which must follow in any case."""
        if self._lock is None or self._asking is None:
            return False
        try:
            # who asks for the lock loses his own first: only one may do so at a time
            fcntl.flock(self._asking, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def share(self) -> None:
        """Use it together with others. Blocks while somebody cleans."""
        if self._lock is None or self._asking is None:
            return
        with suppress(OSError):  # a file system without locks: then nothing is ever cleaned
            fcntl.flock(self._lock, fcntl.LOCK_SH)
            fcntl.flock(self._asking, fcntl.LOCK_UN)

    def forget_left(self) -> None:
        """Remove the indexes that hosts left behind. Blocks."""
        self._forget(lambda name: not name.startswith(("saved-", self._token)))

    def forget_saved(self) -> None:
        """Remove those that hosts begin with. Blocks."""
        self._forget(lambda name: name.startswith("saved-"))

    def _forget(self, which: Callable[[str], bool]) -> None:
        with suppress(OSError), os.scandir(self._indexes) as entries:
            for entry in entries:
                if which(entry.name):
                    os.unlink(entry.path)

    def close(self) -> None:
        """We use it no longer."""
        if self._lock is None or self._asking is None:
            return
        os.close(self._lock)
        os.close(self._asking)
        self._lock = self._asking = None
        self._forget(lambda name: name.startswith(self._token))


def _write_if_other(path: Path, text: str) -> None:
    with suppress(OSError):
        if path.read_text(encoding="utf-8") == text:
            return
    temporary = path.with_name(f"{path.name}.{os.urandom(4).hex()}")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)
