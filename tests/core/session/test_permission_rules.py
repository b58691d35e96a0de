"""Requests that rules answer: with the option of the right kind, shown with the rule, and nobody is asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from acp_nvim.contract import events
from acp_nvim.contract.request_events import PermissionAuto, PermissionRulesListed
from acp_nvim.limits import COMMAND_SHOWN_CHARS
from tests.core.session.host import Host, running_host

pytestmark = pytest.mark.anyio

ONCE = [
    {"optionId": "reject", "name": "Yes", "kind": "allow_once"},
    {"optionId": "allow", "name": "No", "kind": "reject_once"},
]
"""Ids that look like the opposite of their kind."""

ALWAYS = [
    {"optionId": "never", "name": "Always", "kind": "allow_always"},
    {"optionId": "always", "name": "Never", "kind": "reject_always"},
]

AGENT = """
    def attempt(agent, work):
        try:
            agent.note(result=work())
        except Error as error:
            agent.note(error=error.message)

    def turn(agent, prompt):
        for number, way in enumerate(json.loads(prompt.text)):
            if "ask" in way:
                agent.note(chosen=prompt.ask(f"c{number}", way["options"], **way["ask"]))
            elif "run" in way:
                run = {"command": way["run"]} if isinstance(way["run"], str) else dict(way["run"])
                attempt(agent, lambda: prompt.run(run.pop("command"), *run.pop("args", []), **run)["output"])
            elif "write" in way:
                attempt(agent, lambda: prompt.write(way["write"], way.get("text", "new")))
            else:
                attempt(agent, lambda: prompt.read(way["read"]))
        if "cancel" in prompt.text:
            prompt.wait_cancelled()
            agent.note(late=prompt.ask("late", json.loads(prompt.text)[-1]["options"], title="x", kind="edit"))
"""

V2 = """
    INITIALIZE = {"protocolVersion": 2, "info": {"name": "v2", "version": "1"}, "capabilities": {"session": {}}}

    def turn(agent, prompt):
        prompt.update("state_update", state="running")
        for way in json.loads(prompt.text):
            answer = prompt.request("session/request_permission", **way)
            agent.note(chosen=answer["outcome"].get("optionId"))
        prompt.update("state_update", state="idle", stopReason="end_turn")
        return {}
"""


def ask(kind: str = "execute", options: list[Any] | None = None, **call: Any) -> dict[str, Any]:
    """The agent asks for that tool call."""
    return {"ask": {"title": "Do it", "kind": kind, **call}, "options": ONCE if options is None else options}


def command(line: str | list[str], options: list[Any] | None = None, **more: Any) -> dict[str, Any]:
    """The agent asks for that command."""
    return ask("execute", options, rawInput={"command": line, **more})


def a_text(words: str) -> dict[str, Any]:
    """Return a text as content of a tool call."""
    return {"type": "content", "content": {"type": "text", "text": words}}


def rule(action: str, **conditions: Any) -> dict[str, Any]:
    """Return a rule as the configuration has it."""
    return {"action": action, **conditions}


async def turn(host: Host, rules: list[dict[str, Any]], *ways: dict[str, Any], source: str = AGENT) -> list[Any]:
    """With these rules the agent does all that, nobody being asked: what was chosen."""
    begin(host, rules, *ways, source=source)
    await host.editor.until_event(events.TurnEnd, len(host.of(events.TurnStart)) or 1)
    assert host.of(events.Permission) == []
    return host.scripts["it"].notes("chosen")


def begin(host: Host, rules: list[dict[str, Any]], *ways: dict[str, Any], source: str = AGENT) -> None:
    """The agent begins to do all that."""
    host.hello(permissions={**host.config.get("permissions", {}), "rules": rules})
    if "it" not in host.scripts:
        host.script(source)
        host.open()
    host.prompt(json.dumps(ways))


async def question(host: Host, count: int = 1) -> events.RequestView:
    """Wait for the request with that number."""
    await host.editor.until_event(events.Permission, count)
    return host.of(events.Permission)[count - 1].request


async def decided(
    host: Host, rules: list[dict[str, Any]], *ways: dict[str, Any], source: str = AGENT
) -> list[events.Permission | PermissionAuto]:
    """The agent does all that, in one turn, and the user rejects what is asked; what each way led to."""
    ways = tuple(json.loads(json.dumps(ways).replace("{cwd}", str(host.cwd))))
    begin(host, rules, *ways, source=source)
    for number, way in enumerate(ways):
        await host.until(f"a decision on {way}", lambda number=number: len(decisions(host)) > number)
        last = decisions(host)[number]
        if isinstance(last, events.Permission):
            options = last.request.options
            rejects = [one.option_id for one in options if one.kind.startswith("reject") and not one.ours]
            host.answer(last.request.id, rejects[0] if rejects else options[0].option_id)
    await host.editor.until_event(events.TurnEnd)
    return decisions(host)


def decisions(host: Host) -> list[events.Permission | PermissionAuto]:
    """What was asked and what a rule has answered, in order."""
    return [one for one in host.editor.events if isinstance(one, events.Permission | PermissionAuto)]


def check_asked(ways: list[dict[str, Any]], found: list[events.Permission | PermissionAuto]) -> None:
    """No rule has answered any of these ways."""
    assert [way for way, one in zip(ways, found, strict=True) if not isinstance(one, events.Permission)] == []


# --- an answer by rule -----------------------------------------------------------------------------------------------


async def test_an_answer_is_by_kind_and_is_shown_with_its_rule(host: Host) -> None:
    rules = [rule("reject", command="rm *"), rule("allow", agent="it", kind="execute", command="git status*")]
    ways = [command("git status -s"), command("rm x"), command("sudo rm x")]
    assert await turn(host, rules, *ways) == ["reject", "allow", "allow"]
    allowed, rejected, also = host.of(PermissionAuto)
    assert (allowed.option_id, allowed.name, allowed.kind, allowed.source) == ("reject", "Yes", "allow_once", "config")
    assert allowed.rule == "allow agent it kind execute command git status*"
    assert (allowed.request.title, allowed.request.tool_call_id) == ("Do it", "c0")
    assert (allowed.request.command, allowed.request.content) == ("git status -s", [])
    assert (rejected.kind, rejected.rule, also.rule) == ("reject_once", "reject command rm *", "reject command rm *")
    assert len({one.request.id for one in (allowed, rejected, also)}) == 3
    assert host.of(events.PermissionDone) == []
    assert [call.status for call in host.calls().values()] == ["unfinished", "rejected", "rejected"]
    status = host.status()
    assert status is not None
    assert status.pending_permissions == 0


async def test_a_redraw_shows_it_again(host: Host) -> None:
    await turn(host, [rule("allow")], command("ls"))
    host.app.receive("redraw", {"session": 1})
    first, again = host.of(PermissionAuto)
    assert first == again


async def test_it_stands_in_order_with_what_is_asked(host: Host) -> None:
    begin(host, [rule("allow", command="ls *")], command("ls"), command("make"), command("ls -l"))
    asked = await question(host)
    host.answer(asked.id, "allow")
    await host.editor.until_event(events.TurnEnd)
    blocks = [one.block for one in host.of(PermissionAuto)]
    [between] = [one.block for one in host.of(events.Permission)]
    assert blocks[0] < between < blocks[1]


@pytest.mark.parametrize(("action", "chosen"), [("allow", ["reject", "never"]), ("reject", ["allow", "always"])])
async def test_once_is_enough(host: Host, action: str, chosen: list[str]) -> None:
    assert await turn(host, [rule(action)], ask("edit", [*ALWAYS, *ONCE]), ask("edit", ALWAYS)) == chosen


NOT_ALLOWING: list[list[dict[str, str]]] = [
    [{"optionId": "allow", "name": "Allow", "kind": "reject_once"}],
    [{"optionId": "allow", "name": "Allow", "kind": "allow"}],
    [
        {"optionId": "x", "name": "Allow", "kind": "allow_once"},
        {"optionId": "x", "name": "No", "kind": "reject_once"},
    ],
]
"""Options of which none is sure to allow it."""


async def test_without_an_option_that_means_it_the_user_is_asked(host: Host) -> None:
    found = await decided(host, [rule("allow")], *(ask("edit", options) for options in NOT_ALLOWING))
    # what may mean either is not offered
    assert [[option.name for option in one.request.options] for one in found] == [
        [one[-1]["name"]] for one in NOT_ALLOWING
    ]
    assert host.of(PermissionAuto) == []


NAMING = [
    command("git status", title="rm x"),
    command(["git", "status"]),
    command(["bash", "-lc", "git status"]),
    command("git", args=["status"]),
    command("cd '{cwd}' && git status", cwd="{cwd}"),
    command("git status", env={"NO_COLOR": "1"}),
    ask("other", rawInput={"cmd": "git status"}),
]


async def test_ways_to_name_a_command(host: Host) -> None:
    for way in NAMING:
        way["ask"] = {"title": "Run"} | way["ask"]
    found = await decided(host, [rule("allow", command="git status")], *NAMING)
    assert [way for way, one in zip(NAMING, found, strict=True) if not isinstance(one, PermissionAuto)] == []
    assert host.scripts["it"].notes("chosen") == ["reject"] * len(NAMING)


MORE = [
    ask("execute", title="git status"),
    ask("execute", title="git status", rawInput={"command": 5}),
    command("make", title="git status"),
    command(["git status"]),
    command(["./bash", "-c", "git status"]),
    command(["git", 5]),
    command("git status", args=["; make"]),
    command("git status", cmd="make"),
    command("git status", cwd="/"),
    command("git status", env={"LD_PRELOAD": "x"}),
    command("git status", env={"TERM": "$(make)"}),
    command("git status", env={"SHELL": "/tmp/x"}),
    command("git status", env=["x"]),
    command("git status; make"),
    command("cd {cwd}/x; make && git status", cwd="{cwd}/x; make"),
    command('cd "{cwd}/$(make)" && git status', cwd="{cwd}/$(make)"),
    command("cd '{cwd}/'make'' && git status", cwd="{cwd}/'make'"),
    ask("edit", rawInput={"command": "git status"}),
    ask(
        "execute",
        rawInput={"command": "git status"},
        content=[{"type": "diff", "path": "a", "oldText": "", "newText": "b"}],
    ),
]


async def test_what_is_more_than_the_command_or_is_only_said_asks(host: Host) -> None:
    check_asked(MORE, await decided(host, [rule("allow", command="git status")], *MORE))


BEYOND: list[dict[str, Any]] = [
    {"script": "make"},
    {"then": "make"},
    {"pre": "make"},
    {"commands": ["make"]},
    {"input": "y"},
    {"environment": {"LD_PRELOAD": "x"}},
    {"shell": "/tmp/sh"},
    {"stdin": "y"},
    {"directory": "/"},
    {"dangerouslyDisableSandbox": True},
    {"with_escalated_permissions": True},
]
"""Members of an input that make another thing of the same command."""


async def test_a_command_that_is_not_completely_known_is_asked_and_says_why(host: Host) -> None:
    ways = [command("git status", **more) for more in BEYOND]
    ways.append(ask("execute", rawInput={"command": "git status"}, content=[a_text("$ make")]))
    found = await decided(host, [rule("allow", command="git status *")], *ways)
    check_asked(ways, found)
    remarks = ["\n".join(one.request.remarks) for one in found]
    assert [name in said for said, more in zip(remarks, BEYOND, strict=False) for name in more].count(False) == 2
    assert [one.request.env for one in found if one.request.env] == [["LD_PRELOAD=x"]]
    assert [one.request.cwd for one in found if one.request.cwd] == ["/"]
    assert "run without the sandbox" in remarks[-2]
    assert remarks[-1].endswith('content: "make"')


async def test_an_answer_for_good_does_not_cover_what_is_not_completely_known(host: Host) -> None:
    begin(host, [], command("git status"))
    host.answer((await question(host)).id, "acp_nvim:allow_always")
    await host.editor.until_event(events.TurnEnd)
    ways = [command("git status", description="Show", timeout=5), *(command("git status", **more) for more in BEYOND)]
    begin(host, [], *ways)
    for number in range(len(BEYOND)):
        asked = await question(host, number + 2)
        assert offered(asked) == []
        host.answer(asked.id, "allow")
    await host.editor.until_event(events.TurnEnd, 2)
    assert host.scripts["it"].notes("chosen") == ["reject", "reject", *["allow"] * len(BEYOND)]


ABOUT_PATHS: list[tuple[dict[str, Any], str]] = [
    ({"locations": [{"path": "src/a"}]}, "allow"),
    ({"locations": [{"path": "{cwd}/src/../src/a"}]}, "allow"),
    ({"locations": [{"path": "src/a"}, {"path": "b"}]}, "ask"),
    ({"locations": [{"path": "src/../b"}]}, "ask"),
    ({"locations": [{"path": "src/link/a"}]}, "ask"),
    ({"locations": [{"path": "src/circle/../link/a"}]}, "ask"),
    ({"rawInput": {"file_path": "src/a"}}, "allow"),
    ({"rawInput": {"filePath": "src/a", "content": "/etc/passwd"}}, "allow"),
    ({"rawInput": {"abs_path": "file://{cwd}/src/a%20b"}}, "allow"),
    ({"rawInput": {"changes": {"{cwd}/src/a": {"type": "update"}}}}, "allow"),
    ({"rawInput": {"changes": {"{cwd}/b": {"type": "update"}}}}, "ask"),
    ({"rawInput": {"edits": [{"path": "src/a"}, {"path": "b"}]}}, "ask"),
    ({"rawInput": {"paths": ["src/a", "b"]}}, "ask"),
    ({"rawInput": {"source": "src/a", "destination": "../b"}}, "ask"),
    ({"rawInput": {"path": "src/a\0"}}, "ask"),
    ({"rawInput": {"path": "src/a", "a": {"b": {"c": {"d": {"e": {"f": {"path": "x"}}}}}}}}, "ask"),
    ({"locations": [{"path": "src/a"}], "rawInput": {"path": "b"}}, "ask"),
    ({"rawInput": {"uri": "http://x/src", "path": "src/a"}}, "allow"),
    ({"content": [{"type": "diff", "path": "src/a", "oldText": None, "newText": "b"}]}, "allow"),
    ({"content": [{"type": "diff", "path": "b", "oldText": None, "newText": "b"}]}, "ask"),
    ({"rawInput": "src/a"}, "ask"),
    ({}, "ask"),
    ({"kind": "delete", "locations": [{"path": "src/a"}]}, "ask"),
]
"""Tool calls, and whether a rule about `src/**` may allow them."""


async def test_all_paths_have_to_be_there(host: Host) -> None:
    (host.cwd / "src").mkdir()
    (host.cwd / "src" / "link").symlink_to(host.directory)
    (host.cwd / "src" / "circle").symlink_to("circle")
    ways = [ask(**{"kind": "edit", **call}) for call, _ in ABOUT_PATHS]
    found = await decided(host, [rule("allow", kind=["edit", "move"], path="src/**")], *ways)
    actions = ["allow" if isinstance(one, PermissionAuto) else "ask" for one in found]
    assert list(zip((call for call, _ in ABOUT_PATHS), actions, strict=True)) == ABOUT_PATHS


async def test_any_path_is_enough_to_reject(host: Host) -> None:
    rules = [rule("reject", path="**/.env"), rule("allow", kind="edit")]
    both = [{"path": "src/a"}, {"path": ".env"}]
    ways = [ask("edit", locations=both), ask("edit", locations=both[:1])]
    assert await turn(host, rules, *ways) == ["allow", "reject"]


async def test_who_shows_a_change_does_not_only_read(host: Host) -> None:
    change = [{"type": "diff", "path": "a", "oldText": None, "newText": "b"}]
    begin(host, [rule("allow", kind="read")], ask("read", content=change))
    await question(host)


async def test_after_a_cancel_no_rule_answers(host: Host) -> None:
    begin(host, [rule("allow")], {**ask("edit"), "why": "cancel"})
    await host.editor.until_event(PermissionAuto)
    host.cancel()
    await host.editor.until_event(events.TurnEnd)
    assert len(host.of(PermissionAuto)) == 1
    await host.editor.until_event(events.PermissionDone)
    assert [done.outcome for done in host.of(events.PermissionDone)] == ["cancelled"]


async def test_rules_may_change_at_any_time(host: Host) -> None:
    assert await turn(host, [rule("allow")], ask("edit")) == ["reject"]
    host.hello(permissions={"rules": [rule("reject")]})
    host.prompt(json.dumps([ask("edit")]))
    await host.editor.until_event(events.TurnEnd, 2)
    assert host.scripts["it"].notes("chosen") == ["reject", "allow"]


# --- version 2 -------------------------------------------------------------------------------------------------------


def v2(subject: dict[str, Any] | None, **more: Any) -> dict[str, Any]:
    """Return the parameters of a request of version 2."""
    shown = {} if subject is None else {"subject": subject}
    return {"title": "git status", "description": "It is harmless", "options": ONCE, **shown, **more}


async def test_the_subject_decides_in_version_2(host: Host) -> None:
    host.hello(protocol={"v2": True})
    call = {"toolCallId": "c", "title": "Run", "kind": "execute", "rawInput": {"command": "git status"}}
    rules = [rule("allow", command="git status"), rule("reject", command="rm *")]
    ways = [
        v2({"type": "command", "command": "git status", "cwd": str(host.cwd)}),
        v2({"type": "tool_call", "toolCall": call}),
        v2({"type": "command", "command": "ls; rm x", "cwd": str(host.cwd)}),
    ]
    assert await turn(host, rules, *ways, source=V2) == ["reject", "reject", "allow"]
    first = host.of(PermissionAuto)[0].request
    assert (first.title, first.description, first.kind) == ("git status", "It is harmless", "execute")
    assert (first.command, first.cwd, first.content) == ("git status", str(host.cwd), [])


OTHERS_V2: list[dict[str, Any] | None] = [
    None,
    {"type": "command", "command": "git status", "cwd": "/"},
    {"type": "command", "command": "git status & make", "cwd": "{cwd}"},
    {"type": "_new", "command": "git status"},
]


async def test_what_is_not_that_command_asks_in_version_2(host: Host) -> None:
    host.hello(protocol={"v2": True})
    ways = [v2(subject) for subject in OTHERS_V2]
    found = await decided(host, [rule("allow", command="git status")], *ways, source=V2)
    check_asked(ways, found)
    assert {(one.request.title, one.request.description) for one in found} == {("git status", "It is harmless")}


# --- terminals -------------------------------------------------------------------------------------------------------


def run(line: str, *args: str, **more: Any) -> dict[str, Any]:
    """The agent runs it in a terminal."""
    return {"run": {"command": line, **({"args": args} if args else {}), **more}}


async def test_a_rule_runs_a_command_or_does_not(host: Host) -> None:
    rules = [rule("allow", command="echo *"), rule("reject", command="touch *")]
    harmless = [{"name": "NO_COLOR", "value": "1"}]
    ways = [run("echo a; echo b"), run("echo", "a;b"), run("/bin/sh", "-c", "echo c", env=harmless), run("touch x")]
    await turn(host, rules, *ways)
    assert host.scripts["it"].notes("result") == ["a\nb\n", "a;b\n", "c\n"]
    assert host.scripts["it"].notes("error") == ["The user did not allow to run: touch x"]
    assert [one.kind for one in host.of(PermissionAuto)] == ["allow_once"] * 3 + ["reject_once"]
    assert host.of(PermissionAuto)[0].request.title == "Run echo a; echo b"


OTHERS = [
    run("echo a > f"),
    run("echo $(make)"),
    run("echo a", env=[{"name": "LD_PRELOAD", "value": "x"}]),
    run("./sh", "-c", "echo a"),
    run("./echo a"),
    run("env", "echo", "a"),
]


async def test_any_other_is_asked_for(host: Host) -> None:
    for name in ("sh", "echo a"):  # programs that only look like it
        (host.cwd / name).write_text("#!/bin/sh\n")
        (host.cwd / name).chmod(0o755)
    check_asked(
        OTHERS, await decided(host, [rule("allow", command="echo *"), rule("allow", command="./echo *")], *OTHERS)
    )


async def test_a_shell_that_reads_lines_in_another_way_is_asked_for(host: Host) -> None:
    (host.directory / "nu").symlink_to("/bin/sh")
    host.hello(shell=str(host.directory / "nu"))
    begin(host, [rule("allow", command="echo *")], run("echo", "a"), run("echo a\\;b"))
    asked = await question(host)
    assert asked.title == "Run echo a\\;b"
    assert host.scripts["it"].notes("result") == ["a\n"]


async def test_lines_are_not_for_a_users_shell_that_reads_them_in_another_way(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    (host.directory / "fish").write_text("#!/bin/sh\necho fish\n")
    (host.directory / "fish").chmod(0o755)
    monkeypatch.setenv("SHELL", str(host.directory / "fish"))
    begin(host, [rule("allow", command="echo *")], run("echo a\\;b"))
    await host.editor.until_event(events.TurnEnd)
    assert host.scripts["it"].notes("result") == ["a;b\n"]


async def test_what_a_rule_has_allowed_in_words_only_may_not_be_run(host: Host) -> None:
    begin(host, [rule("allow", kind="other")], ask("other", title="touch x"), run("touch x"))
    asked = await question(host)
    assert asked.title == "Run touch x"


async def test_a_rule_answers_the_request_and_then_the_terminal_for_the_same_command(host: Host) -> None:
    begin(host, [rule("allow", kind="execute", command="echo *")], command("echo a"), run("echo a"))
    await host.editor.until_event(events.TurnEnd)
    assert host.scripts["it"].notes("result") == ["a\n"]
    assert [one.request.command for one in host.of(PermissionAuto)] == ["echo a"] * 2
    assert host.of(events.Permission) == []


AROUND = [
    {"command": "ls", "args": "-l; rm x"},
    {"command": "ls", "args": {"0": "x"}},
    {"command": "ls\u00a0"},
    {"command": "ls\u2028"},
    {"command": ["./sh", "-c", "ls"]},
]


async def test_a_rule_about_a_command_is_not_about_one_with_something_around_it(host: Host) -> None:
    ways = [ask(rawInput=raw) for raw in AROUND]
    check_asked(ways, await decided(host, [rule("allow", command="ls")], *ways))


@pytest.mark.parametrize(
    "raw",
    [
        {"command": "ls", "cwd": "{cwd}", "workdir": "{cwd}/sub"},
        {"command": "ls " + "x" * COMMAND_SHOWN_CHARS},
    ],
    ids=["two directories", "too long"],
)
async def test_what_cannot_be_read_is_not_allowed_for_good(host: Host, raw: dict[str, Any]) -> None:
    (host.cwd / "sub").mkdir()
    placed = {name: value.replace("{cwd}", str(host.cwd)) for name, value in raw.items()}
    begin(host, [], ask(rawInput=placed))
    asked = await question(host)
    assert asked.command is None
    offered = ["allow"] if asked.left_out else ["reject", "allow"]  # the ids of options have no meaning
    assert [one.option_id for one in asked.options] == offered


async def test_a_kept_answer_is_about_just_that_command(host: Host) -> None:
    for number, line in enumerate(["true", "true ", "true\n"]):
        begin(host, [], command(line))
        asked = await question(host, number + 1)
        host.answer(asked.id, "acp_nvim:allow_always")
        await host.editor.until_event(events.TurnEnd, number + 1)


async def test_what_a_rule_has_allowed_without_a_look_at_the_command_grants_no_terminal(host: Host) -> None:
    rules = [rule("reject", kind="execute", command="touch *"), rule("allow", kind="other")]
    begin(host, rules, ask("other", rawInput={"command": "true"}), run("touch here"), run("true"))
    ours = await question(host)
    assert ours.command == "true"
    host.answer(ours.id, "allow_once")
    await host.editor.until_event(events.TurnEnd)
    assert host.scripts["it"].notes("chosen") == ["reject"]
    assert len(host.scripts["it"].notes("error")) == 1


async def test_where_terminals_are_allowed_rules_still_reject_and_ask(host: Host) -> None:
    host.hello(permissions={"terminal": "allow"})
    rules = [rule("reject", command="touch *"), rule("ask", command="echo b"), rule("allow", command="echo c")]
    begin(host, rules, run("echo a"), run("touch x"), run("echo c"), run("echo b"))
    asked = await question(host)
    assert asked.title == "Run echo b"
    assert host.scripts["it"].notes("result") == ["a\n", "c\n"]
    assert [one.rule for one in host.of(PermissionAuto)] == ["reject command touch *", "allow command echo c"]
    host.answer(asked.id, "allow_once")
    await host.editor.until_event(events.TurnEnd)


async def test_where_all_is_asked_for_rules_answer_first(host: Host) -> None:
    host.hello(permissions={"terminal": "ask"})
    begin(host, [rule("allow", command="echo a")], run("echo a"), command("echo b"), run("echo b"))
    host.answer((await question(host, 1)).id, "reject")
    asked = await question(host, 2)
    assert asked.title == "Run echo b"
    assert host.scripts["it"].notes("result") == ["a\n"]


# --- files outside ---------------------------------------------------------------------------------------------------


async def test_a_rule_about_absolute_paths_opens_files_outside(host: Host) -> None:
    outside = host.directory / "outside"
    outside.mkdir()
    (outside / "notes").write_text("text")
    (outside / "secret").write_text("secret")
    host.hello(fs={"outside": "ask"})
    rules = [rule("reject", path=f"{outside}/s*"), rule("allow", kind="read", path=f"{outside}/**"), rule("allow")]
    await turn(host, rules, {"read": str(outside / "notes")}, {"read": str(outside / "secret")})
    assert host.scripts["it"].notes("result") == ["text"]
    assert [one.kind for one in host.of(PermissionAuto)] == ["allow_once", "reject_once"]


async def test_a_rule_without_a_path_opens_nothing_outside(host: Host) -> None:
    (host.directory / "secret").write_text("secret")
    host.hello(fs={"outside": "ask"})
    begin(host, [rule("allow"), rule("allow", kind="read")], {"read": str(host.directory / "secret")})
    await question(host)


async def test_where_nothing_is_asked_rules_open_nothing(host: Host) -> None:
    (host.directory / "notes").write_text("text")
    await turn(host, [rule("allow", path="/**")], {"read": str(host.directory / "notes")})
    assert len(host.scripts["it"].notes("error")) == 1
    assert host.of(PermissionAuto) == []


# --- answers for good ------------------------------------------------------------------------------------------------


def offered(request: events.RequestView) -> list[tuple[str, str]]:
    """Return the options that the host has added."""
    return [(one.option_id, one.name) for one in request.options if one.ours]


def told_rules(host: Host) -> list[Any]:
    """What the editor was told of rules, at last."""
    host.app.receive("permission_rules", {"cwd": str(host.cwd)})
    return host.editor.all(PermissionRulesListed)[-1].rules


async def test_an_answer_for_good_answers_the_agent_once_and_is_kept(host: Host, tmp_path: Path) -> None:
    begin(host, [], command("make > log"), command("make > log"), command("make"))
    asked = await question(host)
    assert offered(asked) == [
        ("acp_nvim:allow_always", "Always allow this command in this project"),
        ("acp_nvim:reject_always", "Always reject this command in this project"),
    ]
    host.answer(asked.id, "acp_nvim:allow_always")
    other = await question(host, 2)
    assert host.scripts["it"].notes("chosen") == ["reject", "reject"]
    [done] = host.of(events.PermissionDone)
    assert (done.option_id, done.name) == ("acp_nvim:allow_always", "Always allow this command in this project")
    [auto] = host.of(PermissionAuto)
    assert (auto.source, auto.rule) == ("stored", "allow agent it kind execute command make > log")
    host.answer(other.id, "acp_nvim:reject_always")
    await host.editor.until_event(events.TurnEnd)
    assert host.scripts["it"].notes("chosen")[2] == "allow"
    await host.until("both to be written", lambda: all(one.time for one in told_rules(host)))
    assert [(one.action, one.command, one.source) for one in told_rules(host)] == [
        ("reject", "make", "stored"),
        ("allow", "make > log", "stored"),
    ]
    (tmp_path / "second").mkdir()
    async with running_host(tmp_path / "second", beside=host) as second:
        assert await turn(second, [], command("make > log"), command("make")) == ["reject", "allow"]


async def test_a_command_with_a_secret_gets_no_answer_that_would_be_stored(host: Host) -> None:
    lines = ["curl -H 'X-Api-Key: abc' http://x", "run --password hunter2", "make " + "x" * 33_000, "curl -u a:$B x"]
    begin(host, [], *map(command, lines))
    for number, is_offered in enumerate([False, False, False, True], 1):
        asked = await question(host, number)
        assert bool(offered(asked)) == is_offered
        host.answer(asked.id, asked.options[0].option_id)


async def test_what_is_forgotten_is_asked_for_again(host: Host) -> None:
    begin(host, [rule("allow", command="ls")], command("make"))
    host.answer((await question(host)).id, "acp_nvim:allow_always")
    await host.editor.until_event(events.TurnEnd)
    await host.until("it to be written", lambda: told_rules(host)[-1].time)
    configured, stored = told_rules(host)
    assert (configured.id, configured.source, configured.command) == ("config-1", "config", "ls")
    before = len(host.editor.all(PermissionRulesListed))
    host.app.receive("permission_forget", {"cwd": str(host.cwd), "id": stored.id})
    await host.editor.until_event(PermissionRulesListed, before + 1)
    assert [one.id for one in host.editor.all(PermissionRulesListed)[-1].rules] == ["config-1"]
    host.prompt(json.dumps([command("make")]))
    await question(host, 2)


async def test_an_answer_for_files_is_about_these_files(host: Host) -> None:
    two = {"locations": [{"path": "a"}, {"path": "b"}]}
    begin(host, [], ask("edit", **two), ask("edit", locations=[{"path": "b"}, {"path": "./a"}]), ask("delete", **two))
    asked = await question(host)
    assert offered(asked)[0][1] == "Always allow edit of a, b in this project"
    host.answer(asked.id, "acp_nvim:allow_always")
    again = await question(host, 2)
    assert (again.kind, len(host.of(PermissionAuto))) == ("delete", 1)


NOT_KEPT = [
    ask("edit"),
    ask("execute"),
    ask("think", locations=[{"path": "a"}]),
    ask("other", locations=[{"path": "a"}]),
    command("make", [*ONCE, *ALWAYS]),
    command("make", cwd="/"),
    command("make", env={"A": "b"}),
    command("make", ALWAYS),
    ask("edit", locations=[{"path": "a\0"}]),
]


async def test_where_nothing_could_be_kept_nothing_of_ours_is_offered(host: Host) -> None:
    found = await decided(host, [], *NOT_KEPT)
    check_asked(NOT_KEPT, found)
    assert [way for way, one in zip(NOT_KEPT, found, strict=True) if offered(one.request)] == []


async def test_only_what_the_agent_lacks_is_added(host: Host) -> None:
    begin(host, [], command("make", [*ONCE, ALWAYS[0]]))
    assert [one for one, _ in offered(await question(host))] == ["acp_nvim:reject_always"]


async def test_who_wants_to_be_asked_is_not_offered_the_opposite(host: Host) -> None:
    begin(host, [rule("ask", command="make *")], command("make"))
    assert offered(await question(host)) == []


async def test_a_rule_in_the_configuration_comes_before_what_is_kept(host: Host) -> None:
    begin(host, [], command("make"))
    host.answer((await question(host)).id, "acp_nvim:allow_always")
    await host.editor.until_event(events.TurnEnd)
    host.hello(permissions={"rules": [rule("reject", command="make")]})
    host.prompt(json.dumps([command("make")]))
    await host.editor.until_event(events.TurnEnd, 2)
    assert host.scripts["it"].notes("chosen") == ["reject", "allow"]


async def test_why_a_request_was_cancelled_is_told(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            shown = {"sessionId": prompt.session_id, "toolCall": {"toolCallId": "c"}, "options": []}
            first = agent.call("session/request_permission", shown, 70)
            agent.notify("$/cancel_request", {"requestId": 70})
            first.result()
            second = agent.call("session/request_permission", shown, 71)
            second.result()
    """)
    host.open()
    host.prompt("go")
    await host.editor.until_event(events.Permission, 2)
    host.cancel()
    await host.editor.until_event(events.PermissionDone, 2)
    assert [done.why for done in host.of(events.PermissionDone)] == ["withdrawn", "cancelled"]
