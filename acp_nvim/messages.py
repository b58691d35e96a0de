"""What Lua says to the host; Lua has checked what the user configured (doc/development/architecture.md)."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from acp_nvim.history.settings import HistorySettings
from acp_nvim.limits import CANCEL_SECONDS, INITIALIZE_SECONDS
from acp_nvim.limits.lives import IDLE_SECONDS
from acp_nvim.limits.review import SNAPSHOT_WAIT_SECONDS
from acp_nvim.limits.state import MEGABYTES
from acp_nvim.limits.turns import QUIET_SECONDS
from acp_nvim.permissions.rules import Rule


class Fs(msgspec.Struct):
    """How agents may touch files: section `fs` of `setup()`."""

    write: str = "save"
    outside: str = "error"


class Timeouts(msgspec.Struct):
    """`timeouts` of the configuration, in milliseconds."""

    initialize: float = INITIALIZE_SECONDS * 1000
    cancel: float = CANCEL_SECONDS * 1000
    idle: float = IDLE_SECONDS * 1000
    background: float = QUIET_SECONDS * 1000
    snapshot: float = SNAPSHOT_WAIT_SECONDS * 1000


class Protocol(msgspec.Struct):
    """Which protocol versions are offered: section `protocol` of `setup()`."""

    v2: bool = False


class Permissions(msgspec.Struct):
    """What is asked, and rules that answer: section `permissions` of `setup()`."""

    terminal: str = "ask_unless_asked"
    rules: list[Rule] = []


class State(msgspec.Struct):
    """How large the state directory may become: section `state` of `setup()`."""

    megabytes: float = MEGABYTES


class Log(msgspec.Struct):
    """What is recorded beside the log: section `log` of `setup()`."""

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
    state: State = msgspec.field(default_factory=State)
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


class Stamp(msgspec.Struct):
    """The state of a file that a save of the user has made.

    `size` in bytes; `mtime` and `ctime` in nanoseconds since 1970, as decimal digits. `was` is the `ctime` of the state
    that the saved text was based on: of the file when its buffer last read, wrote or followed it; None when nobody
    knows, as of a new file.
    """

    size: int
    mtime: str
    ctime: str
    ino: int
    was: str | None = None


class SavedBuffer(msgspec.Struct):
    """`review_open`, `preview_open`: of that file something is to be seen in its buffer, which is loaded, or another
    one than was told; `saved`: the user has written that buffer, which has made the state `stamp` of the file."""

    path: str
    stamp: Stamp | None = None


class Judge(msgspec.Struct):
    """`review`: of these hunks of a file; without `hunks` of the whole file; without `path` of all that a session, or
    without that anybody, has changed: what is proven to be the agent's, and with `force` the rest of it, too. The
    agent's own records are never rejected without their path."""

    action: Literal["keep", "reject", "mine", "theirs", "both"]
    path: str | None = None
    hunks: list[int] | None = None
    session: int | None = None
    force: bool = False


class Workspace(msgspec.Struct):
    """`checkpoints`, `review_load`, `permission_rules`: of the workspace at that directory."""

    cwd: str


class StoredRule(msgspec.Struct):
    """`permission_forget`: the stored rule of that id in the project at that directory."""

    cwd: str
    id: str


class Checkpoint(msgspec.Struct):
    """`restore_plan`, `restore`: the files as they were before that turn; a restore or a rejection is undone.

    Without `force` only what is proven to be the agent's is taken back."""

    id: str
    cwd: str
    force: bool = False
