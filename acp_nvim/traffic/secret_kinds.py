"""Finds what looks like a secret in texts: keys by their prefixes, and values by the names before them.

`tests/support/secret_table.py` is the table of what is found, and of what is not. Each search is linear: what follows a
prefix is a set of characters without a bound, or an expression of bounded length.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from acp_nvim.lazy import pattern
from acp_nvim.traffic.named_values import NAMES, find_named, is_placeholder
from acp_nvim.traffic.secret_names import is_secret

_EDGE: Final = rb"(?:(?<![A-Za-z0-9_])|(?<=\\[nrt])|(?<=[0-9;\[]m))"
"""Before prefixes that other words contain: also after an escaped newline, or the end of a colour."""

_WORD, _DASHED, _DOTTED = rb"\w", rb"[\w-]", rb"[\w.-]"

_KEYS: Final[list[tuple[str, bytes, bytes, int]]] = [
    ("ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ k_live_ k_test_ whsec_ dop_v1_ doo_v1_ dor_v1_ lin_api_", b"", _WORD, 8),
    ("shpat_ shpss_ shpca_ shppa_ dckr_pat_ rubygems_ sb_secret_", b"", _WORD, 8),
    ("glpat- gldt- glrt- glcbt- glptt- AIza figd_ GOCSPX- tskey- PMAK- NRAK- HRKU- nvapi- pplx-", b"", _DASHED, 8),
    ("ya29. hvs. hvb. ATATT3x pypi-AgE AGE-SECRET-KEY-1 pscale_ sntrys_ sntryu_ sq0csp- sq0atp-", b"", _DOTTED, 8),
    ("hf_ gsk_ sbp_ glsa_ ntn_ r8_ lsv2_ fm2_", _EDGE, _WORD, 8),
    ("npm_ ATBB LTAI", _EDGE, _WORD, 20),
    ("sk- xai- xapp- xoxe. xoxa- xoxb- xoxp- xoxr- xoxs- xoxc- xoxd- pul- tvly-", _EDGE, _DASHED, 8),
    ("eyJ SG. dp.pt. dp.st.", _EDGE, _DOTTED, 16),
    ("AKIA ASIA ABIA ACCA", _EDGE, rb"[A-Z0-9]", 12),
    ("SK key- dapi", _EDGE, rb"[0-9a-f]", 32),
]
"""Prefixes of keys, what stands before them, the characters after them, and how many of these at least."""

_BASE64: Final = rb"[A-Za-z0-9+/=]"
_BETWEEN: Final = rb"[\s>\"'`+,#|]++|-(?!----(?!-))|\\{1,2}(?:[nrt\"']|\Z)"
"""Between the lines of a key: also quotes and escapes of source code, and the marks of quotations and diffs."""
_AFTER_LINES: Final = b" \t\r\n>\"'`+,#|"
_ARMOUR: Final = (
    rb"(?:(?:%b)|(?:proc-type|dek-info|version|comment|hash|charset):[^\r\n\\\"]{0,200}"
    rb"|%b{16,}|[a-z0-9+/]{1,15}={1,2}|%b{1,15}(?=(?:%b){0,8}(?:-----end|\Z)|[\"'`+,> ]{0,4}(?:\r?\n|\\n)))"
    % (_BETWEEN, _BASE64, _BASE64, _BETWEEN)
)
_PRIVATE_KEY: Final = rb"-----begin [a-z0-9 ]{0,40}private key(?: block)?-----"
_END_OF_KEY: Final = rb"(?:-----end [a-z0-9 ]{0,40}private key(?: block)?-----)?"


class _Kind(NamedTuple):
    """Secrets that begin with `front`. `least` counts their characters; a growing one may be shorter.

    `judge` gets the value, and whether it may grow; it returns whether this is a secret.
    """

    front: bytes
    any_case: bool
    pattern: re.Pattern[bytes]
    least: int = 1
    judge: Callable[[bytes, bool], bool] | None = None


def _is_key(value: bytes, grows: bool) -> bool:
    """Return whether what begins with "sk-" is no name of a CSS class."""
    is_name = len(value) < 15 or b"-" in value[3:]
    return grows or len(value) >= 24 or not is_name or any(48 <= byte <= 57 for byte in value)


def _is_token(value: bytes, grows: bool) -> bool:
    """Return whether the word after "bearer" is none of a sentence."""
    if is_placeholder(value, grows):
        return False
    return grows or len(value) >= 24 or not value.isalpha() or value.lower() != value


def _is_basic(value: bytes, grows: bool) -> bool:
    """Return whether the word after "basic" is a name and a password in Base64."""
    if grows:
        return value.lower() != value or not value.isalpha()
    try:
        return b":" in base64.b64decode(value + b"=" * (-len(value) % 4))
    except binascii.Error:
        return False


def _is_user(value: bytes, grows: bool) -> bool:
    """Return whether what stands before a host has a password, or is a token."""
    user, colon, password = value.partition(b":")
    if colon:
        return grows or not (is_placeholder(password) or password == user or is_secret(password.decode("latin-1")))
    return len(user) >= 16 and not is_placeholder(user, grows)


def _may_be_password(value: bytes, grows: bool) -> bool:
    return grows and not is_placeholder(value, grows)


def _has_body(value: bytes, grows: bool) -> bool:
    """Return whether more than the first and the last line of a private key is there."""
    parts = value.split(b"-----")
    body = parts[2] if len(parts) > 2 else value
    return any(chr(byte).isalnum() for byte in body)


def _is_password(value: bytes, grows: bool) -> bool:
    return not is_placeholder(value, grows) and (grows or value.lower() not in (b"field", b"reset", b"and", b"is"))


def _is_not_group(value: bytes, grows: bool) -> bool:
    return not is_placeholder(value, grows) and (grows or not value.isdigit())


_ANY_CASE: Final[list[tuple[bytes, bytes, int, Callable[[bytes, bool], bool] | None]]] = [
    (b"bearer", rb"bearer[ \t]{1,4}(?P<v>[\w.~+/=$<{*-]+)", 8, _is_token),
    (b"basic", rb"basic {1,4}(?P<v>[a-z0-9+/]+={0,2})", 8, _is_basic),
    (b"://", rb"://(?P<v>[^\s/?#\"'<>\\`]{1,2000})@(?=[\w\[])", 1, _is_user),
    (b"://", rb"://[^\s/?#@\"'<>\\:`]{0,200}:(?P<v>(?!\d{1,5}\Z)[^\s/?#\"'<>\\`]{1,2000})\Z", 1, _may_be_password),
    (b"://", rb"://(?P<v>(?=[^\s\d]{0,15}\d|.{16})[^\s/?#@\"'<>\\:.`]{6,2000})\Z", 1, _may_be_password),
    (b"-----begin", rb"%b(?>%b{0,8192})%b" % (_PRIVATE_KEY, _ARMOUR, _END_OF_KEY), 1, _has_body),
    (b"private-lines:", rb"private-lines: ?\d{1,4}(?P<v>(?>%b{0,8192}))" % _ARMOUR, 16, _has_body),
    (
        b"login",
        rb"login\s{1,8}\S{1,100}\s{1,8}(?:account\s{1,8}\S{1,100}\s{1,8})?password\s{1,8}(?P<v>\S+)",
        1,
        _is_password,
    ),
    (b"sshpass", rb"sshpass\s{1,4}-p\s{0,4}[\"']?(?P<v>[^\s\"']+)", 1, _is_password),
    (b"mysql", rb"mysql\w{0,10}(?=\s)[^\r\n|;&]{0,120}?\s-p[\"']?(?P<v>[^\s\"']+)", 1, _is_password),
    (b"docker login", rb"docker login(?=\s)[^\r\n|;&]{0,120}?\s-p\s{1,4}[\"']?(?P<v>[^\s\"']+)", 1, _is_password),
    (b"-u ", rb"-u {1,4}[\"']?[\w.@+-]{1,80}:(?P<v>[^\s\"']+)", 1, _is_not_group),
    (b"--user", rb"--user[ =][\"']?[\w.@+-]{1,80}:(?P<v>[^\s\"']+)", 1, _is_not_group),
    (b"identified by", rb"identified by\s{1,4}(?:password\s{1,4})?[\"'](?P<v>[^\"'\r\n]+)", 1, _is_password),
    (b"with password", rb"with password\s{1,4}'(?P<v>[^'\r\n]+)", 1, _is_password),
    (b"-pass", rb"-pass(?:in|out)?\s{1,4}[\"']?pass:(?P<v>[^\s\"']+)", 1, _is_password),
    (b":5432:", rb":5432:[^:\s]{1,80}:[^:\s]{1,80}:(?P<v>\S+)", 1, None),
    (b"auth", rb"\bauth\\{0,3}[\"'] {0,4}: {0,4}\\{0,3}[\"'](?P<v>[a-z0-9+/]+={0,2})", 8, _is_basic),
    (b"sig=", rb"(?<=[?&])sig=(?P<v>[\w%+/=-]+)", 16, None),
    (b"x-amz-", rb"x-amz-(?:signature|credential)=(?P<v>[\w%+/=-]+)", 8, None),
    (b"hooks.slack", rb"hooks\.slack\.com/[a-z]{1,20}/(?P<v>[\w/-]+)", 8, None),
    (b"/api/webhooks/", rb"/api/webhooks/\d{1,24}/(?P<v>[\w-]+)", 16, None),
    (b":aa", rb"(?<=\d{8}):(?P<v>aa[\w-]+)", 30, None),
]
"""The prefix in lower case, the expression, the least length, and the judge of each other kind."""
_SECRET_OF_ID: Final = rb"A[KS]IA[A-Z0-9]{16}[^A-Za-z0-9/+\r\n]{1,20}(?P<v>[A-Za-z0-9/+]{1,40})(?![\w/+=])"
"""A secret key that follows its id."""


def _keys() -> Iterator[_Kind]:
    for fronts, edge, characters, least in _KEYS:
        for front in fronts.encode().split():
            judge = _is_key if front == b"sk-" else None
            yield _Kind(front, False, pattern(edge + re.escape(front) + characters + b"+"), len(front) + least, judge)
    for front in (b"AKIA", b"ASIA"):
        yield _Kind(front, False, pattern(_SECRET_OF_ID), 40)


_KINDS: Final = [
    *_keys(),
    *(_Kind(front, True, pattern(source, re.DOTALL), least, judge) for front, source, least, judge in _ANY_CASE),
]

_FRONTS: Final = frozenset(kind.front for kind in _KINDS if not kind.any_case)
_ANY_CASE_FRONTS: Final = frozenset({*(kind.front for kind in _KINDS if kind.any_case), *NAMES})


def may_have_secrets(text: bytes) -> bool:
    """Return False if the text certainly has no secret, except for escaped ones."""
    lowered = text.lower()
    return any(front in text for front in _FRONTS) or any(front in lowered for front in _ANY_CASE_FRONTS)


def find_secrets(text: bytes, *, grows: bool = False) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each secret, in no particular order; they may overlap.

    If the text `grows`, what may become a secret at its end is one.
    """
    lowered = text.lower()
    size = len(text)
    for front, any_case, secret, least, judge in _KINDS:
        searched = lowered if any_case else text
        at = searched.find(front)  # much faster than a search for the pattern
        while at >= 0:
            found = secret.match(searched, at)
            end = at + len(front)
            if found:
                start, stop = found.span(found.lastgroup or 0)
                is_end = grows and stop == size
                if not is_end and judge is _has_body:
                    stop = start + len(text[start:stop].rstrip(_AFTER_LINES))
                if (is_end or stop - start >= least) and (judge is None or judge(text[start:stop], is_end)):
                    yield start, stop
                    end = max(end, stop)
            at = searched.find(front, end)
    yield from find_named(text, lowered, grows=grows)
