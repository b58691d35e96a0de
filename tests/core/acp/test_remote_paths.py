"""Every path in what an agent says is as it is here, whatever it stands in; texts for people are left alone."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import UNSET
from msgspec.structs import replace

from acp_nvim.acp.dialect import Dialect, Place
from acp_nvim.acp.diff import Diff
from acp_nvim.acp.remote_paths import PathMap, elsewhere
from acp_nvim.acp.schema_common import (
    EmbeddedResource,
    EmbeddedResourceResource,
    ImageContent,
    ResourceLink,
    TextContent,
)
from acp_nvim.acp.updates import ToolCallChanged
from acp_nvim.acp.v1 import DialectV1
from acp_nvim.acp.v2 import DialectV2
from acp_nvim.errors import FailureError
from acp_nvim.jsonrpc.messages import RpcError
from acp_nvim.limits import PATCH_CHARS

PATHS = PathMap("box", [("/home/me/p", "/work"), ("/home/me/lib", "/work/lib")])
TEXT = "Look at /work/a.py (file:///work/a.py)"
LINK = {"type": "resource_link", "name": "/work/a", "uri": "file:///work/a"}
LINK_HERE = {"type": "resource_link", "name": "/work/a", "uri": "file:///home/me/p/a"}
EMBEDDED = {"type": "resource", "resource": {"uri": "file:///work/lib/b", "text": TEXT}}
EMBEDDED_HERE = {"type": "resource", "resource": {"uri": "file:///home/me/lib/b", "text": TEXT}}
PICTURE = {"type": "image", "data": "", "mimeType": "image/png", "uri": "file:///etc/x.png"}
PICTURE_HERE = PICTURE | {"uri": "file:///box%3A/etc/x.png"}
WORDS = {"type": "text", "text": TEXT}

CALL = {
    "toolCallId": "t",
    "title": TEXT,
    "locations": [{"path": "/work/a", "line": 3}, {"path": "/etc/hosts"}],
    "rawInput": {
        "command": "cat /work/a",
        "cwd": "/work",
        "filePath": "/work/lib/b",
        "paths": ["/work/a", "/etc/hosts", "relative"],
        "uri": "file:///work/a",
        "content": "/work/a",
        "changes": {"/work/a": {"path": "/work/a"}},
        "count": 3,
    },
    "rawOutput": {"path": "/work/a"},
}
CALL_HERE = CALL | {
    "locations": [{"path": "/home/me/p/a", "line": 3}, {"path": "/box:/etc/hosts"}],
    "rawInput": {
        "command": "cat /work/a",
        "cwd": "/home/me/p",
        "filePath": "/home/me/lib/b",
        "paths": ["/home/me/p/a", "/box:/etc/hosts", "relative"],
        "uri": "file:///home/me/p/a",
        "content": "/work/a",
        "changes": {"/home/me/p/a": {"path": "/home/me/p/a"}},
        "count": 3,
    },
}


def content(*items: Any) -> list[Any]:
    return [{"type": "content", "content": one} for one in items]


SAID_V1 = [
    ({"sessionUpdate": "agent_message_chunk", "content": one}, {"sessionUpdate": "agent_message_chunk", "content": two})
    for one, two in [(LINK, LINK_HERE), (EMBEDDED, EMBEDDED_HERE), (PICTURE, PICTURE_HERE), (WORDS, WORDS)]
] + [
    (
        {"sessionUpdate": kind, **CALL, "content": [*content(LINK, WORDS), diff("/work/a")]},
        {"sessionUpdate": kind, **CALL_HERE, "content": [*content(LINK_HERE, WORDS), diff("/home/me/p/a")]},
    )
    for diff in [lambda path: {"type": "diff", "path": path, "newText": TEXT}]
    for kind in ("tool_call", "tool_call_update")
]
SAID_V1.append(
    (
        {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "T", "_meta": {"terminal_info": {"cwd": "/work"}}},
        {
            "sessionUpdate": "tool_call",
            "toolCallId": "t",
            "title": "T",
            "_meta": {"terminal_info": {"cwd": "/home/me/p"}},
        },
    )
)


def moving(old_path: str, path: str) -> dict[str, Any]:
    change = {"operation": "move", "oldPath": old_path, "path": path}
    return {"sessionUpdate": "tool_call_update", "toolCallId": "t", "content": [{"type": "diff", "changes": [change]}]}


SAID_V2 = [
    (moving("/work/a", "/work/lib/b"), moving("/home/me/p/a", "/home/me/lib/b")),
    (
        {"sessionUpdate": "compaction_update", "compactionId": "c", "status": "completed", "summary": [LINK]},
        {"sessionUpdate": "compaction_update", "compactionId": "c", "status": "completed", "summary": [LINK_HERE]},
    ),
    (
        {"sessionUpdate": "session_message", "messageId": "m", "content": [LINK]},
        {"sessionUpdate": "session_message", "messageId": "m", "content": [LINK_HERE]},
    ),
    (
        {"sessionUpdate": "subagent_update", "sessionId": "c", "cwd": "/work/a", "additionalDirectories": ["/work/b"]},
        {
            "sessionUpdate": "subagent_update",
            "sessionId": "c",
            "cwd": "/home/me/p/a",
            "additionalDirectories": ["/home/me/p/b"],
        },
    ),
    (
        {"sessionUpdate": "session_message_chunk", "messageId": "m", "content": LINK},
        {"sessionUpdate": "session_message_chunk", "messageId": "m", "content": LINK_HERE},
    ),
    (
        {"sessionUpdate": "agent_message", "messageId": "m", "content": [LINK, WORDS]},
        {"sessionUpdate": "agent_message", "messageId": "m", "content": [LINK_HERE, WORDS]},
    ),
    (
        {"sessionUpdate": "tool_call_content_chunk", "toolCallId": "t", "content": content(EMBEDDED)[0]},
        {"sessionUpdate": "tool_call_content_chunk", "toolCallId": "t", "content": content(EMBEDDED_HERE)[0]},
    ),
    (
        {"sessionUpdate": "terminal_update", "terminalId": "x", "cwd": "/work/lib"},
        {"sessionUpdate": "terminal_update", "terminalId": "x", "cwd": "/home/me/lib"},
    ),
    (
        {"sessionUpdate": "plan_update", "plan": {"type": "file", "planId": "p", "uri": "file:///work/plan.md"}},
        {"sessionUpdate": "plan_update", "plan": {"type": "file", "planId": "p", "uri": "file:///home/me/p/plan.md"}},
    ),
]


def raw(value: Any) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(value))


def without_meta(told: Any) -> Any:
    """Remove `_meta`, which is left as the agent sent it."""
    session_id, update = told
    if isinstance(update, ToolCallChanged):
        update = replace(update, patch=replace(update.patch, meta=None))
    return session_id, update


def there(dialect: Dialect | None = None, terminal: bool = True) -> Dialect:
    return elsewhere(dialect or DialectV1(), PATHS, terminal)


@pytest.mark.parametrize(
    ("dialect", "said", "meant"),
    [(DialectV1(), *pair) for pair in SAID_V1] + [(DialectV2(), *pair) for pair in SAID_V2],
    ids=lambda one: one.get("sessionUpdate") if isinstance(one, dict) else None,
)
def test_an_update_means_what_it_would_mean_with_our_paths(dialect: Dialect, said: Any, meant: Any) -> None:
    expected = dialect.update(raw({"sessionId": "s", "update": meant}))
    assert expected != dialect.update(raw({"sessionId": "s", "update": said})) or said == meant
    params = raw({"sessionId": "s", "update": said})
    for moved in (there(dialect).update(params), there(dialect).rest_of_update(params)):
        assert without_meta(moved) == without_meta(expected)


def test_a_patch_that_was_cut_stays_marked_as_cut() -> None:
    patch = {"format": "git_patch", "text": "x" * (PATCH_CHARS + 1)}
    diff = {"type": "diff", "changes": [{"operation": "modify", "path": "/work/a"}], "patch": patch}
    said = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "content": [diff]}
    _, update = there(DialectV2()).update(raw({"sessionId": "s", "update": said}))
    assert isinstance(update, ToolCallChanged)
    assert isinstance(update.patch.content, list)
    assert [isinstance(one, Diff) and one.is_cut for one in update.patch.content] == [True]


def test_a_flood_of_text_is_handed_on_as_it_is() -> None:
    params = raw({"sessionId": "s", "update": {"sessionUpdate": "agent_message_chunk", "content": WORDS}})
    _, update = there().update(params)
    assert update == DialectV1().update(params)[1]


@pytest.mark.parametrize("method", ["fs/read_text_file", "fs/write_text_file"])
def test_requests_for_files_are_for_ours(method: str) -> None:
    asked = there().asked(method, raw({"sessionId": "s", "path": "/work/lib/../a", "content": TEXT}))
    assert asked == DialectV1().asked(method, raw({"sessionId": "s", "path": "/home/me/p/a", "content": TEXT}))


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("fs/read_text_file", {"path": "/etc/passwd"}),
        ("fs/write_text_file", {"path": "/work/../home/me/p/a", "content": ""}),
        ("terminal/create", {"command": "ls", "cwd": "/home/me/p"}),
    ],
)
def test_what_is_nowhere_here_is_refused_in_words(method: str, params: dict[str, Any]) -> None:
    with pytest.raises(RpcError) as caught:
        there().asked(method, raw({"sessionId": "s", **params}))
    assert caught.value.code == -32602
    assert f"{method}: the editor has no {params.get('path', '/home/me/p')}" in caught.value.message
    assert "/work/lib, /work" in caught.value.message


def test_a_command_runs_in_our_directory() -> None:
    _, asked = there().asked("terminal/create", raw({"sessionId": "s", "command": "ls /work", "cwd": "/work/lib"}))
    assert (asked.command, asked.cwd) == ("ls /work", "/home/me/lib")  # type: ignore[union-attr]


def test_permission_is_asked_for_our_files() -> None:
    options = [{"optionId": "o", "name": "O", "kind": "allow_once"}]
    one, two = (
        dialect.asked("session/request_permission", raw({"sessionId": "s", "toolCall": call, "options": options}))
        for dialect, call in ((there(), CALL), (DialectV1(), CALL_HERE))
    )
    assert one == two


def test_a_command_of_which_version_2_asks_is_asked_for_in_our_directory() -> None:
    subject = {"type": "command", "command": "ls", "cwd": "/work/lib"}
    options = [{"optionId": "o", "name": "O", "kind": "allow_once"}]
    params = {"sessionId": "s", "title": "T", "subject": subject, "options": options}
    _, asked = there(DialectV2()).asked("session/request_permission", raw(params))
    assert asked.cwd == "/home/me/lib"  # type: ignore[union-attr]


def test_terminals_are_not_offered_unless_they_are_wanted() -> None:
    assert not any(method.startswith("terminal/") for method in there(terminal=False).requests)
    assert there(terminal=True).requests == DialectV1().requests
    plain = DialectV1()
    assert elsewhere(plain, PathMap("box", []), True) is plain


@pytest.mark.parametrize("dialect", [DialectV1(), DialectV2()])
def test_sessions_are_opened_and_listed_where_the_agent_runs(dialect: Dialect) -> None:
    moved = there(dialect)
    place = Place("/home/me/p/sub", additional_directories=["/home/me/lib", "/opt"])
    meant = Place("/work/sub", additional_directories=["/work/lib"])
    for one, two in [
        (moved.open_session(place), dialect.open_session(meant)),
        (moved.open_session(place, "load", "s"), dialect.open_session(meant, "load", "s")),
        (moved.open_session(place, "resume", "s"), dialect.open_session(meant, "resume", "s")),
        (moved.open_session(place, "fork", "s"), dialect.open_session(meant, "fork", "s")),
        (moved.list_sessions("/home/me/p", "c"), dialect.list_sessions("/work", "c")),
        (moved.list_sessions(None, None), dialect.list_sessions(None, None)),
    ]:
        assert (one.method, msgspec.to_builtins(one.params)) == (two.method, msgspec.to_builtins(two.params))
    sessions = [
        {"sessionId": "a", "cwd": "/work/sub", "additionalDirectories": ["/work/lib"]},
        {"sessionId": "b", "cwd": "/root"},
    ]
    page = moved.list_sessions(None, None).read(raw({"sessions": sessions, "nextCursor": "n"}))
    assert [(one.session_id, one.cwd) for one in page.sessions] == [("a", "/home/me/p/sub"), ("b", "/box:/root")]
    assert page.next_cursor == "n"


def test_a_session_where_nothing_is_mapped_is_refused_in_words() -> None:
    with pytest.raises(FailureError) as caught:
        there().open_session(Place("/srv/other"))
    assert "nothing says where /srv/other is there" in str(caught.value)
    assert "agents.box.paths" in str(caught.value)


def test_what_a_prompt_names_is_named_as_the_agent_knows_it() -> None:
    blocks = [
        TextContent(text=TEXT),
        ResourceLink(name="/home/me/p/a", uri="file:///home/me/p/a%20b#L3"),
        EmbeddedResource(resource=EmbeddedResourceResource(uri="file:///home/me/lib/b", text="/home/me/p")),
        ImageContent(data="", mime_type="image/png", uri="file:///opt/x.png"),
        ImageContent(data="", mime_type="image/png"),
    ]
    for call in (there().prompt("s", blocks), there().steer("s", blocks)):
        said = msgspec.to_builtins(call.params)["prompt"]
        assert said[0]["text"] == TEXT
        assert (said[1]["name"], said[1]["uri"]) == ("/home/me/p/a", "file:///work/a%20b#L3")
        assert said[2]["resource"] == {"uri": "file:///work/lib/b", "text": "/home/me/p"}
        assert said[3]["uri"] == "file:///opt/x.png"
        assert "uri" not in said[4]
    assert blocks[1].uri == "file:///home/me/p/a%20b#L3"  # type: ignore[union-attr]


def test_what_says_nothing_stays_unsaid() -> None:
    _, update = there().update(
        raw({"sessionId": "s", "update": {"sessionUpdate": "tool_call_update", "toolCallId": "t", "locations": None}})
    )
    patch = update.patch  # type: ignore[union-attr]
    assert (patch.locations, patch.content, patch.raw_input) == (None, UNSET, UNSET)
