"""Files that make programs run: whatever the rules, the options and earlier answers say, the user is asked."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

import pytest

from acp_nvim.contract import events
from acp_nvim.contract.request_events import PermissionAuto
from tests.core.session.host import Host
from tests.core.session.test_permission_rules import AGENT, ALWAYS, ONCE, ask

pytestmark = pytest.mark.anyio

EVERYTHING = [
    {"action": "allow", "path": "**"},
    {"action": "allow", "path": "/**"},
    {"action": "allow", "kind": ["edit", "delete", "move", "other", "read"]},
    {"action": "allow"},
]
"""All that a user could write to be asked nothing."""


def begin(host: Host, *ways: dict[str, Any], rules: list[dict[str, Any]] | None = None, **config: Any) -> None:
    """The agent begins to do all that, in a project with a repository."""
    if "it" not in host.scripts:
        subprocess.run(["git", "init", "-q", str(host.cwd)], check=True)
        (host.cwd / "link").symlink_to(".git/config")
        (host.cwd / "sub").mkdir()
        (host.cwd / "sub" / ".envrc").symlink_to("../ordinary")
        host.hello(permissions={"rules": EVERYTHING if rules is None else rules}, **config)
        host.script(AGENT)
        host.open()
    host.prompt(json.dumps(ways))


async def question(host: Host, count: int = 1) -> events.RequestView:
    """Wait for the request with that number."""
    await host.editor.until_event(events.Permission, count)
    return host.of(events.Permission)[count - 1].request


GUARDED = [".git/config", ".git/hooks/post-commit", "link", "sub/.git", ".GIT/config", ".nvim.lua", ".envrc", "x/HEAD"]


@pytest.mark.parametrize("outside", ["refuse", "ask"])
async def test_a_write_is_asked_about_whatever_the_rules(host: Host, outside: str) -> None:
    begin(host, *({"write": str(host.cwd / path)} for path in GUARDED), fs={"outside": outside})
    before = {one: one.read_bytes() for one in host.cwd.rglob("*") if one.is_file()}
    for number, path in enumerate(GUARDED, 1):
        asked = await question(host, number)
        assert (asked.kind, asked.title) == ("edit", f"Write {(host.cwd / path).resolve()}"), path
        assert "makes programs run: " in (asked.description or ""), path
        assert [one.kind for one in asked.options] == ["allow_once", "reject_once", "reject_always"], path
        host.answer(asked.id, "reject_once")
    await host.editor.until_event(events.TurnEnd)
    assert host.of(PermissionAuto) == []
    errors = host.scripts["it"].notes("error")
    assert [
        path for path, one in zip(GUARDED, errors, strict=True) if not one.endswith("and the user did not allow it")
    ] == []
    assert {one: one.read_bytes() for one in host.cwd.rglob("*") if one.is_file()} == before
    assert [one for one in GUARDED if (host.cwd / one).exists() and one not in (".git/config", "link")] == []


async def test_the_attack_with_fsmonitor_asks_before_anything_is_written(host: Host) -> None:
    program = host.directory / "ran"
    text = f"[core]\n\trepositoryformatversion = 0\n\tfsmonitor = touch {program}\n"
    rules = [{"action": "allow", "command": "git status *"}, {"action": "allow", "kind": "edit"}]
    begin(host, {"write": str(host.cwd / ".git" / "config"), "text": text}, {"run": "git status"}, rules=rules)
    asked = await question(host)
    assert asked.title == f"Write {host.cwd}/.git/config"
    assert asked.description == (
        f"No rule may allow it, as {host.cwd}/.git/config makes programs run: "
        "git runs hooks and programs that its directory names."
    )
    host.answer(asked.id, "reject_once")
    await host.editor.until_event(events.TurnEnd)
    assert len(host.scripts["it"].notes("result")) == 1  # of git status, which the rule allows
    assert not program.exists()


async def test_to_allow_it_counts_once(host: Host) -> None:
    write = {"write": str(host.cwd / ".git" / "config")}
    begin(host, write, write)
    host.answer((await question(host)).id, "allow_once")
    second = await question(host, 2)
    assert (host.cwd / ".git" / "config").read_text() == "new\n"
    host.answer(second.id, "reject_always")
    await host.editor.until_event(events.TurnEnd)
    begin(host, write)
    await host.editor.until_event(events.TurnEnd, 2)
    assert len(host.of(events.Permission)) == 2
    assert len(host.scripts["it"].notes("error")) == 2


async def test_a_rule_may_reject_it(host: Host) -> None:
    rules = [{"action": "reject", "path": "**/.git/**"}, *EVERYTHING]
    begin(host, {"write": str(host.cwd / ".git" / "config")}, rules=rules)
    await host.editor.until_event(PermissionAuto)
    await host.editor.until_event(events.TurnEnd)
    assert host.of(events.Permission) == []


async def test_an_answer_for_the_session_does_not_count_once_the_file_makes_programs_run(host: Host) -> None:
    box = host.directory / "box"
    box.mkdir()
    write = {"write": str(box / "config")}
    begin(host, write, write, write, rules=[], fs={"outside": "ask"})
    host.answer((await question(host)).id, "allow_always")
    await host.until("it to be written twice", lambda: len(host.scripts["it"].notes("result")) >= 2)
    await host.editor.until_event(events.TurnEnd)
    for name in ("objects", "refs", "HEAD"):
        (box / name).mkdir()
    begin(host, write)
    assert (await question(host, 2)).title.startswith(f"Write {box}/config")


async def test_ordinary_files_and_reading_are_not_asked_about(host: Host) -> None:
    paths = ["a.py", ".gitignore", ".github/workflows/x.yml", "Makefile", "objects/x", "refs/y"]
    ways = [{"write": str(host.cwd / path)} for path in paths]
    begin(host, *ways, {"read": str(host.cwd / ".git" / "HEAD")}, rules=[])
    await host.editor.until_event(events.TurnEnd)
    assert host.of(events.Permission) == []
    assert [(host.cwd / path).read_text() for path in paths] == ["new"] * len(paths)
    assert host.scripts["it"].notes("result")[-1].startswith("ref: ")


async def test_a_file_that_becomes_a_link_meanwhile_is_not_written(host: Host) -> None:
    (host.cwd / "x").mkdir()
    begin(host, {"write": str(host.cwd / "x" / ".envrc")})
    asked = await question(host)
    (host.cwd / "x").rmdir()
    (host.cwd / "x").symlink_to(".git")
    host.answer(asked.id, "allow_once")
    await host.editor.until_event(events.TurnEnd)
    assert not (host.cwd / ".git" / ".envrc").exists()
    assert "another file by now" in host.scripts["it"].notes("error")[0]


CALLS = [
    {"locations": [{"path": ".git/config"}]},
    {"content": [{"type": "diff", "path": "{cwd}/.git/hooks/pre-push", "oldText": None, "newText": "x"}]},
    {"rawInput": {"file_path": "{cwd}/.git/config", "content": "x"}},
    {"rawInput": {"edits": [{"fileName": ".git/config"}]}},
    {"rawInput": {"source": "a", "destination": ".git/hooks/x"}},
    {"rawInput": {"output": "link"}},
    {"rawInput": {"anything": {"at": ["all", ".GIT/config"]}}},
    {"rawInput": {"arguments": '{"path": ".git/config"}'}},
    {"rawInput": {"patch": "*** Begin Patch\n*** Add File: .git/hooks/x\n+y\n*** End Patch"}},
    {"rawInput": {"diff": "this is no patch of .git/config at all"}},
    {"rawInput": {"files": {".nvim.lua": "text"}}},
    {"rawInput": {"path": "a.py", "new_path": ".envrc"}},
    {"rawInput": "write .git/config"},
    {"rawInput": {"x": "word " * 1000 + "\t{cwd}/.Git/config"}},
    {"rawInput": {"x": "a .g\u200cit/config"}},
    {"locations": [{"path": "file://{cwd}/sub/.envrc"}]},
]

MANY = {
    "paths": {"rawInput": {"paths": [f"{number}.py" for number in range(300)] + [".git/config"]}},
    "words": {"rawInput": {"x": "word " * 60000 + ".git/config"}},
    "deep": {"rawInput": {"x": {"x": {"x": {"x": {"x": {"x": [".git/config"]}}}}}}},
    "locations": {"locations": [{"path": f"{number}.py"} for number in range(300)]},
    "long": {"rawInput": {"paths": [f"{'a/' * 300}{number}" for number in range(150)]}},
    "blanks": {"rawInput": {"x": " " * 200_000, "y": "\n" * 200_000}},
}


@pytest.mark.parametrize("kind", ["edit", "delete", "move", "other", "_new"])
async def test_no_rule_answers_a_request_that_names_one(host: Host, kind: str) -> None:
    calls = json.loads(json.dumps(CALLS).replace("{cwd}", str(host.cwd)))
    begin(host, *(ask(kind, [*ONCE, *ALWAYS], **call) for call in calls))
    for number, call in enumerate(calls):
        await host.until(f"a question about {call}", lambda number=number: len(host.of(events.Permission)) > number)
        asked = await question(host, number + 1)
        assert asked.tool_call_id == f"c{number}", call
        assert "makes programs run: " in (asked.description or ""), call
        assert [one for one in asked.options if one.ours] == [], call
        host.answer(asked.id, "allow")  # the option with this id rejects
    await host.editor.until_event(events.TurnEnd)
    assert host.of(PermissionAuto) == []


async def test_no_rule_answers_a_request_that_hides_one_among_many(host: Host) -> None:
    begin(host, *(ask("edit", **call) for call in MANY.values()))
    for number, name in enumerate(MANY):
        await host.until(f"a question about {name}", lambda number=number: len(host.of(events.Permission)) > number)
        asked = await question(host, number + 1)
        assert asked.tool_call_id == f"c{number}", name
        assert "it may name more files than acp_nvim looks at" in (asked.description or ""), name
        host.answer(asked.id, "allow")


@pytest.mark.parametrize("path", ["./" + "a/" * 2000, "a/../" * 1000 + ".git/config", "x" * 60_000])
async def test_no_rule_answers_a_request_with_a_path_that_is_not_looked_up(host: Host, path: str) -> None:
    begin(host, ask("edit", rawInput={"path": path}), {"write": f"{host.cwd}/{path}"})
    asked = await question(host)
    assert "is no path that acp_nvim can look up" in (asked.description or "")
    host.answer(asked.id, "reject")
    await host.editor.until_event(events.TurnEnd)
    assert len(host.scripts["it"].notes("error")) == 1


async def test_no_rule_answers_for_a_file_with_another_name(host: Host) -> None:
    (host.cwd / "a.txt").write_text("a")
    os.link(host.cwd / "a.txt", host.cwd / "notes.txt")
    begin(host, ask("edit", locations=[{"path": "notes.txt"}]), {"write": str(host.cwd / "notes.txt")})
    asked = await question(host)
    assert asked.description == (
        f"No rule may allow it, as {host.cwd}/notes.txt may make programs run: "
        "it has another name (a hard link), which may be that of such a file."
    )
    host.answer(asked.id, "reject")
    host.answer((await question(host, 2)).id, "reject_once")
    await host.editor.until_event(events.TurnEnd)
    assert (host.cwd / "a.txt").read_text() == "a"


async def test_an_answer_for_good_does_not_count_for_them(host: Host) -> None:
    call = ask("edit", locations=[{"path": ".mine/x"}])
    begin(host, call, call, rules=[])
    host.answer((await question(host)).id, "acp_nvim:allow_always")
    await host.editor.until_event(events.TurnEnd)
    assert host.scripts["it"].notes("chosen") == ["reject", "reject"]
    (host.cwd / ".mine").symlink_to(".git")
    begin(host, call)
    assert (await question(host, 2)).options


async def test_requests_about_other_files_and_reading_are_answered_by_rule(host: Host) -> None:
    ways = [
        ask("edit", rawInput={"file_path": "a.py", "new_string": ".git/config"}),
        ask("read", locations=[{"path": ".git/config"}]),
        ask("execute", rawInput={"command": "cat .git/config"}),
        ask("edit", rawInput={"path": "a.py", "diff": "<<< a digit.github x.git\n=== .gitignore git/config\n>>> .env"}),
    ]
    begin(host, *ways)
    await host.editor.until_event(events.TurnEnd)
    assert len(host.of(PermissionAuto)) == 4
