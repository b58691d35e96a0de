"""Where the keys of the chat lead: files, places, links, pictures, all of a tool call."""

from __future__ import annotations

import pytest

from tests.lua.test_chat import append, call
from tests.lua.test_content import diff, terminal

OPENED = """
_G.opened = {}
vim.ui.open = function(what) table.insert(_G.opened, what) return {} end
"""


class Chat:
    """A chat with the focus, beside a code window, and a file `src/a.py` of 50 lines below its directory."""

    def __init__(self, editor):
        self.editor = editor
        self.cwd = editor.project
        (self.cwd / "src").mkdir()
        (self.cwd / "src" / "__init__.py").write_text("")
        self.path = self.cwd / "src" / "a.py"
        self.path.write_text("".join(f"line {n}\n" for n in range(1, 51)))
        editor.lua(OPENED)
        self.key = editor.chat()
        self.win = editor.focus(editor.session(self.key, "bufnr"))
        editor.lua("require('acp_nvim.host.sessions').get(...).host = 1", self.key)

    def apply(self, *events):
        self.editor.apply(*[{**one, "session": self.key} for one in events])

    def press(self, key, line, col=1):
        self.editor.lua("local win, line, col = ... vim.api.nvim_set_current_win(win) vim.fn.cursor(line, col)",
                        self.win, line, col)  # fmt: skip
        self.editor.keys(key)

    def place(self):
        """The file of the current window, below the directory; line; column."""
        name, line, col = self.editor.lua("return { vim.fn.expand('%:p'), vim.fn.line('.'), vim.fn.col('.') }")
        assert self.editor.lua("return vim.api.nvim_win_get_buf(...)", self.win) == self.editor.session(
            self.key, "bufnr"
        ), "the chat stays where it is"
        return name.removeprefix(f"{self.cwd}/"), line, col

    def opened(self):
        return self.editor.lua("return _G.opened")


@pytest.fixture
def chat(editor):
    return Chat(editor)


@pytest.mark.parametrize("key", ["gf", "<CR>"])
@pytest.mark.parametrize(
    ("text", "part", "line", "col"),
    [
        ("look at src/a.py now", "a.py", 1, 1),
        ("look at src/a.py:7:3: error", "src", 7, 3),
        ("(src/a.py:8)", "a.py", 8, 1),
        ("src/a.py:9-12 has it.", "src", 9, 1),
        ("`src/a.py`, that is", "a.py", 1, 1),
        ("see [the file](src/a.py#L5)!", "the file", 5, 1),
        ("see [it](<src/a.py>)", "it", 1, 1),
        ('  File "src/a.py", line 13, in f', "a.py", 13, 1),
        ("src/a.py(4,2): warning", "a.py", 4, 2),
        ("a/src/a.py", "src", 1, 1),
        ("path=src/a.py", "a.py", 1, 1),
        ("src/a.py:999", "a.py", 50, 1),
        ("src/__init__.py:1", "__init__", 1, 1),
        ("**src/a.py**.", "src", 1, 1),
    ],
)
def test_paths_in_texts(chat, key, text, part, line, col):
    chat.apply(append(1, 1, f"one\n{text}"))
    chat.press(key, 3, text.index(part) + 1)
    assert chat.place() == ("src/__init__.py" if "__init__" in text else "src/a.py", line, col)


def test_absolute_paths_and_uris_of_files(chat):
    chat.apply(append(1, 1, f"{chat.path}:3\nfile://{chat.path}#L4\n<file://{chat.path}>"))
    for row, line in [(2, 3), (3, 4), (4, 4)]:
        chat.press("gf", row, 5)
        assert chat.place()[:2] == ("src/a.py", line)


def test_urls_are_the_system_s(chat):
    chat.apply(append(1, 1, "see https://example.org/a?b=c, or [that](http://example.org/x)"))
    chat.press("gf", 2, 8)
    chat.press("<CR>", 2, 35)
    assert chat.opened() == ["https://example.org/a?b=c", "http://example.org/x"]


@pytest.mark.parametrize("text", ["nothing here", "and/or", "https://", "a:b:c"])
def test_what_is_no_file_does_nothing_but_what_the_key_does(chat, text):
    chat.apply(append(1, 1, f"{text}\nmore"))
    chat.press("<CR>", 2)
    chat.editor.wait_until("vim.fn.line('.') == 3", what="the line below, as Enter does")
    chat.press("gf", 2)
    assert "nothing to open" in chat.editor.message()
    assert chat.editor.lua("return vim.api.nvim_get_current_win()") == chat.win
    assert chat.opened() == []


CALL = {
    "content": [
        diff("src/a.py", "line 9\nline 10\nline 11\n", "line 9\nnew\nline 11\nmore\n", line=9),
        terminal(number=3, command="make", output="src/a.py:22: broken"),
        {"type": "media", "kind": "image", "mime_type": "image/png", "size": 1200, "place": 2},
        {"type": "resource", "uri": "https://example.org/doc", "name": "The manual", "size": 3000},
        {"type": "resource", "uri": "file:///nowhere", "text": "words", "mime_type": "text/plain"},
        {"type": "text", "text": "src/a.py:30 is wrong"},
    ],
    "locations": [{"path": "src/a.py", "line": 17}, {"path": "src/b.py", "line": 2}],
}


def test_lines_of_tool_calls(chat):
    chat.apply(call(1, 1, title="Improve it", **CALL))
    lines = chat.editor.lines(chat.key)
    assert lines[1:] == [
        "Improve it", "  src/b.py:2", "  src/a.py", "  @@ -9,3 +9,4 @@", "   line 9", "  -line 10", "  +new",
        "   line 11", "  +more", "  $ make", "  src/a.py:22: broken", "  image (image/png, 1 kB)",
        "  The manual  https://example.org/doc  (3 kB)", "  /nowhere  (text/plain)", "  words",
        "  src/a.py:30 is wrong",
    ]  # fmt: skip
    for row, line in [(2, 17), (4, 17), (5, 9), (6, 9), (7, 10), (8, 10), (9, 11), (10, 12), (17, 30)]:
        chat.press("<CR>", row, 4)
        assert chat.place()[:2] == ("src/a.py", line), lines[row - 1]
    chat.press("<CR>", 13)
    media = chat.editor.sent("call_media")
    assert [(one["block"], one["place"]) for one in media] == [(1, 2)]
    assert media[0]["directory"].endswith("acp_nvim/media")
    chat.press("gf", 14)
    assert chat.opened() == ["https://example.org/doc"]
    chat.press("<CR>", 12)
    assert chat.editor.sent("terminal_open") == [{"session": chat.key, "terminal": 3}]


def test_a_picture_is_opened_and_what_cannot_be_says_so(chat):
    chat.apply({"type": "call_media", "path": "/cache/x.png"}, {"type": "call_media", "problem": "no base64"})
    assert chat.opened() == ["/cache/x.png"]
    assert "no base64" in chat.editor.message()
    chat.editor.lua("vim.ui.open = function() return nil, 'no program for it' end")
    chat.apply({"type": "call_media", "path": "/cache/x.png"})
    chat.editor.wait_until(lambda: "no program for it" in "\n".join(chat.editor.messages()), what="the reason")


def test_a_call_without_places_shows_its_details(chat):
    chat.apply(call(1, 1, content=[{"type": "text", "text": "words"}]))
    chat.press("<CR>", 2)
    chat.press("<CR>", 3)
    assert chat.editor.sent("call_details") == [{"session": chat.key, "block": 1}] * 2


DETAILS = {
    "type": "call_details",
    "block": 1,
    "name": "Edit",
    "raw_input": '{\n  "path": "src/a.py"\n}',
    "raw_output": '"```"',
    "call": {
        "id": "t1", "title": "Improve\nit", "kind": "edit", "status": "failed", "started": 1000.0, "ended": 1002.5,
        "locations": [{"path": "src/a.py", "line": 17}], "parent": "t0",
        "content": [
            diff("src/a.py", "a\nb\n", "a\nc\n"),
            {"type": "text", "text": "```\nfenced\n```"},
            terminal(command="make", output="\n".join(map(str, range(100))), exit_code=2),
            {"type": "resource", "uri": "u", "text": "resource\ntext"},
            {"type": "media", "kind": "audio", "mime_type": "audio/wav", "size": 7, "place": 4},
            {"type": "other", "label": "something else"},
        ],
    },
}  # fmt: skip


def test_k_shows_all_of_a_call(chat):
    chat.apply(call(1, 1, content=[diff("src/a.py", "a\nb\n", "a\nc\n")]))
    chat.press("K", 3)
    assert chat.editor.sent("call_details") == [{"session": chat.key, "block": 1}]
    chat.apply(DETAILS)
    assert chat.editor.lua("return { vim.bo.filetype, vim.bo.buftype, vim.bo.modifiable }") == [
        "acp_call", "nofile", False,
    ]  # fmt: skip
    assert chat.editor.lua("return vim.api.nvim_buf_get_name(0)").startswith(f"acp://call {chat.key}-1 Improve")
    lines = chat.editor.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, true)")
    for line in [
        "# Improve", "it", "- kind: edit", "- status: failed", "- tool: Edit", "- part of: t0", "- took: 2.5 s",
        "- src/a.py:17", "## Input", '  "path": "src/a.py"', "```diff", "-b", "+c", "fenced", "$ make", "0", "99",
        "exit 2", "resource", "audio (audio/wav, 7 bytes) ", "something else", "## Output", "````json",
    ]:  # fmt: skip
        assert line in lines
    row = lines.index("- src/a.py:17") + 1
    chat.editor.lua("vim.fn.cursor(..., 5)", row)
    chat.editor.keys("gf")
    assert chat.place()[:2] == ("src/a.py", 17)


def test_details_that_nobody_waits_for_open_nothing_and_q_closes_them(chat):
    chat.apply(call(1, 1), DETAILS)
    assert chat.editor.lua("return vim.bo.filetype") == "acp_chat"
    chat.press("K", 2)
    chat.apply({**DETAILS, "block": 2}, DETAILS, DETAILS)
    count = chat.editor.lua("return #vim.api.nvim_list_wins()")
    assert chat.editor.lua("return vim.bo.filetype") == "acp_call"
    chat.press("K", 2)
    chat.apply(DETAILS)
    assert chat.editor.lua("return #vim.api.nvim_list_wins()") == count, "in the same window"
    chat.editor.keys("q")
    assert chat.editor.lua("return #vim.api.nvim_list_wins()") == count - 1
    assert chat.editor.api("get_current_win") == chat.win


def test_k_on_a_permission_is_about_its_call(chat):
    request = {"id": 5, "tool_call_id": "t1", "title": "Edit", "kind": "edit", "options": [], "content": [],
               "locations": []}  # fmt: skip
    chat.apply(call(1, 1), append(1, 2, "well"), {"type": "permission", "block": 3, "request": request})
    chat.press("K", len(chat.editor.lines(chat.key)))
    assert chat.editor.sent("call_details") == [{"session": chat.key, "block": 1}]


def test_k_on_a_permission_stays_about_its_call_when_the_id_is_used_again(chat):
    chat.editor.lua("vim.api.nvim_create_autocmd('User', { pattern = 'AcpToolCall', callback = function() end })")
    request = {"id": 5, "tool_call_id": "t1", "title": "Edit", "kind": "edit", "options": [], "content": [],
               "locations": []}  # fmt: skip
    asked = {"type": "permission", "block": 2, "request": request}
    chat.apply(call(1, 1), asked, call(1, 3))
    row = chat.editor.lines(chat.key).index(next(one for one in chat.editor.lines(chat.key) if "Edit" in one)) + 1
    assert len(chat.editor.events("AcpToolCall")) == 2, "one for each call, though they look the same"
    chat.apply(
        call(1, 1, title="Read, and more"), {"type": "permission_done", "block": 2, "id": 5, "outcome": "cancelled"}
    )
    chat.press("K", row)
    assert chat.editor.sent("call_details") == [{"session": chat.key, "block": 1}]
    chat.apply({"type": "permission", "block": 4, "request": {**request, "id": 6}})
    chat.press("K", len(chat.editor.lines(chat.key)))
    assert chat.editor.sent("call_details")[-1] == {"session": chat.key, "block": 3}
    chat.apply({"type": "reset"}, call(1, 1), {"type": "permission", "block": 2, "request": {**request, "id": 7}})
    chat.press("K", len(chat.editor.lines(chat.key)))
    assert chat.editor.sent("call_details")[-1] == {"session": chat.key, "block": 1}


def float_lines(editor):
    return editor.lua(
        """for _, win in ipairs(vim.api.nvim_list_wins()) do
          if vim.api.nvim_win_get_config(win).relative == "editor" then
            return vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(win), 0, -1, true)
          end
        end"""
    )


def test_the_keys_are_listed_in_a_float_that_stays(chat):
    editor = chat.editor
    editor.keys("g?")
    text = "\n".join(float_lines(editor))
    assert "show the complete details of the tool call" in text
    assert "go to the prompt" in text
    for other in ("the previous prompt in the history", "hunk", "allow once", "preview"):
        assert other not in text
    editor.keys("j")
    assert float_lines(editor)
    editor.keys("g?")
    assert float_lines(editor) is None
    editor.focus(editor.session(chat.key, "prompt_bufnr"))
    editor.keys("g?")
    text = "\n".join(float_lines(editor))
    assert "the previous prompt in the history" in text
    assert "go to the prompt" not in text
    editor.keys("<Esc>")
    assert float_lines(editor) is None


def test_the_keys_that_answer_are_listed_while_something_waits(chat):
    request = {"id": 5, "tool_call_id": "", "title": "Edit", "kind": "edit", "content": [], "locations": [],
               "options": [{"option_id": "a", "name": "Allow", "kind": "allow_once"}]}  # fmt: skip
    chat.apply({"type": "permission", "block": 1, "request": request})
    chat.editor.keys("g?")
    assert "allow once" in "\n".join(float_lines(chat.editor))


def test_from_turn_to_turn(chat):
    for turn in range(1, 8, 2):
        chat.apply(append(1, turn, f"question {turn}\nand more", "user"), append(1, turn + 1, "answer\nand more"))
    forward = [("gg]]", 2), ("]]", 8), ("]]", 14), ("2[[", 2), ("3]]", 20), ("]]", 20)]
    for keys, line in [*forward, ("9[[", 2), ("[[", 2), ("G[[", 20)]:
        chat.editor.keys(keys)
        assert chat.editor.lua("return vim.fn.line('.')") == line, keys
    chat.editor.keys("ggV2]]")
    assert chat.editor.lua("return { vim.fn.mode(), vim.fn.line('v'), vim.fn.line('.') }") == ["V", 1, 8]
    chat.editor.keys("<Esc>``")
    assert chat.editor.lua("return vim.fn.line('.')") == 1, "the place before is in the jump list"


def test_only_the_home_directory_is_expanded(chat):
    """A file in the project that is called `~x` is that file, and no variable is replaced."""
    for name in ("~x.py", "$HOME.py", "~root"):
        (chat.cwd / name).write_text("text\n")
    (chat.editor.places.home / "own.py").write_text("text\n")
    chat.apply(append(1, 1, "~x.py\n$HOME.py\n~root\n~/own.py"))
    places = []
    for line in (2, 3, 4, 5):
        chat.press("gf", line)
        places.append(chat.place()[0])
    assert places == ["~x.py", "$HOME.py", "~root", str(chat.editor.places.home / "own.py")]


@pytest.mark.parametrize(
    ("name", "text", "part", "line", "col"),
    [
        ("src/My File.md", "see [My](src/My%20File.md:5).", "My", 5, 1),
        ("src/My File.md", "see [My](<src/My File.md:5>).", "My", 5, 1),
        ("src/My File.md", "see [My](src/My File.md#L5).", "My", 5, 1),
        ("src/My File.md", "`src/My File.md:5:2`", "File", 5, 2),
        ("100%.txt", "100%25.txt", "25", 1, 1),
        ("100%25.txt", "100%25.txt:3", "25", 3, 1),
        ("c#d.py", "c%23d.py#L5", "c", 5, 1),
        ("c#d.py", "[x](c%23d.py#L5-L9)", "x", 5, 1),
        ("c#20", "c#20", "c", 1, 1),
        ("src/a.py", "src/a.py:L34", "a.py", 34, 1),
        ("src/a.py", "src/a.py#L5-L9", "a.py", 5, 1),
        ("src/a.py", "src/a.py#L5C2-L9C1", "a.py", 5, 2),
        ("src/a.py", "[l](src/a.py#20)", "l", 20, 1),
        ("src/a.py", "@src/a.py:24", "a.py", 24, 1),
        ("src/a.py", "see src/a.py (line 20) there", "a.py", 20, 1),
        ("src/a.py", "see src/a.py (line 20) there", "20", 20, 1),
        ("src/a.py", "see src/a.py, line 20.", "a.py", 20, 1),
        ("src/a.py", "see `src/a.py` (lines 20-25)", "a.py", 20, 1),
        ("src/a.py", "see **[a](src/a.py)** (line 20)", "a]", 20, 1),
        ("src/a.py", "src/a.py:9–12", "a.py", 9, 1),
        ("src/a.py", '[l](src/a.py:7 "a title (with)")', "l", 7, 1),
        ("src/a.py", "[l [m] n](src/a.py:7 'a title')", "n", 7, 1),
        ("a(1).md", "[l](a(1).md:2)", "l", 2, 1),
        ("a(1).md", r"[l](a\(1\).md:2) (and more)", "l", 2, 1),
        ("a)1.md", r"[l](a\)1.md:2)", "l", 2, 1),
        ("a[1].md", "[l](a[1].md#L2)", "l", 2, 1),
        ("a>b.md", r"[l](<a\>b.md>)", "l", 1, 1),
        ("a&b.md", "[l](a&amp;b.md)", "l", 1, 1),
        ("src/a.py", "[![pic](x.png)](src/a.py:3)", "src", 3, 1),
        ("src/a.py", "请看src/a.py:24这一行", "a.py", 24, 1),
        ("src/a.py", "（src/a.py:24）。", "a.py", 24, 1),
        ("文件.py", "打开文件.py:5吧", "件", 5, 1),
        ("文件.py", "[x](%E6%96%87%E4%BB%B6.py:5)", "x", 5, 1),
        ("b:5", "b:5:7", "b", 7, 1),
    ],
)  # fmt: skip
def test_where_links_and_names_lead(chat, name, text, part, line, col):
    (chat.cwd / name).parent.mkdir(exist_ok=True)
    (chat.cwd / name).write_text("".join(f"line {n}\n" for n in range(1, 51)))
    chat.apply(append(1, 1, f"one\n{text}"))
    chat.press("<CR>", 3, len(text[: text.index(part)].encode()) + 1)
    assert chat.place() == (name, line, col)


@pytest.mark.parametrize("key", ["gf", "<CR>"])
@pytest.mark.parametrize(
    ("text", "part", "missing"),
    [
        ("see [it](src/none.py#L5)", "it", "src/none.py#L5"),
        ("see [it](My%20File.md)", "it", "My%20File.md"),
        ("see [it](#section)", "it", "#section"),
        ("see src/none.py now", "none", "src/none.py"),
        ("see none.py:20", "none", "none.py"),
        ("`src/none.py:20`", "none", "src/none.py"),
        ("in src/none.py:4. Then", "none", "src/none.py"),
        ("(see src/none.py, line 4)", "none", "src/none.py"),
    ],
)
def test_a_file_that_is_not_there_is_named(chat, key, text, part, missing):
    chat.apply(append(1, 1, f"{text}\nmore"))
    chat.press(key, 2, text.index(part) + 1)
    assert f"there is no file {missing} in " in chat.editor.message()
    assert chat.editor.lua("return { vim.fn.line('.'), vim.api.nvim_get_current_win() }") == [2, chat.win]
