"""An allow rule with a path answers only if everything in the input that may be a path is in it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from acp_nvim.acp.answers import PermissionAsked
from acp_nvim.acp.diff import Diff, from_patch, from_texts
from acp_nvim.acp.raw_paths import words_of
from acp_nvim.acp.tool_call import Location, ToolCall, UnknownItem
from acp_nvim.contract.settings import Rule
from acp_nvim.permissions.input_paths import IDS, NOTES, TEXTS, WAYS, input_paths
from acp_nvim.permissions.request.subject import SessionPaths, of_permission
from acp_nvim.permissions.rules import judge
from acp_nvim.workspace.roots import Roots
from tests.support.examples import examples

CWD = "/p"
TESTS = Rule(action="allow", path="tests/**", kind=("edit", "delete", "move", "other", "_new"))
EDITS = Rule(action="allow", kind=("edit", "delete", "move", "other", "_new"))


def decide(rule: Rule, raw: Any, kind: str = "edit", cwd: str = CWD, **more: Any) -> str:
    """What that rule says of a request with that input."""
    diffs: list[Diff] = more.pop("diffs", [])
    call = ToolCall(tool_call_id="c", kind=kind, raw_input=raw, content=[*diffs, *more.pop("content", [])], **more)
    where = SessionPaths("it", cwd, Roots([cwd]))
    wanted = of_permission(PermissionAsked(tool_call_id="c", options=[]), call, diffs, where)
    return judge([rule], wanted).action


PATCH = "*** Begin Patch\n*** Update File: tests/a.py\n@@\n-x\n+y\n{more}*** End Patch"
GIT = "diff --git a/{0} b/{0}\nindex 1..2 100644\n--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n-x\n+y\n"

REAL = {
    "claude Edit": {
        "file_path": "/p/tests/a.py",
        "old_string": "src/a.py",
        "new_string": "/etc/x\n",
        "replace_all": False,
    },
    "claude MultiEdit": {"file_path": "/p/tests/a.py", "edits": [{"old_string": "a b", "new_string": "../c"}]},
    "claude Write": {"file_path": "/p/tests/new file.py", "content": "import os\n# --- a/src\n"},
    "claude NotebookEdit": {
        "notebook_path": "/p/tests/a.ipynb",
        "new_source": "x",
        "cell_id": "a-1",
        "edit_mode": "replace",
    },
    "opencode": {"filePath": "/p/tests/a.py", "oldString": "print(1)", "newString": "print(2)", "replaceAll": True},
    "opencode asking": {
        "filepath": "/p/tests/a.py",
        "diff": "Index: /p/tests/a.py\n=====\n--- /p/tests/a.py\n+++ /p/tests/a.py\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n",
    },
    "opencode patch": {"patchText": PATCH.format(more="")},
    "kimi": {"path": "/p/tests/a.py", "old_string": "a", "new_string": "left", "replace_all": True},
    "qwen": {"file_path": "/p/tests/a.py", "old_string": "a", "new_string": "b", "modified_by_user": False},
    "fast-agent": {"path": "/p/tests/a.py", "content_length": 51},
    "codex": {
        "call_id": "call_a0b210",
        "turn_id": "01a1fc5b-f380-7203-83af-e9f8ab63389a",
        "started_at_ms": 1795235247370,
        "auto_approved": False,
        "changes": {
            "/p/tests/main.py": {"type": "update", "unified_diff": "@@ -1 +1,2 @@\n-a\n+b\n+c\n", "move_path": None},
            "/p/tests/new one.py": {"type": "add", "content": "src/a.py"},
        },
        "reason": "Because /etc/passwd",
    },
    "codex apply_patch": {"input": PATCH.format(more="")},
    "copilot": {"path": "/p/tests/a.py", "old_str": "a", "new_str": "b"},
    "copilot asking": {
        "kind": "write",
        "intention": "Edit file",
        "fileName": "/p/tests/a.py",
        "diff": GIT.format("p/tests/a.py"),
        "canOfferSessionApproval": True,
    },
    "vibe": {"file_path": "/p/tests/a.py", "content": "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE"},
    "goose": {"command": "str_replace", "path": "/p/tests/a.py", "old_str": "a", "new_str": "b"},
    "auggie": {
        "command": "str_replace",
        "path": "tests/a.py",
        "old_str_1": "a/b",
        "new_str_1": "c",
        "old_str_start_line_number_1": 1,
    },
}


@pytest.mark.parametrize("agent", REAL)
@pytest.mark.parametrize("elsewhere", [False, True])
def test_ordinary_edits_of_agents_are_allowed_where_they_are(agent: str, elsewhere: bool) -> None:
    text = json.dumps(REAL[agent])
    raw = json.loads(text.replace("tests/", "src/") if elsewhere else text)
    assert decide(TESTS, raw) == ("ask" if elsewhere else "allow")
    assert decide(Rule(action="reject", path="tests/**"), raw) == ("ask" if elsewhere else "reject")
    assert decide(EDITS, raw) == "allow"


def test_an_edit_without_input_is_known_by_its_diff_and_locations() -> None:
    diff = from_texts("tests/a.py", "a", "src/b")
    assert decide(TESTS, None, diffs=[diff], locations=[Location("/p/tests/a.py")]) == "allow"
    assert decide(TESTS, {}, diffs=[diff], locations=[]) == "allow"
    assert decide(TESTS, {}, diffs=[from_texts("src/a.py", "a", "b")], locations=[Location("/p/tests/a.py")]) == "ask"
    assert decide(TESTS, None) == "ask"


BEYOND = [
    {"edits": [{"fileName": "src/a.py", "newText": "x"}]},
    *(
        {name: "src/a.py"}
        for name in ("file_name", "fileName", "file-name", "newName", "new_name", "output", "outfile")
    ),
    *({name: "src/a.py"} for name in ("notebook", "file_list", "x", "argument", "relPath", "FILE", "dest", "Where To")),
    {"output": "a.py"},
    {"x": {"y": [{"z": "src/a.py"}]}},
    {"file_list": ["tests/a.py", "src/a.py"]},
    {"file_list": "tests/a.py,src/a.py"},
    {"files": "tests/a.py src/a.py"},
    {"target": "tests/a.py src/a.py"},
    {"path": "tests/a.py\nsrc/a.py"},
    {"files": {"src/a.py": "text"}},
    {"files": {"Makefile": None}},
    {"changes": {"content": None}},
    {"changes": {"src/a.py": {"type": "delete"}}},
    {"by_file": {"src/a.py": True}},
    {"src/a.py": None},
    {"src/my_file": None},
    {"Makefile": True},
    {"arguments": '{"path": "src/a.py"}'},
    {"command": "rm src/a.py"},
    {"type": "src/a.py"},
    {"id": "src/a.py"},
    {"payload": "c3JjL2EucHk="},
    {"name": "tests%2f..%2fsrc"},
    {"uri": "file:///p/src/a.py"},
    {"path": "FILE:///p/src/a.py"},
    {"path": "tests/../src/a.py"},
    {"path": "http://../../src/a.py"},
    {"directory": "tests", "path": "../p/tests/x"},
    {"patch": PATCH.format(more="*** Delete File: src/a.py\n")},
    {"patch": PATCH.format(more="*** Move to: src/a.py\n")},
    {"patch": PATCH.format(more=" *** Delete File: src/a.py\n")},
    {"text": PATCH.format(more="*** Delete File: src/a.py\n")},
    {"content": "\n" + PATCH.format(more="*** Move to: src/a.py\n")},
    {"body": GIT.format("src/a.py")},
    {"code": "*** Begin Patch\nwhatever this is\n"},
    {"diff": GIT.format("src/a.py")},
    {"diff": "rename from src/a.py\nrename to tests/a.py\n"},
    {"diff": "SEARCH a REPLACE b in src/a.py"},
    {"unifiedDiff": GIT.format("tests/a.py") + GIT.format("src/a.py")},
    {"edits": ["src/a.py"]},
    {"edits": [["tests/a.py"], [["src/a.py"]]]},
    {"replacements": {"a": {"b": {"c": {"d": {"e": {"old_string": "x"}}}}}}},
    {"x": "src/a.py "},
    {"path": " src/a.py"},
]


@pytest.mark.parametrize("raw", BEYOND, ids=json.dumps)
@pytest.mark.parametrize("kind", ["edit", "delete", "move", "other", "_new"])
def test_whatever_may_be_another_path_is_asked_about(raw: dict[str, Any], kind: str) -> None:
    assert decide(TESTS, {"path": "tests/a.py", **raw}, kind) == "ask"
    assert decide(TESTS, raw, kind, locations=[Location("tests/a.py")]) == "ask"
    assert decide(TESTS, raw, kind, diffs=[from_texts("tests/a.py", "a", "b")]) == "ask"


@pytest.mark.parametrize("kind", ["move", "delete"])
def test_who_moves_or_deletes_has_no_texts(kind: str) -> None:
    assert decide(TESTS, {"path": "tests/a.py", "reason": "src/a.py"}, kind) == "allow"
    assert decide(TESTS, {"path": "tests/a.py", "content": "src/a.py"}, kind) == "ask"
    assert decide(TESTS, {"old": "tests/a.py", "new": "src/a.py"}, kind) == "ask"


def test_content_of_a_kind_that_nobody_knows_may_name_files() -> None:
    for original in ({"type": "_edit", "path": "src/a.py"}, {"type": "_edit", "x": ["src/a.py"]}):
        assert decide(TESTS, {"path": "tests/a.py"}, content=[UnknownItem(original)]) == "ask"
    assert decide(TESTS, None, content=[UnknownItem({"type": "_edit", "path": "tests/a.py"})]) == "allow"


@pytest.mark.parametrize(
    ("patch", "action"),
    [
        (GIT.format("tests/a.py"), "allow"),
        (GIT.format("tests/a.py") + GIT.format("src/a.py"), "ask"),
        ("diff --git a/src/a b/tests/a\nsimilarity index 100%\nrename from src/a\nrename to tests/a\n", "ask"),
        ("--- a/src/a\n+++ b/tests/a\n@@ -1 +1 @@\n-x\n+y\n", "ask"),
        (GIT.format("tests/a.py") + "delete src/a.py\n", "ask"),
    ],
)
def test_a_patch_of_version_2_is_read_whole(patch: str, action: str) -> None:
    assert decide(TESTS, None, diffs=[from_patch((), patch)]) == action


def test_a_directory_named_like_gits_prefix_is_one(tmp_path: Path) -> None:
    cwd = os.path.realpath(tmp_path)
    raw = {"diff": GIT.format("tests/a.py")}
    assert decide(TESTS, raw, cwd=cwd) == "allow"
    (tmp_path / "a" / "tests").mkdir(parents=True)
    (tmp_path / "a" / "tests" / "a.py").touch()
    assert decide(TESTS, raw, cwd=cwd) == "ask"


def test_too_much_to_look_at_is_not_certain() -> None:
    assert decide(TESTS, {"paths": [f"/p/tests/{number}" for number in range(150)]}) == "allow"
    assert decide(TESTS, {"paths": [f"/p/tests/{number}" for number in range(250)]}) == "ask"
    edits = [{"old_string": "a", "new_string": "b"}]
    assert decide(TESTS, {"path": "/p/tests/a", "edits": edits * 1000}) == "allow"
    assert decide(TESTS, {"path": "/p/tests/a", "edits": edits * 5000 + [{"path": "src/a"}]}) == "ask"


def test_calls_that_only_read_may_search_for_anything_but_not_elsewhere() -> None:
    rule = Rule(action="allow", kind=("read", "search"), path="**")
    for raw in (
        {"pattern": "def .*", "path": "/p/src", "output_mode": "content", "-n": True},
        {"filePath": "src/a.py", "offset": 1, "limit": 20},
        {"pattern": "src/.*x", "include": "*.py", "type": "py"},
        {"query": "what is this?"},
    ):
        assert decide(rule, {"path": "src", **raw}, "search") == "allow"
    for raw in ({"notebook": "/etc/passwd"}, {"pattern": "/etc/**"}, {"include": ["../../x/*"]}, {"glob": "~/.ssh/*"}):
        assert decide(rule, {"path": "src", **raw}, "read") == "ask"


# --- any input at all ------------------------------------------------------------------------------------------------

CLOSED = IDS | WAYS
member_names = st.one_of(
    st.sampled_from(
        ["path", "file_path", "edits", "files", "changes", "output", "notebook", "x", "args", "diff", "to"]
    ),
    st.sampled_from(sorted(CLOSED | TEXTS)),
    st.text(st.sampled_from("abfilepathFNS_-. /"), min_size=1, max_size=9),
)
inside = st.sampled_from(["tests/a.py", "/p/tests/b", "tests/x/y.py", "/p/tests"])
outside = st.sampled_from(
    ["src/a.py", "/p/src/a.py", "../q", "/etc/passwd", "tests/../a.py", "file:///p/b.py", "Makefile"]
)
harmless = st.one_of(st.none(), st.booleans(), st.integers(0, 9), inside)
trees = st.recursive(
    harmless,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(member_names, inner, max_size=3)),
    max_leaves=6,
)


def put(tree: Any, way: list[Any], value: str) -> Any:
    """Return the tree with `value` in it, at the end of the names and lists of `way`."""
    if not way:
        return value
    step, rest = way[0], way[1:]
    if step is None:
        return [*(tree if isinstance(tree, list) else []), put(None, rest, value)]
    known = tree if isinstance(tree, dict) else {}
    return {**known, step: put(known.get(step), rest, value)}


@settings(max_examples=examples(200))
@given(
    st.dictionaries(member_names, trees, max_size=3),
    st.lists(st.one_of(st.none(), member_names), max_size=3),
    member_names,
    st.one_of(outside, st.builds("{} {}".format, inside, outside), st.builds("{},{}".format, inside, outside)),
    st.sampled_from(["edit", "delete", "move", "other", "_new"]),
    st.booleans(),
)
def test_no_path_elsewhere_is_allowed_whatever_its_member_is_called(
    raw: dict[str, Any], way: list[Any], last: str, path: str, kind: str, has_location: bool
) -> None:
    plain = words_of(last).rstrip("0123456789_")
    texts = NOTES if kind in ("move", "delete") else TEXTS
    assume(plain not in texts and words_of(last) not in CLOSED)
    tree = put(raw, [*(way if way and way[0] is not None else ["edits", *way]), last], path)
    shown = [Location("tests/a.py")] if has_location else []
    assume(not (" " in path and _is_one_path(last)))
    assume(not ("," in path and _is_one_path(last)))
    assert decide(TESTS, tree, kind, locations=shown) == "ask"


def _is_one_path(name: str) -> bool:
    """Members that hold just one path, whatever characters are in it."""
    return bool(input_paths({name: "a b"}, True).named)


@settings(max_examples=examples(100))
@given(st.dictionaries(member_names, trees, max_size=4), st.sampled_from(sorted(TEXTS)), outside)
def test_texts_do_not_matter(raw: dict[str, Any], name: str, text: str) -> None:
    assume(name not in raw)
    assert decide(TESTS, {**raw, name: text}) == decide(TESTS, raw)
