"""Older versions of agents: another form of the command, no name, and what the first adapters of Claude do."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from acp_nvim.agents import catalogue
from acp_nvim.agents.catalogue import Catalogue
from acp_nvim.agents.definition import BuiltinAgent
from acp_nvim.connection.command_forms import with_command
from acp_nvim.contract import events
from tests.core.session.host import Host
from tests.support.agent_scripts import SCRIPTED_AGENT

pytestmark = pytest.mark.anyio

PROGRAM = """\
#!/bin/sh
echo "$1" >> "{directory}/tried"
case "$1" in
  {known}) exec {python} -S -E {agent} {script} {traffic} ;;
  --slow) exec sleep 1000 ;;
  --broken) echo "no model" >&2; exit 1 ;;
  --quiet) exit 2 ;;
esac
{says}
exit {code}
"""
LONG = 'for one in $(seq 100); do echo "  --option$one"; done'
GEMINI = "printf 'Usage: old [options]\\n\\n%50s\\n\\nUnknown argument: %s\\n' options \"$1\" >&2"


class Old:
    """A program of which this machine has an old version, and its data file."""

    def __init__(self, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
        self._host = host
        self._monkeypatch = monkeypatch

    def install(self, *forms: str, known: str, says: str = GEMINI, code: int = 1, script: str = "") -> None:
        """Write the program, which knows one form of its command."""
        self._host.script(script, "old")
        del self._host.config["agents"]["old"]
        program = self._host.directory / "old"
        text = PROGRAM.format(
            directory=self._host.directory,
            known=known,
            python=sys.executable,
            agent=SCRIPTED_AGENT,
            script=self._host.scripts["old"].path,
            traffic=self._host.scripts["old"].traffic_path,
            says=says,
            code=code,
        )
        program.write_text(text)
        program.chmod(0o755)
        data = BuiltinAgent(title="Old", commands=[[str(program), form] for form in forms], install="get old")
        self._monkeypatch.setattr(catalogue, "builtin_agent", lambda name: data if name == "old" else None)
        self._host.hello()

    def tried(self) -> list[str]:
        """The forms with which it was started."""
        path = self._host.directory / "tried"
        return path.read_text().split() if path.exists() else []


@pytest.fixture
def old(host: Host, monkeypatch: pytest.MonkeyPatch) -> Old:
    return Old(host, monkeypatch)


@pytest.mark.parametrize(
    ("says", "code"),
    [
        (GEMINI, 0),
        ("echo 'usage: old [-h]' >&2; echo 'old: error: unrecognized arguments: --acp' >&2", 64),
        ("echo \"error: unexpected argument '--acp' found\" >&2", 0),
        ("echo 'flag provided but not defined: -acp' >&2", 64),
        ("echo 'Usage: old [OPTIONS]'; echo 'Got unexpected extra argument (acp)'", 0),
        ("echo 'Usage: old [OPTIONS]'; echo '  --help'", 64),
        (f"{LONG} >&2; echo 'Unknown option: --acp' >&2", 0),
        (f"{{ echo 'Usage: old [options]'; {LONG}; }} >&2", 64),
        (f"echo 'Usage: old [options]'; {LONG}", 64),
        (f"{LONG}; echo 'Unknown option: --acp'", 0),
    ],
    ids=[
        *("yargs", "argparse", "clap", "go", "on stdout", "only usage on stdout"),
        *("long", "long after usage", "long on stdout after usage", "long on stdout"),
    ],
)
async def test_the_next_form_of_the_command_is_tried_after_a_usage_message(
    host: Host, old: Old, says: str, code: int
) -> None:
    old.install("--acp", "--experimental-acp", known="--experimental-acp", says=says, code=code)
    host.open(1, "old")
    assert await host.turn() == "end_turn"
    assert old.tried() == ["--acp", "--experimental-acp"]
    [told] = host.notices()
    program = host.directory / "old"
    assert told == (
        f"This version of 'old' does not know `{program} --acp`: it was started as `{program} --experimental-acp`. "
        "To install a newer version, type: get old"
    )
    assert host.editor.all(events.Error) == []


async def test_the_form_that_it_knows_is_remembered_and_told_once(host: Host, old: Old) -> None:
    old.install("--acp", "--older", "--oldest", known="--oldest")
    host.open(1, "old")
    await host.turn()
    host.open(2, "old")
    await host.turn(key=2)
    assert (old.tried(), host.notices(2)) == (["--acp", "--older", "--oldest"], [])
    for key in (1, 2):
        host.stop(key)
        await host.until_state("stopped", key)
    await host.turn()
    assert old.tried() == ["--acp", "--older", "--oldest", "--oldest"]
    assert len([one for one in host.notices() if "does not know" in one and "version" in one]) == 1


async def test_who_wants_it_while_its_form_is_found_out_uses_the_same_process(host: Host, old: Old) -> None:
    old.install("--acp", "--older", known="--older", says=f"{GEMINI}; until test -e go; do :; done")
    host.open(1, "old")
    host.prompt("hello")
    await host.until("the first form", lambda: old.tried() == ["--acp"])
    host.open(2, "old")
    host.prompt("hello", 2)
    host.app.receive("prewarm", {"agent": "old", "cwd": str(host.cwd)})
    (host.cwd / "go").touch()
    await host.until("both turns", lambda: host.of(events.TurnEnd, 1) and host.of(events.TurnEnd, 2))
    assert old.tried() == ["--acp", "--older"]
    assert host.app.sessions[1].peer is host.app.sessions[2].peer


async def test_each_form_is_tried_once_and_the_first_failure_is_told(host: Host, old: Old) -> None:
    old.install("--acp", "--older", known="--none")
    host.open(1, "old")
    await host.until_state("failed")
    assert old.tried() == ["--acp", "--older"]
    [error] = host.editor.all(events.Error)
    assert error.text.splitlines()[-1] == "  Unknown argument: --acp"


@pytest.mark.parametrize("form", ["--broken", "--quiet", "--slow"])
async def test_another_failure_is_no_reason_to_try_another_form(host: Host, old: Old, form: str) -> None:
    old.install(form, "--acp", known="--acp")
    host.hello(timeouts={"initialize": 300})
    host.open(1, "old")
    await host.until_state("failed")
    assert old.tried() == [form]


@pytest.mark.parametrize(
    ("form", "known", "code", "words"),
    [
        ("--broken", "--none", "agent_exited", "no model"),
        ("--slow", "--none", "agent_silent", "did not answer within"),
        ("--older", "--older", "auth_required", "(The key is missing)"),
    ],
)
async def test_of_a_form_that_it_knows_the_failure_is_told(
    host: Host, old: Old, form: str, known: str, code: str, words: str
) -> None:
    refuses = 'def initialize(agent, request): raise Error(-32000, "The key is missing")'
    old.install("--acp", form, "--oldest", known=known, script=f"    {refuses}")
    host.hello(timeouts={"initialize": 5000 if form == "--slow" else 60_000})
    host.open(1, "old")
    await host.until_state("failed")
    [error] = host.editor.all(events.Error)
    assert (error.code, old.tried()) == (code, ["--acp", form])
    assert words in error.text
    assert "Usage" not in error.text


async def test_one_that_ends_later_with_a_usage_message_is_not_started_in_another_form(host: Host, old: Old) -> None:
    old.install(
        "--acp",
        "--older",
        known="--acp",
        script="""
        def session_new(agent, request):
            agent.stderr("Usage: old\\n")
            agent.exit(1)
    """,
    )
    host.open(1, "old")
    await host.until_state("failed")
    assert old.tried() == ["--acp"]


async def test_a_command_of_the_user_is_run_as_it_is(host: Host, old: Old) -> None:
    old.install("--acp", "--experimental-acp", known="--experimental-acp")
    host.hello(agents={"old": {"command": [str(host.directory / "old"), "--acp"]}})
    host.open(1, "old")
    await host.until_state("failed")
    assert old.tried() == ["--acp"]


async def test_an_update_of_the_program_that_knows_only_the_new_form_is_noticed(host: Host, old: Old) -> None:
    old.install("--acp", "--experimental-acp", known="--experimental-acp")
    host.open(1, "old")
    await host.turn()
    host.stop()
    await host.until_state("stopped")
    old.install("--acp", "--experimental-acp", known="--acp")
    assert await host.turn() == "end_turn"
    assert old.tried() == ["--acp", "--experimental-acp", "--experimental-acp", "--acp"]


def test_a_chosen_command_leaves_the_others_to_be_tried() -> None:
    definition = Catalogue().find("gemini")
    assert (definition.command[1], definition.other_commands) == ("--acp", [["gemini", "--experimental-acp"]])
    other = with_command(definition, ["gemini", "--experimental-acp"])
    assert (other.command[1], other.other_commands) == ("--experimental-acp", [["gemini", "--acp"]])
    assert with_command(other, ["gemini", "--acp"]) == definition == with_command(definition, definition.command)


# --- without a name --------------------------------------------------------------------------------------------------

NAMELESS = """
    INITIALIZE = {"agentInfo": None}
"""


def renamed(host: Host, name: str, program: str) -> None:
    """Configure the scripted agent under a name, run by a program of that name."""
    link = host.directory / program
    text = " ".join(f"'{word}'" for word in host.scripts["it"].argv)
    link.write_text(f"#!/bin/sh\nexec {text}\n")
    link.chmod(0o755)
    host.config["agents"][name] = {"command": [str(link)]}
    host.hello()


async def test_without_a_name_it_has_the_quirks_of_the_name_in_the_configuration(host: Host) -> None:
    host.script(NAMELESS)
    renamed(host, "gemini", "gemini")
    host.open(1, "gemini")
    await host.turn()
    peer = host.app.sessions[1].peer
    assert peer.info.name is None
    assert "missing_file_reads_empty" in peer.quirks
    assert host.notices() == []


async def test_without_a_name_and_under_another_one_a_hint_says_what_to_configure(host: Host) -> None:
    host.script(NAMELESS)
    renamed(host, "mine", "gemini")
    host.open(1, "mine")
    await host.turn()
    assert host.app.sessions[1].peer.quirks == set()
    assert host.notices() == [
        "'mine' does not say which program it is. If it is Gemini CLI, call it 'gemini' in your configuration: then "
        "acp_nvim knows its peculiarities."
    ]


@pytest.mark.parametrize("program", ["unheard-of", "claude-code-acp"])
async def test_nothing_is_said_of_a_program_without_quirks(host: Host, program: str) -> None:
    host.script(NAMELESS)
    renamed(host, "mine", program)
    host.open(1, "mine")
    await host.turn()
    assert host.notices() == []


# --- claude-code-acp 0.2 to 0.4 --------------------------------------------------------------------------------------

CLAUDE = """
    INITIALIZE = {
        "agentInfo": None,
        "agentCapabilities": {"promptCapabilities": {"image": True, "embeddedContext": True}},
        "authMethods": [
            {"description": "Run `claude /login` in the terminal", "name": "Log in", "id": "claude-login"},
        ],
    }

    def authenticate(agent, request):
        raise Error(-32603, "Internal error", {"details": "Method not implemented."})

    def turn(agent, prompt):
        if prompt.text == "login":
            raise Error(-32000, "Authentication required")
        sid, path = prompt.session_id, os.getcwd() + "/main.py"
        prompt.tool("toolu_1", "Read " + path, kind="read", status="pending", rawInput={"abs_path": path},
                    content=[], locations=[{"path": path, "line": 0}])
        agent.note(read=agent.request("fs/read_text_file", {"sessionId": sid, "path": path, "line": 0}))
        prompt.tool_update("toolu_1", status="completed", content=[])
        shell = "echo a; echo b"
        prompt.tool("toolu_2", "`" + shell + "`", kind="execute", status="pending", rawInput={"command": shell})
        agent.note(asked=agent.request("session/request_permission", {
            "sessionId": sid, "toolCall": {"toolCallId": "toolu_2", "rawInput": {"command": shell}},
            "options": [{"kind": "allow_always", "name": "Always Allow", "optionId": "allow_always"},
                        {"kind": "allow_once", "name": "Allow", "optionId": "allow"},
                        {"kind": "reject_once", "name": "Reject", "optionId": "reject"}]}))
        made = agent.request("terminal/create", {"command": shell, "sessionId": sid, "outputByteLimit": 32000})
        terminal = {"sessionId": sid, "terminalId": made["terminalId"]}
        prompt.tool_update("toolu_2", status="in_progress", content=[{"type": "terminal", **terminal}])
        agent.note(ended=agent.request("terminal/wait_for_exit", terminal))
        agent.note(output=agent.request("terminal/output", terminal))
        agent.request("terminal/release", terminal)
        prompt.tool_update("toolu_2", status="completed", content=[{"type": "terminal", **terminal}])
        agent.note(written=agent.request("fs/write_text_file", {"sessionId": sid, "path": path, "content": "new\\n"}))
        prompt.say("Done.")
"""


async def test_a_turn_with_the_first_adapters_of_claude(free_host: Host) -> None:
    host = free_host
    (host.cwd / "main.py").write_text("old\n")
    host.config["agents"]["claude"] = {}
    script = host.script(CLAUDE)
    host.hello(agents={"claude": {"command": script.argv, "mcp_servers": [{"name": "m", "command": "/bin/sh"}]}})
    host.open(1, "claude")
    host.prompt("go")
    asked = await host.editor.until_event(events.Permission)
    assert asked.request.title == "`echo a; echo b`"
    host.answer(asked.request.id, "allow")
    assert (await host.editor.until_event(events.TurnEnd)).stop_reason == "end_turn"
    assert host.text() == "Done."
    assert script.notes("read") == [{"content": "old\n"}]
    assert [one["output"] for one in script.notes("output")] == ["a\nb\n"]
    assert (host.cwd / "main.py").read_text() == "new\n"
    assert [call.status for call in host.calls().values()] == ["completed", "completed"]
    assert host.notices() == []
    [server] = script.received("session/new")[0]["params"]["mcpServers"]
    assert server == {
        "name": "m",
        "command": "/bin/sh",
        "args": [],
        "env": [],
    }  # with a `type` it would be a URL to them


async def test_a_way_to_sign_in_that_is_only_a_description_is_told_with_it(host: Host) -> None:
    host.script(CLAUDE, "claude")
    host.open(1, "claude")
    host.prompt("login")
    await host.editor.until_event(events.Error)
    login: dict[str, Any] = {"agent": "claude", "cwd": str(host.cwd), "method": "claude-login", "session": 1}
    host.app.receive("login", login)
    await host.until("the outcome", lambda: "says about it" in json.dumps(host.notices()))
    assert host.notices()[-1] == (
        "Signing in to 'claude' failed: Method not implemented. The agent says about it: Run `claude /login` in the "
        "terminal. :AcpLogin tries again."
    )
    assert host.log_path.read_text().count("authenticate was refused") == 1
