"""The definition of an agent: its command, its environment, and its deviations from the protocol."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from acp_nvim.agents.address import Address


class PathPair(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A directory of this machine, and its path on the agent's machine; both absolute."""

    here: str
    there: str


class Defaults(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The mode, model and options of a new session, by their ids."""

    mode: str | None = None
    model: str | None = None
    options: dict[str, str | bool] = {}


class SystemPrompt(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A system prompt: `append` adds it to the agent's own instructions, `override` replaces these."""

    text: str
    mode: Literal["append", "override"] = "append"


class McpSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whether an agent gets the editor as an MCP server."""

    enabled: bool = True


class ProjectSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the user has set for an agent in one project."""

    system_prompt: SystemPrompt | None = None
    mcp_servers: dict[str, Any] | list[Any] | None = None


class AgentInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The members that definitions and data files have in common.

    `env` is added to the user's environment; `env_needed` are names of variables with their purposes. `state` are files
    of a project in which the agent stores its own state: paths relative to the session's directory, or `a/**` for
    everything below `a`.
    """

    title: str | None = None
    url: str | None = None
    install: str | None = None
    sign_in: str | None = None
    env: dict[str, str] = {}
    env_needed: dict[str, str] = {}
    quirks: frozenset[str] = frozenset()
    state: list[str] = []


class AgentDefinition(AgentInfo, frozen=True, kw_only=True):
    """An agent that can be started, or that others have started at `address`.

    `command` is an argument list, run with `prefix` before it, and empty with an address; `other_commands` are forms of
    it that other versions of the program know, best first; a command that the user configured has none. The connection
    to an address is encrypted with `tls`, either True, or the path of a file with the certificates that are accepted;
    its token is in the environment variable `token_env`, if that is set. `mcp_servers` are as
    `acp_nvim.agents.mcp_servers` reads them. `paths` map
    directories if the agent runs on another machine. `projects` are settings for sessions in a directory and below it,
    by its absolute path. `terminal`: it may run commands on this machine; None: unless it
    has a prefix. Its process is stopped after `idle_seconds` without a turn; None: after the common time.
    """

    name: str
    command: list[str] = []
    other_commands: list[list[str]] = []
    address: Address | None = None
    tls: bool | str = False
    token_env: str | None = None
    mcp: McpSettings = McpSettings()
    mcp_servers: dict[str, Any] | list[Any] = []
    prefix: list[str] = []
    paths: list[PathPair] = []
    terminal: bool | None = None
    defaults: Defaults = Defaults()
    idle_seconds: float | None = None
    system_prompt: SystemPrompt | None = None
    projects: dict[str, ProjectSettings] = {}

    def system_prompt_in(self, cwd: str) -> SystemPrompt | None:
        """Return the system prompt in `cwd`: that of the innermost project that has one, else the agent's."""
        found = (project.system_prompt for project in self._projects_of(cwd))
        return next((prompt for prompt in found if prompt is not None), self.system_prompt)

    def mcp_servers_in(self, cwd: str) -> tuple[Any, Any]:
        """Return the agent's MCP servers, and those of the innermost project of `cwd` that has some, as written."""
        found = (project.mcp_servers for project in self._projects_of(cwd))
        return self.mcp_servers, next((servers for servers in found if servers is not None), {})

    def _projects_of(self, cwd: str) -> Iterator[ProjectSettings]:
        """Yield the settings of the projects that contain `cwd`, the innermost first."""
        here = Path(os.path.realpath(cwd))
        by_path = {os.path.realpath(path): project for path, project in self.projects.items()}
        yield from (by_path[str(one)] for one in (here, *here.parents) if str(one) in by_path)

    @property
    def is_remote(self) -> bool:
        """Whether it runs elsewhere, or may do so."""
        return bool(self.prefix) or self.address is not None

    @property
    def offers_terminal(self) -> bool:
        """Whether it may run commands on this machine."""
        return not self.is_remote if self.terminal is None else self.terminal


class AgentSettings(msgspec.Struct, forbid_unknown_fields=True):
    """The user's settings of an agent: `agents.<name>` of the configuration; None stands for a missing member."""

    command: list[str] | None = None
    address: str | None = None
    tls: bool | str | None = None
    token_env: str | None = None
    env: dict[str, str] | None = None
    mcp: McpSettings | None = None
    mcp_servers: dict[str, Any] | list[Any] | None = None
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
    system_prompt: SystemPrompt | None = None
    projects: dict[str, ProjectSettings] | None = None
    state: list[str] | None = None


class BuiltinAgent(AgentInfo, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The data file of an agent (`agents/builtin/<name>.toml`).

    The first of `commands` whose program is on this machine is run; later ones with the same program are tried if its
    version does not know that form (`connection/command_forms.py`). `agent_names` are the names of the agent in
    its answer to `initialize` (`agentInfo.name`).
    """

    title: str
    commands: list[list[str]]
    agent_names: list[str] = []


QUIRKS = {
    "missing_file_reads_empty": "Stringifies every error of fs/read_text_file, and then refuses to create the file.",
    "api_key_is_text": "Takes a key in the `_meta` of `authenticate` as a text, where others take an object.",
    "command_in_content": "Names a command only in the text of its permission request, behind fixed words.",
    "cd_before_command": "Begins each line that it runs in a terminal with `cd '<the terminal's cwd>' && `.",
    "cursor_methods": "Has methods of its own for questions, plans that need approval, and to-do lists.",
    "suggestion_notification": "Suggests the next prompt in a notification of its own.",
    "retrying_notification": "Tells in a notification of its own that it repeats a failed request to its provider.",
    "session_tokens": "Reports at the end of a turn the tokens of the whole session so far.",
    "hides_embedded_text": "Offers to take texts, and does not tell its model all of them, or which lines they are.",
    "hides_links": "Drops links, tells its model only encoded names, or cannot fork a session that has some.",
    "encoded_links": "Takes what is encoded in a link for the name of the file, which it does not find then.",
    "fails_on_link_types": "Sends what is linked to its provider, and fails if that does not take the type.",
    "hides_directories": "Drops links to directories.",
    "words_for_line": "Asks for a line, and runs its words as a program where it thinks that no shell is needed.",
}
"""The supported deviations from the protocol, each with what the agent does."""
