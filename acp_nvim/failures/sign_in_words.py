"""Finds out by its words whether an error may mean that the user has to sign in: agents seldom use the code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from acp_nvim.lazy import pattern

SEARCHED_CHARS: Final = 20_000
"""Characters of an error that are searched: some have a whole log."""
SEARCHED_VALUES: Final = 200
"""Values in the data of an error that are searched."""
SEARCHED_DEPTH: Final = 8

_PLACE = pattern(r"(?<!\w)[\w.:\\-]*/[\w.:/\\?=&%#-]*|(?<![\w.])[\w-]+\.[a-z]{1,4}\b(?![\w(])")
"""A path, a URL or a name of a file, whose words mean nothing here."""
_NO_PLACE: Final = r"(?!\W*\ue000|\s+(?:the|an?|this|that|each|every|full|detail|plain|json)\b)"
_IN: Final = r"[ -]?(?:back )?in\b"
_RUN_LOGIN = pattern(
    r"\b(?:run|use|type|try|execute|via|with)\W{0,3}(?:\w+ ){0,2}\W?(?:auth )?/?(?:log|sign)-?in\b", re.I
)
_TOKEN: Final = r"(?:access|refresh|auth\w*|oauth|bearer|session|id|api|jwt|security|identity|login)[ _-]token"
_WORDS = pattern(
    "|".join(
        (
            r"\bunauthori[sz]ed\b|\bunauthenticated\b|\binvalid_grant\b|\binvalid x-api-key\b",
            r"\b(?:http|status|code|error|statuscode|http_status|status_code)\b[^\w\n]{0,4}(?:code|status)?[^\w\n]{0,4}401\b",
            r"\bhttp\W\d(?:\W\d)?\W401\b|\A\W*401\b(?! \w+s\b)",
            r"\b401\W{1,3}(?:from|response|error\b)|\b(?:got|returned) (?:an? )?401\b",
            r"\bauthenticat(?:ion|ed?)\b[ _]?(?:\w+ ){0,2}(?:error|required|fail|needed|expired|invalid|first|again)",
            r"\bauth(?:entication|orization)?[ _](?:error|required|failed|failure|expired|missing)\b",
            r"\b(?:not|please|must|cannot|can't|unable to|failed to|need to|fail to) (?:be )?(?:re-?)?authenticate",
            r"\b(?:invalid|missing|no|bad|incorrect) authentication\b|\bauthentication (?:credentials|token)\b",
            rf"\b(?:not|longer|been|you're|you are|were) (?:\w+ )?(?:logged|signed)[ -](?:in|out)\b{_NO_PLACE}",
            rf"\b(?:please|must|need to|have to|required to|should|try to) (?:re-?)?(?:log|sign){_IN}{_NO_PLACE}",
            rf"\b(?:log|sign){_IN} (?:again|first|required|is required|expired|to (?:continue|use|your|get))\b",
            r"\b(?:log|sign)[ -]?in (?:has )?(?:expired|failed)\b|\bre-?(?:login|authenticate|authentication)\b",
            rf"\b{_TOKEN}\b(?:\W+\w+){{0,3}}\W+(?:expired|revoked|invalid|missing|rejected|required)\b",
            rf"\b(?:invalid|missing|no|bad|incorrect|expired|revoked) (?:or \w+ )?{_TOKEN}\b",
            r"\btokens? (?:has |have |is |are |was )?(?:been )?(?:expired|revoked)\b",
            r"\b(?:expired|revoked)[ _](?:\w+ )?token\b",
            r"api[ _-]?key|\bcredentials?\b",
        )
    ),
    re.IGNORECASE,
)


def about_sign_in(words: str, data: Any = None) -> bool:
    """Return whether an error with those words, and that data in any of its members, may ask for a sign-in."""
    said = "\n".join((words, *_values(data)))[:SEARCHED_CHARS]
    return bool(_RUN_LOGIN.search(said) or _WORDS.search(_PLACE.sub("\ue000", said)))


def _values(data: Any) -> Iterator[str]:
    """Return the texts in the data of an error, and its numbers with their names, which may be an HTTP status."""
    waiting: list[tuple[Any, int]] = [(data, SEARCHED_DEPTH)]
    seen = 0
    while waiting and seen < SEARCHED_VALUES:
        value, depth = waiting.pop(0)
        seen += 1
        if isinstance(value, str):
            yield value
        elif isinstance(value, list) and depth:
            waiting += [(one, depth - 1) for one in value[:SEARCHED_VALUES]]
        elif isinstance(value, dict) and depth:
            for name, one in list(value.items())[:SEARCHED_VALUES]:
                waiting.append((f"{name}: {one}" if type(one) is int else one, depth - 1))
