"""Tells what a member of a tool call's input means, by its name and its value: harmless, further rights, or unknown.

Agents choose the names of members freely, so no list of dangerous ones is complete. The tables here are closed lists of
members that are known to be harmless, each with the type of its value. Names are compared without case, `_` and `-`.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Any, Final

from acp_nvim.lazy import pattern

COMMANDS: Final = frozenset({"command", "cmd"})
"""Names of members with the command itself: a line, or words."""

ARGUMENTS: Final = frozenset({"args"})
DIRECTORIES: Final = frozenset({"cwd", "workdir", "directory", "workingdirectory"})
ENVIRONMENTS: Final = frozenset({"env", "environment"})
"""Names of members that say how the command is run, and that are judged."""

NOTES: Final = frozenset(
    {
        "description",
        "explanation",
        "reason",
        "reasoning",
        "justification",
        "rationale",
        "purpose",
        "intention",
        "intent",
    }
    | {"thought", "summary", "comment", "title"}
)
"""Names of members with a text for human readers."""

_NUMBERS = frozenset(
    {"timeout", "timeoutms", "timeoutsec", "timeoutsecs", "timeoutseconds", "yieldtimems", "initialwait"}
    | {"checkinterval", "startedatms", "startedat", "timestamp", "maxoutputtokens", "maxoutputlength"}
    | {"outputbytelimit", "maxlines"}
)
"""Names of members that say how long to wait, when it was, or how much of the output is kept: numbers."""

_FLAGS = frozenset(
    {"runinbackground", "isbackground", "background", "async", "notifyoncomplete", "pty", "tty", "login"}
)
"""Names of flags: whether the agent waits for the command, and on what kind of terminal it runs. It is the same command
with the same rights either way."""

_IDS = frozenset(
    {"id", "callid", "turnid", "toolcallid", "tooluseid", "itemid", "messageid", "requestid", "approvalid"}
    | {"sessionid", "threadid", "shellid", "sessionupdate"}
)
ABOUT_THE_CALL: Final = frozenset({"callid", "turnid", "toolcallid", "tooluseid", "startedatms", "startedat"})
"""Names of members that say which call it is, and when it was made, not what it does."""

_MODES = frozenset({"sync", "async"})
"""Values of `mode`, which then is a flag as those above."""

REPEATING: Final = frozenset({"parsedcmd", "commandactions", "proposedexecpolicyamendment", "prefixrule"})
"""Names of members that repeat the command, or a part of it: harmless if they do."""

REPEATED: Final = frozenset({"cmd", "command"})
ABOUT_REPEATED: Final = frozenset({"type", "name", "path", "query"})
"""Members of each object in them: a command, and what the agent takes it for."""

CHOICES: Final = frozenset({"availabledecisions", "approvedexecpolicyamendment"})
"""Names of members with the answers that the agent offers, some of them with a member of `REPEATING`."""

OTHER_COMMANDS: Final = frozenset(
    {"command", "cmd", "commands", "cmds", "commandline", "cmdline", "shellcommand", "bashcommand", "script", "scripts"}
    | {"shellscript"}
)
"""Names of members that hold a command at any depth, also in calls that are about something else."""

_WAYS = frozenset(
    {
        "view",
        "read",
        "open",
        "list",
        "search",
        "create",
        "write",
        "insert",
        "append",
        "prepend",
        "add",
        "edit",
        "modify",
    }
    | {"update", "patch", "apply", "replace", "str_replace", "string_replace", "multi_edit", "undo", "undo_edit"}
    | {"delete", "remove", "rename", "move", "copy"}
)
"""Values of `command` that name what a tool does with a file."""

_SANDBOX = pattern(r"(?:use|with|in)?sandbox(?:ed|ing|mode|policy|type|permissions?)?")
"""Names of members that say in which sandbox it runs: any value but those of `_INSIDE` may mean none."""

_INSIDE = frozenset({"true", "on", "yes", "enabled", "default", "usedefault", "strict", "readonly", "workspacewrite"})
_MORE_RIGHTS = pattern(
    r"sandbox|escalat|dangerous|unsafe|unconfined|unrestrict|privileged|elevated|fullaccess|yolo|asroot|^(?:use)?sudo$"
    r"|(?:skip|additional|extra|full|more)permission|bypass(?:$|permission|sandbox|approval|restrict|security|safety)"
)
"""Names of members that take protection away, unless their value is one of `_NO`."""

_NO = frozenset({"", "false", "off", "no", "never", "0", "default", "usedefault"})
_PERMISSIONS = frozenset({"permissions", "permissionprofile"})
"""Names of members that ask for further rights if their value is an object."""

_RIGHTS = frozenset(
    {"requireescalated", "withescalatedpermissions", "withadditionalpermissions", "dangerfullaccess", "nosandbox"}
    | {"disablesandbox", "dangerouslydisablesandbox", "withoutsandbox", "unsandboxed", "bypasspermissions"}
    | {"bypasssandbox"}
)
"""Values that mean the same in any member that is not a text."""

_NUMBER = pattern(r"\d{1,15}(?:\.\d{1,6})?(?:ms|s|m|h)?", re.ASCII)
_ID = pattern(r"[\w.:-]{1,128}", re.ASCII)
_SIGNS = pattern(r"[\W_]+")
_NAME_CHARS: Final = 200
"""Characters of a name that are compared; no known one is as long."""


def plain_name(name: Any) -> str:
    """Return the name of a member as the tables have it: without case, `_`, `-` and other signs."""
    return _plain(str(name)[:_NAME_CHARS])


@lru_cache(maxsize=1000)
def _plain(name: str) -> str:
    if name.isascii():
        short = name.replace("_", "").replace("-", "").lower()
        return short if short.isalnum() else _SIGNS.sub("", short)
    return _SIGNS.sub("", unicodedata.normalize("NFKC", name).casefold())


def is_empty(value: Any) -> bool:
    """Whether a value says nothing. False and 0 say something: they may switch off what protects."""
    return value is None or (isinstance(value, str | list | dict) and not value)


def is_id(value: Any) -> bool:
    """Whether a value is one word, as identifiers are."""
    return isinstance(value, str) and bool(_ID.fullmatch(value))


def is_way(value: Any) -> bool:
    """Whether the value of a member `command` names what a tool does with a file."""
    return isinstance(value, str) and value in _WAYS


def is_harmless(name: str, value: Any) -> bool:
    """Whether a member changes nothing about what is run: by its `plain_name`, and the type of its value."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if name in _NUMBERS:
        return is_number or (isinstance(value, str) and bool(_NUMBER.fullmatch(value)))
    if name in _FLAGS:
        return isinstance(value, bool)
    if name in _IDS:
        return is_number or is_id(value)
    return name == "mode" and isinstance(value, str) and value in _MODES


def more_rights(name: str, value: Any) -> bool | None:
    """Whether a member asks for more rights than usual; None if it is not about rights. `name` is a `plain_name`."""
    if name in NOTES or name in COMMANDS or value is None:
        return None
    word = plain_name(value) if isinstance(value, str | bool | int | float) else None
    if _SANDBOX.fullmatch(name):
        return word not in _INSIDE
    if _MORE_RIGHTS.search(name):
        return not is_empty(value) if word is None else word not in _NO
    if name in _PERMISSIONS and isinstance(value, dict | list):
        return bool(value)
    return True if isinstance(value, str) and word in _RIGHTS else None
