""":checkhealth starts each configured agent, says who it is and whether it wants a sign-in, and leaves none running."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from tests.lua.conftest import LuaEditor
from tests.support.agent_scripts import AgentScript, agent_script
from tests.support.certificates import certificate
from tests.support.listening import free_port, listening
from tests.support.processes import look_at

GOOD = """
    INITIALIZE = {
        "agentInfo": {"name": "good-agent", "title": "Good Agent", "version": "1.2.3"},
        "agentCapabilities": {"loadSession": True, "sessionCapabilities": {"delete": {}}},
        "authMethods": [{"id": "a", "name": "With an account"}],
    }
"""
CLOSES = """
    INITIALIZE = {"agentCapabilities": {"sessionCapabilities": {"close": {}}}}
"""
PLAIN = """
    INITIALIZE = {}
"""
SHY = """
    INITIALIZE = {"authMethods": [{"id": "a", "name": "With an account"}, {"id": "k", "name": "With a key"}]}

    def session_new(agent, request):
        raise Error(-32000, "Authentication required")
"""
ODD = """
    def session_new(agent, request):
        raise Error(-32603, "the disk is on fire")
"""
SILENT = """
    def initialize(agent, request):
        return NO_ANSWER
"""
OTHER_VERSION = """
    INITIALIZE = {"protocolVersion": 7}
"""
DYING = """
    def start(agent):
        agent.stderr("no key, only " + os.environ["MY_TOKEN"] + "\\n")
        agent.exit(3)
"""


def configure(editor: LuaEditor, agents: dict[str, Any], **more: Any) -> None:
    editor.lua("require('acp_nvim').setup(...)", {"agents": agents, **more})


def section(editor: LuaEditor) -> str:
    """What the report says of agents."""
    editor.command("checkhealth acp_nvim")
    _, found, after = editor.buffer_text().partition("acp_nvim: agents")
    assert found
    return after.partition("\nacp_nvim: ")[0]


def scripts(directory: Path, **sources: str) -> dict[str, AgentScript]:
    return {name: agent_script(directory, source, name) for name, source in sources.items()}


def test_every_agent_is_asked_who_it_is_and_what_fails_is_said_in_words(editor, tmp_path):
    known = scripts(tmp_path, good=GOOD, shy=SHY, odd=ODD, other=OTHER_VERSION, dying=DYING, boxed=GOOD)
    agents: dict[str, Any] = {name: {"command": script.argv} for name, script in known.items()}
    agents["dying"]["env"] = {"MY_TOKEN": "abcdef-0123456789"}
    agents["boxed"]["prefix"] = ["env", "INSIDE=1"]
    agents["gone"] = {"command": ["no-such-program", "--acp"]}
    home = editor.lua("return vim.uv.os_homedir()")
    shortcut = Path(home) / "python for an agent"
    shortcut.symlink_to(known["good"].argv[0])
    agents["short"] = {"command": [f"~/{shortcut.name}", *known["boxed"].argv[1:]]}
    configure(editor, agents)
    report = section(editor)
    for words in (
        "OK good: Good Agent 1.2.3, ACP version 1, answered in ",
        "good can: session load, delete",
        f"({shortcut})",
        "OK short: Good Agent 1.2.3, ACP version 1, answered in ",
        "OK good: signed in, or needs no sign-in",
        "WARNING shy: not signed in (Authentication required)",
        ":AcpChat shy, then :AcpLogin: With an account, With a key",
        "WARNING odd: opens no session: the disk is on fire",
        "ERROR other: Agent 'other' speaks ACP version 7",
        "ERROR dying: Agent 'dying' ended with exit code 3.",
        "no key, only [masked]",
        "(behind env INSIDE=1)",
        'ERROR gone: the command "no-such-program" was not found',
        "Install it, or correct agents.gone.command",
    ):
        assert words in report
    assert "abcdef-0123456789" not in editor.buffer_text()
    assert len(known["good"].received("session/new")) == len(known["good"].received("session/delete")) == 1
    started = [pid for script in known.values() for pid in script.notes("started")]
    assert len(started) == len(known) + 1
    assert [pid for pid in started if look_at(pid)] == []


def test_one_at_an_address_is_asked_there_and_its_way_is_described(editor, tmp_path):
    known = scripts(tmp_path, good=GOOD, secure=GOOD)
    made, port = certificate(tmp_path, "localhost"), free_port()
    with listening(known["good"].argv) as good, listening(known["secure"].argv, tls=made) as secure:
        agents = {
            "good": {"address": good.address},
            "secure": {"address": secure.address, "tls": str(made.file)},
            "unknown": {"address": secure.address, "tls": True},
            "gone": {"address": f"127.0.0.1:{port}"},
            "odd": {"address": "127.0.0.1"},
            "open": {"address": f"0.0.0.0:{good.port}"},  # this machine by a name of which that is not known
        }
        configure(editor, agents)
        report = section(editor)
    for words in (
        "OK good: Good Agent 1.2.3, ACP version 1, answered in ",
        f"(at {good.address}, not encrypted)",
        "OK good: signed in, or needs no sign-in",
        f"(at {secure.address}, encrypted)",
        "OK open: Good Agent 1.2.3",
        "WARNING open: its connection is not encrypted: others on the way can read and change what is said",
        "Set agents.open.tls, or use an ssh tunnel.",
        f"ERROR unknown: Agent 'unknown' cannot be reached: the certificate of {secure.address} is not accepted",
        f"ERROR gone: Agent 'gone' cannot be reached: nothing listens at 127.0.0.1:{port}.",
        "Start the agent there, or correct agents.gone.address",
        "ERROR odd: The configuration of agent 'odd' cannot be used: `address` has no port",
    ):
        assert words in report
    places = {line["params"]["cwd"] for line in known["good"].received("session/new")}
    assert places == {editor.lua("return vim.fn.getcwd()")}


def test_a_session_is_opened_by_each_and_goes_again_where_it_can(editor, tmp_path):
    """All name ways to sign in, or none: only a session shows whether one is wanted."""
    known = scripts(tmp_path, good=GOOD, closes=CLOSES, plain=PLAIN, shy=SHY)
    configure(editor, {name: {"command": script.argv} for name, script in known.items()})
    report = section(editor)
    assert "WARNING shy: not signed in" in report
    asked = {name: [line["method"].rpartition("/")[2] for line in script.received()] for name, script in known.items()}
    assert asked == {
        "good": ["initialize", "new", "delete"],
        "closes": ["initialize", "new", "close"],
        "plain": ["initialize", "new"],
        "shy": ["initialize", "new"],
    }
    for name in ("good", "closes", "plain"):
        assert f"OK {name}: signed in, or needs no sign-in" in report


def test_who_is_silent_is_not_waited_for_and_does_not_stay(editor, tmp_path):
    script = agent_script(tmp_path, SILENT, "silent")
    configure(editor, {"silent": {"command": script.argv}}, timeouts={"initialize": 1000})
    assert "ERROR silent: Agent 'silent' was started, did not answer within 1 s" in section(editor)
    assert [pid for pid in script.notes("started") if look_at(pid)] == []


def test_those_of_the_catalogue_are_named_with_what_to_install(editor, tmp_path):
    script = agent_script(tmp_path, GOOD, "gemini")
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, body in (("gemini", f"exec {shlex.join(script.argv)}"), ("goose", "exit 1")):
        (programs / name).write_text(f"#!/bin/sh\n{body}\n")
        (programs / name).chmod(0o755)
    editor.lua("vim.env.PATH = ... .. ':' .. vim.env.PATH", str(programs))
    configure(editor, {"opencode": {"env": {"A": "1"}}}, default_agent="gemini")
    report = section(editor)
    assert "OK gemini: Good Agent 1.2.3" in report
    assert 'ERROR opencode: the command "opencode" was not found' in report
    assert "To install it, type: npm install -g opencode-ai (https://opencode.ai)" in report
    assert "on this machine, but not configured, and therefore not checked: goose" in report
    known = report.partition("known agents that are not on this machine: ")[2]
    assert known.startswith("amp, auggie, claude, cline, ")
    assert "goose" not in known


def test_without_a_python_agents_are_not_started_and_it_is_said(editor, tmp_path):
    script = agent_script(tmp_path, GOOD, "good")
    configure(editor, {"good": {"command": script.argv}}, python="/no/such/python")
    assert "agents are started by the host, which has no Python" in section(editor)
    assert script.notes("started") == []


def test_a_default_that_is_no_agent_is_an_error(editor):
    configure(editor, {}, default_agent="nobody")
    assert 'ERROR default_agent: no agent is called "nobody"' in section(editor)


def test_the_account_is_named(editor, tmp_path):
    asked = """
    INITIALIZE = {"agentCapabilities": {"auth": {"status": {}}}}
    def auth_status(agent, request):
        return {"state": "authenticated", "accounts": [{"label": "Work", "email": "me@example.org"}]}
    """
    told = """
    def session_new(agent, request):
        agent.notify("_auth/status_update", {"authStatus": {"kind": "none", "label": "Not logged in"}})
        return {"sessionId": "s"}
    """
    known = scripts(tmp_path, asked=asked, told=told, plain=PLAIN)
    configure(editor, {name: {"command": script.argv} for name, script in known.items()})
    report = section(editor)
    assert "asked: account: Work (me@example.org)" in report
    assert "told: account: not signed in" in report
    assert "plain: account" not in report
