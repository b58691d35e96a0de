"""Finds secrets in texts by the names before them: assignments, headers, YAML, JSON, XML, options of commands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from string import ascii_letters, digits
from typing import Final, Literal, NamedTuple

from acp_nvim.lazy import pattern
from acp_nvim.traffic.secret_names import Strength, is_count, is_secret, strength

NAMES: Final = (b"token", b"secret", b"key", b"pass", b"auth", b"cookie", b"credential", b"jwt", b"pwd", b"_pat")
"""Parts of the names, in lower case."""
_NAME_BYTES: Final = 60

_GAP: Final = rb"(?>(?:[ \t]|\x1b\[[\d;]{0,12}[mK]){0,8})"
_SEPARATOR: Final = pattern(
    rb"(?P<rest>[\w-]{0,%d}+)(?P<key>\\{0,3}[\"'`])?\]?[*_]{0,3}%b\??"
    rb"(?: ?: ?(?:&(?:'\w{1,20} )?)?[A-Za-z][\w.\[\]|, ?]{0,40}? =(?= )|(?P<sign>:=|=>|[:=>](?!=)))[*_]{0,3}%b"
    % (_NAME_BYTES, _GAP, _GAP)
)
"""The rest of the name, perhaps quoted, and `:` or `=`, perhaps after a type."""
_OPTION: Final = pattern(rb"(?P<rest>[\w-]{0,%d}+)[ \t]{1,4}(?![-=:|])" % _NAME_BYTES)
_NAME_CHARACTERS: Final = b"-_" + (ascii_letters + digits).encode()
_BLOCK: Final = pattern(rb"[|>][-+]?[ \t]{0,8}(?:\r?\n|(?:\\{1,3}r)?\\{1,3}n)[ \t]{1,40}")
_DECLARED: Final = pattern(
    rb"(?:(?:\A|[\r\n\"'`;&]|\\n)[ \t]{0,8}[Ee][Nn][Vv]|(?:\A|[^\w-]|\\n)(?:ENV|setenv|set -[A-Za-z]{1,3}))[ \t]{1,4}\Z"
)
"""What stands before the name of a variable whose value follows without a sign, as in Dockerfiles and some shells."""
_QUOTE: Final = pattern(rb"[bBrRuUfF$@]{0,2}(\\{0,3})([\"'`])(?:\1\2\1\2)?")
_BEFORE_LINE: Final = pattern(
    rb"(?:\A|[\r\n]|\\[nr])[\s>*#+|\"'/.-]*(?:\d{1,4}[.):\s][\s>*#+|\"'-]*)?"
    rb"(?:(?:export|set|env|local|readonly|declare)\s(?:-\w\s)?)?\Z"
)
"""What may stand in a line before its first name: indentation, marks of lists, quotations and diffs."""


def _all_but(ends: bytes, escapes: bytes = rb"\\(?![nrt\"'\\])") -> re.Pattern[bytes]:
    """Return an expression of the bytes that are none of `ends`; backslashes only in `escapes`."""
    others = rb"[^%b\\]*+" % ends
    return pattern(rb"%b(?:%b%b)*" % (others, escapes, others), re.DOTALL)


_VALUES: Final = {
    '"': _all_but(rb"\"\r\n", rb"\\."),
    "'": _all_but(rb"'\r\n", rb"\\."),
    "`": _all_but(rb"`\r\n", rb"\\."),
    "escaped": pattern(rb"[^\"'`\\\r\n]+"),
    "element": pattern(rb"[^<\r\n]+"),
    "header": pattern(rb"[^\r\n\"'\\`]+"),
    "line": _all_but(rb"\r\n\""),
    "literal": _all_but(rb"\s\"'`&"),
    "word": _all_but(rb"\s\"'();,&#<>`{}\]"),
}
"""The extent of a value by its form."""
Form = Literal["json", "quoted", "element", "header", "line", "literal", "word", "option"]

_SCHEME: Final = pattern(rb"(?i:bearer|basic|token|apikey|digest) +")
_MAY_STAND: Final = pattern(rb"[<$%{*]|\[m")
_PLACEHOLDER: Final = pattern(
    rb"\[(?:masked|redacted|hidden|removed)\]?.{0,40}|(?:[*._?#-]|\xe2\x80[\xa2\xa6])+|x{3,}|<[^<>]*>?.{0,8}|\$[a-z_({].*|%\w+%"
    rb"|%[sdrvq]|\{.*|(?:your|my|the|some|an?)[-_ ][\w -]{0,40}(?:pass\w{0,8}|secret|token|key|here|value)"
    rb"|[\w-]*(?:_here|placeholder)|redacted|changeme|example"
)
_KEYWORDS: Final = frozenset(
    b"any array bool boolean buffer byte bytes char const dict false file float int integer list literal nil no "
    b"none null number object option optional str string text true tuple undefined union unknown uuid varchar "
    b"void yes secretstr type required missing empty invalid new await not".split()
)
_VARIABLES: Final = frozenset(
    b"arg args cfg ctx data key line match next opt opts pass pw pwd res result text tok val value word".split()
)
_CODE: Final = pattern(
    rb"[&!]{0,2}[A-Za-z_]\w*(?:(?:[?!]?\.|->|::)[A-Za-z_]\w*)*[(\[].*|[A-Za-z_]+(?:(?:[?!]?\.|->|::)[A-Za-z_]+)+"
    rb"|(?:self|this|os|process|env|config|cfg|settings|args|opts|options|ctx|context|req|request|user|params|props|state)"
    rb"(?:[?!]?\.|->|::).*"
)
_IDENTIFIER: Final = pattern(rb"[A-Za-z_]+")
_PROSE: Final = frozenset(
    b"a about after all also an and any are argument as at be been before but by can could do does each every "
    b"field flag for from had has have he here how i if in into is it its just may more must never no not now "
    b"of on one only option or our parameter please press see she should so such than that the their them then "
    b"there these they this those to too use used using via was we were what when where which while who why "
    b"will with would you your".split()
)
_PLAIN_WORDS: Final = pattern(rb"[A-Za-z_.-]+")
_NUMBER: Final = pattern(rb"[\d,._ ]+")
_LONG: Final = 20
"""Length from which a value without digits may be random."""
_JUDGED_BYTES: Final = 128


class _Name(NamedTuple):
    """A name in a text, and where it begins."""

    text: str
    strength: Strength
    start: int


def is_placeholder(value: bytes, grows: bool = False) -> bool:
    """Return whether a value only stands for a secret: `<password>`, `***`, `${TOKEN}`; one that `grows` may do."""
    value = value[:_JUDGED_BYTES].strip().lower()
    if grows:
        return _MAY_STAND.match(value) is not None
    return not value or _PLACEHOLDER.fullmatch(value.rstrip(b".,;:)|\"'")) is not None


def find_named(text: bytes, lowered: bytes, *, grows: bool) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each secret value after a name, as `secret_kinds.find_secrets` does."""
    for front in NAMES:
        at = lowered.find(front)
        while at >= 0:
            end = at + len(front)
            span = _assigned(text, at, end, grows) or _after_option(text, at, end, grows)
            if span is not None:
                yield span
                end = max(end, span[1])
            at = lowered.find(front, end)


def _assigned(text: bytes, at: int, end: int, grows: bool) -> tuple[int, int] | None:
    """Return the span of the value that is assigned to the name around `at` to `end`; None if it is no secret."""
    found = _SEPARATOR.match(text, end)
    name = found and _name_at(text, at, found.end("rest"))
    if not found or not name:
        return None
    sign, start = found["sign"], found.end()
    is_tight = found.end("rest") + 1 == start
    form: Form
    block = _BLOCK.match(text, start) if sign == b":" and name.strength == "strong" else None
    if block:
        form, extent, start = "line", "line", block.end()
    elif sign == b">":
        if text[name.start - 1 : name.start] != b"<":
            return None
        form = extent = "element"
    elif quote := _QUOTE.match(text, start):
        if sign == b":" and not found["key"] and text[name.start - 1 : name.start] == quote[2]:
            return None  # the end of a text that ends with the name, as `input("Password: ")` has
        is_data = (found["key"] and sign == b":") or (sign == b"=" and is_tight and name.text.upper() == name.text)
        form = "json" if is_data else "quoted"
        extent, start = "escaped" if quote[1] else quote[2].decode(), quote.end()
    else:
        form = extent = _form(text, name, sign, is_tight)
    return _span(text, start, extent, name, form, grows)


def _form(text: bytes, name: _Name, sign: bytes | None, is_tight: bool) -> Literal["header", "line", "literal", "word"]:
    """Return the form of a value without quotes after `sign`; `is_tight`: there are no blanks around it."""
    if sign == b":" and ("-" in name.text.strip("-") or name.text.lower() in ("authorization", "cookie")):
        return "header"
    if (
        sign == b"="
        and is_tight
        and (
            name.text.upper() == name.text
            or name.text.startswith("--")
            or text[name.start - 1 : name.start] in (b"?", b"&")
        )
    ):
        return "literal"
    is_line = name.strength == "strong" and sign in (b":", b"=") and _is_first(text, name)
    return "line" if is_line else "word"


def _after_option(text: bytes, at: int, end: int, grows: bool) -> tuple[int, int] | None:
    """Return the span of the value after an option (`--password x`) or a variable (`ENV PASSWORD x`) around `at`."""
    before = text[max(0, at - _NAME_BYTES) : at]
    if b"--" not in before and b"set" not in before and b"ENV" not in before:
        return None
    found = _OPTION.match(text, end)
    name = found and _name_at(text, at, found.end("rest"))
    if not found or not name:
        return None
    is_declared = _DECLARED.search(text[max(0, name.start - _NAME_BYTES) : name.start]) is not None
    if not name.text.startswith("--") and not is_declared:
        return None
    quote = _QUOTE.match(text, found.end())
    if quote:
        return _span(text, quote.end(), "escaped" if quote[1] else quote[2].decode(), name, "option", grows)
    return _span(text, found.end(), "literal", name, "option", grows)


def _name_at(text: bytes, at: int, end: int) -> _Name | None:
    """Return the name around `at`, which ends at `end`; None if its values are no secrets."""
    before = text[max(0, at - _NAME_BYTES) : end]
    length = len(before) - len(before.rstrip(_NAME_CHARACTERS))
    name = before[len(before) - length :].decode("ascii")
    kind = strength(name)
    return None if kind == "none" else _Name(name, kind, end - length)


def _is_first(text: bytes, name: _Name) -> bool:
    """Return whether nothing but marks stands before the name in its line."""
    return _BEFORE_LINE.search(text[max(0, name.start - _NAME_BYTES) : name.start]) is not None


def _span(text: bytes, start: int, extent: str, name: _Name, form: Form, grows: bool) -> tuple[int, int] | None:
    expression = _VALUES[extent]
    found = expression.match(text, start, start + _JUDGED_BYTES)
    if not found or not found[0]:
        return None
    value, stop = found[0], found.end()
    if grows and stop == len(text):
        return None if is_placeholder(value, grows=True) or _CODE.fullmatch(value) else (start, stop)
    if not _is_secret(value, name, form, text[stop : stop + 1]):
        return None
    if stop == start + _JUDGED_BYTES:
        whole = expression.match(text, start)
        stop = whole.end() if whole else stop
    trailing = len(value) - len(value.rstrip(b" \t;,'|")) if form == "line" else 0
    return (start, stop - trailing) if start < stop - trailing else None


def _is_secret(value: bytes, name: _Name, form: Form, after: bytes) -> bool:
    """Return whether a complete value, followed by the byte `after`, is a secret."""
    scheme = _SCHEME.match(value)
    value = value[scheme.end() :] if scheme else value.strip()
    word = value.split(maxsplit=1)[0].rstrip(b",;.") if value.strip() else b""
    if is_placeholder(value) or is_placeholder(word) or word.lower() in _KEYWORDS:
        return False
    if is_count(name.text) and _NUMBER.fullmatch(value.strip()):
        return False
    is_identifier = _IDENTIFIER.fullmatch(value) is not None
    if is_identifier and form != "literal" and is_secret(value.decode()):
        return False  # the name of a variable, or of the field itself
    if form in ("line", "literal", "word", "header", "option") and not scheme:
        if _CODE.fullmatch(word) or (_IDENTIFIER.fullmatch(word) and after in (b"(", b"[")):
            return False
        if form != "literal" and (word.lower() in _PROSE or (form != "header" and word in _VARIABLES)):
            return False
        if form == "word" and is_identifier and after in (b",", b")"):
            return False
    return name.strength == "strong" or form in ("header", "element") or _is_random(value, form)


def _is_random(value: bytes, form: Form) -> bool:
    """Return whether the value of a name that need not be secret looks like a secret."""
    if form == "json":
        return any(chr(byte).isalnum() for byte in value)
    if form in ("literal", "option"):
        return len(value) >= 4
    is_name = _PLAIN_WORDS.fullmatch(value) is not None
    return b" " not in value.strip() and (len(value) >= _LONG or (len(value) >= 6 and not is_name))
