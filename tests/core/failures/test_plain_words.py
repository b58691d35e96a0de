"""What the user reads of failures has no terms of the protocol; the log has them."""

from __future__ import annotations

import inspect
import itertools
import json
import logging
import re
from pathlib import Path
from typing import Any, Final, get_args

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from acp_nvim import acp
from acp_nvim.agents.address import parse_address
from acp_nvim.agents.definition import AgentDefinition
from acp_nvim.errors import Failure
from acp_nvim.failures import failures
from acp_nvim.failures.plain_words import SAID_CHARS, SAID_LINES, plain, reason, task
from acp_nvim.jsonrpc.messages import RpcError
from acp_nvim.process.child import Exited
from acp_nvim.transports.interface import Disconnected
from acp_nvim.transports.reaching import Cause
from tests.support.contract import terms_of_the_protocol

ADDRESSED: Final = AgentDefinition(name="it", command=["it"], address=parse_address("box:3000"))
METHODS: Final = ["initialize", "session/load", "session/prompt", "authenticate", "_vendor/x"]
SAID: Final = [
    "Internal error",
    "Method not found: session/set_mode",
    '{"error": {"code": -32603, "message": "no model"}}',
    'API Error: 400 {"type": "error", "error": {"message": "bad at `$.update.locations[0]`"}}',
    "Invalid params: Expected `str`, got `int` - at `$.update.locations[0].path`",
    "fs/read_text_file failed (code -32002)\n    at Server.read (/x/index.js:3)",
    "{ code: -32603, message: 'x' }",
    'session/prompt: [{"code": "invalid_type", "path": ["prompt"]}]',
    "not logged in, error code: -32000",
    "",
    "x" * 100_000,
    "\0 Grüße",
]
ERRORS: Final = [
    RpcError(code, message, data)
    for code in (-32603, -32601, -32602, -32000, -32022, 401, 1001, 0)
    for message in SAID
    for data in (None, "session/load", {"details": {"x": 1}}, {"message": "$.a.b: -32603"}, {"supported": [3]}, ["x"])
]
MALFORMED: Final = msgspec.ValidationError("Expected `str`, got `int` - at `$.update.locations[0].path`")
VALUES: Final[dict[str, list[Any]]] = {
    "again": [True, False],
    "name": ["it", "a{b}", "ü" * 50],
    "method": METHODS,
    "words": SAID,
    "complaint": [str(MALFORMED), "999 more of 'options' than acp_nvim keeps"],
    "reason": ["git: not found"],
    "session_id": ["session-1"],
    "title": ["Look into it", "a{b}"],
    "why": ["gone", "idle", "not offered", "asked already"],
    "most": [200],
    "seconds": [0.3],
    "others": [0, 1, 5],
    "newest": [2],
    "version": [0, 2, 3],
    "returncode": [None, 0, 3, -9, -200],
    "last_words": [(), ("session/load failed",)],
    "said": [(), ("not logged in",)],
    "cwd": ["/nowhere", "/"],
    "definition": [
        AgentDefinition(name="it", command=["it"], install="get it", url="u"),
        ADDRESSED,
        AgentDefinition(name="it", command=["it"], address=parse_address("ws://box/acp")),
        AgentDefinition(name="it", command=["it"], address=parse_address("wss://box/acp"), tls="/ca.pem"),
    ],
    "cause": [one for part in get_args(Cause) for one in get_args(part)],
    "ending": [
        Exited(1, ("session/load failed",)),
        Disconnected("box:3000", "was lost", False),
        *(Disconnected("ws://box/acp", "was closed by the other side", True, said) for said in SAID),
    ],
}
ERROR_TYPES: Final[dict[str, list[Any]]] = {
    "RpcError": ERRORS,
    "msgspec.DecodeError": [MALFORMED, msgspec.DecodeError("JSON is malformed: trailing characters (byte 3)")],
    "msgspec.ValidationError": [MALFORMED, msgspec.ValidationError("Expected `array`, got `object`")],
    "Exception": [MALFORMED],
    "BaseException": [MALFORMED, KeyError("session/load"), *ERRORS[:40]],
    "OSError | ValueError": [FileNotFoundError(2, "No such file"), ValueError("embedded null byte")],
}
FUNCTIONS: Final = {
    name: function
    for name, function in inspect.getmembers(failures, inspect.isfunction)
    if function.__module__ == failures.__name__
    and not name.startswith("_")
    and function.__annotations__["return"] != "bool"
}
"""Everything in `failures` that makes a failure, or a sentence."""


def cases(function: Any) -> list[tuple[Any, ...]]:
    """Arguments in which each value occurs, and most pairs of values."""
    values = [
        ERROR_TYPES[str(one.annotation)] if one.name == "error" else VALUES[one.name]
        for one in inspect.signature(function).parameters.values()
    ]
    turned = [itertools.islice(itertools.cycle(one), place, None) for place, one in enumerate(values)]
    return list(itertools.islice(zip(*turned, strict=False), max(map(len, values)) + 7))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_failure_has_terms_of_the_protocol(name: str) -> None:
    told = [FUNCTIONS[name](*arguments) for arguments in cases(FUNCTIONS[name])]
    shown = [str(msgspec.structs.replace(one, detail=())) if isinstance(one, Failure) else one for one in told]
    assert len(shown) >= 2
    assert [one for one in shown if terms_of_the_protocol(one) or len(one) > 3 * SAID_CHARS] == []


@pytest.mark.parametrize(
    ("said", "told"),
    [("tired", " (tired)"), ('session/new {"code": -32603}', ""), ('{"message": "no model"}', " (no model)"), ("", "")],
)
def test_the_reason_to_close_a_connection_is_told_in_plain_words(said: str, told: str) -> None:
    ending = Disconnected("ws://box/acp", "was closed by the other side", True, said)
    words = f"The connection to agent 'it' at ws://box/acp was closed by the other side{told}."
    assert failures.ended(ADDRESSED, ending).what == words


LOGGED: Final = [
    (
        failures.refused,
        ("it", "session/load", RpcError(-32603, "no", {"a": 5})),
        ["session/load", "-32603", "{'a': 5}"],
    ),
    (failures.not_initialized, ("it", RpcError(-32602, "no"), 1), ["initialize", "-32602"]),
    (failures.sign_in_wanted, ("it", RpcError(-32000, "sign in")), ["-32000"]),
    (failures.malformed_answer, ("it", "session/new", MALFORMED), ["session/new", "$.update.locations[0].path"]),
    (failures.not_offered, ("it", "session/fork"), ["session/fork"]),
    (failures.turn_failed, ("it", RpcError(-32603, "no", "why")), ["session/prompt", "-32603", "why"]),
    (failures.turn_failed_with, ("it", "no (code -32603)"), ["-32603"]),
    (failures.bad_message, ("it", "session/update", MALFORMED), ["session/update", "$.update.locations[0].path"]),
    (failures.left_out, ("it", str(MALFORMED)), ["$.update.locations[0].path"]),
    (failures.lost_message, ("it", "an integer of 65 bits"), ["65 bits"]),
    (failures.silent, (AgentDefinition(name="it", command=["it"]), 3.0, ()), ["initialize"]),
]


@pytest.mark.parametrize(("function", "arguments", "terms"), LOGGED, ids=[one[0].__name__ for one in LOGGED])
def test_the_log_has_what_the_notice_has_not(
    function: Any, arguments: tuple[Any, ...], terms: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="acp_nvim"):
        function(*arguments)
    assert [term for term in terms if term not in caplog.text] == []


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Internal error: no network (code -32603)", "no network"),
        ("Invalid request parameters", ""),
        ("Invalid parameters: no model", "no model"),
        ("exited with code 1\n  at frame 1", "exited with code 1"),
        ('API Error: 400 {"error": {"message": "Bad model"}}', "API Error: 400 Bad model"),
        ('[{"error": {"message": "Exhausted\\nTry later"}}]', "Exhausted\nTry later"),
        ("`session/load` failed: see src/session/load.py", "the request failed: see src/session/load.py"),
        ("openai/gpt-4 is not there", "openai/gpt-4 is not there"),
        ("429 Too Many Requests", "429 Too Many Requests"),
        ("one [a] two", "one [a] two"),
        ("\0\ud800", "\0\ud800"),
        ("code: 400 - {'error': {'message': 'too long', 'code': 4}}", "code: 400 - too long"),
        ('Failed {code: 7, message: "no"}', "Failed no"),
        ("code -32603", ""),
        ('{"a":' * 1000, ""),
        (" " * 2000 + "in" + " " * 2000 + "a ( code" + "(" * 1000, "in a ( code" + "(" * 489 + " …"),
        ("1\n2\n3\n4\n5\n6", "1\n2\n3\n4\n5"),
        (
            "<html>\r\n<head><title>502 Bad Gateway</title><style>h1 { color: red }</style></head>\r\n"
            "<body><h1>502 Bad Gateway</h1>\r\n<hr>a &amp; b</body></html>",
            "502 Bad Gateway\na & b",
        ),
        ('<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>', "AccessDenied"),
        ("<!DOCTYPE html><title>Busy</title><script>if (a < b) { x() }</script><p class='", "Busy"),
        ("usage: it <file> [<name>]", "usage: it <file> [<name>]"),
        ("if a < b", "if a < b"),
        ('failed with {\\"code\\": -32603, \\"message\\": \\"Oh\\"}', "failed with Oh"),
        ('[1, {"code": -32603}]', ""),
        ('"no model"', "no model"),
        ('"no" is no model', '"no" is no model'),
        ("[one] is no model", "[one] is no model"),
        ("of session/update.sessionId", "of the request"),
        ("\x1b[31mno\x1b[0m model", "no model"),
        ("panicked: no\n   0: rust_begin_unwind\n    at /x/lib.rs:3\n   1: core::panicking::panic", "panicked: no"),
        ("panic: no\n\ngoroutine 1 [running]:\nmain.main()\n\t/tmp/x.go:5 +0x1d", "panic: no"),
        ("1: open the settings", "1: open the settings"),
        ("401: Unauthorized", "401: Unauthorized"),
        ("429: rate_limit_exceeded", "429: rate_limit_exceeded"),
        ("config.load()", "config.load()"),
    ],
)
def test_what_an_agent_said_in_plain_words(said: str, shown: str) -> None:
    assert plain(said) == shown


PARTS: Final = "(?:session|fs|terminal|elicitation)"
LIKE_A_PATH: Final = re.compile(rf"[\w/$-]{PARTS}/|{PARTS}/\w+[/.-]")
PIECES = st.sampled_from([*SAID[:-2], " ", "\n", "(", ")", "`", "at ", "{", "}", "[", '"', ": ", "code ", "-32603"])


@given(st.lists(PIECES | st.text(max_size=20), max_size=12))
def test_whatever_an_agent_says_is_plain_and_short(pieces: list[str]) -> None:
    said = "".join(pieces)
    assume(not LIKE_A_PATH.search(said))  # a path stays
    shown = plain(said)
    assert terms_of_the_protocol(shown.replace("\n  ", "\n")) == []
    assert len(shown) <= SAID_CHARS + 2
    assert len(shown.split("\n")) <= SAID_LINES


@pytest.mark.parametrize(
    "data",
    [
        "Overloaded",
        {"error": {"type": "overloaded", "message": "Overloaded"}},
        {"details": {"error": [{"message": "Overloaded"}]}},
        [{"code": 5}, {"reason": "Overloaded"}],
    ],
)
def test_a_reason_deep_in_an_error_is_found(data: Any) -> None:
    assert reason(RpcError(-32603, "Internal error", data)) == "Overloaded"
    assert reason(RpcError(-32603, "Overloaded", data)) == "Overloaded"


def test_a_request_without_words_of_its_own_has_some() -> None:
    assert task("_vendor/x") == "do what it was asked"


def test_each_request_that_we_send_has_words_for_the_user() -> None:
    modules = [Path(*acp.__path__, name).read_text() for name in ("dialect.py", "v1.py", "v2.py")]
    methods = {method for module in modules for method in re.findall(r'Call\(\s*f?"([a-z_]+/[a-z_]+)"', module)}
    assert len(methods) > 10
    assert {method for method in methods if task(method) == task("unknown")} == set()


@given(
    st.lists(
        st.tuples(st.sampled_from(["error", "cause", "data", "details"]), st.booleans(), st.booleans()),
        min_size=1,
        max_size=4,
    ),
)
def test_the_outer_and_the_innermost_reason_are_told(steps: list[tuple[str, bool, bool]]) -> None:
    said: Any = {"message": "usage limit reached; resets at 18:00"}
    for name, has_message, in_list in steps:
        said = {name: [said] if in_list else said, **({"message": "the provider failed"} if has_message else {})}
    shown = reason(RpcError(-32603, "Internal error", said))
    assert shown.endswith("usage limit reached; resets at 18:00")
    assert shown.startswith("the provider failed: " if any(step[1] for step in steps) else "usage limit")
    assert plain(f"API Error: 429 {json.dumps(said)}").endswith(shown)
    assert reason(RpcError(-32603, "Internal error", {"message": json.dumps(said)})).endswith(shown)


def test_a_reason_that_is_said_twice_is_told_once() -> None:
    error = {"message": "quota exceeded", "cause": {"message": "quota exceeded"}}
    assert reason(RpcError(1, "quota exceeded", {"error": error})) == "quota exceeded"


def test_reasons_are_searched_in_bounds() -> None:
    said: Any = {"message": "too deep"}
    for _ in range(5000):
        said = {"cause": said}
    assert reason(RpcError(1, "outer", said)) == "outer"
    assert reason(RpcError(1, "outer", [{"message": "x"}] * 100_000)) == "outer: x"
