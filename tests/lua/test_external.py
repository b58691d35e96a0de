"""What agents name is opened with the system's program only if it is an ordinary address, or if the user agrees."""

from __future__ import annotations

import pytest

from tests.lua.test_chat import append, call
from tests.support.cases import case

ASKED = """
_G.opened, _G.asked = {}, {}
vim.ui.open = function(what) table.insert(_G.opened, what) return {} end
vim.ui.select = function(items, opts, on_choice)
  table.insert(_G.asked, opts.prompt)
  on_choice(_G.choice and items[_G.choice])
end
"""

AT_ONCE = [
    "https://example.org",
    "HTTPS://Example.ORG/a?b=c#d",
    "http://localhost:3000/x",
    "http://127.0.0.1:8080",
    "http://[::1]:8080/",
    "https://en.example.org/wiki/Käse_(cheese)",
    "mailto:one.two+tag@example.org",
    "MAILTO:a@example.org",
]

ASKED_ABOUT = [
    ("ssh://host", "ssh"),
    ("SSH://host", "ssh"),
    ("smb://host/share", "smb"),
    ("vscode://file/x", "vscode"),
    ("vscode:foo", "vscode"),
    ("term://touch", "term"),
    ("javascript:alert(1)", "javascript"),
    ("data:text/html,hello", "data"),
    ("https:example.org", "names no host"),
    ("https:///x", "names no host"),
    ("https://good.example@evil.example", "The page is at evil.example"),
    ("https://good.example:x@evil.example:80/", "The page is at evil.example"),
    ("https://gооd.example", "other characters than ASCII"),
    ("https://xn--gd-jbca.example", "other characters than ASCII"),
    ("https://example.org/\u202ex", "<202e>"),
    ("https://example.org/\u200bx", "<200b>"),
    ("https://example.org/a\u3000b", "<3000>"),
    ("https://example.org/          b", "10 spaces"),
    ("https://good.example\\@evil.example", "do not belong"),
    ("https://example.org/a|b", "do not belong"),
    ("mailto:a@example.org?attach=/etc/passwd", "whom to write to"),
    ("mailto:a@example.org?subject=x", "whom to write to"),
    ("mailto:--version", "whom to write to"),
]

REFUSED = [
    "",
    "-x",
    "--help",
    "-https://example.org",
    "+x",
    "../x",
    "file:///nowhere",
    "FILE://host/share",
    "https://example.org/a\nb",
    "https://example.org/\x00",
    "ssh://host/\x1b[2J",
    "https://example.org/" + "x" * 2000,
    "ssh://" + "x" * 100_000,
]


@pytest.fixture
def asking(editor):
    editor.lua(ASKED)
    return editor


def offered(editor, address, shown="", choice=0):
    """What is opened, and what is asked, if an agent names this address."""
    editor.lua(
        """local address, shown, choice = ...
        _G.opened, _G.asked, _G.choice = {}, {}, choice
        require("acp_nvim.kernel.external").open(address, shown)""",
        address,
        shown,
        choice,
    )
    return editor.lua("return { _G.opened, _G.asked }")


def test_only_ordinary_addresses_are_opened_at_once(asking):
    for address in AT_ONCE:
        with case(address):
            assert offered(asking, address) == [[address], []]
    for address, words in ASKED_ABOUT:
        with case(address):
            opened, [prompt] = offered(asking, address)
            assert opened == []
            assert words in prompt
            assert "\u202e" not in prompt
            if address.isprintable() and "  " not in address:
                assert f"\n  {address}\n" in prompt, "all of it is shown"
            assert offered(asking, address, choice=1)[0] == [], "the first answer is no"
            assert offered(asking, address, choice=2)[0] == [address]
    for count, address in enumerate(REFUSED, 1):
        with case(address[:50]):
            assert offered(asking, address) == [[], []]
            asking.wait_until(lambda count=count: len(asking.messages()) == count, what="the reason")
            assert "could not be opened, it " in asking.messages()[-1]


def test_a_link_whose_text_shows_another_host(asking):
    good, evil = "https://good.example/x", "https://evil.example/x"
    for text in [good, "HTTP://Good.Example", "good.example", "**good.example/x**", "`www.good.example`", "at " + good]:
        with case(text):
            opened, [prompt] = offered(asking, evil, text)
            assert opened == []
            assert "shows " in prompt
            assert "evil.example" in prompt
            assert offered(asking, good, text) == [[good], []]
    for text in ["here", "the manual, chapter 1.2", "x.md", "", "\x00", "\xff"]:
        with case(text):
            assert offered(asking, "https://evil.example/x.md", text)[1] == []


def test_links_in_the_chat_and_of_tool_calls(asking):
    key = asking.chat()
    asking.focus(asking.session(key, "bufnr"))
    project = asking.project
    (project / "Some.app").mkdir()
    (project / "a.py").write_text("x\n")
    lines = [
        "[https://good.example](https://evil.example)",
        '[it](https://example.org/x "a title")',
        "ssh://host",
        "Some.app",
        f"file://localhost{project}/a.py",
        f"file://evil.example{project}/a.py",
        f"FILE:{project}/a.py",
    ]
    asking.lua("require('acp_nvim.host.sessions').get((...)).cwd = select(2, ...)", key, str(project))
    asking.apply({**append(1, 1, "\n".join(lines)), "session": key})
    chat = asking.api("get_current_win")

    def press(row):
        asking.lua("_G.opened, _G.asked = {}, {} vim.api.nvim_set_current_win((...)) vim.fn.cursor(select(2, ...), 3)",
                   chat, row)  # fmt: skip
        asking.keys("gf")
        return asking.lua("return { _G.opened, #_G.asked, vim.fn.fnamemodify(vim.fn.expand('%:p'), ':t') }")

    assert press(2)[:2] == [[], 1]
    assert press(3)[:2] == [["https://example.org/x"], 0]
    assert press(4)[:2] == [[], 1]
    assert press(5)[:2] == [[], 1], "the system decides what it does with a directory of that name"
    assert press(6) == [[], 0, "a.py"]
    assert press(7)[0] == []
    assert press(7)[2] != "a.py", "that is a file of another machine"
    assert press(8) == [[], 0, "a.py"]
    link = {"type": "resource", "uri": "vscode:x", "name": "Read me"}
    asking.apply({**call(2, 2, content=[link]), "session": key})
    last = len(asking.lines(key))
    assert press(last)[:2] == [[], 1]


def test_variables_in_a_name_stay_what_they_are(asking):
    assert offered(asking, "/tmp/$HOME", choice=2)[0] == ["file:///tmp/$HOME"]


def test_any_line_and_column_is_a_place_in_the_file(asking):
    project = asking.project
    (project / "a.py").write_text("one\ntwo\n")
    key = asking.chat()
    asking.lua("require('acp_nvim.host.sessions').get((...)).cwd = select(2, ...)", key, str(project))
    chat = asking.focus(asking.session(key, "bufnr"))
    places = {
        "a.py:1:99999999999": [1, 3],
        "a.py:99999999999": [2, 1],
        f"a.py:{'9' * 400}:{'9' * 400}": [2, 3],
        f"a.py#L10-L{'9' * 20}": [2, 1],
        "a.py:0:0": [1, 1],
        "a.py(0,0)": [1, 1],
        "a.py:00002:2": [2, 2],
        f'File "a.py", line {"9" * 400}': [2, 1],
    }
    asking.apply({**append(1, 1, "\n".join(places)), "session": key})
    for row, (text, place) in enumerate(places.items(), 2):
        with case(text[:40]):
            column = text.index("a.py") + 1
            asking.lua("vim.api.nvim_set_current_win((...)) vim.fn.cursor(select(2, ...))", chat, row, column)
            asking.keys("<CR>")
            assert asking.lua("return { vim.fn.line('.'), vim.fn.col('.') }") == place
            assert asking.lua("return vim.v.errmsg") == ""
    odd = """local within = require("acp_nvim.kernel.position").within
    return { within(0 / 0, 5), within(math.huge, 5), within(-math.huge, 5), within(2.9, 5), within("x", 5),
      within(nil, 5), within({}, 5), within("1e400", 5), within(vim.NIL, 5), within(-3, 5) }"""
    assert asking.lua(odd) == [1, 5, 1, 2, 1, 1, 1, 5, 1, 1]
