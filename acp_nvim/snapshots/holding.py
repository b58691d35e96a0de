"""What of a shadow repository must be kept, and how the rest goes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import anyio

from acp_nvim.limits import CLEAN_SECONDS
from acp_nvim.snapshots.failures import GoneError, SnapshotError
from acp_nvim.snapshots.run_git import run_git
from acp_nvim.snapshots.store import Store
from acp_nvim.snapshots.trees import DIRECTORY, FILE, Entry

_NAME = re.compile(r"[A-Za-z0-9_-]+")


async def hold(store: Store, name: str, blobs: Iterable[str], trees: Iterable[str]) -> None:
    """Keep these until `name` is released. Raises `SnapshotError`, `GoneError`."""
    # of what is left out there is nothing to keep, and what is secret is in memory only
    kept = [oid for oid in blobs if oid and oid not in store.secrets]
    wanted = {**dict.fromkeys(kept, FILE), **dict.fromkeys(trees, DIRECTORY)}
    missing = await store.missing(list(wanted))
    if missing:  # git would clean nothing any more
        raise GoneError(f"the object {missing[0]} is not in the shadow repository")
    await store.blocking(partial(_write_ref, store, _ref(store, name), wanted))


async def release(store: Store, names: Sequence[str]) -> None:
    """Delete the refs with these names, so that what only they hold can be removed."""
    refs = [_ref(store, name) for name in names]
    await store.blocking(partial(_unlink, refs))


async def clean(store: Store, fresh: dict[str, int]) -> None:
    """Remove all that no name holds, but for `fresh` (modes by id). Nobody else may use it. Raises `SnapshotError`."""
    ref = store.places.held.with_name("fresh")
    gone = await store.missing(list(fresh))
    wanted = {oid: mode for oid, mode in fresh.items() if oid not in gone}
    try:
        with anyio.fail_after(CLEAN_SECONDS):
            await store.blocking(partial(_write_ref, store, ref, wanted))
            await run_git(store.places.directory, ["repack", "-a", "-d", "-q"])
            await run_git(store.places.directory, ["prune", "--expire=now"])
    except TimeoutError as error:
        raise SnapshotError(f"to clean took longer than {CLEAN_SECONDS:g} s") from error
    finally:
        with suppress(OSError):
            ref.unlink()


def size(objects: Path) -> int:
    """Bytes of all objects. Blocks."""
    found = 0
    for directory, _, names in os.walk(objects):
        for name in names:
            with suppress(OSError):
                found += os.lstat(os.path.join(directory, name)).st_size
    return found


def _unlink(refs: Iterable[Path]) -> None:
    for ref in refs:
        ref.unlink(missing_ok=True)


def _ref(store: Store, name: str) -> Path:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name: letters, digits, - and _")
    return store.places.held / name


def _write_ref(store: Store, ref: Path, wanted: dict[str, int]) -> None:
    """Let a name stand for a tree of all that it holds."""
    tree = store.trees.write({oid.encode(): Entry(mode, oid) for oid, mode in wanted.items()})
    temporary = ref.with_name(f"{ref.name}.{os.urandom(4).hex()}.lock")  # git passes such names over
    temporary.write_text(f"{tree}\n", encoding="ascii")
    temporary.replace(ref)
