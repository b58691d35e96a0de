"""Options: what is wrong is said by name and ignored; defaults and help come from one schema."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.lua.conftest import LuaEditor
from tests.support.find_nvim import find_nvim

ROOT = Path(__file__).resolve().parents[2]
GET = 'return require("acp_nvim.config").get()'


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("{ agent = {} }", 'agent: no such option; did you mean "agents"?'),
        ("{ keymaps = { allow_onec = 'x' } }", 'keymaps.allow_onec: no such option; did you mean "allow_once"?'),
        ("{ ui = { width = 'wide' } }", "ui.width: must be a number, not a string"),
        ("{ ui = { icons = 'x' } }", "ui.icons: must be a table, not a string"),
        ("{ ui = { icons = { edti = 'x' } } }", 'ui.icons.edti: no such icon; did you mean "edit"?'),
        ("{ ui = { icons = { edit = 'three' } } }", "ui.icons.edit: must be a character or two"),
        ("{ ui = { fold_tool_calls = 'short' } }", 'ui.fold_tool_calls: must be one of "long", true, false'),
        ("{ shell = {} }", "shell: must be a string, not a table"),
        ("{ shell = '' }", 'shell: there is no program ""'),
        ("{ shell = '/no/such/fish' }", 'shell: there is no program "/no/such/fish"'),
        ("{ protocol = { v2 = 'yes' } }", "protocol.v2: must be a boolean, not a string"),
        ("{ protocol = { V3 = true } }", 'protocol.V3: no such option; did you mean "v2"?'),
        ("{ log = { trafic = true } }", 'log.trafic: no such option; did you mean "traffic"?'),
        ("{ log = true }", "log: must be a table, not a boolean"),
        ("{ ui = { width = -1 } }", "ui.width: must be a number, 0 or more"),
        ("{ history = { days = 0 / 0 } }", "history.days: must be a number, 0 or more"),
        ("{ position = 'left' }", 'position: no such option; did you mean "ui.position"?'),
        ("{ keymaps = { position = 'x' } }", 'keymaps.position: no such option; did you mean "ui.position"?'),
        ("{ ui = 3 }", "ui: must be a table, not a number"),
        ("{ fs = { write = 'safe' } }", 'fs.write: must be one of "save", "buffer"; did you mean "save"?'),
        ("{ fs = { outside = 'allow' } }", 'fs.outside: must be one of "error", "ask"'),
        ("{ additional_directories = '/x' }", "additional_directories: must be a list of strings"),
        ("{ additional_directories = { '/x', 3 } }", "additional_directories: must be a list of strings"),
        ("{ additional_directories = { x = '/x' } }", "additional_directories: must be a list of strings"),
        ("{ additional_directories = vim.empty_dict() }", "additional_directories: must be a list of strings"),
        ("{ additonal_directories = {} }", 'no such option; did you mean "additional_directories"?'),
        ("{ follow = { enabled = 'yes' } }", 'follow.enabled: must be one of "auto", true, false'),
        ("{ keymaps = { send = 3 } }", "keymaps.send: must be a key, a list of keys, or false"),
        ("{ agents = { x = 'gemini --acp' } }", 'agents.x: must be a table: write { command = { "gemini", "--acp" } }'),
        ("{ agents = { x = { 'gemini' } } }", 'agents.x: must be a table: write { command = { "gemini" } }'),
        ("{ agents = { x = { comand = { 'y' } } } }", 'agents.x.comand: no such field; did you mean "command"?'),
        ("{ agents = { x = { command = 'y' } } }", "agents.x.command: must be a list of strings"),
        ("{ agents = { x = { command = { 'y' }, env = 3 } } }", "agents.x.env: must be a table of names and strings"),
        *(
            (
                f"{{ agents = {{ claude = {{ system_prompt = {prompt} }} }} }}",
                "agents.claude.system_prompt: must be a text",
            )
            for prompt in ("3", "''", "{}", "{ text = ' ' }", "{ text = 'a', mode = 'new' }", "{ text = 'a', b = 1 }")
        ),
        *(
            (f"{{ agents = {{ claude = {{ projects = {projects} }} }} }}", f"agents.claude.projects: {words}")
            for projects, words in (
                ("3", "must be a map like"),
                ("{ { system_prompt = 'a' } }", "must be a map like"),
                ("{ ['src'] = { system_prompt = 'a' } }", "must be a map like"),
                ("{ ['/src'] = 'a' }", "must be a map like"),
                ("{ ['/src'] = { model = 'a' } }", "/src: must be a map like"),
                ("{ ['/src'] = { system_prompt = '' } }", "/src: must be a text"),
            )
        ),
        ("{ agents = { 'x' } }", "agents: must be a map from a name to an agent"),
        ("{ 'x', [{}] = 1 }", "no such option"),
        ("3", "must be a table, not a number"),
    ],
)
def test_what_is_wrong_is_said_and_ignored(editor, given, words):
    before = editor.lua(GET)
    editor.lua(f'require("acp_nvim").setup({given})')
    assert words in editor.message()
    after = editor.lua(GET)
    after["agents"] = before["agents"]
    assert after == before


def test_setup_wins_over_the_global(tmp_path):
    config = {"ui": {"position": "left", "width": 50}, "agents": {"a": {"command": ["a"]}}}
    editor = LuaEditor(tmp_path, config=config)
    try:
        editor.lua('require("acp_nvim").setup({ ui = { position = "tab" }, agents = { b = { command = { "b" } } } })')
        merged = editor.lua(GET)
        assert (merged["ui"]["position"], merged["ui"]["width"], merged["ui"]["prompt_height"]) == ("tab", 50, 6)
        assert sorted(merged["agents"]) == ["a", "b"]
        assert editor.messages() == []
    finally:
        editor.close()


def test_a_system_prompt_is_a_text_or_a_table(editor):
    editor.lua("""require("acp_nvim").setup({ agents = {
      claude = { system_prompt = "a" }, codex = { system_prompt = { text = "b", mode = "override" } } } })""")
    agents = editor.lua(GET)["agents"]
    assert agents["claude"]["system_prompt"] == {"text": "a"}
    assert agents["codex"]["system_prompt"] == {"text": "b", "mode": "override"}
    assert editor.messages() == []


def test_projects_are_named_as_the_host_compares_them(editor):
    editor.lua("""require("acp_nvim").setup({ agents = { claude = { projects = {
      ["~/src/shop/"] = { system_prompt = "a" }, ["/"] = { system_prompt = { text = "b", mode = "override" } },
      ["/none"] = {} } }, codex = { projects = {} } } })""")
    agents = editor.lua(GET)["agents"]
    home = editor.lua("return vim.uv.os_homedir()")
    assert agents["claude"]["projects"] == {
        f"{home}/src/shop": {"system_prompt": {"text": "a"}},
        "/": {"system_prompt": {"text": "b", "mode": "override"}},
    }
    assert not agents["codex"]
    assert editor.messages() == []


@pytest.mark.parametrize("key", ['""', '{ "x", "" }', 'string.rep("x", 51)', "3", "true"])
def test_a_key_that_cannot_be_mapped_is_told_and_ignored(editor, key):
    editor.lua(f'require("acp_nvim").setup({{ keymaps = {{ send = {key}, allow_once = {key} }} }})')
    assert "keymaps.send: must be a key" in editor.message()
    editor.command("AcpChat")
    editor.keys("ihello<Esc><CR>")
    assert editor.sent("prompt")[0]["text"] == "hello"


def test_a_complaint_is_made_once(editor):
    editor.lua('for _ = 1, 3 do require("acp_nvim").setup({ nope = 1 }) end')
    editor.message()
    assert len(editor.messages()) == 1


def test_drafts_and_recordings_are_off_until_they_are_wanted(editor):
    assert editor.lua(GET)["protocol"] == {"v2": False, "draft_transports": False}
    assert editor.lua(GET)["log"] == {"traffic": False}
    editor.lua('require("acp_nvim").setup({ protocol = { v2 = true }, log = { traffic = true } })')
    assert editor.lua(GET)["protocol"] == {"v2": True, "draft_transports": False}
    assert editor.lua(GET)["log"] == {"traffic": True}
    editor.lua('require("acp_nvim").setup({ protocol = { v2 = false } })')
    assert editor.lua(GET)["protocol"] == {"v2": False, "draft_transports": False}
    assert editor.messages() == []


@pytest.mark.parametrize("on", [True, False])
def test_checkhealth_says_which_versions_are_spoken_and_whether_agents_are_recorded(editor, on):
    editor.lua('require("acp_nvim").setup({ protocol = { v2 = ... }, log = { traffic = ... } })', on)
    editor.command("checkhealth acp_nvim")
    text = "\n".join(editor.api("buf_get_lines", 0, 0, -1, True))
    directory = editor.lua("return vim.fn.stdpath('log')") + "/acp_nvim/traffic"
    assert ("version 2 (a Preview) with agents that speak it" in text) is on
    assert ("protocol.v2 is off" in text) is not on
    assert (f"written into {directory} (log.traffic is on)" in text) is on
    assert ("log.traffic is off" in text) is not on


def test_checkhealth_lists_what_is_ignored_with_the_nearest_option(tmp_path):
    editor = LuaEditor(tmp_path, config={"uii": {"position": "left"}})
    try:
        editor.lua("""require("acp_nvim").setup({ default_agent = "gemni", keymaps = { sned = "x" },
          ui = { width = "wide" }, agents = { mine = { comand = { "x" } } } })""")
        editor.command("checkhealth acp_nvim")
        report = editor.buffer_text()
        for words in (
            'vim.g.acp_nvim, ignored: uii: no such option; did you mean "ui"?',
            'setup(), ignored: keymaps.sned: no such option; did you mean "send"?',
            "setup(), ignored: ui.width: must be a number, not a string",
            'setup(), ignored: agents.mine.comand: no such field; did you mean "command"?',
            'default_agent: no agent is called "gemni"; did you mean "gemini"? (known agents: ',
        ):
            assert words in report
        assert "options that you set are valid" not in report
        editor.command("bwipeout")
        editor.lua('vim.g.acp_nvim = nil require("acp_nvim").setup({ ui = { position = "left" } })')
        editor.command("checkhealth acp_nvim")
        assert "OK all options that you set are valid" in editor.buffer_text()
    finally:
        editor.close()


def test_files_outside_are_an_error_until_the_user_wants_to_be_asked(editor):
    assert editor.lua(GET)["fs"] == {"write": "save", "outside": "error"}
    editor.lua('require("acp_nvim").setup({ fs = { outside = "ask" } })')
    assert editor.lua(GET)["fs"] == {"write": "save", "outside": "ask"}
    assert editor.messages() == []


def test_additional_directories_of_setup_replace_those_of_the_global(tmp_path):
    editor = LuaEditor(tmp_path, config={"additional_directories": ["~/a", "b"]})
    try:
        assert editor.lua(GET)["additional_directories"] == ["~/a", "b"]
        editor.lua('require("acp_nvim").setup({ additional_directories = { "c" } })')
        assert editor.lua(GET)["additional_directories"] == ["c"]
        editor.lua('require("acp_nvim").setup({ additional_directories = {} })')
        assert editor.lua(GET)["additional_directories"] == []
        assert editor.messages() == []
    finally:
        editor.close()


def test_the_help_lists_the_options_as_they_are():
    command = [find_nvim(), "--clean", "--headless", "-l", str(ROOT / "doc" / "generate.lua"), "--check"]
    assert subprocess.run(command, check=False, timeout=30).returncode == 0


def test_help_tags_are_unique(tmp_path):
    (tmp_path / "acp_nvim.txt").write_text((ROOT / "doc" / "acp_nvim.txt").read_text())
    command = [find_nvim(), "--clean", "--headless", "-c", f"helptags {tmp_path}", "-c", "qall!"]
    done = subprocess.run(command, check=True, timeout=30, capture_output=True, text=True)
    assert done.stderr.strip() == ""
    assert ":AcpChat" in (tmp_path / "tags").read_text()


@pytest.mark.parametrize("given", ["sh", "~/bin/mine", "$HOME/bin/mine"])
def test_the_shell_is_the_path_of_a_program(editor: LuaEditor, tmp_path: Path, given: str) -> None:
    mine = tmp_path / "home" / "bin" / "mine"
    mine.parent.mkdir(parents=True, exist_ok=True)
    mine.write_text("#!/bin/sh\n")
    mine.chmod(0o755)
    editor.lua("vim.env.HOME = ...", str(tmp_path / "home"))
    editor.lua('require("acp_nvim").setup({ shell = ... })', given)
    shell = editor.lua(f"{GET}.shell")
    assert shell == (editor.lua('return vim.fn.exepath("sh")') if given == "sh" else str(mine))
