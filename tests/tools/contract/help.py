"""Writes the part of doc/acp_nvim.txt that lists the fields of `require("acp_nvim").status()`."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from msgspec import inspect as kinds

from acp_nvim.contract.views import StatusView
from tests.tools.contract import model
from tests.tools.contract.lua_types import lua_type
from tests.tools.contract.model import Field

FILE = Path(__file__).resolve().parents[3] / "doc" / "acp_nvim.txt"
BEFORE = re.compile(r"^ {4}`subagents`.*\n(?: {28}.*\n)*", re.MULTILINE)
"""The last of the fields that are written by hand; the others follow."""
AFTER = '\nrequire("acp_nvim").statusline('
WIDTH = 78


def text() -> str:
    """Return the whole help with the new list. Raises `LookupError` if it has no place for the list."""
    return replaced(FILE.read_text(encoding="utf-8"))


def replaced(old: str) -> str:
    """Return the text with the generated part replaced."""
    before = BEFORE.search(old)
    if before is None:
        raise LookupError("doc/acp_nvim.txt has no field `subagents`, below which the fields of a status are listed")
    after = old.find(AFTER, before.end())
    if after < 0:
        raise LookupError(f"doc/acp_nvim.txt has no `{AFTER.strip()}...` below the fields of a status")
    return old[: before.end()] + "".join(f"{line}\n" for line in _lines()) + old[after:]


def _lines() -> Iterator[str]:
    for field in model.read(StatusView).fields:
        words = field.doc and f": {field.doc}"
        head = f"`{field.name}`{'?' if field.optional else ''}"
        yield from textwrap.wrap(
            f"{_type(field)}{words}",
            WIDTH,
            initial_indent=f"    {head:<24}",
            subsequent_indent=" " * 28,
            break_long_words=False,
            break_on_hyphens=False,
        )


def _type(field: Field) -> str:
    """Return a type as the help describes it, with the fields of structs."""
    one = field.type
    if isinstance(one, kinds.UnionType):
        one = next(member for member in one.types if not isinstance(member, kinds.NoneType))
    is_list = isinstance(one, kinds.ListType)
    inner = one.item_type if isinstance(one, kinds.ListType) else one
    if not isinstance(inner, kinds.StructType):
        return f"list of {lua_type(inner)}s" if is_list else lua_type(inner)
    members = ", ".join(f"{member.name}{'?' if member.optional else ''}" for member in model.read(inner.cls).fields)
    shape = f"`{{ {members} }}`"
    return f"list of {shape}" if is_list else shape
