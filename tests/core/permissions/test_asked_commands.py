"""A rule or an earlier answer allows a command only if it is completely known; what real agents send is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_nvim.acp.answers import PermissionAsked
from acp_nvim.acp.tool_call import ToolCall
from acp_nvim.acp.updates import ToolCallChanged
from acp_nvim.acp.v1 import DialectV1
from acp_nvim.contract.settings import Rule
from acp_nvim.permissions.input_members import SHOWN_CHARS, SHOWN_MEMBERS
from acp_nvim.permissions.request.asked_command import NOT_KNOWN
from acp_nvim.permissions.request.subject import SessionPaths, of_permission
from acp_nvim.permissions.rules import Wanted, judge
from acp_nvim.workspace.roots import Roots
from tests.support.examples import examples

Json = dict[str, Any]

CWD = "/p"
STATUS = "git status"
RULES = [Rule(action="reject", command="rm *"), Rule(action="allow", command="git status *")]
RECORDINGS = Path(__file__).parents[2] / "recordings"


def wanted(call: Json, *earlier: Json, **request: Any) -> Wanted:
    """What a request for that tool call is about, after these updates of it; `request` are further members of it."""
    state, dialect = ToolCall(tool_call_id="c"), DialectV1()
    for update in earlier:
        said = {"sessionUpdate": "tool_call_update", "toolCallId": "c", **update}
        _, changed = dialect.update(raw({"sessionId": "s", "update": said}))
        assert isinstance(changed, ToolCallChanged)
        state.apply(changed.patch)
    params = {"sessionId": "s", "toolCall": {"toolCallId": "c", **call}, "options": [], **request}
    _, asked = dialect.asked("session/request_permission", raw(params))
    assert isinstance(asked, PermissionAsked)
    assert asked.patch is not None
    state.apply(asked.patch)
    return of_permission(asked, state, [], SessionPaths("it", CWD, Roots([CWD])))


def raw(value: Any) -> msgspec.Raw:
    """Encode the parameters of a message."""
    return msgspec.Raw(json.dumps(value).encode())


def run(command: Any = STATUS, **more: Any) -> Json:
    """A tool call that runs a command; `more` are further members of its input."""
    return {"title": "Run", "kind": "execute", "rawInput": {"command": command, **more}}


def text(words: str) -> Json:
    """Return a text as content of a tool call."""
    return {"type": "content", "content": {"type": "text", "text": words}}


def decide(call: Json, *earlier: Json, rules: list[Rule] = RULES) -> str:
    """Return the decision of the rules about a tool call."""
    return judge(rules, wanted(call, *earlier)).action


def shown(call: Json, *earlier: Json) -> str:
    """What the request says beyond the command."""
    return "\n".join(wanted(call, *earlier).remarks)


# --- what real agents send -------------------------------------------------------------------------------------------

BASH = ["/bin/bash", "-lc", STATUS]
AMENDMENT = (
    f"Proposed Amendment: /bin/bash\n-lc\n{STATUS}\nAvailable Decisions: Approved\nApprovedExecpolicyAmendment\nAbort"
)
HONEST: dict[str, tuple[Json, ...]] = {
    "claude-agent-acp 0.101.0": (
        {"title": "`git status`", "kind": "execute", "content": [text("Show the state")], "rawInput": {}},
        {
            "title": "`git status`",
            "name": "Bash",
            "status": "pending",
            "rawInput": {
                "command": STATUS,
                "description": "Show the state",
                "timeout": 5000,
                "run_in_background": False,
            },
            "_meta": {"claudeCode": {"toolName": "Bash"}},
        },
    ),
    "claude-agent-acp 0.101.0, within its sandbox": (
        {**run(description="Show the state", dangerouslyDisableSandbox=False), "content": [text("Show the state")]},
    ),
    "claude-code-acp 0.16.2, a terminal": (
        {"kind": "execute", "content": [{"type": "terminal", "terminalId": "t"}]},
        {"title": "`git status`", "rawInput": {"command": STATUS, "description": "x", "timeout": 120000}},
    ),
    "codex-acp 0.16.0": (
        {
            **run(
                BASH,
                call_id="call_a0",
                turn_id="01a1fc5b-f380",
                started_at_ms=1795235247553,
                cwd=CWD,
                reason="To see it",
                proposed_execpolicy_amendment=BASH,
                available_decisions=[
                    "approved",
                    {"approved_execpolicy_amendment": {"proposed_execpolicy_amendment": BASH}},
                    "abort",
                ],
                parsed_cmd=[{"type": "unknown", "cmd": STATUS}],
            ),
            "content": [text(AMENDMENT), text(f"To see it\n{AMENDMENT}")],
        },
    ),
    "codex-acp 2.6.0": ({**run(cwd=CWD), "title": STATUS, "locations": [{"path": f"{CWD}/src"}]},),
    "codex-acp 2.6.0, a part of the command is a rule": (
        run("git status && git status -s", prefix_rule=["git", "status"]),
    ),
    "opencode 1.18.33": (
        {"kind": "execute", "rawInput": {"cwd": CWD}},
        {"rawInput": {"command": STATUS, "cwd": CWD, "description": "Show the state", "timeout": 120000}},
        {**run(), "title": STATUS, "locations": []},
    ),
    "qwen-code 0.24.4": (
        {
            **run(is_background=False, description="Show the state", directory=CWD, timeout=600000),
            "title": "git status [in /p] (Show the state)",
            "content": [],
            "locations": [],
            "_meta": {"toolName": "run_shell_command"},
        },
    ),
    "oh-my-pi 18.2.0": ({**run(timeout=60, cwd=CWD, pty=False, env={}), "content": [text("$ git status")]},),
    "oh-my-pi 18.2.0, in the background": ({**run(**{"async": True}), "content": [text("$ git status")]},),
    "kimi-code 2.1.0": (run(description="Show the state", run_in_background=True),),
    "fast-agent 0.7": (run(),),
    "an input that is written by the model piece by piece": (
        {"kind": "execute", "rawInput": {"command": "git st"}},
        {"rawInput": {"command": "git status", "description": "Show"}},
        {"rawInput": {"command": "git status", "description": "Show the state"}},
    ),
    "only the id in the request": (run(description="Show the state"), {}),
}


def test_what_real_agents_send_is_allowed_by_a_rule_and_can_be_kept() -> None:
    for agent, (*earlier, asked) in HONEST.items():
        found = wanted(asked, *earlier)
        assert (judge(RULES, found).action, found.remarks) == ("allow", ()), agent
        assert found.about is not None, agent
        assert (found.about.cwd, STATUS in (found.about.command or "")) == (CWD, True), agent


def test_each_recorded_request_is_completely_known() -> None:
    commands = files = 0
    anywhere = [Rule(action="allow", path="/**", kind=("read", "edit"))]
    for file in sorted(RECORDINGS.glob("*/*.jsonl")):
        calls: dict[str, list[Json]] = {}
        for line in file.read_text().splitlines()[1:]:
            message = json.loads(line).get("message")
            params = message.get("params") or {} if isinstance(message, dict) else {}
            update = params.get("update") or {}
            if str(update.get("sessionUpdate")).startswith("tool_call"):
                calls.setdefault(update["toolCallId"], []).append(update)
            elif isinstance(message, dict) and message.get("method") == "session/request_permission":
                asked = params["toolCall"]
                earlier = [{**one, "toolCallId": "c"} for one in calls.get(asked["toolCallId"], [])]
                found = wanted({**asked, "toolCallId": "c"}, *earlier)
                features = found.command.features if found.command is not None else frozenset()
                assert (found.remarks, NOT_KNOWN in features) == ((), False), (file.name, asked)
                commands += found.command is not None
                if found.kind in ("read", "edit"):
                    files += 1
                    assert judge(anywhere, found).action == "allow", (file.name, asked)
    assert commands >= 20
    assert files >= 20


# --- what is more than the command -----------------------------------------------------------------------------------

MORE: list[tuple[Json, str]] = [
    ({"script": "make"}, 'script: "make"'),
    ({"then": "make"}, 'then: "make"'),
    ({"pre": ["make"]}, 'pre: ["make"]'),
    ({"commands": ["make"]}, 'commands: ["make"]'),
    ({"input": "y"}, 'input: "y"'),
    ({"shell": "/tmp/sh"}, 'shell: "/tmp/sh"'),
    ({"stdin": "y"}, 'stdin: "y"'),
    ({"user": "root"}, 'user: "root"'),
    ({"dry_run": False}, "dry_run: false"),
    ({"retries": 0}, "retries: 0"),
    ({"cmd": "make"}, 'command: "make"'),
    ({"Command": "make"}, 'command: "make"'),
    ({"description": ["make"]}, 'description: ["make"]'),
    ({"timeout": "$(make)"}, 'timeout: "$(make)"'),
    ({"timeout": {"x": 1}}, 'timeout: {"x":1}'),
    ({"run_in_background": "make"}, 'run_in_background: "make"'),
    ({"mode": ["sync"]}, 'mode: ["sync"]'),
    ({"call_id": "make all"}, 'call_id: "make all"'),
    ({"args": "-s; make"}, 'args: ["-s; make"]'),
    ({"parsed_cmd": [{"cmd": "make"}]}, 'parsed_cmd: [{"cmd":"make"}]'),
    ({"parsed_cmd": [{"cmd": STATUS, "then": "make"}]}, '"then":"make"'),
    ({"prefix_rule": ["git", "push"]}, 'prefix_rule: ["git","push"]'),
    ({"available_decisions": ["make all"]}, 'available_decisions: ["make all"]'),
    ({"available_decisions": [{"then": "make"}]}, '"then":"make"'),
    ({"options": {"deep": [{"er": [[["make"]]]}]}}, '"make"'),
    ({"url": "http://x"}, 'url: "http://x"'),
    ({"scr\u0131pt": "make"}, '"scr\u0131pt": "make"'),
    ({"x\n┃ y": "make"}, r'"x\n┃ y": "make"'),
]


def test_what_is_not_known_to_be_harmless_asks_and_is_shown() -> None:
    for members, words in MORE:
        for call in (run(**members), {**run(), "rawInput": {**members, "command": STATUS}}):
            found = wanted(call)
            assert (judge(RULES, found).action, found.about) == ("ask", None), members
            assert words in "\n".join(found.remarks), members
            assert not any("\n" in line for line in found.remarks), members


@pytest.mark.parametrize(
    "members",
    [{"directory": "/"}, {"cwd": 5}, {"cwd": CWD, "directory": f"{CWD}/x"}, {"workDir": ["/p"]}]
    + [{name: {"LD_PRELOAD": "x"}} for name in ("env", "environment", "Env")]
    + [{"environment": ["A=b"]}, {"env": "A=b"}],
)
def test_another_directory_and_variables_ask(members: Json) -> None:
    found = wanted(run(**members))
    assert (judge(RULES, found).action, found.about) == ("ask", None)
    assert judge([Rule(action="allow")], found).action == "ask"


@pytest.mark.parametrize(
    "call",
    [
        {**run(), "content": [text("make")]},
        {**run(), "content": [text("$ make")]},
        {**run(), "content": [text("```sh\nmake\n```")]},
        {**run(), "content": [text(STATUS), text("make")]},
        {**run(), "content": [text(f"{STATUS}\nmake")]},
        {**run(), "content": [text(f"Proposed Amendment: {STATUS}; make")]},
        {**run(description="Show"), "content": [text("Show\nmake")]},
        {**run(description="make"), "content": [text("$ make")]},
        {**run(description="make"), "content": [text("```sh\nmake\n```")]},
        {**run(), "content": [{"type": "content", "content": {"type": "image", "data": "", "mimeType": "image/png"}}]},
        {**run(), "content": [{"type": "_new", "command": "make"}]},
        {**run(), "title": "`make`"},
        {**run(), "_meta": {"x": [{"command": "make"}]}},
        {**run(), "locations": [{"path": "/etc/passwd"}]},
        {**run(), "rawInput": {"input": {"command": STATUS}}},
        {**run(), "rawInput": [{"command": STATUS}]},
        {**run(), "rawInput": STATUS},
        run([["git", "status"]]),
        run(["git", 5]),
        run({"line": STATUS}),
        run(**{f"x{number}": "make" for number in range(200)}),
        {**run(), "rawInput": {"command": STATUS, "x": json.loads("[" * 60 + "]" * 60)}},
    ],
)
def test_other_places_that_may_name_a_command_ask(call: Json) -> None:
    found = wanted(call)
    assert (judge(RULES, found).action, found.about) == ("ask", None)


@pytest.mark.parametrize(
    "members", [members for members, _ in MORE if not {"cmd", "Command", "options"} & set(members)]
)
def test_members_that_the_protocol_does_not_have_count_as_those_of_the_input(members: Json) -> None:
    if "description" in members:
        members = {"x": members["description"]}  # version 2 has a description
    for found in (wanted({**run(), **members}), wanted(run(), **members)):
        assert (judge(RULES, found).action, found.about) == ("ask", None)
        assert found.remarks


def test_metadata_and_unknown_members_of_the_request_itself() -> None:
    claude = {"permission": {"version": 1, "title": "git status", "description": "Reason: none"}}
    assert judge(RULES, wanted(run(), _meta=claude)).action == "allow"
    assert judge(RULES, wanted(run(), _meta={"x": {"command": "make"}})).action == "ask"
    assert judge([Rule(action="allow")], wanted(run(), _meta={"x": {"sandbox": False}})).action == "ask"
    assert judge([Rule(action="allow")], wanted(run(), sandbox=False)).action == "ask"
    assert judge(RULES, wanted(run(), x="y" * 100_000)).action == "ask"
    assert judge(RULES, wanted({**run(), "then": "rm x"})).action == "reject"
    edit = {"title": "x", "kind": "edit", "rawInput": {"path": "src/a"}}
    assert judge(FILES, wanted(edit)).action == "allow"
    assert judge(FILES, wanted({**edit, "path": "b"})).action == "ask"
    assert judge(FILES, wanted(edit, file_path=".env")).action == "reject"


@pytest.mark.parametrize(
    "call",
    [
        {"content": [{**text(STATUS), "command": "make"}]},
        {"content": [{**text(STATUS), "_meta": {"command": "make"}}]},
        {"content": [text(STATUS), {"type": "terminal", "terminalId": "t", "then": "make"}]},
        {"content": [{"type": "content", "content": {"type": "text", "text": STATUS, "script": "make"}}]},
        {"content": [{"type": "content", "content": {"type": "text", "text": STATUS, "annotations": {"x": "make"}}}]},
        {"locations": [{"path": "/p/x", "command": "make"}]},
        {"rawOutput": {"command": "make"}},
        {"_meta": {"command": "make"}},
        {"x": None, "content": [{**text(STATUS), "x": "make"}, {"type": "terminal", "terminalId": "t", "x": ""}]},
    ],
)
def test_every_object_of_a_request_is_looked_into(call: Json) -> None:
    found = wanted({**run(), **call})
    assert (judge(RULES, found).action, found.about) == ("ask", None)
    edit = {"title": "x", "kind": "edit", "rawInput": {"path": "src/a"}}
    diff = {"type": "diff", "path": "src/a", "newText": ""}
    assert judge(FILES, wanted({**edit, "content": [diff]})).action == "allow"
    assert judge(FILES, wanted({**edit, "content": [{**diff, "file": "b"}]})).action == "ask"


def test_of_two_members_of_the_same_name_both_count() -> None:
    assert judge(RULES, wanted({**run(), "script": None}, script="rm x")).action == "reject"
    assert judge(RULES, wanted({**run(), "script": ""}, script="make")).action == "ask"


def test_metadata_that_are_too_long_to_be_read_ask() -> None:
    assert judge(RULES, wanted(run(), _meta={"command": "make", "x": "y" * 100_000})).action == "ask"


def test_an_input_of_a_call_that_is_over_counts_until_it_ends_again() -> None:
    over = {"status": "completed"}
    assert decide(run(), over, {"rawInput": {"script": "make"}}) == "ask"
    assert decide(run(), over, {"rawInput": {"script": "make"}}, over, {"rawInput": {"x": 1}}) == "ask"
    again = [{"status": "pending", "rawInput": {"command": f"git log -{number}"}} for number in range(3)]
    assert decide({**run(), "status": "pending"}, *(one for call in again for one in (call, over))) == "allow"


def test_one_word_is_no_line() -> None:
    found = wanted(run([STATUS]))
    assert (judge(RULES, found).action, found.about and found.about.command) == ("ask", "'git status'")


def test_what_an_earlier_input_has_said_counts_until_the_call_ends() -> None:
    for earlier in ({"script": "make"}, {"command": "make"}, {"cwd": "/"}, {"command": [STATUS]}, ["make"], "make"):
        assert decide(run(), {"rawInput": earlier}) == "ask", earlier
        assert decide(run(), {"rawInput": earlier}, {"rawInput": {"command": STATUS}}) == "ask", earlier
        assert decide(run(), {"rawInput": earlier}, {"rawInput": None}) == "ask", earlier
        assert decide(run(), {"rawInput": earlier}, {"status": "completed"}) == "allow", earlier
    many = [{"rawInput": {f"x{number}": "make"}} for number in range(100)]
    assert decide(run(), *many) == "ask"
    assert decide(run(), {"rawInput": {"x": "y" * 100_000}}) == "ask"
    assert decide(run(), {"rawInput": {"script": "rm x"}}) == "reject"


# --- more rights -----------------------------------------------------------------------------------------------------

WITHOUT_SANDBOX: list[Json] = [
    {"dangerouslyDisableSandbox": True},
    {"dangerously_disable_sandbox": True},
    {"DANGEROUSLY-DISABLE-SANDBOX": "yes"},
    {"with_escalated_permissions": True},
    {"withEscalatedPermissions": "true"},
    {"sandbox_permissions": "require_escalated"},
    {"sandboxPermissions": "RequireEscalated"},
    {"permissions": "require_escalated"},
    {"permissions": {"network": {"enabled": True}}},
    {"additionalPermissions": {"fileSystem": {"write": ["/"]}}},
    {"sandbox": False},
    {"sandbox": 0},
    {"sandbox": "none"},
    {"sandbox": ""},
    {"sandbox": {}},
    {"use_sandbox": False},
    {"sandbox_mode": "danger-full-access"},
    {"mode": "danger-full-access"},
    {"no_sandbox": True},
    {"bypass": True},
    {"bypassPermissions": True},
    {"mode": "bypassPermissions"},
    {"unsafe": True},
    {"privileged": 1},
    {"sudo": True},
    {"options": {"deep": [{"sandbox": False}]}},
    {"ｓａｎｄｂｏｘ": False},
]


def test_what_switches_a_sandbox_off_is_always_asked_and_said() -> None:
    every = [Rule(action="allow"), Rule(action="allow", kind="execute")]
    for members in WITHOUT_SANDBOX:
        for call in (run(**members), {**run(), "_meta": members}):
            found = wanted(call)
            assert (judge(every, found).action, judge(RULES, found).action, found.about) == ("ask", "ask", None), (
                members
            )
            assert "run without the sandbox" in "\n".join(found.remarks), members
        for kind in ("edit", "read", "fetch", "other"):
            call = {"title": "x", "kind": kind, "rawInput": {"path": "a", **members}}
            assert decide(call, rules=every) == "ask", (kind, members)
        assert decide(run(), {"rawInput": members}, rules=every) == "ask", members


@pytest.mark.parametrize(
    "members",
    [
        {"dangerouslyDisableSandbox": False},
        {"dangerouslyDisableSandbox": None},
        {"with_escalated_permissions": False},
        {"sandbox_permissions": "use_default"},
        {"sandbox": True},
        {"sandbox_mode": "workspace-write"},
        {"description": "danger-full-access"},
        {"sandbox": None, "x": None, "y": "", "z": [], "w": {}},
    ],
)
def test_a_sandbox_that_stays_on_does_not_ask(members: Json) -> None:
    assert (decide(run(**members)), shown(run(**members))) == ("allow", "")


# --- rejections, and calls about something else ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        run(script="rm x"),
        run(then=["make", "rm x"]),
        run(then=["rm", "x"]),
        run(steps={"one": {"do": "git log; rm x"}}),
        run(cmd="rm x"),
        run("rm x", script="make", sandbox=False),
        {**run(), "content": [text("$ rm x")]},
        {**run(), "title": "`rm x`"},
        {"title": "x", "kind": "execute", "rawInput": {"arguments": {"command": "rm x"}}},
        {"title": "x", "kind": "other", "rawInput": {"arguments": [{"script": "rm x"}]}},
        {"title": "x", "kind": "edit", "rawInput": {"path": "a", "command": "rm x"}},
        {"title": "x", "kind": "read", "rawInput": {"path": "a", "x": {"cmd": ["rm", "x"]}}},
        {"title": "x", "kind": "fetch", "rawInput": {"url": "http://x", "command": "rm x"}},
    ],
)
def test_any_place_that_names_a_command_is_enough_to_reject(call: Json) -> None:
    for rules in (RULES, [Rule(action="reject", command="rm *"), Rule(action="allow")]):
        assert decide(call, rules=rules) == "reject"


@pytest.mark.parametrize("kind", ["read", "edit", "delete", "search", "fetch", "think"])
def test_a_call_about_something_else_that_names_a_command_is_always_asked(kind: str) -> None:
    for members in ({"command": "make"}, {"x": {"commands": ["make"]}}, {"script": "make"}):
        found = wanted({"title": "x", "kind": kind, "rawInput": {"path": "a", **members}})
        assert (judge([Rule(action="allow")], found).action, found.about) == ("ask", None), members
        assert "make" in "\n".join(found.remarks)


FILES = [Rule(action="reject", path="**/.env"), Rule(action="allow", path="src/**")]


@pytest.mark.parametrize(
    ("kind", "members", "action"),
    [
        ("edit", {"path": "src/a", "command": "str_replace"}, "allow"),
        ("edit", {"path": "src/a", "command": "make"}, "ask"),
        ("edit", {"path": "src/a", "script": "make"}, "ask"),
        ("edit", {"path": "src/a", "file_path": 5}, "ask"),
        ("edit", {"file_path": "src/a", "filePath": "b"}, "ask"),
        ("edit", {"path": "src/a", "x": {"y": ".env"}}, "reject"),
        ("read", {"path": "src/a", "limit": 5, "line": 2}, "allow"),
        ("read", {"path": "src/a", "other": "b"}, "ask"),
        ("read", {"path": "src/a", "others": ["b"]}, "ask"),
        ("read", {"path": "src/a", "x": {"y": "b"}}, "ask"),
        ("read", {"path": "src/a", "other": ".env"}, "reject"),
        ("read", {"path": "src/a", "paths": "b c"}, "ask"),
        ("search", {"path": "src", "pattern": "b", "glob": "*.py", "output_mode": "content", "-n": True}, "allow"),
        ("search", {"path": "src", "pattern": "../b"}, "ask"),
        ("delete", {"path": "src/a", "command": "make"}, "ask"),
    ],
)
def test_rules_about_files_see_all_members(kind: str, members: Json, action: str) -> None:
    assert decide({"title": "x", "kind": kind, "rawInput": members}, rules=FILES) == action


def test_files_that_an_earlier_input_has_named_count() -> None:
    call = {"title": "x", "kind": "edit", "rawInput": {"path": "src/a"}}
    assert decide(call, {"rawInput": {"file_path": "src/a"}}, rules=FILES) == "allow"
    assert decide(call, {"rawInput": {"file_path": "b"}}, rules=FILES) == "ask"
    assert decide(call, {"rawInput": {"file_path": ".env"}}, rules=FILES) == "reject"


def test_a_rejection_sees_the_places_of_a_command() -> None:
    rules = [*FILES, Rule(action="allow", command="git status *")]
    assert decide({**run(), "locations": [{"path": ".env"}]}, rules=rules) == "reject"


def test_a_long_input_is_shown_within_bounds() -> None:
    found = shown(run(script="x" * 100_000, **{f"x{number}": number for number in range(SHOWN_MEMBERS + 5)}))
    assert "100,002 characters in all" in found
    assert "… and 6 more" in found
    assert len(found) < (SHOWN_MEMBERS + 2) * 2 * SHOWN_CHARS


# --- any members -----------------------------------------------------------------------------------------------------

some_spelling = st.sampled_from([str, str.upper, str.title, lambda one: one.replace("_", "-"), lambda one: f"_{one}"])
some_float = st.floats(allow_nan=False, allow_infinity=False)
some_text = st.text(max_size=12)
some_scalar = st.one_of(st.booleans(), st.integers(), some_float, st.text(min_size=1, max_size=12))
some_value = st.recursive(
    some_scalar,
    lambda inner: st.lists(inner, min_size=1, max_size=3) | st.dictionaries(some_text, inner, min_size=1, max_size=3),
    max_leaves=6,
)
harmless_members = st.one_of(
    st.tuples(st.sampled_from(["description", "reason", "justification", "title"]), some_text),
    st.tuples(st.sampled_from(["timeout", "timeout_ms", "started_at_ms"]), st.integers() | some_float),
    st.tuples(st.sampled_from(["run_in_background", "is_background", "pty"]), st.booleans()),
    st.tuples(st.sampled_from(["call_id", "turn_id", "session_id"]), st.text("abcXYZ019_.-", min_size=1, max_size=20)),
    st.tuples(st.sampled_from(["then", "x", "sandbox_policy"]), st.none()),
    st.tuples(st.sampled_from(["then", "x", "env"]), st.sampled_from(["", [], {}])),
    st.tuples(st.just("cwd"), st.just(CWD)),
    st.tuples(st.just("dangerouslyDisableSandbox"), st.just(False)),
)
unknown_members = st.one_of(
    st.tuples(st.sampled_from(["script", "then", "input", "shell", "stdin", "steps", "arguments", "user"]), some_value),
    st.tuples(st.sampled_from(["description", "reason"]), some_value.filter(lambda one: not isinstance(one, str))),
    st.tuples(st.just("timeout"), some_value.filter(lambda one: type(one) not in (int, float, str))),
    st.tuples(st.sampled_from(["run_in_background", "pty"]), some_value.filter(lambda one: not isinstance(one, bool))),
    st.tuples(st.sampled_from(["sandbox", "with_escalated_permissions"]), st.sampled_from([{"x": 1}, "none", 7])),
    st.tuples(st.sampled_from(["env", "environment"]), st.dictionaries(st.just("LD_PRELOAD"), some_text, min_size=1)),
    st.tuples(st.sampled_from(["directory", "cwd"]), some_value.filter(lambda one: one != CWD)),
)


@pytest.mark.hypothesis
@settings(max_examples=examples(60))
@given(st.data())
def test_a_command_is_allowed_only_if_all_members_are_known_to_be_harmless(data: st.DataObject) -> None:
    harmless = data.draw(st.lists(harmless_members, max_size=5, unique_by=lambda one: one[0]))
    spelled = [(data.draw(some_spelling)(name), value) for name, value in [*harmless, ("command", STATUS)]]
    members = dict(data.draw(st.permutations(spelled)))
    assert decide({**run(), "rawInput": members}) == "allow", members
    name, value = data.draw(unknown_members)
    name = data.draw(some_spelling)(name)
    known = {one: inner for one, inner in members.items() if one.strip("_").lower() != name.strip("_").lower()}
    place = data.draw(st.integers(0, len(known)))
    pairs = [*known.items()]
    more = dict([*pairs[:place], (name, value), *pairs[place:]])
    assert decide({**run(), "rawInput": more}) != "allow", more
    assert decide({**run(), "rawInput": members}, {"rawInput": {name: value}}) != "allow", more
    rejecting = {one: "rm x" if inner == STATUS else inner for one, inner in more.items()}
    assert decide({**run(), "rawInput": rejecting}) == "reject", rejecting


@pytest.mark.hypothesis
@settings(max_examples=examples(60))
@given(
    st.dictionaries(some_text, some_value, max_size=6), st.sampled_from(["execute", "other", "edit", "read", "_new"])
)
def test_any_input_is_judged_and_shown(members: Json, kind: str) -> None:
    found = wanted({"title": "x", "kind": kind, "rawInput": {**members, "script": "rm x"}})
    assert judge(RULES, found).action == "reject"
    assert all("\n" not in line for line in found.remarks)
