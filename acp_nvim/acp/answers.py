"""What agents tell of themselves and their sessions, and what they ask of us, whatever the protocol version."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from acp_nvim.acp.elicitation import ElicitationAsked
from acp_nvim.acp.tool_call import ToolCallPatch


class AuthVariable(msgspec.Struct, frozen=True):
    """An environment variable that an agent signs in with."""

    name: str
    label: str | None = None
    secret: bool = True
    optional: bool = False


class AuthMethod(msgspec.Struct, frozen=True, kw_only=True):
    """One way to sign in. `kind`: `agent`, `terminal`, `env_var`, `api_key`, or another word.

    `terminal` is the agent's program with `args` and `env` more, or the whole `command` where the agent names one;
    `env_var` wants `variables`, and `link` is where to get what belongs into them. `api_key` is `agent` with a key
    that goes along, the only one of its `variables`.
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
    """What an agent can be asked for: its capabilities. `mode_methods`: `session/set_mode` and `session/set_model`.

    `steering`: it takes prompts while it works.
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
    additional_directories: bool = False
    mode_methods: bool = False
    steering: bool = False
    sign_in: bool = False
    sign_out: bool = False
    mcp_stdio: bool = False
    mcp_http: bool = False
    mcp_sse: bool = False


class Initialized(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to `initialize`; `complaints` name what was wrong in it and left out."""

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
    """A configuration option: a choice, a switch, or (with neither) one of a kind that we do not know."""

    config_id: str
    name: str
    kind: str
    current: str | bool | None = None
    choices: list[Choice] = []
    category: str | None = None
    description: str | None = None


class Command(msgspec.Struct, frozen=True):
    """A slash command that the agent offers (ACP "Slash Commands"); `hint` says what to type behind it."""

    name: str
    description: str
    hint: str | None = None


class Selection(msgspec.Struct, frozen=True):
    """Modes, or models, and which of them is in use."""

    current: str
    choices: list[Choice] = []


class Opened(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to what opens a session; `session_id` is the agent's when it is a new one.

    `None` where the agent says nothing. `models` is what agents had before configuration options. `complaints` name
    what was wrong in it and left out.
    """

    session_id: str | None = None
    modes: Selection | None = None
    models: Selection | None = None
    options: list[ConfigOption] | None = None
    commands: list[Command] | None = None
    complaints: tuple[str, ...] = ()


class SessionInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A session that the agent keeps; `updated_at` is a time as the agent writes it."""

    session_id: str
    cwd: str
    title: str | None = None
    updated_at: str | None = None
    additional_directories: list[str] = []


class SessionPage(msgspec.Struct, frozen=True):
    """Some of the agent's sessions, and where the next ones are."""

    sessions: list[SessionInfo]
    next_cursor: str | None = None


class PermissionOption(msgspec.Struct, frozen=True):
    """One way to answer; its `kind` decides, never its id."""

    option_id: str
    name: str
    kind: str


class PermissionAsked(msgspec.Struct, frozen=True, kw_only=True):
    """`session/request_permission`: about a tool call (`patch`), about a `command`, or only in words.

    `env`: the variables that the command gets, as `NAME=value`. `is_cut`: there is more of the title, or of the
    description, which was not kept.
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


class FileToRead(msgspec.Struct, frozen=True):
    """`fs/read_text_file`: the whole file, or `limit` lines from `line` on (1-based)."""

    path: str
    line: int | None = None
    limit: int | None = None


class FileToWrite(msgspec.Struct, frozen=True):
    """What `fs/write_text_file` asks: `content` is all of the file's text afterwards."""

    path: str
    content: str


class CommandToRun(msgspec.Struct, frozen=True, kw_only=True):
    """`terminal/create`: a command in a terminal, in `cwd` (absolute; None: where the session works).

    Of its output the last `output_byte_limit` bytes are wanted.
    """

    command: str
    args: list[str] = []
    env: dict[str, str] = {}
    cwd: str | None = None
    output_byte_limit: int | None = None


class TerminalAsked(msgspec.Struct, frozen=True):
    """What is asked of a terminal that the agent has made."""

    method: Literal["terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release"]
    terminal_id: str


Asked = PermissionAsked | FileToRead | FileToWrite | CommandToRun | TerminalAsked | ElicitationAsked
"""What an agent asks of us."""


class PromptAnswer(msgspec.Struct, frozen=True):
    """The answer to `session/prompt`.

    In version 1 the turn's end, with its reason; in version 2 only that the prompt was taken, as that message.
    """

    stop_reason: str | None = None
    message_id: str | None = None


class Steered(msgspec.Struct, frozen=True):
    """The answer to a prompt for the turn that runs; not `injected`: no turn ran any more, it is ours to send again."""

    injected: bool = True
    message_id: str | None = None
