"""How a message of Lua is taken: its shape, and what is done with it."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

log = logging.getLogger(__name__)

Methods = dict[str, tuple[type[Any], Callable[[Any], None]]]
"""By the message's name: the shape of its parameters, and who takes them; takers return at once, and raise nothing."""


async def guarded(act: Callable[..., Awaitable[None]], *args: Any) -> None:
    """What fails beside the sessions must not take them along."""
    try:
        await act(*args)
    except Exception:
        log.exception("%s%r failed", act, args)
