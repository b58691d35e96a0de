"""Checks a URL before the user opens it: which host it leads to, and what could deceive the reader.

The script of a letter is the first word of its Unicode name ("CYRILLIC SMALL LETTER A"), which holds for all letters of
host names. Only Cyrillic and Greek look-alikes are known. The checks warn; they do not judge.
"""

from __future__ import annotations

import ipaddress
import unicodedata
from typing import Final

import msgspec

from acp_nvim.lazy import pattern

URL_CHARS: Final = 8000
"""Maximum length of a URL: browsers accept no longer ones, and no user reads them."""

_URL: Final = pattern(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/?#\\]*)")
_PORT: Final = pattern(r":[0-9]*$")
_NUMBERS: Final = pattern(r"(?:(?:0[xX][0-9A-Fa-f]*|[0-9]+)(?:\.|$))+")
_DOTS: Final = str.maketrans("。．｡", "...")
_TOGETHER: Final = (
    frozenset({"LATIN", "CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"}),
    frozenset({"LATIN", "CJK", "BOPOMOFO"}),
    frozenset({"LATIN", "CJK", "HANGUL"}),
)
"""Scripts that are written together (Unicode TR 39, highly restrictive)."""

_LOOK_LIKE: Final = str.maketrans(
    "абвгдеѕіјӏкмнорстухһԁԛԝҽɡαβεικνοπρτυχγω",
    "a6brdesijlkmhopctyxhdqwegabeikvonptuxyw",
)
"""Letters that look like Latin ones."""


class UrlCheck(msgspec.Struct, frozen=True):
    """The result of checking a URL. `first` and `last` are the offsets of its host in the URL, in characters.

    `warnings` are for the user. A URL with `refused` (the reason) is never opened.
    """

    host: str
    first: int
    last: int
    warnings: list[str]
    refused: str | None = None


def check_url(url: str) -> UrlCheck:
    """Check a URL for what may mislead the user, without resolving or fetching anything."""
    if len(url) > URL_CHARS:
        return _refused(f"it has {len(url)} characters")
    odd = next((one for one in url if one.isspace() or unicodedata.category(one)[0] == "C"), None)
    if odd is not None:
        return _refused(f"it has a character in it that nobody can see (U+{ord(odd):04X})")
    if "\\" in url:
        return _refused("it has a backslash in it, which browsers take for a slash")
    found = _URL.match(url)
    scheme = (found[1] if found else url.partition(":")[0]).lower()
    if found is None or scheme not in ("http", "https"):
        return _refused(f"it is no web page: {scheme[:20]!r} is neither https nor http")
    user, at, place = found[2].rpartition("@")
    host = _PORT.sub("", place) if not place.endswith("]") else place
    if not host.strip("."):
        return _refused("it names no host")
    first = found.start(2) + len(user) + len(at)
    warnings = []
    if at:
        warnings.append(f"What stands before the @ is not the host. The page is at {host}.")
    if not _is_loopback(host):
        warnings += _host_warnings(host)
        if scheme == "http":
            warnings.append("The connection is not encrypted (http): others can read along, and change the page.")
    return UrlCheck(host, first, first + len(host), warnings)


def _refused(why: str) -> UrlCheck:
    return UrlCheck("", 0, 0, [], why)


def _host_warnings(host: str) -> list[str]:
    plain = unicodedata.normalize("NFKC", host.translate(_DOTS)).lower()
    if host.startswith("[") or _NUMBERS.fullmatch(plain):
        return ["The host is an address, not a name."]
    warnings = []
    if not host.isascii() and plain != host.lower():
        warnings.append(f"Browsers read the host as {plain}.")
    if "%" in host:
        warnings.append("The host has % in it: parts of its name are written so that nobody can read them.")
    for label in plain.split("."):
        warnings += _label_warnings(label)
    return warnings


def _label_warnings(label: str) -> list[str]:
    """Return warnings about one label of a host name."""
    shown, warnings = label, []
    if label.startswith("xn--"):
        try:
            shown = label[4:].encode("ascii").decode("punycode")
        except (UnicodeError, ValueError):
            return [f"{label!r} is meant to be a name in other letters (punycode), but is none."]
        warnings.append(f"{label!r} is written in other letters: {_visible(shown)} (punycode).")
    elif not label.isascii():
        punycode = "xn--" + label.encode("punycode").decode("ascii")
        warnings.append(f"{_visible(label)} has letters that are not ASCII: {punycode}.")
    letters = (one for one in shown if unicodedata.category(one)[0] == "L")
    scripts = frozenset(unicodedata.name(one, "UNKNOWN").partition(" ")[0] for one in letters)
    if len(scripts) > 1 and not any(scripts <= together for together in _TOGETHER):
        names = " and ".join(sorted(one.capitalize() for one in scripts))
        warnings.append(f"{_visible(shown)} mixes letters of {names}: some look like others.")
    looks = shown.translate(_LOOK_LIKE)
    if looks != shown and looks.isascii():
        warnings.append(f"{_visible(shown)} looks like {looks!r}, but is another name.")
    return warnings


def _visible(text: str) -> str:
    """Quote a text, with invisible characters as escapes."""
    return "“" + "".join(one if one.isprintable() else f"\\u{ord(one):04x}" for one in text) + "”"


def _is_loopback(host: str) -> bool:
    name = host.strip("[]").lower()
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")
