"""How a message of Lua is taken: its shape, and what is done with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Methods = dict[str, tuple[type[Any], Callable[[Any], None]]]
"""By the message's name: the shape of its parameters, and who takes them; takers return at once."""
