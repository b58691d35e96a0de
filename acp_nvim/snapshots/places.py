"""The paths in a shadow repository, and its locks: several hosts may use it, each with its own indexes."""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from acp_nvim.state.private_file import make_directory, remove_directory

GROWN_BYTES: Final = 8 * 1024 * 1024
"""Minimum growth in bytes since the last cleaning before the next one."""

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
"""Stores names and bytes unchanged, runs no programs, and starts no maintenance."""

SHA256_CONFIG: Final = CONFIG.replace("repositoryformatversion = 0", "repositoryformatversion = 1") + (
    "[extensions]\n\tobjectFormat = sha256\n"
)
"""The same for a git that reads an index with longer hashes."""

ATTRIBUTES: Final = "* -text -crlf -eol -ident -filter -working-tree-encoding !diff\n"
"""Stronger than any `.gitattributes` file: bytes stay unchanged, and git detects text by its bytes."""


class Places:
    """The git directory `directory`; created by `prepare`."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.objects = directory / "objects"
        self.kept = directory / "kept" / "objects"
        """Copies of the user's objects, which no cleaning of ours takes for its own."""
        self.held = directory / "refs" / "held"
        self.attributes = directory / "attributes"
        """A git directory without objects, with which git reads the user's attributes; ours disable all of them."""
        self._incoming = directory / "incoming"
        self._indexes = directory / "indexes"
        self._token = f"{os.getpid()}-{os.urandom(4).hex()}"
        self._preparing = threading.Lock()
        self._lock: int | None = None
        self._asking: int | None = None

    def own_index(self, name: str) -> Path:
        """Return the path of this host's index of the work tree `name`."""
        return self._indexes / f"{self._token}-{name}"

    def saved_index(self, name: str) -> Path:
        """Return the path of the index of the work tree `name` that any host saved last."""
        return self._indexes / f"saved-{name}"

    def excludes(self, name: str) -> Path:
        """Return the path of our ignore rules for the work tree `name`."""
        return self._indexes / f"{self._token}-{name}.excludes"

    def new_incoming(self) -> Path:
        """Return a new path where a git may write objects before they are added to the others."""
        return self._incoming / f"{self._token}-{os.urandom(4).hex()}"

    def prepare(self) -> None:
        """Create what is missing, and lock the repository as used. Blocks; raises `OSError`. Thread-safe."""
        with self._preparing:  # two threads would deadlock on each other's locks
            if self._lock is None or not self.objects.is_dir():
                self._prepare()

    def prepare_attributes(self, rules: bytes) -> None:
        """Create the git directory `attributes`, with rules stronger than those of the work tree. Blocks."""
        self.make_git_directory(self.attributes)
        make_directory(self.attributes / "info")
        _write_if_other(self.attributes / "info" / "attributes", rules.decode("utf-8", "surrogateescape"))

    def make_git_directory(self, directory: Path, config: str | None = None) -> None:
        """Create a git directory without objects, with `config` or our own configuration. Blocks."""
        for one in (directory, directory / "objects", directory / "refs"):
            make_directory(one)
        _write_if_other(directory / "config", config or CONFIG)
        _write_if_other(directory / "HEAD", "ref: refs/heads/none\n")

    def _prepare(self) -> None:
        self.close()
        is_new = not self.objects.is_dir()
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
            if is_new:  # git would not notice that the objects of a saved index are missing
                self.forget_saved()
        self.share()

    def alone(self) -> bool:
        """Lock the repository exclusively; False when another host uses it. `share` must follow in any case."""
        if self._lock is None or self._asking is None:
            return False
        try:
            # an upgrade releases the shared lock first, so only one host may try at a time
            fcntl.flock(self._asking, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def share(self) -> None:
        """Use the repository together with other hosts. Blocks while another host cleans."""
        if self._lock is None or self._asking is None:
            return
        with suppress(OSError):  # without file locks nothing is ever cleaned
            fcntl.flock(self._lock, fcntl.LOCK_SH)
            fcntl.flock(self._asking, fcntl.LOCK_UN)

    def worth_cleaning(self) -> int:
        """Return the size in bytes from which a cleaning is useful. Blocks."""
        size = self._cleaned()
        return size + max(size, GROWN_BYTES)

    def released(self, share: float) -> None:
        """Record that about this share of what the last cleaning left is not needed any more. Blocks."""
        self.was_cleaned(int(self._cleaned() * (1 - share)))

    def _cleaned(self) -> int:
        try:
            return int((self.directory / "cleaned").read_text(encoding="ascii"))
        except (OSError, ValueError):
            return 0

    def was_cleaned(self, size: int) -> None:
        """Record the size in bytes that a cleaning left. Blocks."""
        _write_if_other(self.directory / "cleaned", str(size))

    def forget_left(self) -> None:
        """Remove what other hosts and killed gits left. The lock must be held exclusively. Blocks."""
        self._forget(lambda name: not name.startswith(("saved-", self._token)))
        remove_directory(self._incoming)
        for directory in self.objects.iterdir():
            with suppress(OSError), os.scandir(directory) as entries:
                for entry in entries:
                    if entry.name.startswith("tmp_"):
                        os.unlink(entry.path)

    def forget_saved(self) -> None:
        """Remove the saved indexes, with which hosts begin. Blocks."""
        self._forget(lambda name: name.startswith("saved-"))

    def _forget(self, which: Callable[[str], bool]) -> None:
        with suppress(OSError), os.scandir(self._indexes) as entries:
            for entry in entries:
                if which(entry.name):
                    os.unlink(entry.path)

    def close(self) -> None:
        """Release the locks, and remove this host's indexes and what killed gits left."""
        if self._lock is None or self._asking is None:
            return
        if self.alone():  # a killed git may have left half a pack
            self.forget_left()
        os.close(self._lock)
        os.close(self._asking)
        self._lock = self._asking = None
        self._forget(lambda name: name.startswith(self._token))


def _write_if_other(path: Path, text: str) -> None:
    with suppress(OSError):
        if path.read_text(encoding="utf-8", errors="surrogateescape") == text:
            return
    temporary = path.with_name(f"{path.name}.{os.urandom(4).hex()}")
    temporary.write_text(text, encoding="utf-8", errors="surrogateescape")
    temporary.replace(path)
