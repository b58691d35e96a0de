"""Finds secrets inside texts by what they look like, or by what stands in front of them, in linear time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from acp_nvim.limits import SECRET_CHARS

_NAMES: Final = (
    *(b"token", b"secret", b"passw", b"passphrase", b"passcode", b"apikey", b"api-key", b"accesskey", b"credential"),
    *(b"_key", b"_pat", b"_pass", b"_pwd"),
)
_ASSIGNED: Final = (
    rb"[\w-]{0,60}(?:\\?[\"'] {0,4}[:=] {0,4}\\?[\"'](?P<quoted>[^\"'\\\r\n]+)"
    rb"|=[\"']?(?P<plain>[^\s\"'();,&#<>\\]{%d,}))" % SECRET_CHARS
)
"""What may follow such a part of a name: `": "value"` or `=value`."""

_ANY_CASE: Final = {
    **{name: name + _ASSIGNED for name in _NAMES},
    b"bearer": rb"bearer\s{1,4}(?P<plain>[\w.~+/=-]{%d,})" % SECRET_CHARS,
    b"authorization": rb"authorization\s{0,4}:\s{0,4}(?P<plain>[^\r\n\"'\\]+)",
    b"cookie": rb"cookie\s{0,4}:\s{0,4}(?P<plain>[^\r\n\"'\\]+)",
    b"://": rb"://(?P<plain>[^\s/?#@\"'<>\\]+)@",
    b"-----begin": rb"-----begin [a-z ]{0,40}private key-----.*?(?:-----end [a-z ]{0,40}private key-----|\Z)",
}
_EXACT: Final = {
    b"sk-": rb"(?<!\w)sk-[\w-]{8,}",
    b"k_live_": rb"k_live_\w{8,}",
    b"k_test_": rb"k_test_\w{8,}",
    **{f"gh{kind}_".encode(): rf"gh{kind}_\w{{8,}}".encode() for kind in "pousr"},
    b"github_pat_": rb"github_pat_\w{8,}",
    b"glpat-": rb"glpat-[\w-]{8,}",
    b"AIza": rb"AIza[\w-]{8,}",
    b"ya29.": rb"ya29\.[\w-]{8,}",
    b"AKIA": rb"(?<!\w)AKIA[A-Z0-9]{12,}",
    b"ASIA": rb"(?<!\w)ASIA[A-Z0-9]{12,}",
    b"xox": rb"(?<!\w)xox[a-z]-[\w-]{8,}",
    b"hf_": rb"(?<!\w)hf_\w{8,}",
    b"npm_": rb"(?<!\w)npm_\w{20,}",
    b"eyJ": rb"(?<!\w)eyJ[\w.-]{16,}",
}
"""Keys of the large services, and JSON web tokens; each by how it begins."""

_PATTERNS: Final = [
    *((front, True, re.compile(pattern, re.DOTALL)) for front, pattern in _ANY_CASE.items()),
    *((front, False, re.compile(pattern)) for front, pattern in _EXACT.items()),
]

FRONTS: Final = tuple(front.lower() for front, _, _ in _PATTERNS)
"""A text in which none of these stands, in any case, has no secret that can be seen."""


def find(text: bytes) -> Iterator[tuple[int, int]]:
    """Where secrets begin and end; in no order, and they may overlap."""
    lowered = text.lower()
    for front, any_case, pattern in _PATTERNS:
        yield from _matches(lowered if any_case else text, front, pattern)


def _matches(text: bytes, front: bytes, pattern: re.Pattern[bytes]) -> Iterator[tuple[int, int]]:
    """A search for the front is much faster than one for the pattern."""
    at = text.find(front)
    while at >= 0:
        found = pattern.match(text, at)
        if found:
            yield found.span(found.lastgroup or 0)
        at = text.find(front, found.end() if found else at + len(front))
