"""The host's threads share one heap, where the C library can have more."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from pathlib import Path

import anyio
import pytest

from acp_nvim.review import reviews, workspace
from acp_nvim.review.ledger import TurnLog
from acp_nvim.state.cleanup import clean_memory
from tests.core.review.desk import running_desk

PROGRAM = """
import ctypes, os, sys, tempfile, threading
from acp_nvim.memory import bound_heaps

is_bounded = bound_heaps() if sys.argv[1] == "bounded" else hasattr(ctypes.CDLL(None), "mallopt")
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
together = threading.Barrier(4)

def allocate():
    together.wait()
    libc.malloc(1000)
    together.wait()

threads = [threading.Thread(target=allocate) for _ in range(4)]
for one in threads:
    one.start()
for one in threads:
    one.join()
heaps = None
if is_bounded:
    libc.fopen.restype = ctypes.c_void_p
    with tempfile.NamedTemporaryFile() as file:
        stream = ctypes.c_void_p(libc.fopen(file.name.encode(), b"w"))
        libc.malloc_info(0, stream)
        libc.fclose(stream)
        heaps = file.read().count(b"<heap nr=")
print(is_bounded, heaps)
"""


def heaps(kind: str) -> list[str]:
    """Whether the C library can bound them, and how many there are after several threads have allocated."""
    done = subprocess.run([sys.executable, "-c", PROGRAM, kind], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_all_threads_share_one_heap() -> None:
    can_bound, count = heaps("bounded")
    assert (can_bound, count) in {("True", "1"), ("False", "None")}
    if can_bound == "True":
        assert heaps("free")[1] != "1"


class Knot:
    """An object that refers to itself, which only the garbage collector frees."""

    def __init__(self) -> None:
        self.itself = self


@pytest.mark.anyio
async def test_the_cleaning_collects_garbage() -> None:
    gc.disable()
    try:
        knot = weakref.ref(Knot())
        assert knot() is not None
        await clean_memory()
        assert knot() is None
    finally:
        gc.enable()


@pytest.mark.anyio
async def test_it_is_given_back_while_another_agent_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cleaned = anyio.Event()

    async def clean() -> None:
        cleaned.set()

    monkeypatch.setattr(workspace, "clean_memory", clean)
    monkeypatch.setattr(reviews, "KEEP_SECONDS", 0.0)
    async with running_desk(tmp_path) as desk:
        other = TurnLog.left(2, "other", str(desk.cwd))
        other.active = True
        desk.reviews.ledger.logs.append(other)
        await desk.begin_turn()
        desk.put("made", b"made\n")
        await desk.end_turn()
        with anyio.fail_after(10):
            await cleaned.wait()
