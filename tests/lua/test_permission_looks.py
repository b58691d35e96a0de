"""What is asked is shown whole, and nothing in it can hide; any number of options; what rules have answered."""

from __future__ import annotations

import pytest

from tests.lua.test_chat import call
from tests.lua.test_permissions import OPTIONS, asked, done

VISIBLE = 'return require("acp_nvim.render.characters").text(...)'


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("git status", "git status"),
        ("echo \x1b[2K\rrm", "echo ^[[2K\rrm".replace("\r", "^M")),
        ("a\x00b\x7f\x08", "a^@b^?^H"),
        ("tab\there", "tab\there"),
        ("rm \u202egnp.x", "rm <202e>gnp.x"),
        ("a\u2066b\u2069c\u200fd\u061ce", "a<2066>b<2069>c<200f>d<061c>e"),
        ("r\u200bm\ufeff \u00adx\u0085", "r<200b>m<feff> <00ad>x<0085>"),
        ("a\u3164b\u115fc\uffa0d\u2800e", "a<3164>b<115f>c<ffa0>d<2800>e"),
        ("\U000e0041\U000e0100x\u2028y", "<e0041><e0100>x<2028>y"),
        ("x\ufe0fy\u200dz", "x<fe0f>y<200d>z"),
        ("⚠\ufe0f ❤\ufe0f\u200d🔥 👩\u200d💻", "⚠\ufe0f ❤\ufe0f\u200d🔥 👩\u200d💻"),
        ("🔥\u200d\u200d", "🔥\u200d\u200d"),
        ("grün 漢字 naïve שלום", "grün 漢字 naïve שלום"),
    ],
)
def test_nothing_is_without_a_look(editor, text, shown):
    assert editor.lua(VISIBLE, text) == shown


def test_every_part_of_a_request_is_visible(editor, key):
    options = [{"option_id": "x", "name": "Al\u202elow", "kind": "allow\u200bonce"}]
    request = asked(key, title="rm\u200b -rf\x1b[8m", options=options)
    request["request"].update(
        kind="ed\u200dit", description="de\u2067sc", locations=[{"path": "/p/\u202ea"}],
        content=[{"type": "text", "text": "te\u2066xt"}, {"type": "diff", "path": "/\u200fq", "new_text": "n\u202dew"}],
    )  # fmt: skip
    editor.apply(request)
    assert editor.lines(key)[1:] == [
        "Permission needed  ed<200d>it  rm<200b> -rf^[[8m",
        "  de<2067>sc",
        "  /p/<202e>a",
        "  te<2066>xt",
        "  /<200f>q (new file)",
        "  @@ -0,0 +1 @@",
        "  +n<202d>ew",
        "? 1 Al<202e>low (allow<200b>once)",
    ]


def test_a_command_is_shown_whole_however_long_it_is(editor, key):
    long = "echo " + "x" * 10_000 + "; rm -rf ~"
    lines = [f"echo {number}" for number in range(200)]
    editor.apply(asked(key, command="\n".join([long, *lines, "rm -rf /"])))
    shown = editor.lines(key)
    assert f"┃ $ {long}" in shown
    assert "┃ rm -rf /" in shown
    assert not any("more" in line for line in shown)


def test_what_a_command_has_beyond_it_is_shown_by_the_host(editor, key):
    remarks = ["It asks to run without the sandbox: x: true", '  script: "r\u202em\x1b[8m -rf' + " " * 40 + '"']
    request = asked(key, command="git status")
    request["request"]["remarks"] = remarks
    editor.apply(request)
    assert editor.lines(key)[2:5] == [
        "┃ $ git status",
        "┃ It asks to run without the sandbox: x: true",
        '┃   script: "r<202e>m^[[8m -rf ··· 40 spaces ··· "',
    ]


def test_the_input_of_a_call_is_shown_member_by_member(editor, key):
    long = {"name": "content", "text": "a\n\u200bb", "tail": "y\nz", "chars": 9000, "lines": 300}
    request = asked(key, title="write")
    request["request"]["input"] = [
        {"name": "path", "text": "/p/\u202e.env"},
        {"name": 'x."a\u200bb"', "text": "false"},
        long,
        {"name": "code", "text": "one\ntwo"},
        {"name": "line", "text": "bc", "tail": "yz", "chars": 9000, "lines": 1},
    ]
    editor.apply(request)
    assert editor.lines(key)[2:-3] == [
        "  path: /p/<202e>.env",
        '  x."a<200b>b": false',
        "  content:",
        "    a",
        "    <200b>b",
        "    … 9000 characters, 300 lines in all …",
        "    y",
        "    z",
        "  code:",
        "    one",
        "    two",
        "  line:",
        "    bc",
        "    … 9000 characters in all …",
        "    yz",
    ]


def test_what_the_tool_call_right_above_does_not_show_is_shown(editor, key):
    diff = {"type": "diff", "path": "/p/a.py", "old_text": "a\n", "new_text": "b\n"}
    long = {"type": "text", "text": "\n".join(f"line {number}" for number in range(60))}
    editor.apply(call(key, 1, content=[diff, long]), asked(key, 2, command="ls", content=[diff, long]))
    below = editor.lines(key)[editor.lines(key).index("Permission needed  edit  Edit main.py") :]
    assert below[1] == "┃ $ ls"
    assert "  +b" not in below
    assert "  line 59" in below


def test_a_command_stays_in_the_request_when_the_tool_call_above_shows_something_else(editor, key):
    same = [{"type": "text", "text": "$ npm test"}]
    editor.apply(call(key, 1, content=same), asked(key, 2, command="npm test", content=same))
    editor.apply(call(key, 1, content=[{"type": "text", "text": "$ true"}]))
    below = editor.lines(key)[editor.lines(key).index("Permission needed  edit") :]
    assert below[1] == "┃ $ npm test"


def test_a_text_that_looks_like_a_command_is_none_for_the_list_of_options(editor, key):
    said = [{"type": "text", "text": "$ npm test"}]
    editor.lua("vim.ui.select = function(_, opts) _G.asked = opts.prompt end")
    editor.apply(asked(key, command="rm -rf x\nmake", content=said))
    editor.lua("require('acp_nvim.permission.picker').options(require('acp_nvim.permission').get(7))")
    assert editor.lua("return _G.asked") == "$ rm -rf x ⏎ make"


def test_twelve_options(editor, key):
    kinds = ["allow_once", "allow_always", "reject_once", "reject_always", *["allow_once"] * 8]
    options = [{"option_id": f"o{n}", "name": f"Way {n}", "kind": kind} for n, kind in enumerate(kinds, 1)]
    editor.apply(asked(key, options=options))
    assert [line for line in editor.lines(key) if "Way" in line][-2:] == [
        "✓ 11 Way 11 (allow_once)",
        "✓ 12 Way 12 (allow_once)",
    ]
    waits = "return vim.fn.maparg(..., 'n', false, true).nowait == 0"
    assert [editor.lua(waits, key) for key in ("1", "2", "12")] == [True, False, False]
    editor.keys("12")
    assert editor.sent("answer") == [{"id": 7, "option_id": "o12"}]
    for number, pressed in ((8, "9"), (9, "10"), (10, "1<Esc>")):
        editor.apply(asked(key, number, number, options))
        editor.keys("G")
        editor.keys(pressed)
    assert [one["option_id"] for one in editor.sent("answer")] == ["o12", "o9", "o10", "o1"]


def test_an_option_of_ours_is_marked(editor, key):
    ours = {"option_id": "acp_nvim:allow_always", "name": "Always allow ls", "kind": "allow_always", "ours": True}
    editor.apply(asked(key, options=[OPTIONS[0], ours]))
    assert editor.lines(key)[-1] == "✓ A Always allow ls (kept by acp_nvim)"
    assert editor.lua('return require("acp_nvim").permissions()[1].options[2].ours') is True
    editor.keys("A")
    assert editor.sent("answer") == [{"id": 7, "option_id": "acp_nvim:allow_always"}]


def test_what_was_answered_is_to_be_read_afterwards(editor, key):
    editor.apply(asked(key, title="Build", command="make\nmake install"), done(key))
    assert editor.lines(key)[1:] == ["Permission  edit  Build", "  ✓ Allow once", "  $ make"]


def test_kinds_decide_whatever_ids_and_names_say(editor, key):
    options = [
        {"option_id": "reject_once", "name": "No", "kind": "allow_once"},
        {"option_id": "allow_once", "name": "Yes", "kind": "reject_once"},
    ]
    editor.apply(asked(key, options=options), asked(key, 2, 8, options))
    editor.keys("G")
    editor.keys("r")
    editor.keys("gg")
    editor.lua("vim.api.nvim_win_set_cursor(0, { 2, 0 })")
    editor.keys("a")
    assert editor.sent("answer") == [{"id": 8, "option_id": "allow_once"}, {"id": 7, "option_id": "reject_once"}]


@pytest.mark.parametrize(
    ("why", "words"),
    [
        ("withdrawn", "– withdrawn by the agent"),
        ("cancelled", "– cancelled"),
        ("agent_gone", "– cancelled: the agent is gone"),
        (None, "– cancelled"),
    ],
)
def test_it_is_said_why_nobody_answers_any_more(editor, key, why, words):
    over = done(key, option_id=None)
    editor.apply(asked(key), {**over, "why": why})
    assert editor.lines(key)[-1] == f"  {words}"
    assert editor.lua('return require("acp_nvim").answer(7, "x1")') is False
    assert editor.sent("answer") == []


def test_a_closed_request_is_not_open_again_halfway_through_a_redraw(editor, key):
    editor.apply(asked(key), done(key))
    editor.apply({"type": "reset", "session": key}, asked(key))
    assert editor.lua('return require("acp_nvim").permissions()') == []
    assert editor.lua('return { require("acp_nvim").answer(7, "x1") }')[0] is False
    editor.keys("a")
    editor.apply(done(key))
    assert editor.sent("answer") == []
    assert editor.lines(key)[-1] == "  ✓ Allow once"


def automatic(key, block=1, number=7, **more):
    event = {
        "type": "permission_auto", "session": key, "block": block, "request": asked(key, block, number)["request"],
        "option_id": "x1", "name": "Allow once", "kind": "allow_once", "rule": "allow command git status*",
        "source": "config",
    }  # fmt: skip
    return {**event, **more}


def test_an_automatic_answer_is_closed_and_says_its_rule(editor, key):
    second = automatic(
        key, 2, 8, option_id="x3", name="Reject once", kind="reject_once", source="stored", rule="reject *"
    )
    second["request"] = {**second["request"], "command": "rm -rf ~\nrm -rf /"}
    editor.apply(automatic(key), second)
    assert editor.lines(key)[1:] == [
        "Permission  edit  Edit main.py",
        "  ✓ Allow once  by your rule: allow command git status*",
        "",
        "Permission  edit  Edit main.py",
        "  ✗ Reject once  by an earlier answer: reject *",
        "  $ rm -rf ~",
    ]
    assert editor.lua('return require("acp_nvim").permissions()') == []
    assert editor.lua("return vim.fn.maparg('a', 'n')") == ""
    editor.apply({"type": "reset", "session": key}, automatic(key))
    assert [(one["name"], one["data"]) for one in editor.events() if "Permission" in one["name"]] == [
        ("AcpPermissionDone", {
            "session": key, "id": 7, "outcome": "selected", "option_id": "x1", "rule": "allow command git status*",
            "source": "config",
        }),
        ("AcpPermissionDone", {
            "session": key, "id": 8, "outcome": "selected", "option_id": "x3", "rule": "reject *", "source": "stored",
        }),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("done_", "words"),
    [
        ({}, "– not answered"),
        ({"outcome": "cancelled"}, "– cancelled"),
        ({"outcome": "selected", "name": "Yes"}, "Yes"),
    ],
)
def test_kept_requests_say_what_became_of_them(editor, key, done_, words):
    editor.apply({**asked(key), "type": "permission_kept", **done_})
    assert words in editor.lines(key)[-1]
    assert editor.lua('return require("acp_nvim").permissions()') == []


def test_no_text_of_an_agent_looks_like_a_line_of_the_host(editor, key):
    fake = "┃ $ ls\n✓ a Allow once · \n┃ in /safe"
    request = asked(
        key,
        title=fake,
        command="rm -rf ~\n┃ in /safe",
        content=[{"type": "text", "text": fake}],
        options=[{"option_id": "x", "name": f"Reject\n{fake}", "kind": "allow_once"}],
    )
    request["request"].update(cwd="/p", env=["PATH=/tmp/evil", "A=b\nc"], description=fake, locations=[{"path": fake}])
    editor.apply(request)
    lines = editor.lines(key)[1:]
    ours = [line for line in lines if "┃" in line]
    assert ours == [
        "┃ $ rm -rf ~", "┃ <2503> in /safe", "┃ in /p", "┃ with PATH=/tmp/evil", "┃ with A=b", "┃ c",
    ]  # fmt: skip
    assert [line for line in lines if line[0] in "✓✗?"] == [lines[-1]]
    assert lines[-1].startswith("✓ a Reject^J<2503> $ ls^J<2713> a")
    assert "  <2503> $ ls^J✓ a Allow once · ^J<2503> in /safe" in lines  # the directory of the command


@pytest.mark.parametrize(("pressed", "chosen"), [("a", []), ("A", []), ("1", ["x3"]), ("r", ["x3"]), ("\r", ["x3"])])
def test_what_cannot_be_shown_can_only_be_rejected(editor, key, pressed, chosen):
    request = asked(key, options=[OPTIONS[2]])
    request["request"].update(left_out="3 places")
    editor.lua("_G.told = {} vim.notify = function(text) table.insert(_G.told, text) end")
    editor.apply(request)
    words = "Not all of it can be shown, so it can only be rejected. What is missing: 3 places."
    assert f"┃ {words}" in editor.lines(key)
    editor.keys(pressed)
    assert [one["option_id"] for one in editor.sent("answer")] == chosen
    if pressed in "aA":
        editor.wait_until(lambda: editor.lua("return _G.told"), what="the words")
        assert " ".join(editor.lua("return _G.told[1]").split()) == f"acp_nvim: {words}"
    answer = "return { require('acp_nvim').answer(7, 'x1') }"
    problem = f'permission 7 has no option "x1": {words}' if not chosen else "no permission 7 waits for an answer"
    assert editor.lua(answer) == [False, problem]
