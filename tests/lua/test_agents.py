"""Agents by name in Lua: those on this machine first, what to install for the others, and which one is meant."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.lua.conftest import LuaEditor
from tests.tools import agent_catalogue

CHOOSE = """
_G.asked = {}
vim.ui.select = function(items, opts, use)
  table.insert(_G.asked, vim.tbl_map(opts.format_item, items))
  use(_G.choice and items[_G.choice] or nil)
end
vim.api.nvim_list_uis = function() return _G.headless and {} or { {} } end
_G.choice = ...
"""


def configure(editor: LuaEditor, **options: Any) -> None:
    editor.lua("require('acp_nvim').setup(...)", options)


@pytest.fixture
def programs(editor, tmp_path):
    """Makes programs that are found, and no others."""
    directory = tmp_path / "programs"
    directory.mkdir()
    editor.lua("vim.env.PATH = ...", str(directory))

    def make(*names: str) -> None:
        for name in names:
            (directory / name).write_text("#!/bin/sh\n")
            (directory / name).chmod(0o755)

    return make


def completions(editor: LuaEditor, line: str) -> list[str]:
    return list(editor.lua("return vim.fn.getcompletion(..., 'cmdline')", line))


BUNDLED = sorted(file.stem for file in agent_catalogue.DATA.glob("*.toml"))


def test_completion_offers_what_is_on_this_machine_first(editor, programs):
    programs("opencode", "gemini", "mine")
    far = {"address": "devbox:3000"}
    configure(editor, agents={"other": {"command": ["gone"]}, "mine": {"command": ["mine"]}, "box": BOX, "far": far})
    here = ["box", "far", "mine", "gemini", "opencode", "demo"]
    rest = [name for name in BUNDLED if name not in here]
    assert completions(editor, "AcpChat ") == [*here, "other", *rest]
    assert completions(editor, "AcpToggle ge") == ["gemini"]
    assert completions(editor, "AcpChat c") == ["claude", "cline", "codex", "copilot", "cursor"]


def test_a_program_below_the_home_directory_is_found(editor, programs, tmp_path):
    programs("mine")
    editor.lua("vim.env.HOME = ...", str(tmp_path))
    configure(editor, agents={"gone": {"command": ["~/programs/gone"]}, "mine": {"command": ["~/programs/mine", "-a"]}})
    assert completions(editor, "AcpChat ")[:3] == ["mine", "demo", "gone"]


BOX = {"prefix": ["mine", "exec"], "command": ["gone-too"]}


def test_the_user_may_change_a_bundled_agent_field_by_field(editor, programs):
    programs("gemini", "own-opencode")
    configure(editor, agents={"gemini": {"env": {"A": 1}}, "opencode": {"command": ["own-opencode"]}, "demo": {}})
    assert completions(editor, "AcpChat ")[:3] == ["demo", "gemini", "opencode"]
    assert editor.messages() == []
    editor.command("AcpChat gemini")
    assert editor.sent("open")[0]["agent"] == "gemini"


def test_the_second_command_of_an_agent_counts_as_well(editor, programs):
    programs("claude-code-acp")
    assert completions(editor, "AcpChat ")[0] == "claude"
    assert editor.lua("return require('acp_nvim.config.agents').command_here('claude')") == ["claude-code-acp"]


def test_what_is_not_installed_says_what_to_type(editor, programs):
    editor.command("AcpChat qwen")
    message = editor.message()
    assert "Qwen Code is not on this machine. To install it, type:\n  npm install -g @qwen-code/qwen-code\n" in message
    assert "https://github.com/QwenLM/qwen-code" in message
    assert editor.sent("open") == []
    programs("qwen")
    editor.command("AcpChat qwen")
    assert [one["agent"] for one in editor.sent("open")] == ["qwen"]


def test_a_name_that_nobody_has_is_told_with_the_nearest(editor, programs):
    configure(editor, agents={"mine": {"command": ["mine"]}})
    for word, near in (("gemni", "gemini"), ("demmo", "demo"), ("mien", "mine")):
        problem = editor.lua("return require('acp_nvim.config.agents').problem(...)", word)
        known = ", ".join(editor.lua("return require('acp_nvim.config.agents').names()"))
        assert problem == f'no agent is called "{word}"; did you mean "{near}"? (known agents: {known})'
        assert {"mine", "demo", "claude", "vibe"} < set(known.split(", "))
    editor.command("AcpChat gemni")
    assert 'did you mean "gemini"?' in editor.message()


def test_the_one_that_is_there_is_meant_when_nothing_is_said(editor, programs):
    programs("goose")
    editor.lua(CHOOSE, 1)
    editor.command("AcpChat")
    assert editor.sent("open")[0]["agent"] == "goose"
    assert editor.lua("return _G.asked") == []


def test_of_several_the_user_chooses_once(editor, programs):
    programs("goose", "gemini")
    editor.lua(CHOOSE, 2)
    editor.command("AcpChat")
    assert editor.lua("return _G.asked") == [
        ["Gemini CLI (gemini --acp)", "Goose (goose acp)", "the demo agent, which has no model"]
    ]
    editor.command("AcpChat!")
    assert [one["agent"] for one in editor.sent("open")] == ["goose", "goose"]
    editor.command("AcpChat")  # the chat goes on
    assert len(editor.lua("return _G.asked")) == 1
    assert len(editor.sent("open")) == 2


def test_a_prompt_without_a_session_goes_to_the_agent_that_is_chosen(editor, programs):
    programs("goose", "gemini")
    editor.lua(CHOOSE, 2)
    editor.command("AcpPrompt hello")
    assert [one["agent"] for one in editor.sent("open")] == ["goose"]
    assert [one["text"] for one in editor.sent("prompt")] == ["hello"]
    assert len(editor.lua("return _G.asked")) == 1


def test_who_chooses_none_gets_none(editor, programs):
    programs("goose", "gemini")
    editor.lua(CHOOSE)
    editor.command("AcpChat")
    assert (editor.sent("open"), len(editor.lua("return _G.asked"))) == ([], 1)


def test_the_demo_can_be_chosen(editor, programs):
    programs("goose", "gemini")
    editor.lua(CHOOSE, 3)
    editor.command("AcpChat")
    assert editor.session(1, "agent") == "demo"


@pytest.mark.parametrize(
    ("installed", "options", "named"),
    [
        ([], {}, None),  # the host says that there is no other one
        (["gemini"], {"default_agent": "demo"}, "demo"),
        ([], {"default_agent": "demo"}, "demo"),
        ([], {"agents": {"demo": {"env": {"A": "b"}}}}, "demo"),
        (["gemini"], {}, "gemini"),
    ],
)
@pytest.mark.parametrize("way", ["AcpChat", "AcpChat ++worktree=a"])
def test_nobody_is_told_that_there_is_no_agent_who_has_one(editor, programs, installed, options, named, way):
    programs(*installed)
    configure(editor, **options)
    editor.command(way)
    [sent] = editor.sent("open") + editor.sent("resume")
    assert sent.get("agent") == named


def test_without_a_screen_nobody_is_asked(editor, programs):
    programs("goose", "gemini")
    editor.lua(CHOOSE + "_G.headless = true", 2)
    editor.command("AcpChat")
    editor.lua("require('acp_nvim').prompt('hi')")
    assert [one["agent"] for one in editor.sent("open")] == ["gemini"]
    assert editor.lua("return _G.asked") == []


@pytest.mark.parametrize("options", [{"default_agent": "demo"}, {"agents": {"mine": {"command": ["mine"]}}}])
def test_who_has_configured_something_is_not_asked(editor, programs, options):
    programs("goose", "gemini")
    editor.lua(CHOOSE, 1)
    configure(editor, **options)
    editor.command("AcpChat")
    assert editor.lua("return _G.asked") == []
    assert editor.session(1, "agent") == ("demo" if "default_agent" in options else "mine")


PROBLEMS = [
    ({"prefix": "docker"}, "agents.x.prefix: must be a list of strings"),
    ({"prefix": [1]}, "agents.x.prefix: must be a list of strings"),
    ({"paths": {"here": "/a", "there": "/b"}}, "agents.x.paths: must be a list of { here ="),
    ({"paths": [{"here": "/a"}]}, "agents.x.paths: must be a list of { here ="),
    ({"paths": [{"here": "a", "there": "/b"}]}, "agents.x.paths: must be a list of { here ="),
    ({"paths": [{"here": "/a", "there": "b"}]}, "agents.x.paths: must be a list of { here ="),
    ({"terminal": 1}, "agents.x.terminal: must be a boolean, not a number"),
    ({"defaults": {"mod": "x"}}, 'agents.x.defaults: there is no "mod" in it'),
    ({"defaults": {"mode": 1}}, "agents.x.defaults: mode must be a string, not a number"),
    ({"defaults": {"options": {"a": 1}}}, "agents.x.defaults: options must be a map"),
    ({"defaults": 3}, "agents.x.defaults: must be a table, not a number"),
    ({"idle_seconds": 0}, "agents.x.idle_seconds: must be a number above 0"),
    ({"title": 1}, "agents.x.title: must be a string, not a number"),
    ({"quirks": "missing"}, "agents.x.quirks: must be a list of strings"),
    ({"tls": 1}, "agents.x.tls: must be true, or the path of a file with certificates"),
    ({"token_env": 1}, "agents.x.token_env: must be a string, not a number"),
]


def test_a_field_that_cannot_be_used_is_told_and_left_out(editor):
    for agent, problem in PROBLEMS:
        agents = {"x": {"command": ["x"], **agent}}
        good, problems = editor.lua("return { require('acp_nvim.config').checked(...) }", {"agents": agents}, "here")
        assert good == {"agents": {"x": {"command": ["x"]}}}
        assert len(problems) == 1
        assert problem in problems[0]


def test_an_agent_needs_a_command_or_an_address(editor):
    agents = {
        "both": {"command": ["x"], "address": "box:1"},
        "far": {"address": "box:1", "tls": "~/ca.pem"},
        "gemini": {"address": "box:2"},
        "none": {"title": "None"},
        "number": {"address": 3000},
    }
    good, problems = editor.lua("return { require('acp_nvim.config').checked(...) }", {"agents": agents}, "here")
    home = editor.lua("return vim.fs.normalize('~')")
    assert good == {"agents": {"far": {"address": "box:1", "tls": f"{home}/ca.pem"}, "gemini": {"address": "box:2"}}}
    assert [problem.partition("agents.")[2] for problem in problems] == [
        "both: has a command and an address, and needs one of them",
        'none: has no command, like { command = { "program" } }, and no address',
        "number.address: must be a string, not a number",
    ]


def test_good_fields_are_taken_as_the_host_wants_them(editor):
    agent = {
        "command": ["x"],
        "prefix": ["docker", "exec", "-i", "box"],
        "paths": [{"here": "~/p/", "there": "/work"}],
        "terminal": False,
        "idle_seconds": 60,
        "quirks": ["missing_file_reads_empty"],
        "defaults": {"mode": "plan", "options": {"fast": True, "level": "high"}},
    }
    configure(editor, agents={"x": agent, "y": {"command": ["y"], "defaults": {"options": {}}, "env": {}}})
    taken = editor.lua("return require('acp_nvim.config').get().agents")
    home = editor.lua("return vim.fs.normalize('~/p')")
    assert taken == {
        "x": agent | {"paths": [{"here": home, "there": "/work"}]},
        "y": {"command": ["y"]},
    }
    assert editor.messages() == []


def test_the_list_that_lua_has_is_what_the_data_files_say():
    assert agent_catalogue.TARGET.read_text(encoding="utf-8") == agent_catalogue.generated(), "run `make doc`"


def test_the_generator_writes_any_text_as_lua(editor, tmp_path: Path):
    text = 'title = "a \\"b\\" \\\\ \\t ä"\ncommands = [["x-y", "--a=b"]]\n[env_needed]\n"A-B" = "c"\nD = "e"\n'
    (tmp_path / "x-1.toml").write_text(text, encoding="utf-8")
    made = tmp_path / "made.lua"
    made.write_text(agent_catalogue.generated(tmp_path), encoding="utf-8")
    assert editor.lua("return dofile(...)", str(made)) == {"x-1": tomllib.loads(text)}
