"""An agent of protocol version 1, written with the official SDK for Python; it says what `agent_v1.mjs` says.

The SDK knows neither `session/delete`, `logout`, notices nor updates of unknown kinds.
"""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import dataclass, field
from typing import Any

import acp
from acp import schema

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
OPTIONS = [
    schema.PermissionOption(option_id="yes", name="Allow", kind="allow_once"),
    schema.PermissionOption(option_id="always", name="Always allow", kind="allow_always"),
    schema.PermissionOption(option_id="no", name="Reject", kind="reject_once"),
    schema.PermissionOption(option_id="never", name="Never allow", kind="reject_always"),
]

FORM = {
    "type": "object",
    "title": "Details",
    "properties": {
        "name": {"type": "string", "title": "Name", "minLength": 2, "maxLength": 20, "pattern": "^[A-Z]"},
        "mail": {"type": "string", "format": "email"},
        "count": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3},
        "ratio": {"type": "number", "minimum": 0, "maximum": 1},
        "sure": {"type": "boolean", "default": False},
        "colour": {"type": "string", "enum": ["red", "green"], "default": "red"},
        "size": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]},
        "tags": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "string", "enum": ["a", "b", "c"]}},
        "more": {"type": "array", "items": {"anyOf": [{"const": "x", "title": "The x"}]}, "default": ["x"]},
    },
    "required": ["name", "tags"],
}


@dataclass
class Session:
    """A conversation, as long as this process lives."""

    session_id: str
    cwd: str
    title: str | None = None
    said: list[Any] = field(default_factory=list)
    mode: str = "ask"
    model: str = "small"
    verbose: bool = False
    active: bool = True
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)

    def modes(self) -> schema.SessionModeState:
        modes = [
            schema.SessionMode(id="ask", name="Ask first", description="Ask first."),
            schema.SessionMode(id="code", name="Write code", description="Write code."),
        ]
        return schema.SessionModeState(current_mode_id=self.mode, available_modes=modes)

    def options(self) -> list[Any]:
        choices = [
            schema.SessionConfigSelectOption(value="small", name="Small"),
            schema.SessionConfigSelectOption(value="big", name="Big", description="Thinks longer."),
        ]
        groups = [
            schema.SessionConfigSelectGroup(group="fast", name="Fast", options=choices[:1]),
            schema.SessionConfigSelectGroup(group="slow", name="Slow", options=choices[1:]),
        ]
        return [
            schema.SessionConfigOptionSelect(
                type="select", id="model", name="Model", category="model", current_value=self.model, options=groups
            ),
            schema.SessionConfigOptionBoolean(type="boolean", id="verbose", name="Verbose", current_value=self.verbose),
        ]


def kept(cwd: str) -> Session:
    """A conversation of an earlier run."""
    said = [
        acp.update_user_message_text("What is "),
        acp.update_user_message_text("this?"),
        acp.update_agent_thought_text("A question."),
        acp.start_tool_call("k3", "Look", kind="read", status="completed"),
        acp.update_agent_message_text("A test."),
    ]
    return Session("kept", cwd, "An older conversation", said, active=False)


class Peer(acp.Agent):
    """An agent of the official SDK."""

    client: acp.Client

    def __init__(self) -> None:
        ones = [kept(os.getcwd()), Session("elsewhere", "/elsewhere", "In another directory", active=False)]
        self.sessions = {one.session_id: one for one in ones}
        self.signed_in = True
        self.turns = {"slow": self.slow, "fail": self.fail, "ask": self.ask, "state": self.state, "limit": self.limit}
        self.turns["questions"] = self.questions

    def on_connect(self, conn: acp.Client) -> None:
        self.client = conn

    def known(self, session_id: str, active: bool = True) -> Session:
        session = self.sessions.get(session_id)
        if session is None or (active and not session.active):
            raise acp.RequestError.resource_not_found(session_id)
        return session

    async def update(self, session: Session, update: Any) -> None:
        """Tell the client, and remember what belongs to the conversation."""
        if any(word in update.session_update for word in ("message", "thought", "tool_call", "plan")):
            session.said.append(update)
        await self.client.session_update(session.session_id, update)

    async def say(self, session: Session, words: str) -> None:
        await self.update(session, acp.update_agent_message_text(words))

    # --- the turn ----------------------------------------------------------------------------------------------------

    async def slow(self, session: Session) -> str:
        while not session.cancelled.is_set():
            await self.say(session, "tick ")
            await asyncio.sleep(0.005)
        return "cancelled"

    async def fail(self, session: Session) -> str:
        raise acp.RequestError.internal_error({"details": "the provider is down"})

    async def ask(self, session: Session) -> str:
        await self.permission(session, "ask-1")
        return "cancelled" if session.cancelled.is_set() else "end_turn"

    async def state(self, session: Session) -> str:
        verbose = json.dumps(session.verbose)
        await self.say(session, f"mode={session.mode} model={session.model} verbose={verbose}")
        return "end_turn"

    async def questions(self, session: Session) -> str:
        form = acp.ElicitationFormSessionMode(
            session_id=session.session_id, requested_schema=acp.ElicitationSchema.model_validate(FORM)
        )
        filled = await self.client.create_elicitation("Tell me more.", form)
        page = acp.ElicitationUrlSessionMode(
            session_id=session.session_id, elicitation_id="p1", url="https://example.org/in"
        )
        opened = await self.client.create_elicitation("Sign in there.", page)
        await self.client.complete_elicitation("p1")
        content = json.dumps(getattr(filled, "content", None), separators=(",", ":"))
        await self.say(session, f"{filled.action} {content}, then {opened.action}")
        return "end_turn"

    async def limit(self, session: Session) -> str:
        return "max_tokens"

    async def whole_turn(self, session: Session) -> str:
        await self.say(session, "Let me ")
        await self.say(session, "look. ")
        await self.update(session, acp.update_agent_thought_text("Hm, "))
        await self.update(session, acp.update_agent_thought_text("where?"))
        await self.plan(session)
        await self.tool_call(session)
        await self.facts(session)
        await self.permission(session, "call-2")
        await self.files(session)
        return "end_turn"

    async def plan(self, session: Session) -> None:
        for first, second in (("in_progress", "pending"), ("completed", "in_progress")):
            entries = [
                acp.plan_entry("Look", priority="high", status=first),
                acp.plan_entry("Think", priority="medium", status=second),
                acp.plan_entry("Write", priority="low", status="pending"),
            ]
            await self.update(session, acp.update_plan(entries))

    async def tool_call(self, session: Session) -> None:
        file = os.path.join(session.cwd, "notes.txt")
        start = acp.start_tool_call("call-1", "Edit notes.txt", kind="edit", status="pending", raw_input={"file": file})
        await self.update(session, start)
        locations = [schema.ToolCallLocation(path=file, line=2)]
        await self.update(session, acp.update_tool_call("call-1", status="in_progress", locations=locations))
        blocks = [
            acp.text_block("all **done**"),
            acp.image_block(PNG, "image/png", uri="file:///picture.png"),
            acp.audio_block(WAV, "audio/wav"),
            acp.resource_link_block("manual.md", "file:///manual.md", title="The manual", size=12),
            acp.resource_block(acp.embedded_text_resource("file:///a.txt", "embedded text", mime_type="text/plain")),
            acp.resource_block(acp.embedded_blob_resource("file:///b.bin", "AAEC", mime_type="application/x-b")),
        ]
        content = [
            *map(acp.tool_content, blocks),
            acp.tool_diff_content(file, "the second\n", "second\n"),
            acp.tool_diff_content(os.path.join(session.cwd, "new.txt"), "new\n"),
            acp.tool_terminal_ref("terminal-1"),
        ]
        end = acp.update_tool_call(
            "call-1", title="Edited notes.txt", status="completed", content=content, raw_output={"changed": 1}
        )
        await self.update(session, end)

    async def facts(self, session: Session) -> None:
        hint = schema.AvailableCommandInput(root=schema.UnstructuredCommandInput(hint="of what"))
        commands = [
            schema.AvailableCommand(name="plan", description="Make a plan", input=hint),
            schema.AvailableCommand(name="help", description="Say what there is"),
        ]
        session.title, session.model, session.mode = "About notes", "big", "code"
        cost = schema.Cost(amount=0.25, currency="USD")
        for kind, words, more in (
            (schema.AvailableCommandsUpdate, "available_commands_update", {"available_commands": commands}),
            (schema.UsageUpdate, "usage_update", {"used": 1200, "size": 200000, "cost": cost}),
            (schema.SessionInfoUpdate, "session_info_update", {"title": session.title}),
            (schema.ConfigOptionUpdate, "config_option_update", {"config_options": session.options()}),
            (schema.CurrentModeUpdate, "current_mode_update", {"current_mode_id": session.mode}),
        ):
            await self.update(session, kind(session_update=words, **more))
        await self.client.ext_notification("peer/mood", {"mood": "good"})

    async def permission(self, session: Session, tool_call_id: str) -> None:
        call = schema.ToolCallUpdate(
            tool_call_id=tool_call_id,
            title="Delete notes.txt",
            kind="delete",
            status="pending",
            content=[acp.tool_content(acp.text_block("rm notes.txt"))],
        )
        answer = await self.client.request_permission(session.session_id, call, OPTIONS)
        outcome = answer.outcome
        chosen = outcome.option_id if outcome.outcome == "selected" else "nothing"
        await self.say(session, f"You chose {chosen}. ")

    async def files(self, session: Session) -> None:
        at = os.path.join(session.cwd, "notes.txt")
        whole = (await self.client.read_text_file(session.session_id, at)).content
        line = (await self.client.read_text_file(session.session_id, at, line=2, limit=1)).content
        await self.say(session, f"It says {json.dumps(whole)}, line 2 {json.dumps(line)}. ")
        await self.client.write_text_file(session.session_id, at, whole.replace("second", "2nd"))
        written = os.path.join(session.cwd, "written.txt")
        await self.client.write_text_file(session.session_id, written, "ünïcödé\n")
        await self.say(session, "Written.")

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> acp.PromptResponse:
        session = self.known(session_id)
        session.said += map(acp.update_user_message, prompt)
        session.cancelled.clear()
        if len(prompt) > 1:
            await self.say(session, f"You gave {', '.join(block.type for block in prompt)}. ")
        words = "".join(block.text for block in prompt if block.type == "text")
        return acp.PromptResponse(stop_reason=await self.turns.get(words, self.whole_turn)(session))

    async def cancel(self, session_id: str, **_: Any) -> None:
        self.known(session_id).cancelled.set()

    # --- sessions ----------------------------------------------------------------------------------------------------

    async def initialize(self, protocol_version: int, **_: Any) -> acp.InitializeResponse:
        return acp.InitializeResponse(
            protocol_version=acp.PROTOCOL_VERSION,
            agent_info=schema.Implementation(name="peer-py", title="A peer", version="1.2.3"),
            agent_capabilities=schema.AgentCapabilities(
                load_session=True,
                prompt_capabilities=schema.PromptCapabilities(image=True, audio=True, embedded_context=True),
                mcp_capabilities=schema.McpCapabilities(http=True, sse=True),
                session_capabilities=schema.SessionCapabilities(
                    list=schema.SessionListCapabilities(),
                    resume=schema.SessionResumeCapabilities(),
                    close=schema.SessionCloseCapabilities(),
                ),
            ),
            auth_methods=[schema.AuthMethodAgent(id="agent-login", name="Sign in", description="In this agent.")],
        )

    async def authenticate(self, method_id: str, **_: Any) -> None:
        self.signed_in = True

    async def new_session(self, cwd: str, **_: Any) -> acp.NewSessionResponse:
        session = Session(f"session-{len(self.sessions) - 1}", cwd)
        self.sessions[session.session_id] = session
        return acp.NewSessionResponse(
            session_id=session.session_id, modes=session.modes(), config_options=session.options()
        )

    def take_up(self, session_id: str) -> Session:
        session = self.known(session_id, active=False)
        session.active = True
        return session

    async def load_session(self, cwd: str, session_id: str, **_: Any) -> acp.LoadSessionResponse:
        session = self.take_up(session_id)
        for update in session.said:
            await self.client.session_update(session_id, update)
        return acp.LoadSessionResponse(modes=session.modes(), config_options=session.options())

    async def resume_session(self, session_id: str, cwd: str, **_: Any) -> schema.ResumeSessionResponse:
        session = self.take_up(session_id)
        return schema.ResumeSessionResponse(modes=session.modes(), config_options=session.options())

    async def list_sessions(
        self, cwd: str | None = None, cursor: str | None = None, **_: Any
    ) -> schema.ListSessionsResponse:
        """Return one session a page, sessions of an earlier run first."""
        found = [one for one in self.sessions.values() if cwd in (None, one.cwd)]
        page = int(cursor or 0)
        shown = [
            schema.SessionInfo(
                session_id=one.session_id,
                cwd=one.cwd,
                title=one.title,
                updated_at="2026-01-02T03:04:05Z" if one.session_id == "kept" else None,
            )
            for one in found[page : page + 1]
        ]
        return schema.ListSessionsResponse(sessions=shown, next_cursor=str(page + 1) if page + 1 < len(found) else None)

    async def close_session(self, session_id: str, **_: Any) -> None:
        session = self.known(session_id)
        session.cancelled.set()
        session.active = False

    async def set_session_mode(self, mode_id: str, session_id: str, **_: Any) -> None:
        self.known(session_id).mode = mode_id

    async def set_config_option(
        self, config_id: str, session_id: str, value: str | bool, **_: Any
    ) -> acp.SetSessionConfigOptionResponse:
        session = self.known(session_id)
        values = {"model": ("small", "big"), "verbose": (True, False)}
        if value not in values.get(config_id, ()):
            raise acp.RequestError.invalid_params({"configId": config_id})
        setattr(session, config_id, value)
        return acp.SetSessionConfigOptionResponse(config_options=session.options())


if __name__ == "__main__":
    asyncio.run(acp.run_agent(Peer(), use_unstable_protocol=True))
