"""The bases of the messages from Neovim, and the type of their handlers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from acp_nvim.contract.events import wire_name


class Message(msgspec.Struct, tag_field="message", tag=wire_name):
    """Base of all messages; the tag is the method's name."""


class SessionMessage(Message):
    """Base of all messages about one session."""

    session: int  #: its key


Handlers = dict[type[Any], Callable[[Any], object]]
"""Handlers by the class of the message. The app runs a coroutine that a handler returns in a task of its own."""
