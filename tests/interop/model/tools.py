"""Finds among the tools that an agent offers the one for a piece of work, and fills in its arguments."""

from __future__ import annotations

import json
from typing import Any

from tests.interop.model.reply import Call, Say

NAMES = {
    "read": ("read", "readfile", "readtextfile", "readfiles", "view", "viewfile"),
    "edit": (
        "edit",
        "replace",
        "searchreplace",
        "strreplace",
        "strreplacefile",
        "editfile",
        "replaceinfile",
        "stringreplace",
        "editor",
    ),
    "write": ("write", "writefile", "writetextfile", "create", "createfile", "writetofile"),
    "run": (
        "bash",
        "shell",
        "runshellcommand",
        "shellcommand",
        "execcommand",
        "execute",
        "executecommand",
        "executebash",
        "executeshellcommand",
        "terminal",
    ),
    "delegate": ("agent", "spawnagent"),
    "wait": ("waitagent",),
    "diagnostics": ("diagnostics", "nvimdiagnostics", "mcpnvimdiagnostics"),
    "rename": ("rename", "nvimrename", "mcpnvimrename"),
    "search": ("toolsearch",),
}
PATCH = "applypatch"
OF_EDITOR = ("diagnostics", "rename")
"""Tools of the editor's own server, which some agents only name, until the model searches for them."""
DEFERRED = "toolcall"
"""The tool that calls one which was only named."""
ROLES = {
    "path": ("file_path", "absolute_path", "abs_path", "filePath", "path", "target_file"),
    "old": ("old_string", "oldString", "old_str", "old_text", "oldText", "old"),
    "new": ("new_string", "newString", "new_str", "new_text", "newText", "new"),
    "content": ("content", "file_text", "contents", "new_text"),
    "command": ("command", "cmd", "script", "commands"),
    "behind": ("run_in_background", "is_background"),
    "task": ("prompt", "message"),
    "title": ("description",),
    "who": ("subagent_type",),
    "subagent": ("targets",),
    "line": ("line",),
    "symbol": ("symbol",),
    "new_name": ("new_name",),
    "query": ("query",),
}
EMPTY = {"boolean": False, "integer": 60_000, "number": 60_000, "array": [], "object": {}}


class Work:
    """What is to be done: `kind` is one of `NAMES`; an edit may say the `whole` text that it makes."""

    def __init__(self, kind: str, **given: str) -> None:
        self.kind = kind
        self.given = given

    def patch(self) -> str:
        """An edit or a new file, in the words of apply_patch."""
        path = self.given["path"]
        if self.kind == "write":
            head, body = f"*** Add File: {path}", [f"+{line}" for line in self.given["content"].splitlines()]
        else:
            head, body = f"*** Update File: {path}", ["@@", f"-{self.given['old']}", f"+{self.given['new']}"]
        return "\n".join(["*** Begin Patch", head, *body, "*** End Patch", ""])

    def leaves_it_running(self, schema: dict[str, Any]) -> bool:
        """Whether the shell has to leave a command running, because the tool with that schema cannot."""
        known = schema.get("properties") or {}
        return self.given.get("behind") == "yes" and not any(one in known for one in ROLES["behind"])

    def detached(self) -> dict[str, str]:
        """A command that the shell leaves running."""
        return {**self.given, "command": f"nohup sh -c '{self.given['command']}' >/dev/null 2>&1 &"}

    def shell(self) -> str:
        """Return a command that does what the call does."""
        if self.kind == "read":
            return f"cat {self.given['path']}"
        return f"apply_patch <<'EOP'\n{self.patch()}EOP"


def plain(name: str) -> str:
    """A tool's name without what differs between agents."""
    return name.rsplit("__", 1)[-1].replace("_", "").replace("-", "").replace(".", "").lower()


def is_searched(tools: dict[str, Any]) -> bool:
    """Whether the model may have to search for a tool before it calls it."""
    return any(plain(name) in NAMES["search"] for name in tools)


def call(work: Work, tools: dict[str, Any]) -> Call | Say:
    """The call that does it: with a tool for it, else as a patch, else as a command."""
    known = {plain(name): name for name in tools}
    name = next((known[one] for one in NAMES[work.kind] if one in known), None)
    if name:
        schema = tools[name] or {}
        return Call(name, fill(schema, work.detached() if work.leaves_it_running(schema) else work.given))
    if PATCH in known and work.kind in ("edit", "write"):
        schema = tools[known[PATCH]]
        return Call(known[PATCH], work.patch() if schema is None else fill(schema, {"patch": work.patch()}))
    if work.kind == "edit" and "whole" in work.given:
        return call(Work("write", path=work.given["path"], content=work.given["whole"]), tools)
    if work.kind in OF_EDITOR and DEFERRED in known:
        arguments = {name: int(value) if name == "line" else value for name, value in work.given.items()}
        return Call(known[DEFERRED], {"name": f"mcp__nvim__{work.kind}", "arguments": arguments})
    if work.kind not in ("read", "edit", "write"):
        return Say(f"There is no tool to {work.kind}: {', '.join(tools)}.\n")
    return call(Work("run", command=work.shell()), tools)


def fill(schema: dict[str, Any], given: dict[str, str]) -> dict[str, Any]:
    """Arguments for a schema: what is given, where it fits, and anything for what is required as well."""
    known = schema.get("properties") or {}
    arguments: dict[str, Any] = {}
    for role, value in given.items():
        name = next((one for one in ROLES.get(role, ()) if one in known), None)
        if name:
            is_list = known[name].get("type") == "array"
            if role == "behind":
                arguments[name] = value == "yes"
                continue
            if known[name].get("type") == "integer":
                arguments[name] = int(value)
                continue
            arguments[name] = (["bash", "-lc", value] if role == "command" else [value]) if is_list else value
        elif role == "patch":
            arguments[next(iter(known), "input")] = value
    if "edits" in known and "old" in given:
        one = known["edits"].get("items") or {}
        arguments["edits"] = [fill(one, {"old": given["old"], "new": given["new"]})]
    for name in schema.get("required") or []:
        arguments.setdefault(name, anything(known.get(name) or {}))
    return arguments


def anything(schema: dict[str, Any]) -> Any:
    """Some value that a schema takes."""
    if schema.get("enum"):
        return schema["enum"][0]
    if schema.get("type") == "object":
        return {name: anything(one) for name, one in (schema.get("properties") or {}).items()}
    return EMPTY.get(str(schema.get("type", "string")).lower(), "a script does it")


def as_json(arguments: dict[str, Any] | str) -> str:
    """Return the arguments as text."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments)
