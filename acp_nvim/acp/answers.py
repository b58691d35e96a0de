"""The model of agents' answers and requests, into which both protocol versions are translated."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from acp_nvim.acp.elicitation import ElicitationAsked
from acp_nvim.acp.tool_call import ToolCallPatch


class AuthVariable(msgspec.Struct, frozen=True):
    """An environment variable that an authentication method uses."""

    name: str
    label: str | None = None
    secret: bool = True
    optional: bool = False


class AuthMethod(msgspec.Struct, frozen=True, kw_only=True):
    """An authentication method. `kind`: `agent`, `terminal`, `env_var`, `api_key`, or an unknown one.

    `terminal` runs the agent's program with additional `args` and `env`, or `command` if the agent names one. `env_var`
    requires `variables`, whose values are available at `link`. `api_key` is `agent` with a key, its only variable.
    """

    method_id: str
    name: str
    kind: str = "agent"
    description: str | None = None
    args: list[str] = []
    env: dict[str, str] = {}
    command: list[str] = []
    variables: list[AuthVariable] = []
    link: str | None = None


class Abilities(msgspec.Struct, frozen=True, kw_only=True):
    """The capabilities of an agent. `mode_methods`: `session/set_mode` and `session/set_model`.

    `steering`: it accepts prompts during a turn. `system_prompt`: it adds one to its instructions, or replaces these
    (`system_prompt_override`). `rename`: it stores titles.
    """

    image: bool = False
    audio: bool = False
    embedded_context: bool = False
    list_sessions: bool = False
    load: bool = False
    resume: bool = False
    close: bool = False
    delete: bool = False
    fork: bool = False
    rename: bool = False
    archive: bool = False
    system_prompt: bool = False
    system_prompt_override: bool = False
    additional_directories: bool = False
    mode_methods: bool = False
    steering: bool = False
    sign_in: bool = False
    sign_out: bool = False
    auth_status: bool = False
    providers: bool = False
    mcp_stdio: bool = False
    mcp_http: bool = False
    mcp_sse: bool = False
    mcp_acp: bool = False


class Initialized(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to `initialize`; `complaints` name malformed members, which were dropped."""

    name: str | None = None
    title: str | None = None
    version: str | None = None
    abilities: Abilities = Abilities()
    auth_methods: tuple[AuthMethod, ...] = ()
    complaints: tuple[str, ...] = ()


class Choice(msgspec.Struct, frozen=True):
    """One value of a configuration option, a mode or a model."""

    value: str
    name: str
    description: str | None = None
    group: str | None = None


class ConfigOption(msgspec.Struct, frozen=True, kw_only=True):
    """A configuration option: a choice, a boolean, or one of an unknown kind."""

    config_id: str
    name: str
    kind: str
    current: str | bool | None = None
    choices: list[Choice] = []
    category: str | None = None
    description: str | None = None


class Command(msgspec.Struct, frozen=True):
    """A slash command of the agent (ACP "Slash Commands"); `hint` says what to type after it."""

    name: str
    description: str
    hint: str | None = None


class Selection(msgspec.Struct, frozen=True):
    """The available modes, or models, and the current one."""

    current: str
    choices: list[Choice] = []


class Opened(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a request that opens a session; `session_id` is the agent's for a new session.

    None stands for absent members. `models` is used by agents from before configuration options. `complaints` name
    malformed members, which were dropped.
    """

    session_id: str | None = None
    modes: Selection | None = None
    models: Selection | None = None
    options: list[ConfigOption] | None = None
    commands: list[Command] | None = None
    complaints: tuple[str, ...] = ()


class SessionInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A session that the agent stores; `updated_at` is a time as the agent formats it."""

    session_id: str
    cwd: str
    title: str | None = None
    updated_at: str | None = None
    additional_directories: list[str] = []
    archived: bool = False


class SessionPage(msgspec.Struct, frozen=True):
    """A page of the agent's stored sessions, and the cursor of the next page."""

    sessions: list[SessionInfo]
    next_cursor: str | None = None


class Provider(msgspec.Struct, frozen=True, kw_only=True):
    """A provider of models that an agent can be configured with; without `base_url` it is disabled.

    `supported` are the APIs that the agent can speak with it, `api_type` is the present one. `required`: it cannot be
    disabled.
    """

    provider_id: str
    supported: list[str]
    required: bool
    api_type: str | None = None
    base_url: str | None = None


class PermissionOption(msgspec.Struct, frozen=True):
    """An option of a permission request; its `kind` defines its meaning, never its id."""

    option_id: str
    name: str
    kind: str


class PermissionAsked(msgspec.Struct, frozen=True, kw_only=True):
    """`session/request_permission`: for a tool call (`patch`), for a `command`, or only described by texts.

    `env`: the variables of the command, as `NAME=value`. `is_cut`: the title or the description was cut. `beyond` are
    members of the request or its tool call that the protocol does not have, `meta` all its metadata.
    """

    options: list[PermissionOption]
    title: str | None = None
    description: str | None = None
    patch: ToolCallPatch | None = None
    command: str | None = None
    cwd: str | None = None
    env: list[str] = []
    tool_call_id: str | None = None
    subject: dict[str, Any] | None = None
    is_cut: bool = False
    beyond: dict[str, Any] = {}
    meta: Any = None


class FileToRead(msgspec.Struct, frozen=True):
    """`fs/read_text_file`: the whole file, or `limit` lines from `line` on (1-based)."""

    path: str
    line: int | None = None
    limit: int | None = None


class FileToWrite(msgspec.Struct, frozen=True):
    """`fs/write_text_file`: `content` is the complete new text of the file."""

    path: str
    content: str


class CommandToRun(msgspec.Struct, frozen=True, kw_only=True):
    """`terminal/create`: a command to run, in `cwd` (absolute; None: the session's directory).

    The last `output_byte_limit` bytes of its output are kept.
    """

    command: str
    args: list[str] = []
    env: dict[str, str] = {}
    cwd: str | None = None
    output_byte_limit: int | None = None


class TerminalAsked(msgspec.Struct, frozen=True):
    """A request about a terminal that the agent has created."""

    method: Literal["terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release"]
    terminal_id: str


Asked = PermissionAsked | FileToRead | FileToWrite | CommandToRun | TerminalAsked | ElicitationAsked
"""A request of an agent."""


class TurnTokens(msgspec.Struct, frozen=True):
    """The tokens that a turn has used; None: not reported. `total` is as the agent counts it."""

    total: int
    input: int
    output: int
    thought: int | None = None
    cached_read: int | None = None
    cached_write: int | None = None


class PromptAnswer(msgspec.Struct, frozen=True):
    """The answer to `session/prompt`: in version 1 why the turn ended, in version 2 the id of the prompt's message."""

    stop_reason: str | None = None
    message_id: str | None = None
    tokens: TurnTokens | None = None


class Steered(msgspec.Struct, frozen=True):
    """The answer to a steering prompt; not `injected`: the turn had ended, and the prompt must be sent again."""

    injected: bool = True
    message_id: str | None = None
