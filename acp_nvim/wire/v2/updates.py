"""What agents tell of a session (version 2): `session/update`."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, TypeAlias

from msgspec import UNSET

from acp_nvim.limits import wire as limits
from acp_nvim.wire.base import Maybe, Unknown, Wire
from acp_nvim.wire.bounds import Id, Word, cut, exact
from acp_nvim.wire.content import ContentBlock
from acp_nvim.wire.facts import (
    CompactionSummaryChunk,
    CompactionUpdate,
    Error,
    Notice,
    PlanEntry,
    SessionInfoUpdate,
    UsageUpdate,
)
from acp_nvim.wire.v2.config import AvailableCommand, SessionConfigOption
from acp_nvim.wire.v2.tool_calls import TerminalOutputChunk, TerminalUpdate, ToolCallContentChunk, ToolCallUpdate

# --- messages -------------------------------------------------------------------------------------------------------


class ContentChunk(Wire):
    """One more content block of a message."""

    message_id: Id
    content: ContentBlock


class UserMessageChunk(ContentChunk, tag_field="sessionUpdate", tag="user_message_chunk"):
    """More of what the user said."""


class AgentMessageChunk(ContentChunk, tag_field="sessionUpdate", tag="agent_message_chunk"):
    """More of the answer."""


class AgentThoughtChunk(ContentChunk, tag_field="sessionUpdate", tag="agent_thought_chunk"):
    """More of the agent's thinking."""


class Message(Wire):
    """A message or news of it: without `content` that stays, else it replaces what there was."""

    message_id: Id
    content: Maybe[Annotated[list[ContentBlock], cut(limits.CONTENT_ITEMS)]] = UNSET


class UserMessage(Message, tag_field="sessionUpdate", tag="user_message"):
    """What the user said."""


class AgentMessage(Message, tag_field="sessionUpdate", tag="agent_message"):
    """The answer."""


class AgentThought(Message, tag_field="sessionUpdate", tag="agent_thought"):
    """The agent's thinking."""


# --- state ----------------------------------------------------------------------------------------------------------


class BackgroundTerminal(Wire, tag_field="type", tag="terminal"):
    """A terminal goes on."""

    terminal_id: Id


class BackgroundToolCall(Wire, tag_field="type", tag="tool_call"):
    """A tool call goes on."""

    tool_call_id: Id


class UnknownBackgroundWork(Unknown):
    """Something goes on of a kind that we do not know."""


BackgroundWork: TypeAlias = BackgroundTerminal | BackgroundToolCall | UnknownBackgroundWork

STATES: Final = frozenset({"running", "idle", "requires_action"})


class StateUpdate(Wire, tag_field="sessionUpdate", tag="state_update"):
    """`RunningStateUpdate`, `IdleStateUpdate` (with `stop_reason`) or `RequiresActionStateUpdate`, by `state`.

    `error` (`ErrorStopReason`) belongs to the stop reason "error". With another `state` than `STATES` the update is an
    `UnknownSessionUpdate`.
    """

    open_members: ClassVar[dict[str, frozenset[str]]] = {"state": STATES}

    state: Word
    background: Maybe[Annotated[list[BackgroundWork], exact(limits.BACKGROUND)]] = UNSET
    stop_reason: Maybe[Word] = UNSET
    error: Maybe[Error] = UNSET

    def __post_init__(self) -> None:
        if self.state not in STATES:
            raise ValueError(f"Invalid value {self.state!r} of `state`")


# --- the rest -------------------------------------------------------------------------------------------------------


class PlanItems(Wire, tag_field="type", tag="items"):
    """A plan as a list of steps."""

    plan_id: Id
    entries: Annotated[list[PlanEntry], cut(limits.PLAN_ENTRIES)]


class UnknownPlan(Unknown):
    """A plan of a kind that we do not know."""


PlanUpdateContent: TypeAlias = PlanItems | UnknownPlan


class PlanUpdate(Wire, tag_field="sessionUpdate", tag="plan_update"):
    """A whole plan as it is now."""

    plan: PlanUpdateContent


class AvailableCommandsUpdate(Wire, tag_field="sessionUpdate", tag="available_commands_update"):
    """All slash commands as they are now."""

    available_commands: Annotated[list[AvailableCommand], cut(limits.COMMANDS)]


class ConfigOptionUpdate(Wire, tag_field="sessionUpdate", tag="config_option_update"):
    """All configuration options as they are now."""

    config_options: Annotated[list[SessionConfigOption], cut(limits.CONFIG_OPTIONS)]


class UnknownSessionUpdate(Unknown, tag_field="sessionUpdate"):
    """An update of a kind that we do not know."""


SessionUpdate: TypeAlias = (
    UserMessageChunk
    | UserMessage
    | AgentMessageChunk
    | AgentMessage
    | AgentThoughtChunk
    | AgentThought
    | StateUpdate
    | ToolCallContentChunk
    | ToolCallUpdate
    | TerminalUpdate
    | TerminalOutputChunk
    | PlanUpdate
    | AvailableCommandsUpdate
    | ConfigOptionUpdate
    | SessionInfoUpdate
    | UsageUpdate
    | Notice
    | CompactionUpdate
    | CompactionSummaryChunk
    | UnknownSessionUpdate
)


class UpdateSessionNotification(Wire):
    """The parameters of `session/update`."""

    session_id: Id
    update: SessionUpdate
