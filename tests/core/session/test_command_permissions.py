"""Who decides whether an agent may run a command: the user, once for each command, whoever asks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from acp_nvim.contract import events
from acp_nvim.limits import COMMAND_SHOWN_CHARS
from acp_nvim.permissions.input_commands import NamedCommand, named_command
from acp_nvim.permissions.request import access
from tests.core.session.host import Host

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("no_profile")]

NOT_ALLOWED = "The user did not allow to run: "

AGENT = """
    import threading

    def attempt(agent, prompt, wanted):
        command, args = wanted.pop("command"), wanted.pop("args", [])
        try:
            agent.note(result=prompt.run(command, *args, **wanted)["output"])
        except Error as error:
            agent.note(error=[error.code, error.message])

    def turn(agent, prompt):
        ways = json.loads(prompt.text)
        for one in ways:
            if "ask" in one:
                asked = {"status": "pending", "kind": "execute", **one["ask"]}
                agent.note(chosen=prompt.ask(one.get("id", "c"), **asked))
            elif "update" in one:
                prompt.tool_update(one.get("id", "c"), **one["update"])
            elif "together" in one:
                works = [threading.Thread(target=attempt, args=(agent, prompt, each)) for each in one["together"]]
                [work.start() for work in works]
                [work.join() for work in works]
            else:
                attempt(agent, prompt, one["run"])
"""
"""Asks for permissions, updates tool calls and runs commands as the prompt says."""


def plan(host: Host, *ways: dict[str, Any]) -> None:
    """Let the agent do this in one turn."""
    if "it" not in host.scripts:
        host.script(AGENT)
        host.open()
    host.prompt(json.dumps(ways))


async def questions(host: Host, count: int) -> list[events.RequestView]:
    """Wait until there were so many."""
    await host.editor.until_event(events.Permission, count)
    return [event.request for event in host.of(events.Permission)]


async def over(host: Host) -> None:
    """Wait for the end of the turn."""
    await host.editor.until_event(events.TurnEnd, 1)


def results(host: Host) -> list[Any]:
    """Return what the agent's commands printed."""
    return host.scripts["it"].notes("result")


def errors(host: Host) -> list[Any]:
    """What the agent was told of those that were not run."""
    return host.scripts["it"].notes("error")


def run(command: str, *args: str, **more: Any) -> dict[str, Any]:
    """Return a step in which the agent runs a command."""
    return {"run": {"command": command, **({"args": args} if args else {}), **more}}


# --- the user is asked -----------------------------------------------------------------------------------------------


async def test_the_question_says_what_would_be_run_and_where(host: Host) -> None:
    plan(host, run("echo one && \\\necho two", env=[{"name": "KEY", "value": "secret"}]))
    [asked] = await questions(host, 1)
    assert (asked.title, asked.kind, asked.tool_call_id) == ("Run echo one && \\ …", "execute", "")
    assert (asked.command, asked.cwd, asked.content) == ("echo one && \\\necho two", str(host.cwd), [])
    assert (asked.env, asked.description) == (["KEY=secret"], None)
    assert [(one.kind, one.name) for one in asked.options] == [
        ("allow_once", "Allow once"),
        ("allow_always", "Allow this command in this session"),
        ("reject_once", "Reject once"),
        ("reject_always", "Reject this command in this session"),
    ]
    assert (await host.until_state("waiting")).pending_permissions == 1
    assert results(host) == []
    host.answer(asked.id, "allow_once")
    await over(host)
    assert results(host) == ["one\ntwo\n"]


async def test_what_is_rejected_is_not_run_and_the_agent_is_told(host: Host) -> None:
    plan(host, run("touch here"), run("touch here"))
    [first] = await questions(host, 1)
    host.answer(first.id, "reject_once")
    [_, second] = await questions(host, 2)
    host.answer(second.id, "reject_once")
    await over(host)
    assert errors(host) == [[-32602, f"{NOT_ALLOWED}touch here"]] * 2
    assert not (host.cwd / "here").exists()
    assert [done.name for done in host.of(events.PermissionDone)] == ["Reject once"] * 2


@pytest.mark.parametrize(("option", "note"), [("allow_always", "result"), ("reject_always", "error")])
async def test_an_answer_for_the_session_counts_for_that_command_there(host: Host, option: str, note: str) -> None:
    (host.cwd / "sub").mkdir()
    same = {"command": "pwd"}
    plan(host, run("pwd"), {"together": [same, same]}, run("pwd", "-P"), run("pwd", cwd=str(host.cwd / "sub")))
    [first] = await questions(host, 1)
    host.answer(first.id, option)
    [_, other] = await questions(host, 2)
    assert len(host.scripts["it"].notes(note)) == 3
    host.answer(other.id, "reject_once")
    [_, _, elsewhere] = await questions(host, 3)
    host.answer(elsewhere.id, "reject_once")
    await over(host)
    env = [{"name": "PATH", "value": "/nowhere"}]
    plan(host, run("pwd", env=env))
    assert len(await questions(host, 4)) == 4


async def test_who_waits_for_the_same_is_answered_too(host: Host) -> None:
    plan(host, {"together": [{"command": "pwd"}] * 3})
    asked = await questions(host, 3)
    host.answer(asked[1].id, "allow_always")
    await over(host)
    assert results(host) == [f"{host.cwd}\n"] * 3


async def test_cancelling_the_turn_withdraws_the_question(host: Host) -> None:
    plan(host, run("touch here"))
    await questions(host, 1)
    host.cancel()
    await over(host)
    assert [done.outcome for done in host.of(events.PermissionDone)] == ["cancelled"]
    assert errors(host) == [[-32602, f"{NOT_ALLOWED}touch here"]]
    assert not (host.cwd / "here").exists()


async def test_the_agent_may_withdraw_it(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            asked = agent.call("terminal/create", {"sessionId": prompt.session_id, "command": "touch here"}, "mine")
            while not os.path.exists("go"):
                time.sleep(0.01)
            agent.notify("$/cancel_request", {"requestId": "mine"})
            try:
                asked.result()
            except Error as error:
                agent.note(code=error.code)
    """)
    host.open()
    host.prompt("go")
    await questions(host, 1)
    (host.cwd / "go").touch()
    await over(host)
    assert host.scripts["it"].notes("code") == [-32800]
    assert [done.outcome for done in host.of(events.PermissionDone)] == ["cancelled"]
    assert not (host.cwd / "here").exists()


async def test_allow_asks_nobody(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "DEFAULT", "allow")
    host.hello(permissions={"terminal": "allow"})
    plan(host, run("echo x"))
    await over(host)
    assert (results(host), host.of(events.Permission)) == (["x\n"], [])


# --- the agent has asked ---------------------------------------------------------------------------------------------

LINE = "echo a; echo b"
AS_SENT = [
    run(LINE),
    run("/bin/sh", "-c", LINE),
    run("/bin/bash", "-lc", LINE),
]
NAMED = [
    {"title": LINE, "rawInput": {"command": LINE}},
    {"title": "Run it", "rawInput": {"command": LINE, "cwd": "."}},
    {"title": "Run it", "rawInput": {"cmd": ["bash", "-lc", LINE]}},
    {"title": "Run it", "kind": None, "rawInput": {"command": "sh", "args": ["-c", LINE]}},
]


async def granted(host: Host, option: str, *ways: dict[str, Any]) -> None:
    """The agent does that; its first question gets that answer."""
    plan(host, *ways)
    [asked] = await questions(host, 1)
    host.answer(asked.id, option)


async def test_nobody_is_asked_twice_for_one_command(host: Host) -> None:
    pairs = [(named, sent) for named in NAMED for sent in AS_SENT]
    asks = [{"ask": named, "id": f"c{number}"} for number, (named, _) in enumerate(pairs)]
    plan(host, *(way for ask, (_, sent) in zip(asks, pairs, strict=True) for way in (ask, sent)))
    for number in range(len(pairs)):
        asked = (await questions(host, number + 1))[number]
        assert (asked.tool_call_id, asked.command) == (f"c{number}", LINE), pairs[max(number - 1, 0)]
        host.answer(asked.id, "allow")
    await over(host)
    assert results(host) == ["a\nb\n"] * len(pairs)
    assert len(host.of(events.Permission)) == len(pairs), pairs[-1]


async def test_a_program_and_its_words_are_granted_as_they_are(host: Host) -> None:
    named = {"title": "Print", "rawInput": {"command": "printf", "args": ["%s-", "a b", "c"]}}
    await granted(host, "allow", {"ask": named}, run("printf", "%s-", "a b", "c"))
    await over(host)
    assert results(host) == ["a b-c-"]
    [asked] = host.of(events.Permission)
    assert asked.request.command == "printf %s- 'a b' c"


async def test_the_command_is_shown_apart_from_title_and_content(host: Host) -> None:
    raw = {"command": ["git", "log", "a b"], "cwd": str(host.cwd)}
    plan(host, {"ask": {"title": "git", "rawInput": raw}})
    [asked] = await questions(host, 1)
    assert (asked.command, asked.cwd) == ("git log 'a b'", str(host.cwd))
    assert (asked.title, asked.content) == ("git", [])


async def test_a_command_that_was_named_before_is_shown_and_grants_nothing(host: Host) -> None:
    ways = ({"update": {"kind": "execute", "rawInput": {"command": LINE}}}, {"ask": {"title": "Run"}}, run(LINE))
    await granted(host, "allow", *ways)
    asked, ours = await questions(host, 2)
    assert (asked.command, ours.command) == (LINE, LINE)


@pytest.mark.parametrize(
    "named",
    [
        {"title": "git log"},
        {"title": "Edit", "kind": "edit", "rawInput": {"command": "str_replace"}},
        {"title": "x", "rawInput": "git log"},
        {"title": "x", "rawInput": {"command": ["a", 5]}},
    ],
)
async def test_what_is_no_command_is_not_shown_as_one(host: Host, named: dict[str, Any]) -> None:
    plan(host, {"ask": named})
    [asked] = await questions(host, 1)
    assert (asked.command, asked.content) == (None, [])


async def test_what_is_shown_stays_when_the_tool_call_changes(host: Host) -> None:
    changed = {"title": "Tidy up", "kind": "read", "rawInput": {"command": "true"}, "content": []}
    host.script("""
        def turn(agent, prompt):
            call = {"toolCallId": "c", "title": "Run", "kind": "execute", "rawInput": {"command": "touch here"}}
            options = [{"optionId": "allow", "name": "Allow", "kind": "allow_once"}]
            params = {"sessionId": prompt.session_id, "toolCall": call, "options": options}
            asked = agent.call("session/request_permission", params)
            prompt.tool_update("c", **json.loads(prompt.text))
            asked.result()
            agent.note(result=prompt.run("true")["output"])
    """)
    host.open()
    host.prompt(json.dumps(changed))
    [asked] = await questions(host, 1)
    await host.until("the change", lambda: [call.title for call in host.calls().values()] == ["Tidy up"])
    host.app.receive("redraw", {"session": 1})
    again = (await questions(host, 2))[1]
    assert again == asked
    assert (asked.title, asked.kind, asked.command) == ("Run", "execute", "touch here")
    host.answer(asked.id, "allow")
    ours = (await questions(host, 3))[2]
    assert ours.command == "true"


async def test_a_grant_belongs_to_its_session(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            if prompt.text == "ask":
                prompt.ask("c", title="Run", kind="execute", rawInput={"command": "echo x"})
                prompt.wait_cancelled()
            else:
                agent.note(session=prompt.session_id)
                agent.note(result=prompt.run("echo x")["output"])
    """)
    for key in (1, 2):
        host.open(key)
    host.prompt("ask", 1)
    [asked] = await questions(host, 1)
    host.answer(asked.id, "allow")
    await host.until("the answer", lambda: host.of(events.PermissionDone, 1))
    host.prompt("run", 2)
    await host.until("a question in the other session", lambda: host.of(events.Permission, 2))
    [ours] = host.of(events.Permission, 2)
    assert ours.request.command == "echo x"
    assert len(host.scripts["it"].notes("started")) == 1
    host.answer(ours.request.id, "reject_once")
    host.cancel(1)
    await host.editor.until_event(events.TurnEnd, 2)
    assert results(host) == []


async def test_a_grant_ends_with_the_agents_process(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            if prompt.text == "ask":
                prompt.ask("c", title="Run", kind="execute", rawInput={"command": "echo x"})
                os._exit(1)
            prompt.tool("c", "Run", kind="execute", status="pending")
            agent.note(result=prompt.run("echo x")["output"])
    """)
    host.open()
    host.prompt("ask")
    [asked] = await questions(host, 1)
    host.answer(asked.id, "allow")
    await over(host)
    host.prompt("run")
    [_, ours] = await questions(host, 2)
    assert ours.command == "echo x"
    host.answer(ours.id, "allow_once")
    await host.editor.until_event(events.TurnEnd, 2)
    assert results(host) == ["x\n"]


async def test_the_title_of_our_question_has_the_beginning_of_a_long_command(host: Host) -> None:
    long = "true " + "x" * 3000
    plan(host, run(long))
    [asked] = await questions(host, 1)
    assert (asked.title, asked.command) == (f"Run {long[:200]} …", long)


async def test_a_command_too_long_to_be_shown_can_only_be_rejected_and_is_not_asked_for(host: Host) -> None:
    long = "true " + "x" * COMMAND_SHOWN_CHARS
    plan(host, {"ask": {"title": "Run", "rawInput": {"command": long}}}, run(long))
    await questions(host, 1)
    [asked] = host.of(events.Permission)
    host.answer(asked.request.id, "allow")
    assert asked.request.command is None
    assert (asked.request.left_out, [one.kind for one in asked.request.options]) == (
        "5 characters of the command",
        ["reject_once"],
    )
    host.answer(asked.request.id, asked.request.options[0].option_id)
    await over(host)
    shown = asked.request.content[0]
    assert (len(shown.text), shown.chars) == (COMMAND_SHOWN_CHARS, len(long) - COMMAND_SHOWN_CHARS)
    [[code, words]] = errors(host)
    assert (code, words) == (
        -32602,
        f"The command has {len(long)} characters. The user cannot be shown more than {COMMAND_SHOWN_CHARS}.",
    )


async def test_who_wants_to_be_asked_always_is(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "DEFAULT", "ask")
    host.hello(permissions={"terminal": "ask"})
    await granted(host, "allow", {"ask": NAMED[0]}, run(LINE))
    [_, ours] = await questions(host, 2)
    host.answer(ours.id, "allow_once")
    await over(host)
    assert results(host) == ["a\nb\n"]


# --- what real agents do ---------------------------------------------------------------------------------------------


def quirky(host: Host, *quirks: str) -> None:
    """Start an agent with these quirks."""
    host.script(AGENT)
    host.config["agents"]["it"]["quirks"] = quirks
    host.hello()
    host.open()


def in_words(command: str) -> dict[str, Any]:
    """A request as Kimi Code has it."""
    text = {"type": "text", "text": f"Requesting approval to Running: {command}"}
    return {"ask": {"title": "Bash", "content": [{"type": "content", "content": text}]}}


async def test_an_agent_may_name_its_command_in_the_text_of_the_request(host: Host) -> None:
    quirky(host, "command_in_content", "cd_before_command")
    where = str(host.cwd)
    ways = (
        in_words(LINE),
        {"update": {"title": f"Running: {LINE}", "status": "in_progress", "rawInput": {"command": LINE}}},
        run("/bin/bash", "-c", f"cd '{where}' && {LINE}", cwd=where),
    )
    await granted(host, "allow", *ways)
    await over(host)
    assert results(host) == ["a\nb\n"]
    [asked] = host.of(events.Permission)
    assert asked.request.command == LINE


async def test_a_line_may_be_run_as_the_words_that_it_has_in_every_shell(host: Host) -> None:
    quirky(host, "words_for_line")
    named = {"title": "execute", "rawInput": {"command": 'printf "%s-" "a b" c'}}
    await granted(host, "allow", {"ask": named}, run("printf", "%s-", "a b", "c"))
    await over(host)
    assert results(host) == ["a b-c-"]
    assert len(host.of(events.Permission)) == 1


# --- the parts -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw_input", "named"),
    [
        ({"command": "ls", "workdir": "/x"}, NamedCommand("ls", "/x")),
        ({"command": ["ls", "-l"]}, NamedCommand(("ls", "-l"))),
        ({"command": ["sh", "-c", "a; b"]}, NamedCommand("a; b")),
        ({"command": ["ls"], "cwd": "/x", "workdir": "/x"}, NamedCommand(("ls",), "/x")),
        ({"command": "ls", "args": ["-l"]}, NamedCommand(("ls", "-l"))),
        ({"command": ["./sh", "-c", "a"]}, NamedCommand(("./sh", "-c", "a"))),
        ({"command": "ls", "cmd": "ls"}, NamedCommand("ls")),
        ({"command": "ls", "cmd": "rm"}, None),
        ({"command": "ls", "args": "-l"}, None),
        ({"command": "ls", "cwd": "/x", "workdir": "/y"}, None),
        ({"command": ["ls"], "cwd": 5}, None),
        ({"command": ""}, None),
        ({"command": []}, None),
        ({}, None),
        (None, None),
        (["ls"], None),
    ],
)
def test_the_command_in_the_input_of_a_tool_call(raw_input: Any, named: NamedCommand | None) -> None:
    assert named_command(raw_input) == named


async def test_reprs_say_how_it_stands(host: Host) -> None:
    host.script(AGENT)
    host.open()
    requests = host.app.sessions[1].requests
    assert repr(requests.terminals) == "<AgentTerminals {} ask_unless_asked>"
    assert repr(requests.permissions.grants) == "<Grants 0>"
