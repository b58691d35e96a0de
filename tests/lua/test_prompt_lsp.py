"""The language server that completes prompts: the protocol, what it offers, and Neovim's own completion with it."""

from __future__ import annotations

import pytest

from tests.lua.prompt_lsp import PromptServer, git_project

COMMANDS = [
    {"name": "plan", "description": "Plan it", "hint": "what"},
    {"name": "mcp:github:create-branch", "description": "Make one"},
    {"name": "explain", "description": "Explain it"},
]


COUNT_REQUESTS = """
_G.requests = 0
vim.api.nvim_create_autocmd("LspRequest", {
  callback = function(args)
    _G.requests = _G.requests + (args.data.request.type == "pending" and 1 or 0)
  end,
})
"""
NOTHING_PENDING = 'next(vim.lsp.get_clients({ name = "acp_nvim" })[1].requests) == nil'


@pytest.fixture
def key(editor):
    git_project(editor, "src/main.py", "src/über maß.py", "README.md", ".gitignore", "docs/deep/er/guide.md")
    (editor.project / ".gitignore").write_text("*.log\n")
    (editor.project / "noise.log").write_text("")
    (editor.project / "new.txt").write_text("untracked")
    return editor.chat()


@pytest.fixture
def server(editor, key):
    editor.apply({"type": "commands", "session": key, "commands": COMMANDS})
    return PromptServer(editor)


def client(editor, field):
    return editor.lua(f'return vim.lsp.get_clients({{ name = "acp_nvim" }})[1].{field}')


def test_it_says_what_it_can(editor, server):
    assert client(editor, "server_capabilities.completionProvider") == {
        "triggerCharacters": ["/", "@"],
        "resolveProvider": True,
    }
    assert client(editor, "server_info.name") == "acp_nvim"
    assert client(editor, "offset_encoding") == "utf-8"


def test_it_comes_before_the_paths_of_blink(server):
    offset_of_paths = 3  # `sources.providers.path.score_offset` of blink.cmp; it adds the offset of each item
    assert all(item["score_offset"] > 10 * offset_of_paths for item in server.complete("/")["items"])


def test_commands_stand_at_the_very_beginning_only(server):
    assert server.texts("/") == ["/plan", "/mcp:github:create-branch", "/explain"]
    assert server.texts("/pl") == ["/plan", "/explain"]  # those that begin so come first
    assert server.texts("/mcp:g") == ["/mcp:github:create-branch"]
    assert server.texts("/mcp:github:create-b") == ["/mcp:github:create-branch"]
    assert server.texts("do /pl") == []
    assert server.texts("\n/pl") == []
    assert server.texts("/plan now") == []


def test_a_command_shows_its_hint_and_its_description(server):
    (item,) = [one for one in server.complete("/plan")["items"] if one["label"] == "/plan"]
    assert (item["detail"], item["documentation"]) == ("what", "Plan it")
    assert server.complete("/mcp")["isIncomplete"] is False


@pytest.mark.parametrize(
    ("description", "summary"),
    [("Plan it", "Plan it"), ("Plan\nit\tall", "Plan it all"), ("x" * 200, "x" * 59 + "…"), ("", None), (None, None)],
)
def test_a_command_says_in_the_menu_what_it_does(editor, key, description, summary):
    command = {"name": "plan"} if description is None else {"name": "plan", "description": description}
    editor.apply({"type": "commands", "session": key, "commands": [{"description": "", **command}]})
    (item,) = PromptServer(editor).complete("/")["items"]
    assert item.get("labelDetails", {}).get("description") == summary
    assert (item["kind"], item["cmp"]) == (14, {"kind_text": "Command"})  # a keyword; nvim-cmp shows the word


def test_what_a_menu_says_about_a_mention_is_its_detail(server):
    items = [one for one in server.complete("@")["items"] if "detail" in one]
    assert items
    assert all(one["labelDetails"]["description"] == one["detail"] for one in items)


def test_commands_are_offered_when_an_agent_that_starts_has_told_them(editor, key):
    server = PromptServer(editor)
    editor.api("buf_set_lines", 0, 0, -1, True, ["/pl"])
    number, _ = server.start("textDocument/completion", server.position(0, 3))
    editor.apply({"type": "commands", "session": key, "commands": COMMANDS})
    assert [item["label"] for item in server.answer(number)["items"]] == ["/plan", "/explain"]


def test_an_agent_without_commands_is_not_waited_for_for_long(editor, key):
    editor.lua('require("acp_nvim.limits").commands_ms = 1')
    assert PromptServer(editor).texts("/") == []


def test_files_are_those_that_git_does_not_ignore(server):
    texts = server.texts("see @")
    assert {"@README.md", "@src/", "@src/main.py", "@new.txt", '@"src/über maß.py"'} <= set(texts)
    assert "@noise.log" not in texts


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("@main", "@src/main.py"),
        ("@MAIN", "@src/main.py"),
        ("@src/m", "@src/main.py"),
        ("@smp", "@src/main.py"),
        ("@guide", "@docs/deep/er/guide.md"),
        ("@deep", "@docs/deep/"),
        ("@maß", '@"src/über maß.py"'),
        ('@"über m', '@"src/über maß.py"'),
        ("@./READ", "@README.md"),
    ],
)
def test_a_path_is_found_by_parts_of_it(server, typed, found):
    assert server.texts(typed)[0] == found


def test_one_search_does_not_narrow_another(server):
    for typed in ("@guide", "@gui", "@READ", "@re", "@r", "@rm"):
        fresh = {text for text in server.texts("@") if all(letter in text.lower() for letter in typed[1:].lower())}
        assert set(server.texts(typed)) <= fresh
        assert server.texts(typed), typed


def test_what_stands_there_already_is_not_offered(server):
    assert "@docs/deep/" in server.texts("@docs/dee")
    assert server.texts("@docs/deep/") == ["@docs/deep/er/", "@docs/deep/er/guide.md"]
    assert server.texts("@src/main.py") == []


def test_an_at_sign_inside_of_a_word_is_none(server):
    assert server.texts("me@main") == []
    assert server.texts("@main.py and") == []


def test_what_is_replaced_is_the_mention_in_the_clients_encoding(editor, server):
    for encoding, before in (("utf-8", len("ü🙂 ".encode())), ("utf-16", 4)):
        editor.lua(
            """local encoding = ...
            vim.lsp.stop_client(vim.lsp.get_clients({ name = "acp_nvim" }), true)
            local make = vim.lsp.protocol.make_client_capabilities
            vim.lsp.protocol.make_client_capabilities = function()
              local all = make()
              all.general.positionEncodings = { encoding }
              return all
            end""",
            encoding,
        )
        editor.wait_until('#vim.lsp.get_clients({ name = "acp_nvim" }) == 0')
        editor.keys("i<Esc>")
        again = PromptServer(editor)
        assert client(editor, "offset_encoding") == encoding
        editor.api("buf_set_lines", 0, 0, -1, True, ["ü🙂 @main rest"])
        number, _ = again.start("textDocument/completion", again.position(0, before + len("@main")))
        edit = again.answer(number)["items"][0]["textEdit"]
        assert edit["range"] == {
            "start": {"line": 0, "character": before},
            "end": {"line": 0, "character": before + len("@main")},
        }


def test_buffers_come_before_files_with_and_without_a_name(editor, key):
    editor.command("wincmd p")
    editor.command("wincmd t")
    editor.command("edit docs/deep/er/guide.md")
    editor.command("enew")
    editor.api("buf_set_lines", 0, 0, -1, True, ["nameless"])
    unnamed = editor.api("get_current_buf")
    editor.focus(editor.session(key, "prompt_bufnr"))
    server = PromptServer(editor)
    items = server.complete("@")["items"]
    texts = [item["textEdit"]["newText"] for item in items]
    assert texts.index("@docs/deep/er/guide.md") < texts.index("@README.md")
    (nameless,) = [item for item in items if item["label"] == f"@buffer:{unnamed}"]
    assert nameless["detail"] == "nameless"
    assert not [text for text in texts if "acp:" in text]


def test_words_are_offered_while_they_stand_for_something(editor, key):
    server = PromptServer(editor)
    words = {"@selection", "@diagnostics", "@diagnostics:workspace", "@quickfix", "@diff", "@symbol:"}
    assert words & set(server.texts("@")) <= {"@diff", "@symbol:"}
    editor.command("wincmd t")
    editor.command("edit README.md")
    editor.keys("V<Esc>")
    editor.lua(
        """vim.fn.setqflist({ { text = "x", bufnr = 0 } })
        local ns = vim.api.nvim_create_namespace("t")
        vim.diagnostic.set(ns, 0, { { lnum = 0, col = 0, message = "bad" } })"""
    )
    editor.focus(editor.session(key, "prompt_bufnr"))
    assert words <= set(server.texts("@"))
    assert "@diagnostics" in server.texts("@dia")
    assert server.texts("@sel")[0] == "@selection"


def test_symbols_of_the_code_are_offered_without_a_server(editor, key):
    code = "class Greeter:\n    def greet(self):\n        return 1\n\ndef other():\n    pass\n"
    (editor.project / "code.py").write_text(code)
    editor.command("wincmd t")
    editor.command("edit code.py")
    editor.focus(editor.session(key, "prompt_bufnr"))
    server = PromptServer(editor)
    assert server.texts("@symbol:") == ["@symbol:Greeter", "@symbol:greet", "@symbol:other"]
    assert server.texts("@symbol:gre") == ["@symbol:Greeter", "@symbol:greet"]
    assert server.complete("@symbol:oth")["items"][0]["detail"] == "code.py:5"


def test_paths_elsewhere_are_listed_by_directory(editor, server, tmp_path):
    other = tmp_path / "else where"
    other.mkdir()
    (other / "note.txt").write_text("")
    (other / ".hidden").write_text("")
    (other / "sub").mkdir()
    assert server.texts(f'@"{other}/') == [f'@"{other}/note.txt"', f'@"{other}/sub/"']
    assert server.texts(f'@"{other}/.h') == [f'@"{other}/.hidden"']


def test_without_git_hidden_directories_are_left_out(editor):
    for name in ("a.txt", "sub/b.txt", ".hg/c.txt", ".cache/d.txt"):
        (editor.project / name).parent.mkdir(exist_ok=True)
        (editor.project / name).write_text("")
    editor.chat()
    server = PromptServer(editor)
    words = {"@symbol:", "@diff"}  # a directory above may have a repository
    assert sorted(set(server.texts("@")) - words) == ["@a.txt", "@sub/", "@sub/b.txt"]


def test_a_project_that_an_outer_repository_ignores_is_listed(editor):
    git_project(editor, "sub/a.txt")
    (editor.project / ".gitignore").write_text("*\n")
    (editor.project / ".git" / "index").unlink()
    editor.command("cd sub")
    editor.chat()
    assert "@a.txt" in PromptServer(editor).texts("@")


def test_other_buffers_are_not_made_nor_looked_into(editor, key, server):
    before = editor.api("list_bufs")
    place = {"textDocument": {"uri": "file:///nowhere"}, "position": {"line": 0, "character": 1}}
    assert server.answer(server.start("textDocument/completion", place)[0])["items"] == []
    assert editor.api("list_bufs") == before


def test_a_new_file_is_there_a_little_later(editor, server):
    editor.lua('require("acp_nvim.limits").files_rest_ms, require("acp_nvim.limits").files_rest = 0, 0')
    assert server.texts("@brandnew") == []
    (editor.project / "brandnew.txt").write_text("")
    editor.wait_until(lambda: server.texts("@brandnew") == ["@brandnew.txt"], what="the new file")


def test_a_long_list_is_cut_and_says_so(editor):
    git_project(editor, *(f"many/file{number:03}.txt" for number in range(150)))
    editor.chat()
    server = PromptServer(editor)
    found = server.complete("@file")
    assert (len(found["items"]), found["isIncomplete"]) == (100, True)
    assert server.texts("@file14")[:10] == [f"@many/file{number}.txt" for number in range(140, 150)]
    found = server.complete("@many/file149.")
    assert (len(found["items"]), found["isIncomplete"]) == (1, False)


def test_filters_of_clients_let_everything_through(server):
    for typed in ("@guide", "@smp", '@"maß'):
        items = server.complete(typed)["items"]
        assert items, typed
        for item in items:
            assert item["filterText"].startswith(typed)


def test_an_item_shows_the_first_lines_of_its_file(editor, server):
    (editor.project / "src/main.py").write_text("line\n" * 100)
    (item,) = [one for one in server.complete("@main")["items"] if one["label"] == "@src/main.py"]
    resolved = server.answer(server.start("completionItem/resolve", item)[0])
    assert resolved["documentation"]["value"].count("line") == 40
    assert {**resolved, "documentation": None} == {**item, "documentation": None}


@pytest.mark.parametrize("content", [None, b"\0binary", b""])
def test_what_has_no_text_shows_none(editor, server, content):
    (item,) = [one for one in server.complete("@main")["items"] if one["label"] == "@src/main.py"]
    path = editor.project / "src/main.py"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    resolved = server.answer(server.start("completionItem/resolve", item)[0])
    assert "documentation" not in resolved


def test_a_request_can_be_cancelled(editor, server):
    editor.api("buf_set_lines", 0, 0, -1, True, ["@main"])
    editor.lua(
        """local client = vim.lsp.get_clients({ name = "acp_nvim" })[1]
        local params = ...
        _G.answers = {}
        local _, id = client.rpc.request("textDocument/completion", params, function(err, result)
          table.insert(_G.answers, { err and err.code, result })
        end)
        client.rpc.notify("$/cancelRequest", { id = id })
        client.rpc.request("textDocument/completion", params, function(err)
          table.insert(_G.answers, { err and err.code or 0 })
        end)""",
        server.position(0, 5),
    )
    editor.wait_until("#_G.answers == 2", what="both answers")
    assert editor.lua("return { _G.answers[1][1], _G.answers[1][2] == nil, _G.answers[2][1] }") == [-32800, True, 0]


def test_unknown_methods_and_wrong_parameters_are_errors(editor, server):
    assert server.error("textDocument/hover", server.position(0, 0))["code"] == -32601
    assert server.error("textDocument/completion", {"nonsense": True})["code"] == -32603
    assert server.texts("/pl")  # completion goes on


def test_the_protocol_has_an_order(editor):
    editor.lua(
        """_G.codes, _G.exits = {}, nil
        _G.rpc = require("acp_nvim.prompt.lsp_server").connect({ on_exit = function(...) _G.exits = { ... } end })
        function _G.ask(method, params)
          return (_G.rpc.request(method, params, function(err) table.insert(_G.codes, err and err.code or 0) end))
        end
        _G.ask("textDocument/completion", {})
        _G.ask("initialize", { capabilities = {} })
        _G.ask("shutdown")
        _G.ask("textDocument/completion", {})
        _G.rpc.notify("exit")"""
    )
    editor.wait_until("_G.exits ~= nil")
    assert editor.lua("return _G.codes") == [0, -32002, 0, -32600]
    assert editor.lua("return _G.exits") == [0, 0]
    assert editor.lua('return { _G.rpc.is_closing(), _G.ask("shutdown"), _G.rpc.notify("exit") }') == [
        True,
        False,
        False,
    ]


@pytest.fixture
def quiet(editor, key):
    """A prompt where nothing opens by itself."""
    editor.lua('require("acp_nvim").setup({ prompt = { autocomplete = false } })')
    key = editor.chat()
    editor.apply({"type": "commands", "session": key, "commands": COMMANDS})
    PromptServer(editor)
    return key


def test_omnifunc_writes_a_path_with_blanks_whole(editor, quiet):
    editor.keys("isee @über<C-x><C-o>")
    editor.wait_until("vim.fn.pumvisible() == 1 or vim.api.nvim_get_current_line():find('py') ~= nil")
    editor.keys("<C-y> now<Esc>")
    assert editor.api("get_current_line") == 'see @"src/über maß.py" now'


def test_commands_by_omnifunc(editor, quiet):
    editor.keys("i/expl<C-x><C-o>")
    editor.wait_until("vim.api.nvim_get_current_line() == '/explain'")
    editor.keys("<C-y> now<C-s>")
    assert editor.sent("prompt")[0]["text"] == "/explain now"


def test_neovims_own_completion(editor, quiet):
    editor.lua("vim.bo.completeopt = 'menuone,noselect'")
    editor.keys("i@main")
    editor.lua("(vim.lsp.completion.get or vim.lsp.completion.trigger)()")
    editor.wait_until("vim.fn.pumvisible() == 1")
    editor.keys("<C-n><C-y>")
    assert editor.api("get_current_line") == "@src/main.py"


class TestAutocomplete:
    """The menu that comes by itself."""

    def words(self, editor):
        return editor.lua("return vim.tbl_map(function(i) return i.word end, vim.fn.complete_info({ 'items' }).items)")

    def test_it_opens_as_one_types_and_chooses_nothing(self, editor, server):
        editor.keys("ilook at @src/ma")
        editor.wait_until("vim.fn.pumvisible() == 1")
        editor.wait_until(lambda: self.words(editor)[:1] == ["@src/main.py"], what="the path")
        assert editor.api("get_current_line") == "look at @src/ma"
        editor.keys("<C-n><C-y>")
        assert editor.api("get_current_line") == "look at @src/main.py"
        editor.keys(" ")
        assert editor.lua("return vim.fn.pumvisible()") == 0

    def test_what_was_chosen_is_not_completed_again(self, editor, server):
        (editor.project / "src/main.py.orig").write_text("")
        editor.keys("i@src/ma")
        editor.wait_until(lambda: "@src/main.py" in self.words(editor), what="the path")
        editor.wait_until(NOTHING_PENDING)
        editor.lua(COUNT_REQUESTS)
        editor.keys("<C-n><C-y>")
        assert editor.api("get_current_line") == "@src/main.py"
        assert editor.lua("return _G.requests") == 0
        editor.keys(".")
        editor.wait_until(lambda: editor.lua("return _G.requests") > 0, what="a request for what is typed on")

    def test_who_walks_through_the_menu_is_not_disturbed(self, editor, server):
        editor.keys("i@m")
        editor.wait_until(lambda: len(self.words(editor)) > 2, what="several")
        editor.wait_until(NOTHING_PENDING)
        words = self.words(editor)
        editor.lua(COUNT_REQUESTS)
        editor.keys("<C-n><C-n>")
        assert editor.api("get_current_line") == words[1]
        assert self.words(editor) == words
        assert editor.lua("return { vim.fn.complete_info({ 'selected' }).selected, _G.requests }") == [1, 0]

    def test_enter_is_a_new_line_and_keys_of_the_prompt_work(self, editor, key, server):
        editor.keys("i@src/ma")
        editor.wait_until(lambda: self.words(editor)[:1] == ["@src/main.py"], what="the path")
        editor.keys("<CR>@src/ma")
        editor.wait_until(lambda: self.words(editor)[:1] == ["@src/main.py"], what="the path again")
        editor.keys("<C-s>")
        editor.wait_until(lambda: editor.sent("prompt"), what="the prompt")
        assert editor.sent("prompt")[0]["text"] == "@src/ma\n@src/ma"

    def test_a_directory_goes_on(self, editor, server):
        editor.keys("i@deep/e")
        editor.wait_until(lambda: "@docs/deep/er/" in self.words(editor), what="the directory")
        editor.keys("<C-n><C-y>")
        editor.wait_until(lambda: "@docs/deep/er/guide.md" in self.words(editor), what="what is in it")

    @pytest.mark.parametrize("text", ["plain words", "a/b", "me@example.com", "x = y"])
    def test_prose_opens_nothing(self, editor, server, text):
        editor.lua(COUNT_REQUESTS)
        editor.keys(f"i{text}")
        assert editor.lua("return { vim.fn.pumvisible(), _G.requests }") == [0, 0]

    @pytest.mark.parametrize("plugin", ["cmp", "blink.cmp", "mini.completion"])
    def test_plugins_are_left_alone(self, editor, server, plugin):
        editor.lua("package.loaded[...] = {}", plugin)
        editor.lua(COUNT_REQUESTS)
        editor.keys("i@main")
        assert editor.lua("return _G.requests") == 0

    def test_a_command_says_what_it_does(self, editor, server):
        editor.keys("i/plan")
        editor.wait_until("vim.fn.pumvisible() == 1")
        shown = editor.lua("local i = vim.fn.complete_info({ 'items' }).items[1] return { i.kind, i.menu, i.info }")
        assert shown == ["Command", "Plan it", "Plan it"]

    def test_it_opens_when_the_commands_of_a_starting_agent_come(self, editor, key):
        PromptServer(editor)
        editor.keys("i/")
        editor.apply({"type": "commands", "session": key, "commands": COMMANDS})
        editor.wait_until(lambda: "/plan" in self.words(editor), what="the commands")

    def test_it_can_be_switched_off(self, editor):
        editor.lua('require("acp_nvim").setup({ prompt = { autocomplete = false } })')
        editor.chat()
        assert editor.lua("return vim.bo.completeopt") == ""
        assert editor.lua('return #vim.api.nvim_get_autocmds({ event = "TextChangedP", buffer = 0 })') == 1  # marks


FAKE_CMP = """
local given = ...
_G.asked_cmp = {}
package.loaded["cmp"] = {
  ContextReason = { Auto = "auto" },
  get_config = function()
    local function enabled() return given.enabled end
    return { enabled = enabled, completion = { autocomplete = given.automatic and { "TextChanged" } or false } }
  end,
  complete = function(option) table.insert(_G.asked_cmp, { option.reason, vim.api.nvim_get_current_line() }) end,
}
"""


class TestCmp:
    """nvim-cmp takes what comes together with the key that begins Insert mode for old text, and opens nothing."""

    @pytest.mark.parametrize("text", ["/", "@", "/pl", "see @m", '@"a b'])
    def test_it_is_asked_for_what_comes_with_insert_mode(self, editor, server, text):
        editor.lua(FAKE_CMP, {"enabled": True, "automatic": True})
        editor.keys(f"i{text}")
        editor.wait_until("#_G.asked_cmp == 1", what="the question")
        assert editor.lua("return _G.asked_cmp") == [["auto", text]]
        editor.keys("<Esc>S@")
        editor.wait_until("#_G.asked_cmp == 2", what="the question of the next time")

    def test_what_is_typed_later_is_left_to_it(self, editor, server):
        editor.lua(FAKE_CMP, {"enabled": True, "automatic": True})
        editor.keys("ia ")
        editor.wait_until("vim.api.nvim_get_current_line() == 'a '")
        editor.keys("@")
        editor.wait_until("vim.api.nvim_get_current_line() == 'a @'")
        assert editor.lua("return _G.asked_cmp") == []

    @pytest.mark.parametrize("given", [(True, False), (False, True)])
    def test_who_has_switched_it_off_is_left_alone(self, editor, server, given):
        editor.lua(FAKE_CMP, dict(zip(("enabled", "automatic"), given, strict=True)))
        editor.keys("i@")
        editor.wait_until("vim.api.nvim_get_current_line() == '@'")
        assert editor.lua("return _G.asked_cmp") == []


def test_it_comes_back_after_it_was_stopped(editor, server):
    editor.lua('vim.lsp.stop_client(vim.lsp.get_clients({ name = "acp_nvim" }))')
    editor.wait_until('#vim.lsp.get_clients({ name = "acp_nvim" }) == 0')
    editor.keys("i<Esc>")
    again = PromptServer(editor)
    assert again.texts("/pl")


def test_neovims_own_completion_forgets_the_server_that_was_stopped(editor, quiet):
    editor.lua("vim.bo.completeopt = 'menuone,noselect'")
    editor.lua('vim.lsp.stop_client(vim.lsp.get_clients({ name = "acp_nvim" }))')
    editor.wait_until('#vim.lsp.get_clients({ name = "acp_nvim" }) == 0')
    editor.keys("i@main")
    editor.lua("(vim.lsp.completion.get or vim.lsp.completion.trigger)()")
    editor.wait_until("vim.fn.pumvisible() == 1")


def test_it_is_attached_to_prompts_only(editor, key):
    PromptServer(editor)
    editor.command("wincmd t")
    editor.command("edit README.md")
    other = editor.chat()
    PromptServer(editor)
    attached = editor.lua('return vim.tbl_keys(vim.lsp.get_clients({ name = "acp_nvim" })[1].attached_buffers)')
    assert sorted(attached) == sorted(editor.session(one, "prompt_bufnr") for one in (key, other))
    assert editor.lua('return #vim.lsp.get_clients({ name = "acp_nvim" })') == 1


def test_the_health_of_vim_lsp_has_nothing_to_say_against_it(editor, server):
    editor.command("checkhealth vim.lsp")
    text = editor.buffer_text()
    assert "acp_nvim (id:" in text
    assert "ERROR" not in text
    assert "WARNING" not in text


def test_an_autocommand_of_others_that_fails_leaves_the_prompt_usable(editor):
    editor.lua('vim.api.nvim_create_autocmd("LspAttach", { callback = function() error("no") end })')
    key = editor.chat()
    editor.keys("ihello<C-s>")
    assert [one["text"] for one in editor.sent("prompt")] == ["hello"]
    assert editor.prompt_lines(key) == [""]
