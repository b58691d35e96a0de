"""What Lua says to the host; Lua has checked what the user configured (doc/development/architecture.md)."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from acp_nvim.history.settings import HistorySettings
from acp_nvim.limits import CANCEL_SECONDS, INITIALIZE_SECONDS
from acp_nvim.limits.lives import IDLE_SECONDS
from acp_nvim.permissions.rules import Rule


class Fs(msgspec.Struct):
    """`fs` of the configuration."""

    write: str = "save"
    outside: str = "error"


class Timeouts(msgspec.Struct):
    """`timeouts` of the configuration, in milliseconds."""

    initialize: float = INITIALIZE_SECONDS * 1000
    cancel: float = CANCEL_SECONDS * 1000
    idle: float = IDLE_SECONDS * 1000


class Protocol(msgspec.Struct):
    """`protocol` of the configuration."""

    v2: bool = False


class Permissions(msgspec.Struct):
    """`permissions` of the configuration."""

    terminal: str = "ask_unless_asked"
    rules: list[Rule] = []


class Log(msgspec.Struct):
    """`log` of the configuration."""

    traffic: bool = False


class Config(msgspec.Struct):
    """What the host uses of the user's configuration; Lua has checked it."""

    agents: dict[str, Any] | list[Any] = {}
    default_agent: str | None = None
    additional_directories: list[str] = []
    worktree_directory: str | None = None
    fs: Fs = msgspec.field(default_factory=Fs)
    timeouts: Timeouts = msgspec.field(default_factory=Timeouts)
    permissions: Permissions = msgspec.field(default_factory=Permissions)
    protocol: Protocol = msgspec.field(default_factory=Protocol)
    history: HistorySettings = msgspec.field(default_factory=HistorySettings)
    log: Log = msgspec.field(default_factory=Log)


class Hello(msgspec.Struct):
    """`hello`: the first thing that Lua says."""

    version: str
    log_path: str
    state_path: str
    cache_path: str
    config: Config


class DiskChanged(msgspec.Struct):
    """`disk_changed`: the files of these buffers (real paths) are others than the buffers have read or written."""

    paths: list[str]


class Open(msgspec.Struct):
    """`open`."""

    session: int
    cwd: str
    agent: str | None = None
    additional_directories: list[str] = []


class Say(msgspec.Struct):
    """`prompt`; what `context` may hold says `session.context`."""

    session: int
    text: str
    context: list[dict[str, Any]] = []


class Cancel(msgspec.Struct):
    """`cancel`."""

    session: int
    force: bool = False


class Answer(msgspec.Struct):
    """`answer`."""

    id: int
    option_id: str


class Named(msgspec.Struct):
    """`stop`."""

    session: int


class Redraw(Named):
    """`redraw`: all of it, or what came `after` that which the editor has from another host."""

    after: bool = False


class NamedTerminal(msgspec.Struct):
    """`terminal_open`: all that it shows is to be told, and what comes; `terminal_close`: not any more."""

    session: int
    terminal: int


class SavedBuffer(msgspec.Struct):
    """`review_open`, `preview_open`: of that file something is to be seen in its buffer, which is loaded, or another
    one than was told; `saved`: the user has written that buffer."""

    path: str


class Judge(msgspec.Struct):
    """`review`: of these hunks of a file; without `hunks` of the whole file; without `path` of all that a session, or
    without that anybody, has changed."""

    action: Literal["keep", "reject", "mine", "theirs", "both"]
    path: str | None = None
    hunks: list[int] | None = None
    session: int | None = None


class Workspace(msgspec.Struct):
    """`checkpoints`, `review_load`, `permission_rules`: of the workspace at that directory."""

    cwd: str


class StoredRule(msgspec.Struct):
    """`permission_forget`: the stored rule of that id in the project at that directory."""

    cwd: str
    id: str


class Checkpoint(msgspec.Struct):
    """`restore_plan`, `restore`: the files as they were before that turn; a restore or a rejection is undone."""

    id: str
    cwd: str
