"""Permissions: how they look, the keys that answer them, and that each is answered once."""

from __future__ import annotations

import pytest

OPTIONS = [
    {"option_id": "x1", "name": "Allow once", "kind": "allow_once"},
    {"option_id": "x2", "name": "Allow always", "kind": "allow_always"},
    {"option_id": "x3", "name": "Reject once", "kind": "reject_once"},
    {"option_id": "x4", "name": "Reject always", "kind": "reject_always"},
    {"option_id": "x5", "name": "Ask\nmy boss", "kind": "boss"},
]


def asked(key, block=1, number=7, options=None, title="Edit main.py", content=(), command=None):
    request = {
        "id": number, "tool_call_id": "t1", "title": title, "kind": "edit", "options": options or OPTIONS,
        "content": list(content), "locations": [], **({"command": command} if command else {}),
    }  # fmt: skip
    return {"type": "permission", "session": key, "block": block, "request": request}


def done(key, block=1, number=7, option_id="x1", name="Allow once"):
    more = {"option_id": option_id, "name": name} if option_id else {}
    outcome = "selected" if option_id else "cancelled"
    return {"type": "permission_done", "session": key, "block": block, "id": number, "outcome": outcome, **more}


def test_it_shows_what_is_asked_and_the_ways_to_answer(editor, key):
    content = [{"type": "diff", "path": "/p/a.py", "old_text": "a\n", "new_text": "b\n", "line": 1}]
    editor.apply(asked(key, title="rm -r build\nrm -r dist", content=content))
    assert editor.lines(key)[1:] == [
        "Permission needed  edit  rm -r build",
        "  rm -r dist",
        "  /p/a.py",
        "  @@ -1 +1 @@",
        "  -a",
        "  +b",
        "✓ a Allow once · ✓ A Allow always",
        "✗ r Reject once · ✗ R Reject always",
        "? 5 Ask^Jmy boss (boss)",
    ]


@pytest.mark.parametrize(
    ("title", "command", "shown"),
    [
        ("Run make test", "make test", ""),
        ("`make test`", "make test", ""),
        ("make test", "make test", ""),
        ("Run make …", "make\nmake install", ""),
        ("Run the tests", "make test", "  Run the tests"),
        ("make", "make test", "  make"),
    ],
)
def test_a_command_is_shown_once(editor, key, title, command, shown):
    editor.apply(asked(key, title=title, command=command))
    lines = editor.lines(key)
    assert lines[1] == f"Permission needed  edit{shown}"
    assert [line for line in lines if line.startswith("┃ $ ")] == [f"┃ $ {command.partition(chr(10))[0]}"]
    editor.apply(done(key))
    answered = ["Permission  edit  " + title, "  ✓ Allow once"]
    assert editor.lines(key)[1:3] == answered


@pytest.mark.parametrize(
    ("pressed", "chosen"), [("a", "x1"), ("A", "x2"), ("r", "x3"), ("R", "x4"), ("1", "x1"), ("4", "x4"), ("5", "x5")]
)
def test_keys(editor, key, pressed, chosen):
    editor.apply(asked(key))
    editor.keys(pressed)
    editor.keys("<CR>")
    assert editor.sent("answer") == [{"id": 7, "option_id": chosen}]


def test_enter_takes_the_option_under_the_cursor(editor, key):
    editor.apply(asked(key))
    editor.keys("gg<CR>")
    assert editor.sent("answer") == []
    editor.lua("vim.fn.search('Reject once', 'w')")
    editor.keys("<CR>")
    assert editor.sent("answer") == [{"id": 7, "option_id": "x3"}]


def test_the_answer_takes_the_place_of_the_options(editor, key):
    editor.apply(asked(key), {"type": "append", "session": key, "block": 2, "kind": "agent", "text": "well"})
    editor.apply(done(key))
    assert editor.lines(key)[1:] == ["Permission  edit  Edit main.py", "  ✓ Allow once", "", "well"]
    editor.apply(asked(key, 3, 8), done(key, 3, 8, None))
    assert editor.lines(key)[-1] == "  – cancelled"


def test_keys_are_plain_when_nothing_waits(editor, key):
    maps = "return vim.tbl_map(function(m) return m.lhs end, vim.api.nvim_buf_get_keymap(0, 'n'))"
    before = sorted(editor.lua(maps))
    editor.apply(asked(key))
    assert {"a", "r", "1", "5"} <= set(editor.lua(maps))
    editor.apply(done(key))
    assert sorted(editor.lua(maps)) == before


def test_several_at_once(editor, key):
    editor.apply(asked(key, 1, 7), asked(key, 2, 8), asked(key, 3, 9))
    editor.keys("gg")
    editor.lua("vim.api.nvim_win_set_cursor(0, { 10, 0 })")
    editor.keys("r")
    editor.keys("gga")
    assert editor.sent("answer") == [{"id": 8, "option_id": "x3"}, {"id": 7, "option_id": "x1"}]
    assert [one["id"] for one in editor.lua('return require("acp_nvim").permissions()')] == [9]


def test_a_key_pressed_twice_answers_once_and_shows_the_next(editor, key):
    editor.apply(asked(key, block=1, number=7), asked(key, block=2, number=8))
    editor.keys("G")
    editor.keys("aa")
    assert editor.sent("answer") == [{"id": 8, "option_id": "x1"}]
    editor.apply(done(key, block=2, number=8))
    editor.keys("G")
    editor.keys("a")
    assert len(editor.sent("answer")) == 1
    editor.keys("a")
    assert editor.sent("answer")[1:] == [{"id": 7, "option_id": "x1"}]


def test_a_request_that_is_out_of_sight_is_shown_before_it_is_answered(editor, key):
    text = {"type": "append", "session": key, "block": 2, "kind": "agent", "text": "words\n" * 200}
    editor.apply(asked(key, block=1), text)
    editor.keys("G")
    editor.keys("a")
    assert editor.sent("answer") == []
    assert "Permission needed" in editor.lua("return vim.api.nvim_get_current_line()")
    editor.keys("a")
    assert editor.sent("answer") == [{"id": 7, "option_id": "x1"}]


def test_a_request_about_no_tool_call_says_why_it_is_made(editor, key):
    request = asked(key, title="Read the mail", content=[{"type": "text", "text": "of today"}])
    request["request"].update(tool_call_id="", kind="", description="To find\n\nthe invoice.\n")
    editor.apply(request)
    assert editor.lines(key)[1:7] == [
        "Permission needed  Read the mail", "  To find", "", "  the invoice.", "  of today",
        "✓ a Allow once · ✓ A Allow always",
    ]  # fmt: skip
    editor.apply(done(key))
    assert editor.lines(key)[1:] == ["Permission  Read the mail", "  ✓ Allow once"]


def test_kinds_of_options_that_nobody_knows_are_answered_by_number(editor, key):
    kinds = ["_maybe", "allow_forever", "reject_kindly", "allow_once"]
    options = [{"option_id": kind, "name": kind.title(), "kind": kind} for kind in kinds]
    for number, kind in enumerate(kinds, 1):
        editor.apply(asked(key, number, number, options))
        assert editor.lines(key)[-4:] == [
            "? 1 _Maybe (_maybe)", "? 2 Allow_Forever (allow_forever)", "? 3 Reject_Kindly (reject_kindly)",
            "✓ a Allow_Once",
        ]  # fmt: skip
        editor.keys("G")
        editor.keys(str(number))
        assert editor.sent("answer")[-1] == {"id": number, "option_id": kind}
        editor.apply(done(key, number, number, kind, kind.title()))
    outcomes = [line for line in editor.lines(key) if line.startswith("  ")]
    assert outcomes == ["  → _Maybe", "  ✓ Allow_Forever", "  ✗ Reject_Kindly", "  ✓ Allow_Once"]


def test_answers_from_lua(editor, key):
    editor.apply(asked(key))
    (waiting,) = editor.lua('return require("acp_nvim").permissions()')
    assert (waiting["id"], waiting["title"], waiting["kind"]) == (7, "Edit main.py", "edit")
    assert waiting["options"] == OPTIONS
    answer = 'return { require("acp_nvim").answer(...) }'
    assert editor.lua(answer, 8, "x1") == [False, "no permission 8 waits for an answer"]
    assert editor.lua(answer, 7, "nope") == [False, 'permission 7 has no option "nope"']
    assert editor.lua(answer, 7, "x2") == [True]
    assert editor.lua(answer, 7, "x1")[0] is False
    assert editor.sent("answer") == [{"id": 7, "option_id": "x2"}]


def test_without_the_float_a_permission_that_is_not_seen_is_announced_and_takes_no_focus(editor, key):
    editor.lua('require("acp_nvim").setup({ permissions = { float = false } })')
    editor.command("tabnew")
    window = editor.api("get_current_win")
    editor.apply(asked(key))
    assert "demo asks you (:AcpChat): Edit main.py" in editor.message()
    assert editor.api("get_current_win") == window


def test_the_announcement_says_where_to_go_on_a_narrow_screen_too(editor, key):
    editor.lua('require("acp_nvim").setup({ permissions = { float = false } })')
    editor.command("tabnew | set columns=60")
    editor.apply(asked(key, title="Run `rm -rf build` and whatever else comes to the mind of an agent"))
    assert "demo asks you (:AcpChat): " in editor.message()


def test_a_redraw_is_no_second_request(editor, key):
    editor.apply(asked(key), done(key), asked(key, 2, 8))
    editor.apply({"type": "reset", "session": key}, asked(key), done(key), asked(key, 2, 8))
    names = [record["name"] for record in editor.events() if "Permission" in record["name"]]
    assert names == ["AcpPermissionRequest", "AcpPermissionDone", "AcpPermissionRequest"]
    assert [one["id"] for one in editor.lua('return require("acp_nvim").permissions()')] == [8]


def test_configured_keys(editor):
    editor.lua('require("acp_nvim").setup({ keymaps = { allow_once = "<C-y>", reject_once = false, choose = false } })')
    key = editor.chat()
    editor.focus(editor.session(key, "bufnr"))
    editor.apply(asked(key))
    assert "✓ <C-y> Allow once · ✓ A Allow always" in editor.lines(key)
    assert editor.lua("return vim.fn.maparg('r', 'n') == ''")
    editor.keys("<C-y>")
    assert editor.sent("answer") == [{"id": 7, "option_id": "x1"}]


def test_one_key_for_two_answers_leaves_no_key_behind(editor):
    keymaps = {"allow_once": ["y", "<cr>", "1"], "reject_once": "y", "choose": "<CR>"}
    editor.lua('require("acp_nvim").setup({ keymaps = ... })', keymaps)
    key = editor.chat()
    editor.focus(editor.session(key, "bufnr"))
    editor.command("nmap <buffer> y <Cmd>let g:mine = 1<CR>")
    maps = "return vim.tbl_map(function(m) return m.lhs .. (m.desc or '') end, vim.api.nvim_buf_get_keymap(0, 'n'))"
    before = sorted(editor.lua(maps))
    editor.apply(asked(key))
    editor.keys("1")
    assert len(editor.sent("answer")) == 1
    editor.apply(done(key))
    assert sorted(editor.lua(maps)) == before
    editor.keys("y")
    assert editor.lua("return vim.g.mine") == 1
