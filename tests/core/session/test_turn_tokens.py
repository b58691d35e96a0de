"""The tokens that a turn has used: in the status, and never a line of the chat."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from acp_nvim.acp.answers import PromptAnswer, TurnTokens
from acp_nvim.acp.updates import StateChanged
from acp_nvim.acp.v1 import DialectV1
from acp_nvim.acp.v2 import DialectV2
from acp_nvim.contract.views import Tokens
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio

USAGE = {
    "totalTokens": 4500,
    "inputTokens": 3600,
    "outputTokens": 900,
    "thoughtTokens": 30,
    "cachedReadTokens": 5,
    "cachedWriteTokens": 6,
}
FEW = {"totalTokens": 3, "inputTokens": 1, "outputTokens": 2}
ALL = TurnTokens(total=4500, input=3600, output=900, thought=30, cached_read=5, cached_write=6)
OF_GEMINI = {"quota": {"token_count": {"input_tokens": 3, "output_tokens": 4}, "model_usage": []}}

REPORTED = [
    ({"usage": USAGE}, ALL),
    ({"usage": {**FEW, "thoughtTokens": None}}, TurnTokens(3, 1, 2)),
    ({"usage": FEW, "_meta": OF_GEMINI}, TurnTokens(3, 1, 2)),
    ({"_meta": OF_GEMINI}, TurnTokens(7, 3, 4)),
    ({"usage": None}, None),
    ({}, None),
]
MALFORMED: list[dict[str, Any]] = [
    {"usage": 7},
    {"usage": {"totalTokens": "many", "inputTokens": 1, "outputTokens": 2}},
    {"usage": {"inputTokens": 1}},
    *({"_meta": {"quota": one}} for one in (7, [], {"token_count": 7}, {"token_count": {"input_tokens": 1}})),
    {"_meta": {"quota": {"token_count": {"input_tokens": "1", "output_tokens": True}}}},
]


def raw(value: Any) -> msgspec.Raw:
    """Encode a value as JSON."""
    return msgspec.Raw(json.dumps(value).encode())


@pytest.mark.parametrize(("members", "tokens"), [*REPORTED, *((one, None) for one in MALFORMED)])
def test_version_1_reports_them_with_the_end_of_the_turn(members: dict[str, Any], tokens: TurnTokens | None) -> None:
    answer = DialectV1().prompt("s", []).read(raw({"stopReason": "max_tokens", **members}))
    assert answer == PromptAnswer("max_tokens", tokens=tokens)


@pytest.mark.parametrize(("members", "tokens"), REPORTED)
def test_version_2_reports_them_when_the_work_ends(members: dict[str, Any], tokens: TurnTokens | None) -> None:
    update = {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn", **members}
    assert DialectV2().update(raw({"sessionId": "s", "update": update})) == (
        "s",
        StateChanged("idle", "end_turn", tokens=tokens),
    )


@pytest.mark.parametrize("version", [1, 2])
async def test_the_status_has_those_of_the_last_turn(host: Host, version: int) -> None:
    """A cancelled turn does not count: opencode reports zeros for it."""
    turn = """
    INITIALIZE = V2 if VERSION == 2 else {}
    def turn(agent, prompt):
        said = json.loads(prompt.text)
        if VERSION == 1:
            return {"stopReason": "end_turn", **said}
        prompt.update("state_update", state="running")
        prompt.update("state_update", state="idle", stopReason="end_turn", **said)
        return {"messageId": "m"}
    """
    initialize = {"protocolVersion": 2, "info": {"name": "v2", "version": "1"}, "capabilities": {"session": {}}}
    host.hello(protocol={"v2": True})
    host.script(turn.replace("V2", repr(initialize)).replace("VERSION", str(version)))
    zeros = {"totalTokens": 0, "inputTokens": 0, "outputTokens": 0}
    shown = []
    for said in ({}, {"usage": USAGE}, {"usage": zeros}, {"usage": FEW}, {"usage": 7}):
        assert await host.turn(json.dumps(said)) == "end_turn"
        await host.until_state("idle")
        status = host.status()
        assert status is not None
        shown.append(status.tokens)
    first, last = Tokens(**msgspec.structs.asdict(ALL)), Tokens(3, 1, 2)
    assert shown == [None, first, first, last, last]
    assert [one for one in host.notices() if "tokens" in one.lower()] == []


@pytest.mark.parametrize("number", [-1, 2**63, 2**64, 10**400])
async def test_a_number_that_no_editor_can_hold_costs_no_turn(host: Host, number: int) -> None:
    host.script("""
    def turn(agent, prompt):
        answer = {"jsonrpc": "2.0", "id": prompt.id, "result": {"stopReason": "end_turn", "usage": "@"}}
        usage = '{"totalTokens": %s, "inputTokens": %s, "outputTokens": 2}' % (prompt.text, prompt.text)
        agent.raw((json.dumps(answer).replace('"@"', usage) + chr(10)).encode())
        return NO_ANSWER
    """)
    assert await host.turn(str(number)) == "end_turn"
    status = await host.until_state("idle")
    msgspec.msgpack.encode(status)


async def test_an_agent_that_reports_sums_is_shown_with_those_of_the_turn(host: Host) -> None:
    host.script("""
        counts = iter([10, 30, 60])

        def turn(agent, prompt):
            total = next(counts)
            prompt.say("so")
            prompt.update("usage_update", used=total * 10, size=300)
            prompt.reply({"stopReason": "end_turn", "usage": {
                "totalTokens": 2 * total, "inputTokens": total, "outputTokens": total}})
    """)
    host.config["agents"]["it"]["quirks"] = ["session_tokens"]
    host.hello()
    seen = []
    for _ in range(3):
        await host.turn()
        status = await host.until_state("idle")
        assert status.tokens is not None
        assert status.usage is not None
        seen.append((status.tokens.total, status.tokens.input, status.usage.doubtful))
    assert seen == [(20, 10, False), (40, 20, False), (60, 30, True)]
