"""Words of errors: what the user is told, without terms of the protocol, and whether they ask for a sign-in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any, Final

from acp_nvim.jsonrpc.messages import METHOD_NOT_FOUND, RpcError, ends_of, reasons_in
from acp_nvim.lazy import pattern

SAID_CHARS: Final = 500
"""Characters shown of an agent's error: some put a whole log there. `:AcpLog` has the rest."""
SAID_LINES: Final = 5
"""Lines shown of it: the sentence, and a hint or two."""
ROUNDS: Final = 8
"""Times that terms are removed, as others may remain side by side; a text that still has some is not shown."""
JSON_DEPTH: Final = 8
"""Depth to which a reason is looked for in JSON: agents wrap their provider's answers a few times."""

_TASKS: Final = {
    "initialize": "start",
    "authenticate": "sign you in",
    "auth/login": "sign you in",
    "logout": "sign you out",
    "auth/logout": "sign you out",
    "session/new": "open a session",
    "session/load": "load the session",
    "session/resume": "resume the session",
    "session/fork": "fork the session",
    "session/list": "list its sessions",
    "session/close": "close the session",
    "session/delete": "delete the session",
    "session/prompt": "take the prompt",
    "_session/steering": "take a prompt while it works",
    "session/set_mode": "change the mode",
    "session/set_model": "change the model",
    "session/set_config_option": "change the option",
    "session/set_title": "rename the session",
    "session/archive": "archive the session",
    "session/unarchive": "take the session out of the archive",
    "tool_call/cancel": "cancel the tool call",
    "terminal/cancel": "cancel the command",
    "auth/status": "say which account it uses",
    "providers/list": "list its providers",
    "providers/set": "use the provider",
    "providers/disable": "stop using the provider",
}

_METHOD = pattern(
    r"[`'\"]?(?:\$/\w+|(?<![\w/$-])"
    r"(?:_?session|fs|terminal|elicitation|auth|mcp|providers|proxy|tool_call)/[a-z_]\w*(?:\.[a-z]+[A-Z]\w*)*"
    r"(?![\w/]|[.-][a-z_]))[`'\"]?"
)
_JSON_PATH = pattern(r"(?:(?: ?[-–—:])? ?\b(?:at|in) )?[`'\"]?\$(?:\.[\w-]+|\[[^\]\s]*\]?)+[`'\"]?")
_CODE = pattern(
    r"\( ?(?:error )?code:? ?-?\d+ ?\)|(?:\b(?:json-?rpc )?error )?(?:\bcode:? ?)?(?<!\w)\(?-32\d{3}(?!\d)\)?:?",
    re.IGNORECASE,
)
_FRAME = pattern(
    r'(?:at\s|File "|Traceback |stack backtrace|Stack trace|'  # of JavaScript, Python
    r"\d+:\s+(?:0x|[\w<>]+::|rust_begin_unwind$|_\w+$)|note: run with `RUST_|"  # of Rust
    r"goroutine \d+ \[|(?:main|\S+/\w+)\.[\w.(*)]+\(\S*\)$|/\S+:\d+(?: \+0x\w+)?$)"  # of Go
)
_ANSI = pattern(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_MARKUP = pattern(r"<!doctype|<\?xml|</\w[\w:-]*\s*>", re.IGNORECASE)
_UNSEEN = pattern(r"<(script|style)\b.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)", re.IGNORECASE | re.DOTALL)
_TAG = pattern(r"</?[a-z?!][^<>]*(?:>|\Z)", re.IGNORECASE)
_GENERIC = pattern(
    r"\A(?:[\"'`]?(?:(?:json-?rpc )?error: )?(?:internal (?:server )?error|"
    r"invalid (?:request )?param(?:eter)?s?|invalid request|parse error|server error|method not found)\b"
    r"[\"'`\s:.,;-]*)+",
    re.IGNORECASE,
)
_GAP = pattern(r"\s{2,}|[^\S ]")
_SPACES = pattern(r" {2,}")
_GAP_BEFORE_SIGN = pattern(r" +(?=[.,:;!?)]|$)", re.MULTILINE)
_TERMS = (
    (_METHOD, "the request"),
    (_CODE, ""),
    (_JSON_PATH, ""),
    (_GENERIC, ""),
    (_GAP_BEFORE_SIGN, ""),
    (_SPACES, " "),
)
_MESSAGE = pattern(r"\b(?:details?|message|reason)['\"]?\s*:\s*(['\"])([^'\"\n]{1,500})\1")
_JSON_STARTS = pattern(r'\{\s*\\*["\'}]|\{\s*\w+\s*:|\[\s*\\*[\[{"\']|\A\s*["\[]')

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


def task(method: str) -> str:
    """Return what a request asks the agent to do, as in "refused to ..."."""
    return _TASKS.get(method, "do what it was asked")


def plain(words: str) -> str:
    """Return what an agent said, without markup, JSON, stack traces, and methods, paths and codes of the protocol.

    At most `SAID_LINES` lines and `SAID_CHARS` characters; "" if nothing is left. Without a full stop at the end.
    """
    text = _without_json(_without_markup(_ANSI.sub("", words[: 20 * SAID_CHARS])))
    lines = [_GAP.sub(" ", line.strip()) for line in text.splitlines()]
    lines = [line for line, _ in groupby(line for line in lines if line and not _FRAME.match(line))]
    said = "\n".join(lines[:SAID_LINES])
    for _ in range(ROUNDS):
        before = said
        for term, instead in _TERMS:
            said = term.sub(instead, said)
        said = _without_json(said).strip(" \t\r\n:;,.-–—`")  # JSON may come about by what was removed
        if said == before:
            break
    else:
        return ""
    said = "" if said == "the request" else said
    return said if len(said) <= SAID_CHARS else f"{said[:SAID_CHARS].rstrip()} …"


def reason(error: RpcError) -> str:
    """Return why an agent refused a request, in its own plain words; "" if it gave no other than the protocol's."""
    if error.code == METHOD_NOT_FOUND:
        return "it does not know how"
    return plain(error.describe())


def _without_markup(words: str) -> str:
    """Return the text of an HTML or XML document, such as the answer of a proxy; other texts as they are."""
    if not _MARKUP.search(words):
        return words
    from html import unescape  # imported here: few errors contain markup

    return unescape(_TAG.sub("\n", _UNSEEN.sub("\n", words)))


def _without_json(words: str, depth: int = JSON_DEPTH) -> str:
    """Replace JSON in a text by the reason in it, if there is one; what only begins like JSON is cut off."""
    start = _JSON_STARTS.search(words)
    if start is None or not depth:
        return words if start is None else words[: start.start()]
    import json  # imported here: few errors contain JSON

    before = words[: start.start()]
    if "\\" in start[0]:  # JSON in a text of JSON
        return before + _without_json(words[start.start() :].replace('\\"', '"'), depth - 1)
    may_be_words = start[0].strip() in ('"', "[")  # a quotation, or a word in brackets
    try:
        value, end = json.JSONDecoder().raw_decode(words, start.start())
        if may_be_words and words[end:].strip():
            raise ValueError
    except (ValueError, RecursionError):
        if may_be_words:
            return words[: start.end()] + _without_json(words[start.end() :], depth - 1)
        # such as an object that Python or JavaScript has printed
        message = _MESSAGE.search(words, start.start())
        return f"{before}{message[2]}" if message else before
    found = _reason_in(value, depth - 1)
    return f"{before}{'' if found in before else found}{_without_json(words[end:], depth - 1)}"


def _reason_in(value: Any, depth: int) -> str:
    """Return the texts in a JSON value that explain an error: the outer and the innermost one."""
    if isinstance(value, str) or not depth:
        return _without_json(value, depth) if isinstance(value, str) else ""
    if isinstance(value, list) and (texts := [one for one in value if isinstance(one, str)]):
        found = (_without_json(one, depth - 1) for one in texts)
        return next((text for text in found if text.strip()), "")
    found_in = reasons_in(value, lambda text: _without_json(text, depth - 1).strip())
    return ends_of([*found_in[:1], *found_in[-1:]])


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
