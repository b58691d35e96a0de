"""Where things are in a shadow repository, and who uses it: several hosts may, each with an index of its own."""

from __future__ import annotations

import fcntl
import os
import shutil
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from acp_nvim.workspace.private_file import make_directory

GROWN_BYTES: Final = 8 * 1024 * 1024
"""What a shadow repository has grown by since it was cleaned, at least, when it is cleaned again."""

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
        self.attributes = directory / "attributes"
        """A git directory without objects, by which git reads the user's attributes; ours switch all of them off."""
        self._incoming = directory / "incoming"
        self._indexes = directory / "indexes"
        self._token = f"{os.getpid()}-{os.urandom(4).hex()}"
        self._preparing = threading.Lock()
        self._lock: int | None = None
        self._asking: int | None = None

    def __repr__(self) -> str:
        return f"<Places {self.directory}>"

    def own_index(self, name: str) -> Path:
        """Return where this host keeps its index of the work tree of that name."""
        return self._indexes / f"{self._token}-{name}"

    def saved_index(self, name: str) -> Path:
        """The last one that anybody has written."""
        return self._indexes / f"saved-{name}"

    def excludes(self, name: str) -> Path:
        """Our rules of one work tree about files to ignore."""
        return self._indexes / f"{self._token}-{name}.excludes"

    def new_incoming(self) -> Path:
        """Where a git of ours may write objects before they are added to the others."""
        return self._incoming / f"{self._token}-{os.urandom(4).hex()}"

    def prepare(self) -> None:
        """Make what is not there, and tell others that we use it. Blocks; raises `OSError`. From any thread."""
        with self._preparing:  # two at once would wait for each other's locks, for ever
            if self._lock is None or not self.objects.is_dir():
                self._prepare()

    def prepare_attributes(self, rules: bytes) -> None:
        """Make the git directory `attributes`; these rules are stronger than those of the work tree. Blocks."""
        for directory in (self.attributes, self.attributes / "objects", self.attributes / "refs"):
            make_directory(directory)
        make_directory(self.attributes / "info")
        _write_if_other(self.attributes / "config", CONFIG)
        _write_if_other(self.attributes / "HEAD", "ref: refs/heads/none\n")
        _write_if_other(self.attributes / "info" / "attributes", rules.decode("utf-8", "surrogateescape"))

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
            if is_new:  # git would not notice that the objects of an index are gone
                self.forget_saved()
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

    def worth_cleaning(self) -> int:
        """The number of bytes from which on a cleaning is worth it. Blocks."""
        size = self._cleaned()
        return size + max(size, GROWN_BYTES)

    def released(self, share: float) -> None:
        """Return about which share of what the last cleaning left is not needed any more. Blocks."""
        self.was_cleaned(int(self._cleaned() * (1 - share)))

    def _cleaned(self) -> int:
        try:
            return int((self.directory / "cleaned").read_text(encoding="ascii"))
        except (OSError, ValueError):
            return 0

    def was_cleaned(self, size: int) -> None:
        """Remember how many bytes were left. Blocks."""
        _write_if_other(self.directory / "cleaned", str(size))

    def forget_left(self) -> None:
        """Remove what hosts, and gits that were killed, left behind. Nobody else may use it. Blocks."""
        self._forget(lambda name: not name.startswith(("saved-", self._token)))
        shutil.rmtree(self._incoming, ignore_errors=True)
        for directory in self.objects.iterdir():
            with suppress(OSError), os.scandir(directory) as entries:
                for entry in entries:
                    if entry.name.startswith("tmp_"):
                        os.unlink(entry.path)

    def forget_saved(self) -> None:
        """Remove those that hosts begin with. Blocks."""
        self._forget(lambda name: name.startswith("saved-"))

    def _forget(self, which: Callable[[str], bool]) -> None:
        with suppress(OSError), os.scandir(self._indexes) as entries:
            for entry in entries:
                if which(entry.name):
                    os.unlink(entry.path)

    def close(self) -> None:
        """Give up the repository: its locks, and the indexes of this host. What a killed git left is removed."""
        if self._lock is None or self._asking is None:
            return
        if self.alone():  # a git that was ended just now leaves half a pack
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
