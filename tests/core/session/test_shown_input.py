"""What rules, stored answers and grants read of a call's input is in the request that the user sees."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_nvim.acp.answers import PermissionAsked
from acp_nvim.acp.updates import ToolCallChanged
from acp_nvim.acp.v1 import DialectV1
from acp_nvim.contract import events
from acp_nvim.permissions.input_members import of_command, of_other
from acp_nvim.permissions.input_paths import input_paths
from acp_nvim.permissions.member_names import OTHER_COMMANDS
from acp_nvim.permissions.pending import PendingPermissions
from acp_nvim.permissions.policy import Policy
from acp_nvim.permissions.request.agent_permissions import AgentPermissions
from acp_nvim.permissions.request.bounds import Refusals
from acp_nvim.permissions.request.broker import PermissionBroker, with_ours
from acp_nvim.permissions.request.previews import Previews
from acp_nvim.permissions.request.subject import SessionPaths
from acp_nvim.tasks import Tasks
from acp_nvim.transcript.presenter import Presenter
from acp_nvim.workspace.roots import Roots
from tests.core.permissions.test_asked_commands import raw
from tests.support.examples import examples
from tests.support.fake_editor import FakeEditor

Json = dict[str, Any]
OPTIONS = [
    {"optionId": "allow", "name": "Allow", "kind": "allow_once"},
    {"optionId": "reject", "name": "Reject", "kind": "reject_once"},
]


class Screen:
    """Makes the requests of a session in `cwd`, as they are shown to the user."""

    def __init__(self, cwd: Path) -> None:
        self.cwd = cwd
        roots = Roots([str(cwd)])
        self.presenter = Presenter(1, str(cwd), FakeEditor(), lambda: None)
        refusals = Refusals("it", self.presenter)
        tasks = cast(Tasks, None)
        previews = cast(Previews, None)
        policy, pending = cast(Policy, None), PendingPermissions()
        broker = PermissionBroker(self.presenter, pending, policy, roots, previews, refusals, tasks, lambda: None)
        where = SessionPaths("it", str(cwd), roots)
        self._permissions = AgentPermissions(self.presenter, where, broker, refusals, no_names)
        self._count = 0

    def update(self, **update: Any) -> None:
        """Present an update of the agent."""
        _, update_ = DialectV1().update(raw({"sessionId": "s", "update": update}))
        self.presenter.update(update_)

    def asked(self, call: Json, **beyond: Any) -> events.RequestView:
        """What the user is asked for the request of a call."""
        self._count += 1
        call = {"toolCallId": f"c{self._count}", **in_directory(call, self.cwd)}
        params = {"sessionId": "s", "toolCall": call, "options": OPTIONS, **beyond}
        _, asked = DialectV1().asked("session/request_permission", raw(params))
        assert isinstance(asked, PermissionAsked)
        assert asked.patch is not None
        self.presenter.update(ToolCallChanged(asked.patch, asks=True))
        request = self._permissions.request(asked)
        request.view.options = with_ours(request)
        return request.view


async def no_names() -> None:
    """Name no files."""


def in_directory(value: Any, cwd: Path) -> Any:
    """The value with the names of the session's directory, and of that above it."""
    text = json.dumps(value).replace("{cwd}", str(cwd)).replace("{above}", str(cwd.parent))
    return json.loads(text)


@pytest.fixture
def screen(tmp_path: Path) -> Screen:
    cwd = tmp_path / "project"
    cwd.mkdir()
    return Screen(cwd)


def input_of(request: events.RequestView) -> list[str]:
    return [f"{one.name}: {one.text}" for one in request.input]


def diff(path: str, old: str | None, new: str) -> Json:
    return {"type": "diff", "path": path, "oldText": old, "newText": new}


SHOWN: dict[str, tuple[Json, list[str]]] = {
    "a file to write": (
        {"kind": "edit", "title": "write", "rawInput": {"path": "{cwd}/.env", "content": "SECRET=1"}},
        ["path: {cwd}/.env", "content: SECRET=1"],
    ),
    "a file to delete": ({"kind": "delete", "title": "rm", "rawInput": {"file_path": "a"}}, ["file_path: a"]),
    "two files to move": (
        {"kind": "move", "title": "mv", "rawInput": {"source": "x/a", "destination": "x/b"}},
        ["source: x/a", "destination: x/b"],
    ),
    "an address": (
        {"kind": "fetch", "title": "Fetch", "rawInput": {"url": "https://example.org/?q=1", "prompt": "sum up"}},
        ["url: https://example.org/?q=1", "prompt: sum up"],
    ),
    "a tool of which nothing is known": (
        {"title": "mcp", "rawInput": {"db": "main", "rows": [1, 2], "where": {"id": 4, "x y": None}, "dry": False}},
        ["db: main", "rows: [1,2]", "where.id: 4", 'where."x y": null', "dry: false"],
    ),
    "an input that is a text": ({"title": "T", "rawInput": "rm it"}, ["input: rm it"]),
    "a command of a kind that has none": (
        {"kind": "edit", "title": "T", "rawInput": {"path": "a", "command": "make all"}},
        ["path: a"],  # the command is among the remarks
    ),
    "what the change shows": (
        {
            "kind": "edit",
            "title": "Edit",
            "content": [diff("{cwd}/a.py", "x = 1\n", "x = 2\n")],
            "rawInput": {"file_path": "a.py", "old_string": "x = 1", "new_string": "x = 2", "replace_all": True},
        },
        ["replace_all: true"],
    ),
    "what the change does not have": (
        {
            "kind": "edit",
            "title": "Edit",
            "content": [diff("{cwd}/a.py", "x = 1\n", "x = 2\n")],
            "rawInput": {"file_path": "b.py", "old_string": "x = 1", "new_string": "x = 3"},
        },
        ["file_path: b.py", "new_string: x = 3"],
    ),
    "a file that only the name of a member names": (
        {
            "kind": "edit",
            "title": "Edit",
            "content": [diff("{cwd}/a.py", "x = 1\n", "x = 2\n")],
            "rawInput": {"changes": {"a.py": {"content": "x = 2"}, "b.py": {"content": "x = 2"}, "makefile": None}},
        },
        ['changes.b.py.content: x = 2', "changes.makefile: null"],
    ),
    "a patch that the change shows": (
        {
            "kind": "edit",
            "title": "Edit",
            "content": [diff("{cwd}/a.py", "x = 1\n", "x = 2\n")],
            "rawInput": {"patch": "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"},
        },
        [],
    ),
    "a patch with another file": (
        {
            "kind": "edit",
            "title": "Edit",
            "content": [diff("{cwd}/a.py", "x = 1\n", "x = 2\n")],
            "rawInput": {"patch": "--- a/b.py\n+++ b/b.py\n@@ -1 +1 @@\n-x = 1\n+x = 2"},
        },
        ["patch: --- a/b.py\n+++ b/b.py\n@@ -1 +1 @@\n-x = 1\n+x = 2"],
    ),
    "a command, and what is harmless beside it": (
        {"kind": "execute", "title": "T", "rawInput": {"command": "make", "timeout": 5, "description": "Build it"}},
        ["description: Build it"],
    ),
    "a command in a directory": (
        {"kind": "execute", "title": "T", "rawInput": {"command": "make", "cwd": "{cwd}", "env": {"A": "b"}}},
        [],
    ),
    "invisible ends": ({"title": "T", "rawInput": {"a": " x\n", "b": "   "}}, ['a: " x\\n"', 'b: "   "']),
    "places and title": (
        {
            "kind": "read",
            "title": "Read src/a.py",
            "locations": [{"path": "{cwd}/src/b.py"}],
            "rawInput": {"paths": ["src/a.py", "./src/b.py", "src/c.py"]},
        },
        ["paths[3]: src/c.py"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", SHOWN)
def test_a_request_shows_what_its_input_says_and_nothing_else_shows(screen: Screen, what: str) -> None:
    call, shown = SHOWN[what]
    request = screen.asked(call)
    assert input_of(request) == in_directory(shown, screen.cwd)
    assert request.left_out is None


def test_what_is_beyond_the_call_or_was_there_earlier_is_shown(screen: Screen) -> None:
    screen.update(sessionUpdate="tool_call", toolCallId="c1", title="T", rawInput={"path": "a", "n": 1})
    request = screen.asked({"kind": "edit", "rawInput": {"path": "b"}}, target="c")
    assert input_of(request) == ["path: b", "target: c", "earlier path: a", "earlier n: 1"]


def test_of_a_long_text_the_middle_is_left_out_with_its_size(screen: Screen) -> None:
    lines = [f"line {number}" for number in range(1, 1001)]
    raw = {"content": "\n".join(lines), "prompt": "x" * 9000, "paths": ["d/" * 1000 + "x"]}
    content, prompt, path = screen.asked({"kind": "edit", "title": "T", "rawInput": raw}).input
    assert (content.text, content.tail) == ("\n".join(lines[:20]), "\n".join(lines[-20:]))
    assert (content.chars, content.lines) == (len(raw["content"]), 1000)
    assert (prompt.text, prompt.tail, prompt.chars) == ("x" * 2048, "x" * 2048, 9000)
    assert (path.text, path.chars) == (raw["paths"][0], 0)


@pytest.mark.parametrize("raw", [{f"m{one}": "x" for one in range(2001)}, {"patch": "x" * 600_000}])
def test_an_input_that_is_too_large_to_be_shown_can_only_be_rejected(screen: Screen, raw: Json) -> None:
    request = screen.asked({"kind": "edit", "title": "T", "rawInput": raw})
    assert request.left_out == "a part of the input"
    assert {one.kind for one in request.options} == {"reject_once"}


# --- the names of what is kept ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "kept"),
    [
        ({"kind": "edit", "rawInput": {"path": "{cwd}/.env.x"}}, "edit of .env.x"),
        ({"kind": "move", "rawInput": {"source": "{cwd}/s/a", "destination": "{cwd}/s/b"}}, "move of s/a, s/b"),
        (
            {"kind": "edit", "locations": [{"path": str(one)} for one in range(7)]},
            "edit of 0, 1, 2, 3, 4 and the 2 other files above",
        ),
        ({"kind": "execute", "rawInput": {"command": "make"}}, "this command"),
        ({"kind": "execute", "rawInput": {"command": "echo " + "x" * 80}}, "this command"),
    ],
)
def test_an_answer_for_good_names_what_it_is_for(screen: Screen, call: Json, kept: str) -> None:
    ours = [one.name for one in screen.asked({"title": "T", **call}).options if one.ours]
    assert ours == [f"Always {action} {kept} in this project" for action in ("allow", "reject")]


# --- where paths lead ------------------------------------------------------------------------------------------------


def links(cwd: Path) -> None:
    outside = cwd.parent / f"{cwd.name}-outside"
    outside.mkdir()
    (outside / "secret").write_text("x")
    (cwd / "src").mkdir()
    (cwd / "src" / "a.py").write_text("a")
    (cwd / "out").symlink_to(outside)
    (cwd / "in").symlink_to("src")
    (cwd / "a").symlink_to("src/a.py")


IS_OUTSIDE = ", which is outside of the session's directories"
LED: list[tuple[Json, list[str]]] = [
    ({"locations": [{"path": "src/a.py"}]}, []),
    ({"locations": [{"path": "{cwd}/src/./a.py"}]}, []),
    ({"locations": [{"path": "a"}]}, ["a leads to src/a.py"]),
    ({"rawInput": {"path": "in/a.py"}}, ["in/a.py leads to src/a.py"]),
    ({"content": [diff("src/../b.py", "x", "y")]}, ["src/../b.py leads to b.py"]),
    ({"rawInput": {"file": "out/secret"}}, ["out/secret leads to {cwd}-outside/secret" + IS_OUTSIDE]),
    ({"rawInput": {"file": "../x/secret"}}, ["../x/secret leads to {above}/x/secret" + IS_OUTSIDE]),
    ({"rawInput": {"thing": "out/secret"}}, ["out/secret leads to {cwd}-outside/secret" + IS_OUTSIDE]),
    ({"rawInput": {"thing": "/no/such/thing"}}, []),
    ({"rawInput": {"uri": "file://{cwd}/s%72c/a.py"}}, ["file://{cwd}/s%72c/a.py leads to src/a.py"]),
    ({"locations": [{"path": "{cwd}-outside/secret"}]}, ["{cwd}-outside/secret is" + IS_OUTSIDE[10:]]),
]


@pytest.mark.parametrize(("call", "said"), LED)
def test_a_path_that_leads_elsewhere_says_where(screen: Screen, call: Json, said: list[str]) -> None:
    links(screen.cwd)
    request = screen.asked({"kind": "edit", "title": "T", **call})
    assert request.remarks == in_directory(said, screen.cwd)
    is_kept = any(one.kind == "allow_always" for one in request.options)
    assert is_kept == (not any(IS_OUTSIDE[10:] in one for one in said) and "thing" not in call.get("rawInput", {}))


def test_the_directory_of_a_command_says_where_it_leads(screen: Screen) -> None:
    links(screen.cwd)
    request = screen.asked({"kind": "execute", "title": "T", "rawInput": {"command": "make", "cwd": "out"}})
    assert request.remarks == in_directory([f"out leads to {{cwd}}-outside{IS_OUTSIDE}"], screen.cwd)
    assert not any(one.kind == "allow_always" for one in request.options)


# --- any input -------------------------------------------------------------------------------------------------------

ORDINARY = ["path", "file_path", "source", "destination", "files", "changes", "paths", "content", "old_string", "edits"]
OF_COMMANDS = ["command", "cmd", "args", "cwd", "env", "script", "description", "timeout", "parsed_cmd", "sandbox"]
ODD = ["url", "thing", "x y", "src/a", "makefile", "Makefile", "type", "id", "call_id", "patch", "diff", "prefix_rule"]
NAMES = st.sampled_from([*ORDINARY, *OF_COMMANDS, *ODD])
PATHS = ["a", "src/a", "./src/a", "{cwd}/src/a", "../x", "/etc/hosts", "~/x", "out/x", "file:///tmp/x", "\u202ea"]
TEXTS = ["make", "git status", "rm -rf x", "x = 1", "y", "T", " ", "", "a\nb"]
WORDS = st.sampled_from([*PATHS, *TEXTS, "--- a/p\n+++ b/q\n@@ -1 +1 @@\n-a\n+b\n"])
LEAVES = WORDS | st.none() | st.booleans() | st.integers(-1, 9)
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3))
INPUTS = st.dictionaries(NAMES, VALUES, max_size=4) | VALUES
PLACES = st.lists(st.sampled_from(["src/a", "{cwd}/src/a", "b"]), max_size=2)
CHANGES = st.sampled_from(["{cwd}/src/a", "{cwd}/p"]).map(lambda path: diff(path, "x = 1\na\n", "y\nb\n"))
CONTENT = st.lists(CHANGES, max_size=1)
KINDS = st.sampled_from(["read", "edit", "delete", "move", "execute", "other", "fetch", "search"])
CALLS = st.fixed_dictionaries(
    {"kind": KINDS, "title": st.sampled_from(["T", "Edit src/a", "make"]), "rawInput": INPUTS, "content": CONTENT},
    optional={"locations": PLACES.map(lambda paths: [{"path": one} for one in paths])},
)


def read_by_rules(raw: Any, kind: str) -> Iterator[Any]:
    """All that rules and grants read in an input: paths, and commands."""
    for changes, has_texts in ((True, kind not in ("move", "delete")), (False, True)):
        found = input_paths(raw, changes, has_texts=has_texts)
        yield from (*found.named, *found.possible, *found.unread, *(one.path for one in found.patched))
    members = of_command(raw)
    yield from (*members.commands, *members.arguments, *members.directories, *members.environments)
    yield from (value for _, value in (*members.unknown, *members.more_rights, *of_other(raw).unknown))
    yield from commands_in(raw)


def commands_in(raw: Any) -> Iterator[Any]:
    if isinstance(raw, dict):
        for name, value in raw.items():
            if name in OTHER_COMMANDS:
                yield value
            yield from commands_in(value)
    elif isinstance(raw, list):
        for one in raw:
            yield from commands_in(one)


def leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner)
    elif isinstance(value, str) and value:
        yield value


def words_of(request: events.RequestView, cwd: Path) -> str:
    """All that a request shows, with each file by its whole path and by its name in the project."""
    parts = [request.title, request.description, request.command, request.cwd, *request.env, *request.remarks]
    parts += [f"{one.name}: {one.text}{one.tail}" for one in request.input]
    paths = [one.path for one in request.locations]
    for one in request.content:
        if isinstance(one, events.DiffItem):
            paths.append(one.path)
            parts += [one.old_text, one.new_text]
    for path in paths:
        whole = os.path.normpath(cwd / path)
        parts += [path, whole, os.path.relpath(whole, cwd), f"./{os.path.relpath(whole, cwd)}"]
    return "\n".join(filter(None, parts))


@settings(max_examples=examples(300))
@given(st.lists(CALLS, min_size=1, max_size=3))
def test_whatever_rules_read_of_an_input_is_shown(calls: list[Json]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        screen = Screen(Path(directory, "project"))
        screen.cwd.mkdir()
        links(screen.cwd)
        for call in in_directory(calls, screen.cwd):
            request = screen.asked(call)
            said = words_of(request, screen.cwd)
            for value in read_by_rules(call["rawInput"], call["kind"]):
                for leaf in leaves(value):
                    assert leaf in said or json.dumps(leaf, ensure_ascii=False)[1:-1] in said, (leaf, said)
            for path in kept_by(request):
                assert path in said, (path, said)


def kept_by(request: events.RequestView) -> list[str]:
    """The files that an answer for good would be about."""
    names = [one.name for one in request.options if one.ours and one.kind == "allow_always"]
    return [path for name in names if " of " in name for path in name[:-16].partition(" of ")[2].split(", ")]
