"""The shapes of what Neovim and the host exchange, for the Neovim of the tests, which checks what comes and goes."""

from __future__ import annotations

import atexit
import os
import re
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from acp_nvim.contract import events, request_events, review_events, session_events

is_checked = False
"""Tests set it; what measures Neovim does not."""


@cache
def shapes_file() -> Path:
    """A file of this process with the shapes as JSON."""
    from tests.tools.contract import shapes  # imports the whole host, which few of the tests need

    handle, name = tempfile.mkstemp(prefix="acp-shapes-", suffix=".json")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(shapes.text())
    atexit.register(Path(name).unlink, missing_ok=True)
    return Path(name)


_PROTOCOL = re.compile(
    r"\b(?:session|fs|terminal|elicitation)/[a-z]\w+|\$/\w+|(?<!\w)-32\d{3}\b|\$[.\[]\w|[Pp]rompt turn|\{\""
)
"""Methods, error codes and paths of the protocol, and JSON: for the log."""


def terms_of_the_protocol(text: str) -> list[str]:
    """Those in a text for the user, except in what it quotes of an agent's stderr, which is indented."""
    return _PROTOCOL.findall("\n".join(line for line in text.split("\n") if not line.startswith("  ")))


problems: list[str] = []
"""What was published and is no event of the contract; a fixture fails the test by it."""


def check(event: events.Event) -> None:
    """Note what is wrong with an event that the core publishes: its class, the type of a field, its words."""
    if type(event) not in event_types().values():
        problems.append(f"{type(event)} is no event of acp_nvim.contract")
        return
    if isinstance(event, events.Notice | events.Error | request_events.SignInDone):
        problems.extend(f"{term!r} is no word for the user: {event!r}" for term in terms_of_the_protocol(event.text))
    try:
        msgspec.convert(msgspec.to_builtins(event, builtin_types=(bytes,)), type(event))
    except msgspec.ValidationError as error:
        problems.append(f"{event!r}: {error}")


@cache
def event_types() -> dict[str, type[events.Event]]:
    """All events, by their `type`."""
    modules = (events, request_events, review_events, session_events)
    found = [one for module in modules for one in vars(module).values() if isinstance(one, type)]
    bases = (events.Event, events.SessionEvent)
    return {str(one.__struct_config__.tag): one for one in found if issubclass(one, events.Event) and one not in bases}


def as_sent(event: dict[str, Any]) -> dict[str, Any]:
    """An event of a test as the host would send it, with what it always sends. Fails when the host cannot send it."""
    assert event["type"] in event_types(), f"no event has the type {event['type']!r}"
    made = msgspec.convert(event, event_types()[event["type"]])
    assert (unknown := list(_unknown(event, made))) == [], f"{event['type']} has no {unknown}"
    sent: dict[str, Any] = msgspec.to_builtins(made, builtin_types=(bytes,))
    return sent


def _unknown(given: Any, made: Any) -> list[str]:
    """Members that the struct does not have, at any depth."""
    if isinstance(made, list):
        return [one for pair in zip(given, made, strict=True) for one in _unknown(*pair)]
    if not isinstance(made, msgspec.Struct):
        return []
    names = {field.encode_name: field.name for field in msgspec.structs.fields(made)}
    tags = {made.__struct_config__.tag_field}
    below = [_unknown(value, getattr(made, names[key])) for key, value in given.items() if key in names]
    return [*(key for key in given if key not in names and key not in tags), *(one for part in below for one in part)]
