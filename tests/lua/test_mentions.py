"""Mentions in a prompt: how they are read and written, and what is attached for them."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.lua.conftest import STATUS
from tests.lua.prompt_lsp import git_project
from tests.support.examples import examples
from tests.support.language_server import CONNECT

PARSE = 'return require("acp_nvim.mentions.syntax").parse(...)'
FORMAT = 'return require("acp_nvim.mentions.syntax").format(...)'
TYPED = 'return { require("acp_nvim.mentions.syntax").typed(...) }'
RESOLVE = """
local key, text = ...
_G.resolved = nil
require("acp_nvim.mentions").resolve(require("acp_nvim.host.sessions").get(key), text, function(items, problem)
  _G.resolved = { items = items, problem = problem, at_once = _G.resolved == nil and not _G.later }
end)
_G.later = nil
"""

PIECES = [
    "@",
    "a",
    "b.py",
    "/",
    ":",
    "1",
    "-20",
    '"',
    "\\",
    " ",
    "  ",
    "ü",
    "日本",
    "🙂",
    ",",
    ")",
    ".",
    "symbol:",
    "#",
    "é",
]
LINES = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)
NAMES = st.text(st.sampled_from("ab /.\"\\:1-ü🙂日,)@#~'"), min_size=1, max_size=12).filter(lambda name: name.strip())
PROPERTY = settings(max_examples=examples(200), suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def parser(tmp_path_factory):
    """One Neovim for all examples."""
    from tests.lua.conftest import LuaEditor

    started = LuaEditor(tmp_path_factory.mktemp("parser"))
    yield started
    started.close()


@PROPERTY
@given(line=LINES)
def test_columns_are_bytes_of_characters_and_the_text_stays(parser, line):
    data = line.encode()
    before = -1
    for token in parser.lua(PARSE, line):
        assert token["from"] > before
        before = token["from"]
        assert data[token["from"] : token["from"] + 1] == b"@"
        ends = [reading["to"] for reading in token["readings"]]
        for reading in token["readings"]:
            piece = data[token["from"] : reading["to"]].decode()  # whole characters
            assert token["from"] < reading["to"] <= len(data)
            if not reading["quoted"] and "\\" not in piece and '"' not in piece:
                lines = piece[1:].removeprefix(reading["text"])
                assert piece[1:].startswith(reading["text"])
                assert (lines == "") == ("first" not in reading)
        assert max(ends) == ends[0]
    for first in parser.lua(PARSE, line):
        assert not (first["from"] > 0 and data[first["from"] - 1 : first["from"]].isalnum())


@PROPERTY
@given(
    name=NAMES,
    numbers=st.none() | st.tuples(st.integers(1, 99), st.integers(1, 99)),
    before=st.sampled_from(["", "see ", "(", "日本", '"']),
    after=st.sampled_from(["", " and", ".", ", @x", ")", "? @y"]),
)
def test_what_is_written_is_read_again(parser, name, numbers, before, after):
    first, last = sorted(numbers) if numbers else (None, None)
    written = parser.lua(FORMAT, name, *([first, last] if numbers else []))
    tokens = parser.lua(PARSE, before + written + after)
    token = next(one for one in tokens if one["from"] == len(before.encode()))
    wanted = (name, first, last, len((before + written).encode()))
    found = [(one["text"], one.get("first"), one.get("last"), one["to"]) for one in token["readings"]]
    if numbers and first == last:
        wanted = (name, first, first, wanted[3])
    assert wanted in found


@PROPERTY
@given(name=NAMES.filter(lambda name: "@" not in name), before=st.sampled_from(["", "ü ", "a@b ", "@a.py,"]))
def test_what_is_being_typed_is_known(parser, name, before):
    written = parser.lua(FORMAT, name)
    if written.startswith('@"'):
        assert parser.lua(TYPED, before + written) == []  # the mention is closed
        written = written[:-1]
    assert parser.lua(TYPED, before + written) == [len(before.encode()), name]


@pytest.mark.parametrize("line", ["me@example.com", "a@b", "x.@y", "-@y", "@ alone", "@", '@"open', '@""'])
def test_what_is_no_mention(parser, line):
    assert parser.lua(PARSE, line) == []


class Prompt:
    """Resolves the mentions of texts in one session."""

    def __init__(self, editor, key):
        self.editor, self.key = editor, key

    def resolve(self, text):
        self.editor.lua(RESOLVE, self.key, text)
        self.editor.wait_until("_G.resolved ~= nil", what="the mentions")
        return self.editor.lua("return _G.resolved")

    def items(self, text):
        found = self.resolve(text)
        assert found.get("problem") is None
        return found["items"]

    def names(self, text):
        return [item["name"] for item in self.items(text)]

    def takes(self, **abilities):
        takes = {"image": False, "audio": False, "embedded_context": True, **abilities}
        status = {**STATUS, "state": "idle", "takes": takes}
        self.editor.apply({"type": "status", "session": self.key, "status": status})


@pytest.fixture
def prompt(editor):
    git_project(editor, "src/main.py", "a b.txt", "README.md", "a.py", "odd:12", "shot.png")
    key = editor.chat()
    return Prompt(editor, key)


def test_a_file_is_left_to_the_host(editor, prompt):
    path = editor.project / "src/main.py"
    assert prompt.items("see @src/main.py please") == [
        {
            "type": "file",
            "uri": path.as_uri(),
            "name": "src/main.py",
            "path": str(path),
        }
    ]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("@src/main.py.", ["src/main.py"]),
        ("(@src/main.py)", ["src/main.py"]),
        ("@src/main.py,@README.md", ["src/main.py", "README.md"]),
        ("`@a.py`: *@README.md*!", ["a.py", "README.md"]),
        ('@"a b.txt"', ["a b.txt"]),
        (r"@a\ b.txt:3", ["a b.txt:3-3"]),
        ('@"a b.txt":2-3, yes', ["a b.txt:2-3"]),
        ("@a.py:20-10", ["a.py:10-20"]),
        ("@odd:12", ["odd:12"]),
        ("@odd:12:3", ["odd:12:3-3"]),
        ("@./a.py @a.py @../project/a.py", ["a.py"]),
        ("読む@a.py。", ["a.py"]),
        ("first\nsecond @a.py\n", ["a.py"]),
        ("@src @src/", ["src"]),
        ("@property @types/node @ @. @.. @/ x@a.py me@example.com @nothing.py @org/pkg", []),
        ("@selection @quickfix @diagnostics", []),
    ],
)
def test_what_is_meant(prompt, text, names):
    assert prompt.names(text) == names


def test_a_mention_inside_of_another_one_is_a_part_of_it(editor, prompt):
    (editor.project / "odd @a.py").write_text("")
    assert prompt.names('@"odd @a.py" and') == ["odd @a.py"]


def test_a_prompt_without_mentions_is_not_held_up(editor, prompt):
    editor.lua(RESOLVE, prompt.key, "plain text, me@example.com")
    assert editor.lua("return _G.resolved") == {"items": [], "at_once": True}


def test_a_directory_is_a_link(editor, prompt):
    (item,) = prompt.items("@src/")
    assert item == {"type": "link", "uri": (editor.project / "src").as_uri(), "name": "src"}


def test_the_unsaved_text_of_a_buffer_comes_along(editor, prompt):
    editor.command("wincmd t")
    editor.command("edit a.py")
    editor.api("buf_set_lines", 0, 0, -1, True, ["changed", "ü"])
    uri = (editor.project / "a.py").as_uri()
    text = {"uri": uri, "name": "a.py", "text": "changed\nü\n"}
    assert prompt.items("@a.py") == [text]
    assert [item["text"] for item in prompt.items("@a.py:2 @a.py:2-9")] == ["ü\n"]
    assert prompt.items("@a.py:7") == []
    editor.command("silent write")
    assert prompt.items("@a.py") == [{**text, "on_disk": True}]


def test_a_buffer_of_no_file_and_a_new_one(editor, prompt):
    editor.command("wincmd t")
    editor.command("enew")
    editor.api("buf_set_lines", 0, 0, -1, True, ["nameless"])
    number = editor.api("get_current_buf")
    editor.command("edit new.txt")
    editor.api("buf_set_lines", 0, 0, -1, True, ["new"])
    items = prompt.items(f"@buffer:{number} @new.txt @buffer:999")
    assert [(item["text"], item.get("on_disk")) for item in items] == [("nameless\n", None), ("new\n", None)]


@pytest.mark.parametrize(
    ("keys", "text"),
    [("ggVj", "one\ntwo\n"), ("gg0lvjl", "ne\ntwo"), ("gg0l<C-v>jl", "ne\nwo"), ("gg0<C-v>j$", "one\ntwo")],
)
def test_the_selection_is_what_was_selected(editor, prompt, keys, text):
    (editor.project / "s.txt").write_text("one\ntwo\nthree\n")
    editor.command("wincmd t")
    editor.command("edit s.txt")
    editor.keys(keys + "<Esc>")
    editor.focus(editor.session(prompt.key, "prompt_bufnr"))
    (item,) = prompt.items("about @selection:")
    assert (item["name"], item["text"]) == ("s.txt:1-2", text)
    editor.command("wincmd t")
    editor.keys("gv:AcpPrompt why<CR>")
    editor.wait_until(lambda: editor.sent("prompt"), what="the prompt")
    assert editor.sent("prompt")[0]["context"] == [item]


def test_diagnostics_and_the_quickfix_list(editor, prompt):
    editor.command("wincmd t")
    editor.command("edit a.py")
    editor.lua(
        """local ns = vim.api.nvim_create_namespace("t")
        local error = { lnum = 0, col = 2, message = "bad\\n  thing", severity = 1, source = "ruff" }
        vim.diagnostic.set(ns, 0, { error, { lnum = 1, col = 0, message = "hm", severity = 4 } })
        local other = vim.fn.bufadd("src/main.py")
        vim.fn.bufload(other)
        vim.diagnostic.set(ns, other, { { lnum = 0, col = 0, message = "else", severity = 2 } })
        vim.fn.setqflist({}, " ", { title = ":grep x", items = { { filename = "a.py", lnum = 3, text = " x" } } })"""
    )
    own = "a.py:1:3: error: bad thing [ruff]\na.py:2:1: hint: hm\n"
    assert [item["text"] for item in prompt.items("@diagnostics")] == [own]
    (everywhere,) = prompt.items("@diagnostics:workspace")
    assert sorted(everywhere["text"].splitlines()) == sorted([*own.splitlines(), "src/main.py:1:1: warning: else"])
    (quickfix,) = prompt.items("fix @quickfix")
    assert (quickfix["name"], quickfix["text"]) == ("quickfix list (:grep x)", "a.py:3:0: x\n")
    assert quickfix["uri"].startswith("nvim://")


def test_the_diff_of_the_workspace(editor, prompt):
    who = ["-c", "user.name=x", "-c", "user.email=x@y"]
    assert prompt.names("@diff") == []  # nothing was committed
    subprocess.run(["git", *who, "commit", "-qm", "x"], cwd=editor.project, check=True)
    assert prompt.names("@diff") == []
    (editor.project / "a.py").write_text("changed\n")
    (item,) = prompt.items("explain @diff")
    assert item["name"] == "git diff"
    assert "-text of a.py\n+changed\n" in item["text"]
    editor.lua('require("acp_nvim.limits").mention_bytes = 60')
    (item,) = prompt.items("@diff")
    assert item["text"].endswith("\n(the diff is cut here: it is larger)\n")


def test_a_symbol_is_the_lines_that_define_it(editor, prompt):
    code = "import x\n\nclass Greeter:\n    def greet(self):\n        return 1\n\n    x = 1\n\ndef other():\n    pass\n"
    (editor.project / "code.py").write_text(code)
    editor.command("wincmd t")
    editor.command("edit code.py")
    (item,) = prompt.items("@symbol:greet")
    assert (item["name"], item["text"]) == ("code.py:4-5 (greet)", "    def greet(self):\n        return 1\n")
    assert prompt.names("@symbol:Greeter. @symbol:missing") == ["code.py:3-7 (Greeter)"]


LANGUAGE_SERVER = (
    CONNECT
    + """
_G.symbol_requests = 0
local cmd = connect({ documentSymbolProvider = true }, function(_, _, reply)
  _G.symbol_requests = _G.symbol_requests + 1
  local function range(first, last)
    return { start = { line = first, character = 0 }, ["end"] = { line = last, character = 1 } }
  end
  local inner = { name = "a method", kind = 6, range = range(1, 1), selectionRange = range(1, 1) }
  local outer = { name = "Outer", kind = 5, range = range(0, 2), selectionRange = range(0, 0) }
  outer.children = { inner }
  if not _G.silent then
    reply(nil, { outer, vim.NIL, { name = 3 } })
  end
end)
vim.lsp.start({ name = "fake", cmd = cmd })
"""
)


def test_symbols_of_a_language_server(editor, prompt):
    (editor.project / "code.x").write_text("one\ntwo\nthree\n")
    editor.command("wincmd t")
    editor.command("edit code.x")
    editor.lua(LANGUAGE_SERVER)
    assert [item["text"] for item in prompt.items("@symbol:Outer")] == ["one\ntwo\nthree\n"]
    assert [item["text"] for item in prompt.items('@symbol:"a method"')] == ["two\n"]
    assert editor.lua("return _G.symbol_requests") == 1  # the buffer is the same
    editor.lua('_G.silent = true require("acp_nvim.limits").symbol_ms = 1')
    editor.keys("ix<Esc>")
    assert prompt.items("@symbol:Outer") == []


def test_images_are_attached_where_they_are_taken(editor, prompt):
    item = {
        "type": "image",
        "uri": (editor.project / "shot.png").as_uri(),
        "name": "shot.png",
        "path": str(editor.project / "shot.png"),
        "mime_type": "image/png",
    }
    assert prompt.items("@shot.png") == [item]  # nothing is known of the agent yet
    prompt.takes(image=True)
    assert prompt.items("@shot.png") == [item]
    prompt.takes(image=False)
    found = prompt.resolve("@a.py and @shot.png")
    assert found["items"] == []
    assert found["problem"] == "demo takes no images: take @shot.png out, or write it without the @"


def test_a_refused_image_leaves_the_prompt_where_it_is(editor, prompt):
    prompt.takes(image=False)
    editor.keys("ilook at @shot.png<C-s>")
    assert "takes no images" in editor.message()
    assert editor.prompt_lines(prompt.key) == ["look at @shot.png"]
    assert editor.sent("prompt") == []


def test_what_is_mentioned_goes_out_with_the_prompt_once(editor, prompt):
    editor.keys("ilook at @a.py<C-s><C-s>")
    editor.wait_until(lambda: editor.sent("prompt"), what="the prompt")
    (sent,) = editor.sent("prompt")
    assert (sent["text"], [item["name"] for item in sent["context"]]) == ("look at @a.py", ["a.py"])
    assert editor.prompt_lines(prompt.key) == [""]


def test_a_disk_that_does_not_answer_leaves_the_prompt_where_it_is(editor, prompt):
    editor.lua("""
        local stat = vim.uv.fs_stat
        vim.uv.fs_stat = function(path, answered)
          return not answered and stat(path) or nil
        end
        require("acp_nvim.limits").mention_ms = 1
    """)
    editor.keys("ilook at @a.py<C-s>")
    assert "could not be resolved" in editor.message()
    assert editor.prompt_lines(prompt.key) == ["look at @a.py"]


def test_large_unsaved_text_is_refused_and_large_files_are_links(editor, prompt):
    editor.lua('require("acp_nvim.limits").mention_bytes = 20')
    editor.command("wincmd t")
    editor.command("edit a.py")
    editor.api("buf_set_lines", 0, 0, -1, True, ["x" * 30])
    assert "@a.py has unsaved text of 0.0 MB" in prompt.resolve("@a.py")["problem"]
    editor.command("silent write")
    assert [item["type"] for item in prompt.items("@a.py")] == ["link"]


def test_hundreds_of_decorators_are_no_hindrance_and_too_many_files_are(editor, prompt):
    assert prompt.items("@decorator()\n" * 1500) == []
    for number in range(101):
        (editor.project / f"f{number}").write_text("")
    text = " ".join(f"@f{number}" for number in range(101))
    assert prompt.resolve(text)["problem"] == "a prompt can have at most 100 mentions"
    assert len(prompt.items(text.removesuffix(" @f100"))) == 100


def marks(editor, key):
    """The marked words of the prompt, and their groups."""
    bufnr = editor.session(key, "prompt_bufnr")
    found = editor.lua(
        """local ns = vim.api.nvim_create_namespace("acp_nvim.mentions")
        return vim.tbl_map(function(mark)
          local text = vim.api.nvim_buf_get_text(..., mark[2], mark[3], mark[4].end_row, mark[4].end_col, {})[1]
          return { text, mark[4].hl_group }
        end, vim.api.nvim_buf_get_extmarks(..., ns, 0, -1, { details = true }))""".replace("...", str(bufnr))
    )
    return [tuple(one) for one in found]


def test_what_will_be_attached_is_marked_in_the_prompt(editor, prompt):
    prompt.takes(image=False)
    editor.keys("iü @a.py, @property and @shot.png me@a.py<Esc>")
    wanted = [("@a.py", "AcpMention"), ("@shot.png", "AcpMentionRefused")]
    editor.wait_until(lambda: marks(editor, prompt.key) == wanted, what="the marks")
    editor.keys("0f@xix")
    editor.wait_until(lambda: marks(editor, prompt.key) == wanted[1:], what="one mark less")


def test_lines_that_are_not_seen_are_not_looked_at(editor, prompt):
    bufnr = editor.session(prompt.key, "prompt_bufnr")
    editor.api("buf_set_lines", bufnr, 0, -1, True, ["@a.py"] * 100)
    editor.keys("ggix <Esc>")
    editor.wait_until(lambda: marks(editor, prompt.key), what="the marks")
    assert len(marks(editor, prompt.key)) < 20
    editor.keys("G")
    editor.command("redraw")
    editor.wait_until(lambda: len(marks(editor, prompt.key)) >= 2, what="the marks at the end")


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"path": "a.py"}, {"type": "file", "name": "a.py"}),
        ({"path": "a.py", "first": 2, "last": 3}, {"type": "file", "name": "a.py:2-3", "first": 2, "last": 3}),
        ({"path": "shot.png"}, {"type": "image", "name": "shot.png", "mime_type": "image/png"}),
        ({"path": "src", "type": "link"}, {"type": "link", "name": "src"}),
        ({"data": "AAAA"}, {"type": "image", "name": "image", "data": "AAAA"}),
        ({"uri": "x:y", "name": "n", "text": "t"}, {"uri": "x:y", "name": "n", "text": "t"}),
    ],
)
def test_other_code_need_not_say_everything(editor, prompt, given, wanted):
    call = 'return { require("acp_nvim").prompt("hi @a.py", { context = { ... } }) }'
    assert editor.lua(call, given)[0] is True
    (item,) = editor.sent("prompt")[0]["context"]
    assert {name: item.get(name) for name in wanted} == wanted
    assert item.get("uri") or item["type"] == "image"


@pytest.mark.parametrize("given", [{}, {"text": "x"}, {"type": "smell", "path": "a"}, {"type": "image"}, "words"])
def test_what_is_no_item_is_refused(editor, prompt, given):
    sent, problem = editor.lua('return { require("acp_nvim").prompt("hi", { context = { ... } }) }', given)
    assert (sent, "context" in problem) == (False, True)
    assert editor.sent("prompt") == []


def test_mentions_of_other_code_are_text_unless_it_says_so(editor, prompt):
    editor.lua('require("acp_nvim").prompt("hi @a.py")')
    editor.lua('require("acp_nvim").prompt("hi @a.py", { mentions = true })')
    editor.wait_until(lambda: len(editor.sent("prompt")) == 2, what="both prompts")
    assert [len(one["context"]) for one in editor.sent("prompt")] == [0, 1]


def test_the_prompt_command_attaches_what_it_mentions(editor, prompt):
    editor.command("AcpPrompt explain @a.py:1")
    editor.wait_until(lambda: editor.sent("prompt"), what="the prompt")
    assert [item["name"] for item in editor.sent("prompt")[0]["context"]] == ["a.py:1-1"]


def test_what_the_prompt_command_cannot_send_is_in_the_prompt(editor, prompt):
    prompt.takes(image=False)
    editor.command("wincmd t")
    editor.command("edit a.py")
    editor.command("1,1AcpPrompt compare with @shot.png")
    assert "takes no images" in editor.message()
    assert editor.prompt_lines(prompt.key)[0] == "compare with @shot.png"
    assert editor.sent("prompt") == []
    editor.focus(editor.session(prompt.key, "prompt_bufnr"))
    editor.keys("0f@x<CR>")
    (sent,) = editor.sent("prompt")
    assert [item["name"] for item in sent["context"]] == ["a.py:1-1"]
