"""Bounds what the C library keeps of memory that the host has freed. Other C libraries than glibc are left as they are.

By default glibc gives each thread a heap of its own, up to eight for each processor, and keeps more and more of what is
freed in them. The host's threads hardly ever allocate at once, because they share Python's interpreter: one heap is
enough, and what one thread has freed is used by the next one. Large blocks, such as a whole file, have never been part
of a heap, until glibc adapts its limit to the largest one that was freed; then they tear holes into it.
"""

from __future__ import annotations

import ctypes
import gc
from contextlib import suppress
from typing import Final

_ARENA_MAX: Final = -8  # see malloc.h
_MMAP_THRESHOLD: Final = -3
HEAPS: Final = 1
LARGE_BYTES: Final = 128 * 1024
"""Blocks of that size are given back as soon as they are freed: glibc's own value, before it adapts it."""


def bound_heaps() -> bool:
    """Let threads that start from now on share one heap; return whether the C library can do that. Takes 1 ms."""
    try:
        set_option = ctypes.CDLL(None).mallopt
    except AttributeError:
        return False
    return bool(set_option(_ARENA_MAX, HEAPS) and set_option(_MMAP_THRESHOLD, LARGE_BYTES))


def give_back() -> None:
    """Collect garbage, and give the free memory of the heap back to the system. Takes 10 ms or more."""
    gc.collect()
    with suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
