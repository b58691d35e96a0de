"""The formats of texts that the protocol names, each with words for what is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime
from typing import Final

_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DATE_TIME: Final = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9:]{8})(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})")
_URI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+")
_ADDRESS: Final = re.compile(r"[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)*")


def problem(name: str | None, text: str) -> str | None:
    """What is wrong with a text of that format; formats that we do not know ask for nothing (RFD "Elicitation")."""
    check = _CHECKS.get(name or "")
    return check(text) if check else None


def example(name: str | None) -> str | None:
    """How such a text looks."""
    return _EXAMPLES.get(name or "", name)


def _email(text: str) -> str | None:
    return None if _ADDRESS.fullmatch(text) and text.isprintable() else "is no e-mail address, like name@example.org"


def _uri(text: str) -> str | None:
    return None if _URI.fullmatch(text) else "is no URI, like https://example.org/page (no blanks, nothing but ASCII)"


def _date(text: str) -> str | None:
    if not _DATE.fullmatch(text):
        return "is no date, like 2026-11-21"
    try:
        date.fromisoformat(text)
    except ValueError:
        return "is a date that does not exist"
    return None


def _date_time(text: str) -> str | None:
    parts = _DATE_TIME.fullmatch(text)
    if parts is None:
        return "is no date and time with a zone, like 2026-11-21T20:15:00Z"
    day, clock, _, zone = parts.groups()
    try:
        datetime.strptime(f"{day} {clock}", "%Y-%m-%d %H:%M:%S")
        if len(zone) > 1:
            datetime.strptime(zone[1:], "%H:%M")
    except ValueError:
        return "is a date or time that does not exist"
    return None


_CHECKS: Final[dict[str, Callable[[str], str | None]]] = {
    "email": _email,
    "uri": _uri,
    "date": _date,
    "date-time": _date_time,
}
_EXAMPLES: Final = {
    "email": "an e-mail address",
    "uri": "a URI",
    "date": "a date, like 2026-11-21",
    "date-time": "a date and time, like 2026-11-21T20:15:00Z",
}
