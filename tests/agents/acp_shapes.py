"""What ACP v1 requires of the messages that an agent sends: a shape is a type, a set of words, [items] or {fields}."""

from __future__ import annotations

from typing import Any

Shape = Any  # of type, frozenset, list, dict; fields with "?" may be absent

KINDS = frozenset(["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"])
STATUSES = frozenset(["pending", "in_progress", "completed", "failed"])
OPTION_KINDS = frozenset(["allow_once", "allow_always", "reject_once", "reject_always"])
STOP_REASONS = frozenset(["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"])

TEXT = {"type": frozenset({"text"}), "text": str}
CONTENT = {"type": frozenset({"content"}), "content": TEXT}
IMAGE = {"type": frozenset({"image"}), "mimeType": str, "data": str}
TERMINAL = {"type": frozenset({"terminal"}), "terminalId": str}
DIFF = {"type": frozenset({"diff"}), "path": str, "oldText?": str, "newText": str}
TOOL_FIELDS = {
    "toolCallId": str,
    "kind?": KINDS,
    "status?": STATUSES,
    "content?": [{"content": CONTENT, "diff": DIFF, "terminal": TERMINAL}],
    "locations?": [{"path": str, "line?": int}],
    "rawInput?": dict,
}
PLAN_ENTRY = {
    "content": str,
    "priority": frozenset({"high", "medium", "low"}),
    "status": frozenset({"pending", "in_progress", "completed"}),
}
UPDATES: dict[str, Shape] = {
    "agent_message_chunk": {"content": {"text": TEXT, "image": IMAGE}},
    "agent_thought_chunk": {"content": TEXT},
    "tool_call": {**TOOL_FIELDS, "title": str},
    "tool_call_update": {**TOOL_FIELDS, "title?": str},
    "plan": {"entries": [PLAN_ENTRY]},
    "available_commands_update": {"availableCommands": [{"name": str, "description": str}]},
}
REQUESTS: dict[str, Shape] = {
    "session/request_permission": {
        "sessionId": str,
        "toolCall": {**TOOL_FIELDS, "title?": str},
        "options": [{"optionId": str, "name": str, "kind": OPTION_KINDS}],
    },
    "fs/read_text_file": {"sessionId": str, "path": str, "line?": int, "limit?": int},
    "fs/write_text_file": {"sessionId": str, "path": str, "content": str},
    "elicitation/create": {"sessionId": str, "mode": frozenset({"form"}), "message": str, "requestedSchema": dict},
    "terminal/create": {"sessionId": str, "command": str, "args": [str], "cwd": str},
    "terminal/wait_for_exit": {"sessionId": str, "terminalId": str},
    "terminal/release": {"sessionId": str, "terminalId": str},
}
RESULTS: dict[str, Shape] = {
    "initialize": {
        "protocolVersion": int,
        "agentCapabilities?": dict,
        "authMethods?": list,
        "agentInfo?": {"name": str, "title?": str, "version": str},
    },
    "session/new": {
        "sessionId": str,
        "modes?": {"currentModeId": str, "availableModes": [{"id": str, "name": str, "description?": str}]},
    },
    "session/prompt": {"stopReason": STOP_REASONS},
}
ERROR = {"code": int, "message": str}


def check_message(message: dict[str, Any]) -> None:
    """Fails when an agent's request, notification or answer is not as the protocol wants it."""
    assert message["jsonrpc"] == "2.0"
    method = message.get("method")
    if method == "session/update":
        assert "id" not in message
        params = message["params"]
        check({"sessionId": str, "update": dict}, params, method)
        update = dict(params["update"])
        kind = update.pop("sessionUpdate")
        check(UPDATES[kind], update, kind)
    elif method is not None:
        assert "id" in message
        check(REQUESTS[method], message["params"], method)
    elif "error" in message:
        check(ERROR, message["error"], "error")
    else:
        shapes = [shape for shape in RESULTS.values() if shape.keys() & message["result"].keys()]
        check(shapes[0] if shapes else {}, message["result"], "result")


def check(shape: Shape, value: Any, where: str) -> None:
    """Fails, and says where, when a value has not its shape."""
    if isinstance(shape, frozenset):
        assert value in shape, f"{where}: {value!r}"
    elif isinstance(shape, list):
        assert isinstance(value, list), f"{where}: {value!r}"
        for index, item in enumerate(value):
            check(shape[0], item, f"{where}[{index}]")
    elif isinstance(shape, dict):
        _check_fields(_choice(shape, value), value, where)
    else:
        assert isinstance(value, shape), f"{where}: {value!r}"
        assert not isinstance(value, bool), f"{where}: {value!r}"


def _choice(shape: dict[str, Shape], value: Any) -> Shape:
    """A value that may be of several types says itself of which."""
    kind = value.get("type") if isinstance(value, dict) else None
    return shape[kind] if "type" not in shape and kind in shape else shape


def _check_fields(shape: dict[str, Shape], value: Any, where: str) -> None:
    assert isinstance(value, dict), f"{where}: {value!r}"
    known = {name.rstrip("?") for name in shape}
    assert value.keys() <= known, f"{where}: unknown fields {value.keys() - known}"
    for name, inner in shape.items():
        bare = name.rstrip("?")
        if bare in value:
            check(inner, value[bare], f"{where}.{bare}")
        else:
            assert name.endswith("?"), f"{where}: {bare} is missing"
