"""What Neovim says to the host: one class for each message, named as its method; here those about the chat.

Lua's annotations and doc/development/contract.md are generated from these classes: the docstring says what the message
asks for, and the `#:` comment of a field what it holds. Every message is a notification; what is asked for comes
back as events. `session` is a key: a positive integer that Lua chose when it opened the chat.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from acp_nvim.rpc.settings import Config
from acp_nvim.ui.events import QueuedText, wire_name


class Message(msgspec.Struct, tag_field="message", tag=wire_name):
    """Base of every message; the tag is the method's name."""


class SessionMessage(Message):
    """Base of every message about one session."""

    session: int  #: its key


Handlers = dict[type[Any], Callable[[Any], object]]
"""By the class of a message: what is done with it. The app runs a coroutine that is returned as a task of its own."""


class Hello(Message):
    """The first message, and again when the configuration changes or Lua was reloaded; `ready` answers each."""

    version: str  #: of the Lua side
    log_path: str
    state_path: str  #: directory of what is kept between Neovims
    cache_path: str
    config: Config
    instance: str = ""  #: name of this Neovim: its machine, pid and time of start; without it nothing is journaled


class Prompt(SessionMessage):
    """Send a prompt, or queue it while a turn runs."""

    text: str
    id: int | None = None  #: unique in this Neovim; `prompts_taken` tells it
    context: list[dict[str, Any]] = []  #: what comes along: items of `acp_nvim/session/prompt.py`


class QueueSet(SessionMessage):
    """Replace the queue by what the user made of it; what went out meanwhile is not sent again (`queue_late`)."""

    prompts: list[QueuedText]  #: known prompts that are left out are not sent
    known: list[int] = []  #: ids of the prompts that the user saw
    held: bool = False  #: they wait until the user sends another one: no host had taken all of them
    revision: int = 0  #: grows with each of these messages; `prompts_taken` tells it


class Steer(SessionMessage):
    """Send a queued prompt into the turn that runs; an agent that takes none gets it after the turn."""

    id: int | None = None  #: None: the first in the queue


class Cancel(SessionMessage):
    """End the turn; without one end commands of earlier turns, else empty the queue or end the process."""

    force: bool = False  #: by all means, also an agent that does not answer


class Stop(SessionMessage):
    """Leave the agent, whose process ends with its last session; transcript and queue stay."""


class Redraw(SessionMessage):
    """Send `reset`, and then the whole transcript again."""

    after: bool = False  #: only what came after that which another host had told


class CallDetails(SessionMessage):
    """Ask for all that there is of the tool call at that block; `call_details` answers."""

    block: int


class CallMedia(SessionMessage):
    """Write a picture or a sound of a tool call into a file; `call_media` answers."""

    block: int
    place: int  #: 0-based, among the items of the call
    directory: str


class TerminalOpen(SessionMessage):
    """Send all output of that terminal, and from now on what comes."""

    terminal: int


class TerminalClose(SessionMessage):
    """Send no more of it: its buffer is gone."""

    terminal: int


class ConfigSet(SessionMessage):
    """Switch an option of the agent; where no agent runs it is started."""

    option: str  #: an id, a category or a name
    value: str | bool  #: an id or a name, or whether it is on
    keep: bool = False  #: new sessions of the agent begin with it, too


class ConfigForget(SessionMessage):
    """Keep no options for new sessions of its agent any more."""
