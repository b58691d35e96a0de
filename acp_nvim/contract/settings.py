"""The part of the user's configuration that the host uses; Lua has validated it."""

from typing import Any, Final

import msgspec

from acp_nvim.contract.request_events import RuleAction
from acp_nvim.limits import (
    CANCEL_SECONDS,
    IDLE_SECONDS,
    INITIALIZE_SECONDS,
    MEGABYTES,
    QUIET_SECONDS,
    SNAPSHOT_WAIT_SECONDS,
)

COMMAND_SECONDS: Final = 600.0
"""Time for the command, if the configuration has no other."""
DAYS: Final = 90.0
"""Age at which transcripts are removed, unless the user set one."""
HISTORY_MEGABYTES: Final = 200.0
"""Size of all transcripts together, unless the user set one: thousands of conversations."""


class Fs(msgspec.Struct):
    """How agents may access files: section `fs` of `setup()`."""

    write: str = "save"
    outside: str = "error"


class Timeouts(msgspec.Struct):
    """Time limits in milliseconds: section `timeouts` of `setup()`."""

    initialize: float = INITIALIZE_SECONDS * 1000
    cancel: float = CANCEL_SECONDS * 1000
    idle: float = IDLE_SECONDS * 1000
    background: float = QUIET_SECONDS * 1000
    snapshot: float = SNAPSHOT_WAIT_SECONDS * 1000
    after_turn: float = COMMAND_SECONDS * 1000


class Protocol(msgspec.Struct):
    """Which parts of the protocol that may still change are used: section `protocol` of `setup()`."""

    v2: bool = False
    draft_transports: bool = False


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """A rule of `permissions.rules`; None matches anything. `kind` is one kind of tool call, or several."""

    action: RuleAction
    agent: str | None = None
    kind: str | tuple[str, ...] | None = None
    path: str | None = None
    command: str | None = None

    @property
    def kinds(self) -> tuple[str, ...] | None:
        """The kinds of tool calls that the rule applies to; None for all."""
        return (self.kind,) if isinstance(self.kind, str) else self.kind

    @property
    def words(self) -> str:
        """The rule in words, for the user."""
        kinds = None if self.kinds is None else "/".join(self.kinds)
        named = (("agent", self.agent), ("kind", kinds), ("path", self.path), ("command", self.command))
        return " ".join([self.action, *(f"{name} {value}" for name, value in named if value is not None)])


class Permissions(msgspec.Struct):
    """When to ask for permissions, and rules that answer: section `permissions` of `setup()`."""

    terminal: str = "ask_unless_asked"
    rules: list[Rule] = []


class Mcp(msgspec.Struct):
    """Whether agents get the editor as an MCP server: section `mcp` of `setup()`."""

    enabled: bool = True


class State(msgspec.Struct):
    """The maximum size of the state directory: section `state` of `setup()`."""

    megabytes: float = MEGABYTES


class Log(msgspec.Struct):
    """What is recorded in addition to the log: section `log` of `setup()`."""

    traffic: bool = False


class CheckSettings(msgspec.Struct):
    """What is checked after a turn: section `after_turn` of `setup()`.

    `diagnostics` is the least severity of the problems that count. At most `rounds` prompts are sent by themselves.
    """

    diagnostics: str | bool = False
    command: str | None = None
    rounds: float = 3
    auto: bool = False


class HistorySettings(msgspec.Struct, frozen=True):
    """The configuration `history`: whether transcripts are kept, for how long, and how many of them."""

    transcripts: bool = True
    days: float = DAYS
    megabytes: float = HISTORY_MEGABYTES


class Config(msgspec.Struct):
    """The configuration of the host: the options of `setup()` that it uses."""

    agents: dict[str, Any] | list[Any] = {}
    default_agent: str | None = None
    additional_directories: list[str] = []
    worktree_directory: str | None = None
    shell: str | None = None
    fs: Fs = msgspec.field(default_factory=Fs)
    timeouts: Timeouts = msgspec.field(default_factory=Timeouts)
    permissions: Permissions = msgspec.field(default_factory=Permissions)
    mcp: Mcp = msgspec.field(default_factory=Mcp)
    mcp_servers: dict[str, Any] | list[Any] = {}
    project_mcp_servers: str | bool = "ask"
    after_turn: CheckSettings = msgspec.field(default_factory=CheckSettings)
    tell_agent: bool = True
    protocol: Protocol = msgspec.field(default_factory=Protocol)
    history: HistorySettings = msgspec.field(default_factory=HistorySettings)
    state: State = msgspec.field(default_factory=State)
    log: Log = msgspec.field(default_factory=Log)
