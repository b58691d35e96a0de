"""A request of which something cannot be shown is not allowed by anybody; who cannot reject it is not asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from acp_nvim.acp.answers import PermissionAsked, PermissionOption
from acp_nvim.contract import events
from acp_nvim.contract.request_events import PermissionAuto
from acp_nvim.limits import LEFT_OUT
from acp_nvim.transcript import views
from tests.core.session.inner_agent import inner_host

pytestmark = pytest.mark.anyio

ALLOW = {"optionId": "allow", "name": "Allow", "kind": "allow_once"}
REJECT = {"optionId": "reject", "name": "Reject", "kind": "reject_once"}
ODD = {"optionId": "odd", "name": "Go on", "kind": "_odd"}


def text(words: str) -> dict[str, Any]:
    return {"type": "content", "content": {"type": "text", "text": words}}


PLACES = [{"path": f"/tmp/{number}"} for number in range(501)]
CUT: dict[str, tuple[dict[str, Any], str]] = {
    "places": ({"locations": PLACES}, "1 places"),
    "places that the agent counts": ({"locations": PLACES, LEFT_OUT: {"locations": -1}}, "1 places"),
    "items": ({"content": [text("x")] * 1002}, "2 items"),
    "title": ({"title": "x" * 40_000}, "the end of the title"),
    "lines": ({"content": [text("x\n" * 6000)]}, "the end of a text"),
    "characters": ({"content": [text("x" * 600_000)]}, "the end of a text"),
    "more characters": ({"content": [text("x" * 2_200_000)]}, "a part of the content, the end of a text"),
    "change": (
        {"content": [{"type": "diff", "path": "/tmp/a", "oldText": "x" * 2_200_000, "newText": ""}]},
        "a part of the content",
    ),
    "command": ({"kind": "execute", "rawInput": {"command": "x" * 200_000}}, "68,928 characters of the command"),
    "variable": (
        {"kind": "execute", "rawInput": {"command": "x", "env": {"A": "x" * 200_000}}},
        "68,931 characters of the command",
    ),
}


@pytest.mark.parametrize("what", CUT)
@pytest.mark.parametrize("before", [False, True])
async def test_it_can_only_be_rejected(tmp_path: Path, what: str, before: bool) -> None:
    said, left_out = CUT[what]
    async with inner_host(tmp_path, v2=False, permissions={"rules": [{"action": "allow"}]}) as host:
        call = {"toolCallId": "c", "kind": "edit", "title": "T", **said}
        if before:
            host.agent.update(sessionUpdate="tool_call", **call)
            call = {"toolCallId": "c"}
        params = {"sessionId": "s", "toolCall": call, "options": [ODD, ALLOW, REJECT]}
        host.agent.say({"id": 1, "method": "session/request_permission", "params": params})
        await host.editor.until("a question", lambda: host.of(events.Permission))
        request = host.of(events.Permission)[-1].request
        assert (request.left_out, [one.option_id for one in request.options]) == (left_out, ["reject"])
        assert host.of(PermissionAuto) == []
        host.say("answer", id=request.id, option_id="allow")
        host.say("answer", id=request.id, option_id="reject")
        await host.editor.until("the answer", lambda: host.agent.answers())
        assert host.agent.answers()[-1]["result"]["outcome"]["optionId"] == "reject"


async def test_who_cannot_reject_it_is_not_asked(tmp_path: Path) -> None:
    async with inner_host(tmp_path, v2=False) as host:
        call = {"toolCallId": "c", "title": "x" * 40_000}
        params = {"sessionId": "s", "toolCall": call, "options": [ALLOW]}
        host.agent.say({"id": 1, "method": "session/request_permission", "params": params})
        await host.editor.until("the answer", lambda: host.agent.answers())
        assert host.agent.answers()[-1]["result"] == {"outcome": {"outcome": "cancelled"}}
        assert "the end of the title" in host.of(events.Notice)[-1].text
        assert host.of(events.Permission) == []


def nested(depth: int) -> Any:
    return [nested(depth - 1)] if depth else 0


LOST: dict[str, list[dict[str, Any]]] = {
    "an update that is nested too deeply": [{"sessionUpdate": "tool_call_update", "rawInput": nested(250)}],
    "an update whose kind comes late": [{"rawInput": nested(250), "sessionUpdate": "tool_call_update"}],
    "a place with a path that is too long": [
        {"sessionUpdate": "tool_call_update", "toolCallId": "c", "locations": [{"path": "x" * 5000}]}
    ],
    "a content of which nothing can be read": [{"sessionUpdate": "tool_call_update", "toolCallId": 5}],
}


@pytest.mark.parametrize("what", LOST)
@pytest.mark.parametrize("announced", [True, False])
async def test_a_call_of_which_a_message_was_lost_can_only_be_rejected(
    tmp_path: Path, what: str, announced: bool
) -> None:
    async with inner_host(tmp_path, v2=False, permissions={"rules": [{"action": "allow"}]}) as host:
        if announced:
            host.agent.update(sessionUpdate="tool_call", toolCallId="c", title="T", kind="execute")
        for update in LOST[what]:
            host.agent.update(**update)
        params = {"sessionId": "s", "toolCall": {"toolCallId": "c"}, "options": [ALLOW, REJECT]}
        host.agent.say({"id": 1, "method": "session/request_permission", "params": params})
        await host.editor.until("a question", lambda: host.of(events.Permission))
        request = host.of(events.Permission)[-1].request
        assert "a part of the content" in (request.left_out or "")
        assert [one.option_id for one in request.options] == ["reject"]
        assert host.of(PermissionAuto) == []


async def test_a_call_that_is_told_again_as_a_whole_can_be_allowed(tmp_path: Path) -> None:
    async with inner_host(tmp_path, v2=False) as host:
        host.agent.update(sessionUpdate="tool_call", toolCallId="c", title="T")
        host.agent.update(sessionUpdate="tool_call_update", toolCallId="c", rawInput=nested(250))
        whole = {"toolCallId": "c", "title": "T", "rawInput": {"command": "x"}, "content": [text("x")]}
        params = {"sessionId": "s", "toolCall": whole, "options": [ALLOW, REJECT]}
        host.agent.say({"id": 1, "method": "session/request_permission", "params": params})
        await host.editor.until("a question", lambda: host.of(events.Permission))
        request = host.of(events.Permission)[-1].request
        assert request.left_out is None
        assert "allow" in [one.option_id for one in request.options]


async def test_a_lost_message_that_is_not_about_a_call_changes_nothing(tmp_path: Path) -> None:
    async with inner_host(tmp_path, v2=False) as host:
        host.agent.update(sessionUpdate="tool_call", toolCallId="c", title="T")
        host.agent.update(sessionUpdate="agent_message_chunk", content=5)
        deep = {"sessionId": "s", "path": "/a", "content": nested(250)}
        host.agent.say({"id": 5, "method": "fs/write_text_file", "params": deep})
        params = {"sessionId": "s", "toolCall": {"toolCallId": "c"}, "options": [ALLOW, REJECT]}
        host.agent.say({"id": 1, "method": "session/request_permission", "params": params})
        await host.editor.until("a question", lambda: host.of(events.Permission))
        request = host.of(events.Permission)[-1].request
        assert request.left_out is None
        assert "allow" in [one.option_id for one in request.options]
        assert [one["id"] for one in host.agent.answers() if "error" in one] == [5]


async def test_the_user_is_told_of_a_question_that_is_too_long(tmp_path: Path) -> None:
    async with inner_host(tmp_path, v2=False) as host:
        schema = {"type": "object", "properties": {"a": {"type": "string"}}}
        params = {"sessionId": "s", "mode": "form", "message": "x" * 20_000, "requestedSchema": schema}
        host.agent.say({"id": 1, "method": "elicitation/create", "params": params})
        await host.editor.until("the answer", lambda: host.agent.answers())
        assert "length <= 16384 - at `$.message`" in host.agent.answers()[-1]["error"]["message"]
        assert [one.text for one in host.of(events.Notice) if "was lost" in one.text and "16384" in one.text]


async def test_many_items_are_all_shown(tmp_path: Path) -> None:
    async with inner_host(tmp_path, v2=False) as host:
        call = {"toolCallId": "c", "content": [text(f"item {number}") for number in range(300)]}
        params = {"sessionId": "s", "toolCall": call, "options": [ALLOW, REJECT]}
        host.agent.say({"id": 1, "method": "session/request_permission", "params": params})
        await host.editor.until("a question", lambda: host.of(events.Permission))
        request = host.of(events.Permission)[-1].request
        assert [one.text for one in request.content] == [f"item {number}" for number in range(300)]
        assert (request.left_out, len(request.options)) == (None, 2)


def test_an_option_that_allows_is_offered_with_its_whole_name_and_an_id_that_means_nothing_else() -> None:
    given = [("a", "Allow", "allow_once"), ("b", "x" * 501, "allow_always"), ("a", "No", "reject_once")]
    given += [("c", "Yes", "allow_always"), ("d", "x" * 501, "reject_always")]
    offered = views.options(PermissionAsked(options=[PermissionOption(*one) for one in given]), None)
    assert [(one.option_id, one.kind) for one in offered] == [
        ("a", "reject_once"),
        ("c", "allow_always"),
        ("d", "reject_always"),
    ]
