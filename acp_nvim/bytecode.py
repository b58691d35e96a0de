"""A file with the bytecode of all modules of the host: to find and read hundreds of files takes a seventh of its start.

A module in it is used while its source has the size and time that it had, which is what Python asks of a `.pyc` file;
else Python's own finders load the module. Standard library only, since it is imported before all else.
"""

from __future__ import annotations

import marshal
import os
import struct
import sys
from binascii import crc32
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import MAGIC_NUMBER, spec_from_file_location
from types import CodeType, ModuleType
from typing import BinaryIO, cast

_HEAD = struct.Struct("<4sIII")
"""Python's version of bytecode; start, length and checksum of the table, which is behind the modules' bytecodes."""

_Entry = tuple[str, bool, int, int, int, int, int]
"""A module's source, whether it is a package, time (ns) and size of the source; start, length, checksum of the code."""


class Archive:
    """Finds modules in the file at `path`; in a file that cannot be used it finds none.

    A file cannot be used that is damaged, that others could have written, or that was made with another version of
    Python or another `sys.path`: there a module of the same name may have another source.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._file: BinaryIO | None = None
        self._entries: dict[str, _Entry] = {}
        self._search_path = list(sys.path)
        self._before: set[str] = set()
        with suppress(OSError, struct.error, ValueError, TypeError):
            self._file = open(path, "rb", buffering=0)  # noqa: SIM115  # until `close`
            stat = os.fstat(self._file.fileno())
            magic, at, length, checksum = _HEAD.unpack(self._file.read(_HEAD.size))
            if magic == MAGIC_NUMBER and 0 < length < stat.st_size and _is_private(stat):
                table = self._read(at, length)
                search_path, entries = marshal.loads(table) if crc32(table) == checksum else ([], {})
                self._entries = entries if search_path == self._search_path else {}

    def __repr__(self) -> str:
        return f"<Archive {self.path}: {len(self._entries)} modules>"

    def _read(self, at: int, length: int) -> bytes:
        if self._file is None:
            return b""
        self._file.seek(at)
        return self._file.read(length)

    def install(self) -> None:
        """Let Python look for modules here first, until `close`."""
        self._before = set(sys.modules)
        sys.meta_path.insert(0, self)

    def close(self) -> None:
        """Let Python look here no more, and close the file."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        if self._file is not None:
            self._file.close()
            self._file = None

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module whose source is unchanged, else None: see `importlib.abc.MetaPathFinder`."""
        if name not in self._entries:
            return None
        source, is_package, mtime, size, at, length, checksum = self._entries[name]
        try:
            stat = os.stat(source)
            code = self._read(at, length)
        except OSError:
            return None
        if (stat.st_mtime_ns, stat.st_size, crc32(code)) != (mtime, size, checksum):
            return None
        loader, places = _Loader(name, source, code), [os.path.dirname(source)] if is_package else None
        return spec_from_file_location(name, source, loader=loader, submodule_search_locations=places)

    @property
    def is_complete(self) -> bool:
        """Whether each module that was loaded since `install`, and can be here, came from here."""
        return all(isinstance(loader, _Loader) for loader, _ in self._loaded())

    def write(self) -> None:
        """Replace the file by one that contains all modules that are loaded now. Blocks; raises what loading raises."""
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        new = f"{self.path}.{os.getpid()}"
        try:
            with open(new, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
                self._write(file)
            os.replace(new, self.path)
        except BaseException:
            with suppress(OSError):
                os.unlink(new)
            raise

    def _write(self, file: BinaryIO) -> None:
        """Write one module after the other, so that no more than one of them is in memory."""
        entries: dict[str, _Entry] = {}
        file.write(bytes(_HEAD.size))
        for loader, is_package in self._loaded():
            stat = os.stat(loader.path)
            code = marshal.dumps(loader.get_code(loader.name))
            source = (loader.path, is_package, stat.st_mtime_ns, stat.st_size)
            entries[loader.name] = (*source, file.tell(), len(code), crc32(code))
            file.write(code)
        table, at = marshal.dumps((self._search_path, entries)), file.tell()
        file.write(table)
        file.seek(0)
        file.write(_HEAD.pack(MAGIC_NUMBER, at, len(table), crc32(table)))

    def _loaded(self) -> Iterator[tuple[SourceFileLoader, bool]]:
        """Yield the loaders of the modules that were loaded from sources, and whether they are packages."""
        for name in sys.modules.keys() - self._before:
            spec = getattr(sys.modules.get(name), "__spec__", None)
            if isinstance(spec, ModuleSpec) and isinstance(spec.loader, SourceFileLoader) and spec.name == name:
                yield spec.loader, spec.submodule_search_locations is not None


def _is_private(stat: os.stat_result) -> bool:
    """Whether only this user could write a file: its content is run."""
    is_mine = not hasattr(os, "geteuid") or stat.st_uid == os.geteuid()
    return is_mine and (os.name == "nt" or not stat.st_mode & 0o022)


_archive: Archive | None = None


def use(path: str) -> None:
    """Let Python look for modules in the archive at `path` first, until `take` is called."""
    global _archive
    _archive = Archive(path)
    _archive.install()


def take() -> Archive | None:
    """Close the archive that is used, and return it; None if none is, or the second time."""
    global _archive
    archive, _archive = _archive, None
    if archive is not None:
        archive.close()
    return archive


class _Loader(SourceFileLoader):
    """Loads a module from its bytecode in the archive."""

    def __init__(self, name: str, source: str, code: bytes) -> None:
        super().__init__(name, source)
        self._code = code

    def get_code(self, fullname: str) -> CodeType | None:
        """See `importlib.abc.InspectLoader`."""
        code, self._code = self._code, b""  # it is needed once
        return cast("CodeType", marshal.loads(code)) if code else super().get_code(fullname)
