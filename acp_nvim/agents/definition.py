"""One agent: how to start it, where it works, and how it deviates from the protocol."""

from __future__ import annotations

from typing import Any

import msgspec


class PathPair(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A directory of this machine, and the same one where the agent runs; both absolute."""

    here: str
    there: str


class Defaults(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a new session is set to: ids of the agent's modes, models, and configuration options with their values."""

    mode: str | None = None
    model: str | None = None
    options: dict[str, str | bool] = {}


class AgentDefinition(msgspec.Struct, frozen=True, kw_only=True):
    """An agent that can be started.

    `command` is an argument list, run behind `prefix` where that is not empty; `env` is set on top of the user's
    environment; `mcp_servers` are as they go over the wire; what may be left out is added, and who cannot be reached
    is left out. `state` are files in a project in which the agent keeps its own records: a path relative to the
    directory of the session, or `a/**` for all below `a`. `paths` say what is where when the agent runs elsewhere.
    `env_needed` are names of variables, with
    what each is for. `terminal`: whether it may have commands run here; None: unless there is a prefix. After
    `idle_seconds` without a turn its process is stopped; None: as all agents are.
    """

    name: str
    command: list[str]
    env: dict[str, str] = {}
    mcp_servers: list[dict[str, Any]] = []
    title: str | None = None
    url: str | None = None
    install: str | None = None
    sign_in: str | None = None
    env_needed: dict[str, str] = {}
    quirks: frozenset[str] = frozenset()
    prefix: list[str] = []
    paths: list[PathPair] = []
    terminal: bool | None = None
    defaults: Defaults = Defaults()
    idle_seconds: float | None = None
    state: list[str] = []

    @property
    def offers_terminal(self) -> bool:
        """Whether it may have commands run on this machine."""
        return not self.prefix if self.terminal is None else self.terminal


class AgentSettings(msgspec.Struct, forbid_unknown_fields=True):
    """What a user writes about an agent: `agents.<name>` of the configuration. What is None is not said."""

    command: list[str] | None = None
    env: dict[str, str] | None = None
    mcp_servers: list[dict[str, Any]] | None = None
    title: str | None = None
    url: str | None = None
    install: str | None = None
    sign_in: str | None = None
    quirks: frozenset[str] | None = None
    prefix: list[str] | None = None
    paths: list[PathPair] | None = None
    terminal: bool | None = None
    defaults: Defaults | None = None
    idle_seconds: float | None = None
    state: list[str] | None = None


class BuiltinAgent(msgspec.Struct, forbid_unknown_fields=True):
    """What a data file says about an agent (`agents/builtin/<name>.toml`).

    `commands` are tried in order: the first whose program is on this machine is run. `agent_names` is how the agent
    may call itself in `initialize` (`agentInfo.name`).
    """

    title: str
    commands: list[list[str]]
    url: str | None = None
    install: str | None = None
    sign_in: str | None = None
    env: dict[str, str] = {}
    env_needed: dict[str, str] = {}
    agent_names: list[str] = []
    quirks: frozenset[str] = frozenset()
    state: list[str] = []


QUIRKS = {
    "missing_file_reads_empty": "Stringifies every error of fs/read_text_file, and then refuses to create the file.",
    "api_key_is_text": "Takes a key in the `_meta` of `authenticate` as a text, where others take an object.",
    "command_in_content": "Names a command only in the text of its permission request, behind fixed words.",
    "cd_before_command": "Begins each line that it runs in a terminal with `cd '<the terminal's cwd>' && `.",
    "words_for_line": "Asks for a line, and runs its words as a program where it thinks that no shell is needed.",
}
"""Every deviation that we know how to bear, and what the agent does."""
