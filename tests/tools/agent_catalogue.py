"""Writes what Lua knows of the agents that come as data files; with --check it only compares."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "acp_nvim" / "agents" / "builtin"
TARGET = ROOT / "lua" / "acp_nvim" / "config" / "catalogue.lua"
HEAD = """\
-- The agents that come as data files. Generated: change acp_nvim/agents/builtin/*.toml, then type `make doc`.

---@class acp.BuiltinAgent
---@field title string
---@field commands string[][] tried in order: the first whose program is on this machine, and which it knows, is run
---@field url string
---@field install string what to type
---@field sign_in string how to sign in, outside of Neovim
---@field env_needed? table<string, string> names of variables, and what each is for

---@type table<string, acp.BuiltinAgent>
return {
"""
FIELDS = ("title", "commands", "url", "install", "sign_in", "env_needed")


def lua_key(name: str) -> str:
    """Return a key as a Lua table has it."""
    return name if re.fullmatch(r"[A-Za-z_]\w*", name) else f"[{lua(name)}]"


def lua(value: Any) -> str:
    """A string, a list or a table in Lua, on one line."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return "{ " + ", ".join(map(lua, value)) + " }"
    return "{ " + ", ".join(f"{lua_key(name)} = {lua(one)}" for name, one in value.items()) + " }"


def entry(name: str, agent: dict[str, Any]) -> Iterator[str]:
    """The lines of one agent, as the formatter writes them."""
    yield f"  {lua_key(name)} = {{\n"
    for field in FIELDS:
        if field == "env_needed" and field in agent:
            yield "    env_needed = {\n"
            yield from (f"      {lua_key(one)} = {lua(words)},\n" for one, words in agent[field].items())
            yield "    },\n"
        elif field in agent:
            yield f"    {field} = {lua(agent[field])},\n"
    yield "  },\n"


def generated(data: Path = DATA) -> str:
    """Return the generated file."""
    agents = {file.stem: tomllib.loads(file.read_text(encoding="utf-8")) for file in sorted(data.glob("*.toml"))}
    return HEAD + "".join(line for name, agent in agents.items() for line in entry(name, agent)) + "}\n"


def main() -> int:
    """Writes the file, or says that it is not what the data files say."""
    text = generated()
    if "--check" not in sys.argv[1:]:
        TARGET.parent.mkdir(parents=True, exist_ok=True)
        TARGET.write_text(text, encoding="utf-8")
    elif not TARGET.is_file() or TARGET.read_text(encoding="utf-8") != text:
        print(f"{TARGET.relative_to(ROOT)} and the data files differ: run `make doc`", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
