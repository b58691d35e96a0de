"""The official client, over the real relay: both eras of the protocol, and what neither has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError

from acp_nvim.contract.editor import ToolAnswer
from tests.core.mcp.stand_in import stage
from tests.support.mcp_clients import parameters
from tests.support.waiting import LIMIT

pytestmark = pytest.mark.anyio

NAMES = [
    "editor_state",
    "read_buffer",
    "unsaved_diff",
    "show",
    "terminal_output",
    "review_comments",
    "diagnostics",
    "definition",
    "references",
    "implementations",
    "hover",
    "symbols",
    "rename",
    "code_action",
    "format",
]
WRITERS = {"rename", "code_action", "format"}
MODES = pytest.mark.parametrize(
    ("mode", "version"), [("legacy", "2025-11-25"), ("auto", "2026-07-28"), ("2026-07-28", "2026-07-28")]
)


@MODES
async def test_a_client_lists_and_calls_the_tools(tmp_path: Path, mode: str, version: str) -> None:
    async with stage(tmp_path) as here:
        with anyio.fail_after(LIMIT):
            async with Client(stdio_client(parameters(await here.server.entry())), mode=mode) as client:
                assert client.protocol_version == version
                listed = await client.list_tools()
                result = await client.call_tool("editor_state", {})
    assert [one.name for one in listed.tools] == NAMES
    assert {one.name for one in listed.tools if not one.annotations.read_only_hint} == WRITERS
    assert (result.content[0].text, result.is_error) == ("editor_state", False)
    assert here.calls == [{"editor_state": 1}]


@MODES
async def test_errors_are_told_in_words(tmp_path: Path, mode: str, version: str) -> None:
    async with stage(tmp_path) as here:
        here.place.answer = lambda tool, arguments: ToolAnswer(error="Try another one.")
        with anyio.fail_after(LIMIT):
            async with Client(stdio_client(parameters(await here.server.entry())), mode=mode) as client:
                failed = await client.call_tool("editor_state", {})
                wrong = await client.call_tool("read_buffer", {"path": 5})
                with pytest.raises(MCPError, match="Unknown tool: nonesuch"):
                    await client.call_tool("nonesuch", {})
                assert client.protocol_version == version
    assert (failed.content[0].text, failed.is_error) == ("Try another one.", True)
    assert wrong.is_error
    assert "Expected `str`, got `int` - at `$.path`. It takes: path, first, last, cursor." in wrong.content[0].text


async def test_a_client_with_a_handshake_is_told_when_the_list_changes(tmp_path: Path) -> None:
    heard: list[Any] = []

    async def on_message(message: Any) -> None:
        heard.append(message)

    async with stage(tmp_path) as here:
        transport = stdio_client(parameters(await here.server.entry()))
        with anyio.fail_after(LIMIT):
            async with Client(transport, mode="legacy", message_handler=on_message) as client:
                before = await client.list_tools()
                here.place.answer = lambda tool, arguments: ToolAnswer(has_debugger=True)
                await client.call_tool("editor_state", {})
                after = await client.list_tools()
    assert {one.name for one in after.tools} - {one.name for one in before.tools} == {"debug_state"}
    assert [type(one).__name__ for one in heard] == ["ToolListChangedNotification"]


async def test_schemas_are_small_and_plain(tmp_path: Path) -> None:
    async with stage(tmp_path) as here:
        here.place.has_debugger = True
        tools = here.server.toolset.described()
    assert [one["name"] for one in tools] == [*NAMES[:6], "debug_state", *NAMES[6:]]
    for tool in tools:
        text = json.dumps(tool)
        assert len(text) < 2000
        assert not any(word in text for word in ("outputSchema", "$ref", "$defs", "anyOf", "null"))
        assert all({"description", "type"} <= one.keys() for one in tool["inputSchema"]["properties"].values())


META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


@pytest.mark.parametrize(
    ("method", "params", "code", "words"),
    [
        ("tools/list", {}, -32602, "neither `initialize` nor `_meta` has named a version"),
        ("server/discover", {}, -32602, "neither `initialize` nor `_meta` has named a version"),
        ("initialize", {}, -32602, "missing required field `protocolVersion`"),
        ("tools/list", {"_meta": {**META, "io.modelcontextprotocol/protocolVersion": "1900-01-01"}}, -32022, ""),
        ("tools/list", {"_meta": {**META, "io.modelcontextprotocol/protocolVersion": 5}}, -32022, ""),
        ("tools/list", {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}, -32602, "Capabilities"),
        ("tools/list", {"_meta": 5}, -32602, "_meta"),
        ("subscriptions/listen", {"_meta": META}, -32601, "Method not found"),
        ("tools/call", {"_meta": META}, -32602, "missing required field `name`"),
        ("tools/call", {"_meta": META, "name": "show", "arguments": []}, -32602, "arguments"),
        ("resources/list", {"_meta": META}, -32601, "Method not found"),
        ("ping", {"_meta": META}, -32601, "Method not found"),
    ],
)
async def test_a_request_that_cannot_be_served_gets_the_error_of_the_protocol(
    tmp_path: Path, method: str, params: Any, code: int, words: str
) -> None:
    async with stage(tmp_path) as here:
        answer = await here.raw({"jsonrpc": "2.0", "id": "a", "method": method, "params": params})
    assert (answer["id"], answer["error"]["code"]) == ("a", code)
    assert words in answer["error"]["message"]
    if code == -32022:
        assert answer["error"]["data"]["supported"][0] == "2026-07-28"


@pytest.mark.parametrize("version", ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "3000-01-01"])
async def test_the_handshake_agrees_on_a_version(tmp_path: Path, version: str) -> None:
    async with stage(tmp_path) as here:
        params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "it", "version": "1"}}
        answer = await here.raw({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
    assert answer["result"]["protocolVersion"] == (version if version < "3000" else "2025-11-25")
    assert answer["result"]["serverInfo"]["name"] == "nvim"


async def test_null_is_as_good_as_nothing(tmp_path: Path) -> None:
    async with stage(tmp_path) as here, here.wire() as wire:
        for method, params in [
            ("ping", None),
            ("initialize", {"protocolVersion": "2025-06-18", "_meta": None}),
            ("tools/list", None),
            ("tools/call", {"name": "editor_state", "arguments": None}),
            ("tools/call", {"name": "diagnostics", "arguments": {"path": None, "severity": None, "wait_ms": None}}),
        ]:
            await wire.send({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
            with anyio.fail_after(LIMIT):
                answer = await wire.receive()
            assert "result" in answer, answer
            assert not answer["result"].get("isError"), answer


async def test_results_and_errors_are_short(tmp_path: Path) -> None:
    async with stage(tmp_path) as here, here.wire() as wire:
        here.place.answer = lambda tool, arguments: (
            ToolAnswer(lines=["x" * 9000] * 9000, note="y" * 99_000)
            if tool == "unsaved_diff"
            else ToolAnswer(error="z" * 99_000)
        )
        for tool, arguments in [("unsaved_diff", {}), ("editor_state", {}), ("show", {"x" * 99_000: 1})]:
            call = {"_meta": META, "name": tool, "arguments": arguments}
            await wire.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
            with anyio.fail_after(LIMIT):
                answer = await wire.receive()
            assert 2000 < len(answer["result"]["content"][0]["text"]) < 25_000


@pytest.mark.parametrize("ends_by_itself", [False, True])
async def test_a_cancelled_call_gets_no_answer_and_a_ping_does(tmp_path: Path, ends_by_itself: bool) -> None:
    async with stage(tmp_path) as here, here.wire() as wire:
        began, is_cancelled = anyio.Event(), anyio.Event()

        async def ask(tool: str, arguments: dict[str, Any]) -> ToolAnswer:
            began.set()
            try:
                await anyio.sleep_forever()
            except anyio.get_cancelled_exc_class():
                if not ends_by_itself:
                    raise
            finally:
                is_cancelled.set()
            return ToolAnswer()

        here.place.ask = ask  # type: ignore[method-assign]
        call = {"_meta": META, "name": "editor_state"}
        await wire.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
        with anyio.fail_after(LIMIT):
            await began.wait()
            cancel = {"requestId": 1, "reason": "enough"}
            await wire.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel})
            await is_cancelled.wait()
            await wire.send({"jsonrpc": "2.0", "id": 2, "method": "ping"})
            assert await wire.receive() == {"jsonrpc": "2.0", "id": 2, "result": {}}
