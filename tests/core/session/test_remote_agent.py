"""An agent behind a prefix: it runs in its own directory and environment, and all paths on the wire are its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_nvim.agents.definition import AgentDefinition, PathPair
from acp_nvim.connection.peer import AgentPeer
from acp_nvim.connection.startup import PeerSettings
from acp_nvim.contract import events
from acp_nvim.errors import FailureError
from acp_nvim.process.child import ChildProcesses
from acp_nvim.process.guarding import Guard
from acp_nvim.tasks import Tasks
from tests.core.session.host import Host
from tests.support.agent_scripts import AgentScript

pytestmark = pytest.mark.anyio

SECRET = 'it\'s "s3cret" $HOME `x`\nsecond line ä'

STARTED = """
    INITIALIZE = {"agentCapabilities": {"loadSession": True, "sessionCapabilities": {"additionalDirectories": {}}}}

    def start(agent):
        agent.note(directory=os.getcwd(), env=dict(os.environ))
"""


def box(host: Host, body: str = 'cd / && exec env -i PATH="$PATH" "$@"', name: str = "box") -> Path:
    """A program that runs its arguments as a container does: in another directory, without our environment."""
    program = host.directory / name
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    return program


def elsewhere(host: Host, source: str, **settings: Any) -> tuple[AgentScript, Path]:
    """Run the script in a box, in which the project's directory has another name."""
    there = host.directory / "there"
    if not there.exists():
        there.symlink_to(host.cwd)
    script = host.script(source)
    host.config["agents"]["it"] |= {
        "prefix": [str(box(host))],
        "paths": [{"here": str(host.cwd), "there": str(there)}],
        **settings,
    }
    host.hello()
    return script, there


async def test_it_runs_in_its_directory_with_what_it_is_given(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OURS", "1")
    script, there = elsewhere(host, STARTED, env={"MY_KEY": SECRET, "EMPTY": ""})
    (host.cwd / "sub").mkdir()
    host.open(cwd=str(host.cwd / "sub"))
    await host.until_state("idle")
    env = script.notes("env")[0]
    assert (env["MY_KEY"], env["EMPTY"], "OURS" in env) == (SECRET, "", False)
    assert script.notes("directory") == [str(host.cwd / "sub")]  # of which ours is the real name
    assert env["PWD"] == str(there / "sub")
    assert script.received("session/new")[0]["params"]["cwd"] == str(there / "sub")


async def test_its_environment_stands_in_no_command_line(host: Host) -> None:
    script, _ = elsewhere(host, STARTED, env={"MY_KEY": "s3cret-of-mine"})
    host.config["agents"]["it"]["prefix"] = [str(box(host, f'printf "%s\\n" "$@" >{host.directory}/argv; exec "$@"'))]
    host.hello()
    await host.turn()
    assert "sh\n-c\n" in (host.directory / "argv").read_text()
    assert "s3cret-of-mine" not in (host.directory / "argv").read_text()
    assert "s3cret-of-mine" not in host.log_path.read_text()
    assert script.notes("env")[0]["MY_KEY"] == "s3cret-of-mine"


async def test_files_are_ours_and_what_is_not_ours_is_refused(host: Host) -> None:
    source = """
    def turn(agent, prompt):
        where = prompt.text
        agent.note(read=prompt.read(where + "/file"))
        prompt.write(where + "/made", "by the agent")
        for path in ("/etc/passwd", where + "/../file"):
            try:
                prompt.read(path)
            except Error as error:
                agent.note(refused=[error.code, error.message])
        prompt.tool("t", "Look", kind="read", locations=[{"path": where + "/file"}, {"path": "/etc/hosts"}])
        try:
            prompt.terminal("ls")
        except Error as error:
            agent.note(terminal=error.code)
    """
    script, there = elsewhere(host, source)
    (host.cwd / "file").write_text("of ours")
    host.editor.open(host.cwd / "file", "in the buffer")
    await host.turn(str(there))
    assert script.notes("read") == ["in the buffer"]
    assert (host.cwd / "made").read_text() == "by the agent"
    assert [code for code, _ in script.notes("refused")] == [-32602, -32602]
    assert "the editor has no /etc/passwd" in script.notes("refused")[0][1]
    assert script.received("initialize")[0]["params"]["clientCapabilities"]["terminal"] is False
    assert script.notes("terminal") == [-32601]
    call = next(iter(host.calls().values()))
    assert [one.path for one in call.locations] == [str(host.cwd / "file"), "/it:/etc/hosts"]
    assert "/etc/hosts" not in {event.path for event in host.of(events.Location)}


async def test_terminals_run_here_if_the_user_wants_it(free_host: Host) -> None:
    source = """
    def turn(agent, prompt):
        agent.note(output=prompt.run("pwd", cwd=prompt.text)["output"])
    """
    script, there = elsewhere(free_host, source, terminal=True)
    await free_host.turn(str(there))
    assert script.received("initialize")[0]["params"]["clientCapabilities"]["terminal"] is True
    assert script.notes("output") == [f"{free_host.cwd}\n"]


async def test_what_a_prompt_names_and_other_directories_are_known_there(host: Host) -> None:
    library, nowhere = host.directory / "library", host.directory / "nowhere"
    library.mkdir()
    nowhere.mkdir()
    host.hello(additional_directories=[str(library), str(nowhere)])
    script, _ = elsewhere(host, STARTED)
    host.config["agents"]["it"]["paths"].append({"here": str(library), "there": "/library"})
    host.hello()
    host.open()
    item = {"uri": (host.cwd / "a b").as_uri(), "name": "a b", "text": "the text"}
    host.prompt("look", context=[item, {"type": "link", "uri": library.as_uri(), "name": "library"}])
    await host.until("the end of the turn", lambda: host.of(events.TurnEnd))
    assert script.received("session/new")[0]["params"]["additionalDirectories"] == ["/library"]
    said = script.received("session/prompt")[0]["params"]["prompt"]
    assert {one["uri"] for one in said if one["type"] == "resource_link"} == {"file:///library"}
    assert any(str(nowhere) in notice and "paths" in notice for notice in host.notices())


async def test_a_directory_that_is_nowhere_there_is_told(host: Host) -> None:
    elsewhere(host, "")
    host.open(cwd="/usr")
    error = await host.editor.until_event(events.Error)
    assert "nothing says where /usr is there" in error.text
    assert "agents.it.paths" in error.text
    assert await host.until_state("failed")


async def test_the_same_names_in_both_places_need_no_pairs(host: Host) -> None:
    script, _ = elsewhere(host, STARTED, paths=[])
    await host.turn()
    assert script.received("session/new")[0]["params"]["cwd"] == str(host.cwd)
    assert script.notes("directory") == ["/"]


async def test_ssh_gets_one_line_for_its_shell(host: Host) -> None:
    script, _ = elsewhere(host, STARTED, env={"MY_KEY": SECRET})
    ssh = box(host, 'test "$1" = -q && test "$2" = host || exit 9; shift 2; cd / && exec sh -c "$*"', "ssh")
    host.config["agents"]["it"]["prefix"] = [str(ssh), "-q", "host"]
    host.hello()
    await host.turn()
    assert (script.notes("env")[0]["MY_KEY"], script.notes("directory")) == (SECRET, [str(host.cwd)])


async def test_a_prefix_that_is_not_there_is_named(host: Host) -> None:
    elsewhere(host, "", prefix=["no-such-box", "exec"])
    host.open()
    error = await host.editor.until_event(events.Error)
    assert "the command 'no-such-box' was not found" in error.text


async def test_a_box_that_fails_says_why(host: Host) -> None:
    elsewhere(host, "", env={"A": "1"})
    host.config["agents"]["it"]["prefix"] = [str(box(host, 'echo "no such container" >&2; exit 125'))]
    host.hello()
    host.open()
    error = await host.editor.until_event(events.Error)
    assert "exit code 125" in error.text
    assert "no such container" in error.text


async def test_a_strange_name_of_a_variable_is_told(host: Host) -> None:
    elsewhere(host, "", env={"A B; rm": "1"})
    host.open()
    error = await host.editor.until_event(events.Error)
    assert "'A B; rm' cannot be the name of a variable" in error.text


async def test_the_box_and_all_in_it_end_with_the_session(host: Host) -> None:
    script, _ = elsewhere(host, "    IGNORE_EOF = IGNORE_SIGTERM = True\n")
    await host.turn()
    assert len(script.notes("started")) == 1  # that it is gone is looked at when the host ends


async def test_what_could_not_be_started_is_not_alive(host: Host) -> None:
    agent = AgentDefinition(name="it", command=["true"], prefix=["env"], paths=[PathPair("/home/nobody", "/work")])
    peer = AgentPeer(agent, "/usr", PeerSettings(1))
    async with anyio.create_task_group() as tasks:
        with pytest.raises(FailureError, match="nothing says where /usr is there"):
            await peer.start(Tasks(tasks, lambda error: None), ChildProcesses(Guard()))
    assert not peer.alive
