"""The help has all that users can name, and nothing that does not exist: commands, maps, options, functions, events."""

from __future__ import annotations

import json
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from acp_nvim.contract.views import StatusView
from tests.support.find_nvim import find_nvim

ROOT = Path(__file__).resolve().parents[2]
HELP = (ROOT / "doc" / "acp_nvim.txt").read_text(encoding="utf-8")
SOURCES = [*(ROOT / "lua").rglob("*.lua"), *(ROOT / "plugin").iterdir()]
LUA = {path: path.read_text(encoding="utf-8") for path in SOURCES}
TAGS = set(re.findall(r"(?<!\S)\*([^*\s|`]+)\*(?!\S)", HELP))
"""Neovim takes only what stands between blanks for a tag."""
COLUMNS = 79

LIST = """
vim.opt.runtimepath:prepend(vim.env.ACP_NVIM_ROOT)
vim.cmd.runtime("plugin/acp_nvim.lua")
local plugs = {}
for _, mode in ipairs({ "n", "x", "i", "t" }) do
  for _, map in ipairs(vim.api.nvim_get_keymap(mode)) do
    plugs[map.lhs:match("^<Plug>%(Acp.*") or ""] = true
  end
end
plugs[""] = nil
local commands = vim.tbl_filter(function(name)
  return name:match("^Acp")
end, vim.tbl_keys(vim.api.nvim_get_commands({})))
local words = {}
for _, name in ipairs(commands) do
  words[name] = vim.fn.getcompletion(name .. " ", "cmdline")
end
local keys = {}
for action, key in pairs(require("acp_nvim.config").get().keymaps) do
  keys[action] = type(key) == "table" and key or key and { key } or {}
end
local docs = {}
for _, option in ipairs(require("acp_nvim.config.schema")) do
  docs[option.name:match("^keymaps%.(.+)") or ""] = option.doc
end
docs[""] = nil
local function names(list) return vim.tbl_map(function(one) return one.name end, list) end
io.stdout:write(vim.json.encode({
  commands = commands,
  words = words,
  plugs = vim.tbl_keys(plugs),
  keys = keys,
  docs = docs,
  functions = vim.tbl_keys(require("acp_nvim")),
  options = names(require("acp_nvim.config.schema")),
  links = vim.tbl_keys(require("acp_nvim.kernel.highlights").links),
  tints = vim.tbl_keys(require("acp_nvim.kernel.highlights.tints").tints),
}))
"""

WORDS_OF = ("AcpReview", "AcpRestore", "AcpPermissions", "AcpFollow")
"""The commands with words of their own; others complete names of agents, files or options of an agent."""

KEYS_OF = {
    "chat, while a permission is asked": "acp_nvim-permissions",
    "chat": "acp_nvim-keys",
    "prompt": "acp_nvim-prompt",
    "queue": "acp_nvim-queue",
    "form": "acp_nvim-form-keys",
    "files under review": "acp_nvim-review-keys",
    "files with a preview": "acp_nvim-preview",
    "list": "acp_nvim-review-list",
}
"""The kinds of buffers that have keys, as the options name them, and where the keys of each are listed."""

INTERNAL = {
  "g:acp_nvim_channel": "the host's",
  "g:acp_nvim_comments": "survives a reload of the modules",
  "g:acp_nvim_last_comment": "survives a reload of the modules",
  "g:acp_nvim_last_prompt": "survives a reload of the modules",
  "g:acp_nvim_last_session": "survives a reload of the modules",
  "g:acp_nvim_last_subagent": "survives a reload of the modules",
  "g:acp_nvim_thrown": "an error that is shown elsewhere",
  "b:acp_nvim_autoread": "the user's value, while ours is in force",
  "b:acp_nvim_ctime": "the state of the file",
  "b:acp_nvim_fits": "the state of the file",
    "b:acp_nvim_shadow": "a buffer for the text of a file that does not exist",
  "w:acp_nvim_least": "sizes of windows",
  "w:acp_nvim_lines": "sizes of windows",
  "w:acp_nvim_part": "sizes of windows",
}  # fmt: skip
"""Variables that are nobody else's, and what they are for."""


@cache
def existing() -> dict[str, Any]:
    """What there is, from a Neovim that has loaded the plugin."""
    command = [find_nvim(), "--clean", "--headless", "-c", f"lua {LIST}", "-c", "qall!"]
    env = {"ACP_NVIM_ROOT": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}
    done = subprocess.run(command, check=True, timeout=60, capture_output=True, text=True, env=env)
    listed: dict[str, Any] = json.loads(done.stdout)
    return listed


def in_code(pattern: str) -> set[str]:
    """All that the pattern finds in our Lua."""
    return {name for text in LUA.values() for name in re.findall(pattern, text)}


def section(tag: str) -> str:
    """The text of the help from this tag to the next line of tags of a command or a section."""
    after = HELP.partition(f"*{tag}*")[2]
    assert after, tag
    return re.split(r"\n(?: +\*:Acp|===)", after)[0]


@pytest.mark.parametrize(
    ("kind", "tag", "least"),
    [
        ("commands", r":(Acp\w+)", 20),
        ("plugs", r"(<Plug>\(Acp\w+\))", 20),
        ("functions", r"acp_nvim\.([\w.]+)\(\)", 10),
        ("options", r"acp_nvim-option-(.+)", 60),
    ],
)
def test_each_has_a_tag_and_each_tag_has_one(kind: str, tag: str, least: int) -> None:
    there = set(existing()[kind])
    assert len(there) > least
    assert {found[1] for found in map(re.compile(tag + "$").match, TAGS) if found} == there


def test_each_highlight_group_has_a_tag() -> None:
    groups = {*existing()["links"], *existing()["tints"]}
    assert {tag.removeprefix("hl-") for tag in TAGS if tag.startswith("hl-")} == groups
    code = [text for path, text in LUA.items() if path.parent.name != "highlights"]
    used = {name.removesuffix("Text") for text in code for name in re.findall(r"\b(Acp[A-Z]\w+)", text)}
    assert {group.removesuffix("Text") for group in groups} <= used  # none that nothing is drawn with


def test_each_autocommand_has_a_tag() -> None:
    fired = in_code(r'\bfire\("(Acp\w+)"')
    assert len(fired) > 8
    assert {tag for tag in TAGS if re.fullmatch(r"Acp\w+", tag)} == fired


def test_each_filetype_has_a_tag() -> None:
    filetypes = in_code(r'(?:filetype = |FILETYPE = |set_filetype\(\w+, )"(acp_\w+)"')
    assert len(filetypes) > 4
    assert {tag for tag in TAGS if re.fullmatch(r"acp_(?!nvim)[a-z_]+", tag)} == filetypes


def test_each_variable_has_a_tag_or_is_internal() -> None:
    used = {f"{scope}:{name}" for scope, name in in_code(r"vim\.([gbwt])(?:\[[\w.]+\])?\.(acp_nvim\w*)")}
    tagged = {tag for tag in TAGS if re.fullmatch(r"[gbwt]:acp_nvim\w*", tag)}
    assert tagged | set(INTERNAL) == used
    assert not tagged & set(INTERNAL)


def test_the_fields_of_a_status_are_those_that_it_has() -> None:
    listed = set(re.findall(r"^    `(\w+)`", section("acp_nvim.status()"), re.MULTILINE))
    assert set(StatusView.__struct_fields__) <= listed


@pytest.mark.parametrize("command", WORDS_OF)
def test_the_words_of_a_command_are_described(command: str) -> None:
    words = existing()["words"][command]
    assert words
    text = section(f":{command}")
    assert [word for word in words if not re.search(rf"\b{word}\b", text)] == []


def test_the_default_keys_are_listed_where_they_are_explained() -> None:
    by_hand, count = re.subn(r"^ +\*acp_nvim-option-\S+\*\n(?:.+\n)+", "", HELP, flags=re.MULTILINE)
    assert count == len(existing()["options"])
    keys = {key for keys in existing()["keys"].values() for key in keys}
    assert len(keys) > 40
    assert [key for key in keys if not re.search(rf"(?<![\w<]){re.escape(key)}(?![\w>])", by_hand)] == []


def listed_keys(tag: str) -> str:
    """The lines of keys below a tag, up to the next one; of the prompt there are two lists."""
    after = HELP.partition(f"*{tag}*")[2].replace(" *acp_nvim-prompt-keys*", "")
    text = re.split(r"\n +\*acp_|\n===", after)[0]
    return "\n".join(re.findall(r"^ {4}.*", text, re.MULTILINE))


def test_each_key_is_in_the_list_of_its_buffer() -> None:
    """A key stands at the beginning of a line, behind other keys, or in backquotes."""
    there = existing()
    found = {name: 0 for name in KEYS_OF}
    for action, doc in there["docs"].items():
        places = " ".join(re.findall(r"(?:^|\. )([^:.]+):", doc)).lower()
        of_request = "while a permission is asked" in places
        assert any(name in places for name in KEYS_OF), f"{action}: {doc}"
        for name in KEYS_OF:
            if name in places and not (name == "chat" and of_request):
                found[name] += 1
                for key in there["keys"][action]:
                    pattern = rf"^ {{4}}(?:\S+ {{1,2}}){{0,2}}{re.escape(key)}(?: |$)|(?:`|  ){re.escape(key)}[ `]"
                    listed = listed_keys(KEYS_OF[name])
                    assert re.search(pattern, listed, re.MULTILINE), f"{key} ({action}) of {name}:\n{listed}"
    assert min(found.values()) >= 2


def test_all_that_is_named_exists() -> None:
    names = {
        r":(Acp\w+)": set(existing()["commands"]),
        r"(<Plug>\(Acp\w+\))": set(existing()["plugs"]),
        r'require\("acp_nvim"\)\.(\w+)\(': set(existing()["functions"]),
        r"\|acp_nvim-option-([\w.]+?)\.?\|": set(existing()["options"]),
        r"`((?:fs|mcp|after_turn|config|permissions|follow|review|ui|notify|prompt|protocol|history|state|log|timeouts|"
        r"keymaps)\.\w+)`": set(existing()["options"]),
    }
    for pattern, known in names.items():
        assert set(re.findall(pattern, HELP)) - known == set(), pattern


def test_no_sentence_says_that_something_old_is_missing() -> None:
    assert not re.search(r"not (?:yet )?(?:supported|implemented)(?: yet)?\b", HELP)


@pytest.mark.parametrize("file", sorted((ROOT / "doc").glob("*.txt")), ids=lambda file: file.name)
def test_no_line_is_wider_than_a_screen(file: Path) -> None:
    lua = "for number, line in ipairs(vim.fn.readfile(arg[1])) do print(number, vim.fn.strdisplaywidth(line)) end"
    command = [find_nvim(), "--clean", "--headless", "-l", "-", str(file)]
    done = subprocess.run(command, input=lua, check=True, timeout=60, capture_output=True, text=True)
    widths = [tuple(map(int, line.split())) for line in (done.stdout or done.stderr).splitlines()]
    assert len(widths) == len(file.read_text(encoding="utf-8").splitlines()) > 100
    assert [(number, width) for number, width in widths if width > COLUMNS] == []


def test_no_line_is_for_those_who_develop_it() -> None:
    assert not re.search(r"make doc|schema\.lua|views\.py|builtin/|^\((?:From here|The end)", HELP, re.MULTILINE)
