"""Writes doc/development/contract.md: all that Neovim and the host exchange, as tables."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Sequence

from acp_nvim.contract import events, request_events, review_events, session_events
from acp_nvim.contract.editor import Editor
from acp_nvim.neovim.editor import BUFFER_FUNCTIONS
from tests.tools.contract import model
from tests.tools.contract.lua_types import BUFFERS, UNIONS, lua_type
from tests.tools.contract.model import Field, Shape

HEAD = """\
# What Neovim and the host exchange

Generated from the structs in `acp_nvim/contract`: change those, then type `make doc`. Lua's annotations in
`lua/acp_nvim/types/` are made from the same structs. `?` marks a field that may be absent; `[]` a list.

- **Lua to the host**: `vim.rpcnotify(channel, "acp_nvim", method, params)`, never a request. What is asked for comes
  back as events.
- **The host to Lua**: `require("acp_nvim.events").apply(batch)`, a request; its answer is the acknowledgement: the next
  batch goes out only after it. The answer is how many milliseconds Lua worked, or nil when it has to wait. A batch is a
  list of events, in order; each has a `type`. Lua logs an event of an unknown type once, and passes it over.
- **Requests from the host**, answered at once, on Lua's own buffers only, are functions of
  `require("acp_nvim.buffers")`.
  A text is what `:write` would write, before its encoding; [files.md](files.md) says what states and stamps are.
- A **session** is a key: a positive integer, unique in this Neovim, that Lua chooses when it opens a chat.
- A **block** is an integer, counted from 1 in each session, never reused; blocks appear in the order of their first
  event.
- Texts of agents may hold any UTF-8: NULs, tabs, escapes, newlines of any kind. Words of agents (`kind` and `status` of
  tool calls, `priority` of plans, `kind` of options) may be others than those that the protocol knows.
"""
EVENT_TOPICS = {
    "To Lua: the chat": events,
    "To Lua: requests to the user": request_events,
    "To Lua: files and review": review_events,
    "To Lua: sessions": session_events,
}


def page() -> str:
    """Return the whole page."""
    parts = [HEAD]
    told = model.all_events()
    said = model.all_messages()
    parts.append(_table("From Lua", ["method", "asks for", "params"], map(_described, said.values())))
    for title, module in EVENT_TOPICS.items():
        parts.append(_table(title, ["type", "says", "fields"], map(_described, model.event_shapes(module))))
    rows = _inner_shapes([*told.values(), *said.values()])
    parts.append(_table("Shapes inside of them", ["shape", "is", "fields"], rows))
    parts.append(_table("Requests from the host", ["function", "does", "answer"], _requests()))
    parts.append(_table("Shapes of these", ["shape", "is", "fields"], _request_shapes()))
    return "\n".join(parts)


def _table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join([f"## {title}", "", _row(columns), _row(["---"] * len(columns)), *map(_row, rows)]) + "\n"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _described(shape: Shape) -> Sequence[str]:
    return f"`{shape.tag}`", _safe(shape.doc), _fields(shape.fields)


def _inner_shapes(roots: list[Shape]) -> Iterator[Sequence[str]]:
    named = {_name(shape): shape for shape in model.inner(roots).values()}
    for name, shape in sorted(named.items()):
        yield f"`{name}`", _safe(shape.doc), _fields(shape.fields)


def _name(shape: Shape) -> str:
    return shape.name if shape.tag is None else f"{UNIONS[shape.cls]} {shape.tag}"


def _fields(fields: Sequence[Field]) -> str:
    return "<br>".join(
        f"`{one.name}{'?' if one.optional else ''}` {_safe(lua_type(one.type).replace('acp.', ''))}"
        + (f": {_safe(one.doc)}" if one.doc else "")
        for one in fields
    )


def _safe(text: str) -> str:
    return text.replace("|", "\\|")


def _requests() -> Iterator[Sequence[str]]:
    for name, function in vars(Editor).items():
        if name in BUFFER_FUNCTIONS:
            signature = inspect.signature(function)
            arguments = ", ".join(list(signature.parameters)[1:])
            words = " ".join(inspect.cleandoc(function.__doc__ or "").split())
            answer = _safe(str(signature.return_annotation))
            yield f"`{BUFFER_FUNCTIONS[name]}({arguments})`", _safe(words), f"`{answer}`"


def _request_shapes() -> Iterator[Sequence[str]]:
    for shape in (*BUFFERS, *model.inner(list(BUFFERS)).values()):
        yield f"`{_name(shape)}`", _safe(shape.doc), _fields(shape.fields)
