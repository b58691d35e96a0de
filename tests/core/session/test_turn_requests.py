"""What an agent may ask in one turn is bounded also when it withdraws its requests, and by the size of what waits."""

from __future__ import annotations

from typing import Any

import pytest

from acp_nvim.connection import router
from acp_nvim.contract import events
from acp_nvim.contract.request_events import Elicitation, PermissionAuto
from acp_nvim.permissions.request import bounds
from acp_nvim.transcript import tool_calls
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio

ASKS = """
    OPTIONS = [
        {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
        {"optionId": "no", "name": "No", "kind": "reject_once"},
    ]
    FORM = {"type": "object", "properties": {"name": {"type": "string"}}}

    def permission(agent, prompt, number, words="ls"):
        call = {"toolCallId": f"c{number}", "title": "T", "kind": "execute", "rawInput": {"command": words}}
        params = {"sessionId": prompt.session_id, "options": OPTIONS, "toolCall": call}
        return agent.call("session/request_permission", params, f"r{number}")

    def question(agent, prompt, number):
        params = {"sessionId": prompt.session_id, "mode": "form", "message": "Name?", "requestedSchema": FORM}
        return agent.call("elicitation/create", params, f"r{number}")
"""
WITHDRAWS = """
    def turn(agent, prompt):
        for number in range(30):
            call = KIND(agent, prompt, number)
            agent.notify("$/cancel_request", {"requestId": f"r{number}"})
            try:
                call.result()
            except Error:
                pass
"""


def errors(host: Host) -> list[str]:
    return [one["error"]["message"] for one in host.sent_answers() if "error" in one]


def cancelled(host: Host) -> int:
    """Count the permissions that the host refused."""
    return [one.get("result") for one in host.sent_answers()].count({"outcome": {"outcome": "cancelled"}})


@pytest.mark.parametrize(("kind", "shown"), [("permission", events.Permission), ("question", Elicitation)])
async def test_requests_that_are_withdrawn_count(
    host: Host, monkeypatch: pytest.MonkeyPatch, kind: str, shown: type[events.Event]
) -> None:
    monkeypatch.setattr(bounds, "TURN_REQUESTS", 10)
    host.script(ASKS + WITHDRAWS.replace("KIND", kind))
    await host.turn("go")
    assert len(host.of(shown)) == 10
    refused = "10 requests of one turn are open already, and no more are taken: end the turn"
    if kind == "permission":
        assert cancelled(host) == 30  # also those that were shown, and then withdrawn
    else:
        assert errors(host).count(refused) == 20
    assert any("20 more were refused" in text for text in host.notices())
    await host.turn("again")
    assert len(host.of(shown)) == 20


async def test_what_waits_is_bounded_by_its_size(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(router, "UNANSWERED_BYTES", 4 * 1024 * 1024)
    host.script(
        ASKS
        + """
    def turn(agent, prompt):
        for number in range(10):
            permission(agent, prompt, number, "x" * 1_500_000)
        prompt.wait_cancelled()
        return "cancelled"
"""
    )
    host.open()
    host.prompt("go")
    await host.until("the refusals", lambda: cancelled(host) == 8)
    assert any("4 megabytes of requests are open, and 8 more were refused" in text for text in host.notices())
    assert len(host.of(events.Permission)) == 2
    host.cancel()
    await host.until("the end of the turn", lambda: host.of(events.TurnEnd))


async def test_a_full_turn_shows_no_more_answers_of_rules_and_takes_no_requests_about_new_calls(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool_calls, "TURN_BLOCKS", 10)
    rules: list[dict[str, Any]] = [{"command": "ls", "action": "allow"}]
    host.script(
        ASKS
        + """
    def turn(agent, prompt):
        for _ in range(20):
            assert permission(agent, prompt, 0).result()["outcome"]["optionId"] == "yes"
        assert permission(agent, prompt, 1).result() == {"outcome": {"outcome": "cancelled"}}
"""
    )
    host.hello(permissions={"rules": rules})
    await host.turn("go")
    assert len(host.of(PermissionAuto)) == 9  # beside the call
    assert any("tool calls and messages of one turn are open, and 1 more" in text for text in host.notices())
    assert host.of(events.Permission) == []
