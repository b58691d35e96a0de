"""What agents of version 2 tell of themselves and their sessions, in the words of the model."""

from __future__ import annotations

from acp_nvim.protocol import answers
from acp_nvim.protocol.auth_methods import other_method, with_meta
from acp_nvim.protocol.given import given
from acp_nvim.protocol.translate_facts import choices, unknown_option
from acp_nvim.wire.config_options import UnknownConfigOption
from acp_nvim.wire.v2 import answers as wire
from acp_nvim.wire.v2 import config


def initialized(answer: wire.InitializeResponse) -> answers.Initialized:
    """The answer to `initialize`."""
    capabilities = given(answer.capabilities) or wire.AgentCapabilities()
    methods = tuple(_auth_method(one) for one in given(answer.auth_methods) or ())
    return answers.Initialized(
        name=answer.info.name,
        title=given(answer.info.title),
        version=answer.info.version,
        abilities=_abilities(given(capabilities.session), bool(methods)),
        auth_methods=methods,
    )


def _abilities(session: wire.SessionCapabilities | None, sign_in: bool) -> answers.Abilities:
    """Without `session` the agent has no sessions at all; with it, most of what can be done with them is a must."""
    if session is None:
        return answers.Abilities(sign_in=sign_in, sign_out=sign_in)
    prompt = given(session.prompt) or wire.PromptCapabilities()
    mcp = given(session.mcp) or wire.McpCapabilities()
    return answers.Abilities(
        image=given(prompt.image) is not None,
        audio=given(prompt.audio) is not None,
        embedded_context=given(prompt.embedded_context) is not None,
        list_sessions=True,
        load=True,
        resume=True,
        close=True,
        delete=given(session.delete) is not None,
        additional_directories=given(session.additional_directories) is not None,
        sign_in=sign_in,
        sign_out=sign_in,
        steering=True,
        mcp_stdio=given(mcp.stdio) is not None,
        mcp_http=given(mcp.http) is not None,
    )


def _auth_method(method: wire.AuthMethod) -> answers.AuthMethod:
    match method:
        case wire.AuthMethodTerminal():
            return answers.AuthMethod(
                method_id=method.method_id,
                name=method.name,
                kind="terminal",
                description=given(method.description),
                args=given(method.args) or [],
                env={one.name: one.value for one in given(method.env) or ()},
            )
        case wire.AuthMethodAgent():
            plain = answers.AuthMethod(
                method_id=method.method_id, name=method.name, description=given(method.description)
            )
            return with_meta(plain, given(method.meta))
        case wire.UnknownAuthMethod(original=said):
            return other_method(str(said.get("methodId")), said)


def opened(answer: wire.ResumeSessionResponse) -> answers.Opened:
    """The answer to `session/new` or `session/resume`."""
    chosen, offered = given(answer.config_options), given(answer.available_commands)
    return answers.Opened(
        session_id=answer.session_id if isinstance(answer, wire.NewSessionResponse) else None,
        options=None if chosen is None else options(chosen),
        commands=None if offered is None else commands(offered),
    )


def options(given_ones: list[config.SessionConfigOption]) -> list[answers.ConfigOption]:
    """Configuration options, in the agent's order."""
    return [_option(one) for one in given_ones]


def _option(one: config.SessionConfigOption) -> answers.ConfigOption:
    if isinstance(one, UnknownConfigOption):
        return unknown_option(one.original, "configId")
    select = isinstance(one, config.SessionConfigSelect)
    return answers.ConfigOption(
        config_id=one.config_id,
        name=one.name,
        kind="select" if select else "boolean",
        current=one.current_value,
        choices=choices(one.options) if isinstance(one, config.SessionConfigSelect) else [],
        category=given(one.category),
        description=given(one.description),
    )


def commands(given_ones: list[config.AvailableCommand]) -> list[answers.Command]:
    """Slash commands; one of an unknown kind has a name and a description too."""
    return [_command(one) for one in given_ones]


def _command(one: config.AvailableCommand) -> answers.Command:
    if isinstance(one, config.UnknownCommand):
        return answers.Command(str(one.original.get("name")), str(one.original.get("description", "")))
    entry = given(one.input)
    return answers.Command(
        one.name, one.description, entry.hint if isinstance(entry, config.TextCommandInput) else None
    )
