"""Everything that an agent can send has a bound, and what is beyond it is left out in words, or refused."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from msgspec import inspect

from acp_nvim.acp import decoding, schema_common, schema_v1, schema_v2
from acp_nvim.acp import fields as bounds
from acp_nvim.acp.fields import Original, Unknown, Wire
from acp_nvim.acp.schema_v1 import (
    AgentMessageChunk,
    CreateTerminalRequest,
    Diff,
    Plan,
    RequestPermissionRequest,
    SessionNotification,
    ToolCallUpdate,
    WriteTextFileRequest,
)
from acp_nvim.acp.schema_v2 import UpdateSessionNotification
from acp_nvim.limits import LEFT_OUT, LIST_ENTRIES


def structs() -> list[type[Wire]]:
    """All types of what agents say."""
    found = [
        one
        for module in (schema_common, schema_v1, schema_v2)
        for one in vars(module).values()
        if isinstance(one, type) and issubclass(one, Wire) and one.__module__ == module.__name__
    ]
    return sorted(found, key=lambda one: (one.__module__, one.__name__))


@functools.cache
def fields(struct: type[Wire]) -> list[inspect.Field]:
    """What may come in it; the member that we add ourselves is none of them."""
    kind = inspect.type_info(struct)
    assert isinstance(kind, inspect.StructType)
    return [field for field in kind.fields if field.encode_name != LEFT_OUT]


def unbounded(kind: inspect.Type, where: str, is_bounded: bool = False) -> Iterator[str]:
    """The places in a type that may be of any size."""
    match kind:
        case inspect.Metadata(type=inner, extra=extra):
            yield from unbounded(inner, where, is_bounded=bool(extra and extra.get("beyond")))
        case inspect.UnionType(types=types):
            for one in types:
                yield from unbounded(one, where)
        case inspect.StrType(max_length=None):
            yield f"{where}: a text"
        case inspect.ListType(item_type=item, max_length=most):
            yield from [] if most is not None else [f"{where}: a list"]
            yield from unbounded(item, f"{where}[]")
        case inspect.DictType(key_type=key, value_type=value, max_length=most):
            is_meta = where.endswith("_meta")  # as a whole it is untyped
            yield from [] if most is not None or is_meta else [f"{where}: a map"]
            yield from [] if is_meta else unbounded(key, f"{where} (name)")
            yield from unbounded(value, f"{where}.*")
        case inspect.AnyType() if not is_bounded:
            yield f"{where}: anything"
        case inspect.CollectionType() | inspect.BytesType() | inspect.RawType():
            yield f"{where}: a {type(kind).__name__} has no rule here"


def test_no_field_is_without_a_bound() -> None:
    assert len(structs()) > 100
    missing = [
        words
        for struct in structs()
        for field in fields(struct)
        for words in unbounded(field.type, f"{struct.__module__}.{struct.__name__}.{field.encode_name}")
    ]
    assert not missing, "\n".join(missing)


def test_a_new_field_without_one_is_found() -> None:
    class New(Wire):
        texts: list[str]
        named: dict[str, str]
        raw: Any

    assert [words for field in fields(New)[:-1] for words in unbounded(field.type, field.encode_name)] == [
        "texts: a list",
        "texts[]: a text",
        "named: a map",
        "named (name): a text",
        "named.*: a text",
        "raw: anything",
    ]


def bounded_fields(kinds: tuple[type, ...]) -> list[tuple[type[Wire], inspect.Field]]:
    """All fields that hold one of those, lists or texts."""
    return [
        (struct, field)
        for struct in structs()
        for field in fields(struct)
        if any(isinstance(one, kinds) for one in decoding._choices(field.type))
    ]


def sample(kind: inspect.Type, size: int = 1) -> Any:
    """The smallest value of a type; of a list or a text so many entries."""
    choices = decoding._choices(kind)
    match choices[0]:
        case inspect.StructType(cls=cls) if issubclass(cls, Unknown):
            return {"type": "new"}
        case inspect.StructType() as struct:
            tag = {struct.tag_field: struct.tag} if struct.tag_field and "untagged" not in str(struct.tag) else {}
            members = {one.encode_name: sample(one.type) for one in struct.fields if one.required}
            return {**tag, **members, **_more_of(struct.cls)}
        case inspect.ListType(item_type=item):
            return [sample(item)] * size
        case inspect.DictType(value_type=value):
            return {str(number): sample(value) for number in range(size)}
        case inspect.StrType():
            return "x" * size
        case inspect.IntType() | inspect.FloatType():
            return 1
        case inspect.BoolType():
            return True
        case other:
            raise AssertionError(other)


def _more_of(cls: type) -> dict[str, Any]:
    """Members that a type requires in its own words."""
    wanted = {
        "EmbeddedResourceResource": {"text": ""},
        "SessionConfigSelectOptionsItem": {"value": ""},
        "StateUpdate": {"state": "idle"},
        "Diff": {"path": "", "newText": ""},
        "ElicitationFormMode": {"sessionId": ""},
        "ElicitationUrlMode": {"sessionId": ""},
    }
    return wanted.get(cls.__name__, {})


def most_of(field: inspect.Field) -> int:
    """Return the greatest length that a field may have."""
    return next(one.max_length for one in decoding._choices(field.type) if hasattr(one, "max_length"))


def kind_of(field: inspect.Field, kind: type[inspect.Type]) -> inspect.Type:
    """Return that of the field's types which is of this kind."""
    return next(one for one in decoding._choices(field.type) if isinstance(one, kind))


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize(
    ("struct", "field"),
    [
        pytest.param(*one, id=f"{one[0].__module__[13:]}.{one[0].__name__}.{one[1].name}")
        for one in bounded_fields((inspect.ListType,))
    ],
)
def test_a_list_is_cut_or_refused(struct: type[Wire], field: inspect.Field, times: int) -> None:
    most = most_of(field)
    assert most <= LIST_ENTRIES
    count = most + 1 if times == 1 else times * most
    whole = inspect.type_info(struct)
    kind = kind_of(field, inspect.ListType)
    group = {"group": "g", "groupId": "g"} if struct.__name__ == "SessionConfigSelectOptionsItem" else {}
    raw = msgspec.json.encode({**sample(whole), **group, field.encode_name: sample(kind, count)})
    if bounds.bound_of(field.type) is None:
        with pytest.raises(msgspec.ValidationError, match=rf"length <= {most} - at `\$\.{field.encode_name}`"):
            decoding.decode(raw, struct)
        return
    said = decoding.decode(raw, struct)
    assert len(getattr(said, field.name)) == most
    assert said.left_out == {field.encode_name: count - most}


@pytest.mark.parametrize(
    ("struct", "field"),
    [
        pytest.param(*one, id=f"{one[0].__module__[13:]}.{one[0].__name__}.{one[1].name}")
        for one in bounded_fields((inspect.StrType,))
    ],
)
def test_a_text_is_cut_or_refused(struct: type[Wire], field: inspect.Field) -> None:
    most = most_of(field)
    text = "x" * (most + 500)
    raw = msgspec.json.encode({**sample(inspect.type_info(struct)), field.encode_name: text})
    bound = bounds.bound_of(field.type)
    if bound is None:
        with pytest.raises(msgspec.ValidationError):
            decoding.decode(raw, struct)
        return
    said = decoding.decode(raw, struct)
    shown, left = getattr(said, field.name), said.left_out[field.encode_name]
    if bound.beyond == bounds.WHOLE:
        assert (shown, left) == ("", len(text))
    else:
        assert shown.endswith(f"x … and {left:,} more characters")
        assert len(shown) <= most
        assert shown.count("x") + left == len(text)


# --- what was left out while it arrived ------------------------------------------------------------------------------


def update_of(update: dict[str, Any], kind: Any = SessionNotification) -> Any:
    """The update of a notification in which something is missing already."""
    params = {"sessionId": "s", "update": update, LEFT_OUT: {"update": 0}, "pad": "x" * LIST_ENTRIES}
    return decoding.decode(msgspec.json.encode(params), kind).update


def test_both_cuts_of_a_list_are_counted() -> None:
    entry = {"content": "c", "priority": "low", "status": "pending"}
    update = {"sessionUpdate": "plan", "entries": [entry] * LIST_ENTRIES, LEFT_OUT: {"entries": 990_000}}
    said = update_of(update)
    assert isinstance(said, Plan)
    assert (len(said.entries), said.left_out) == (500, {"entries": 999_500})


def test_both_cuts_of_a_text_are_counted() -> None:
    content = {"type": "text", "text": "x" * 3_000_000, LEFT_OUT: {"text": 27_000_000}}
    for kind in (SessionNotification, UpdateSessionNotification):
        update = {"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": content}
        text = update_of(update, kind).content.text
        left = 30_000_000 - text.count("x")
        assert text.endswith(f"x … and {left:,} more characters")


def test_a_text_that_was_cut_while_it_arrived_says_so_even_if_the_rest_fits() -> None:
    content = {"type": "text", "text": "short " * 20, LEFT_OUT: {"text": 1_000_000}}
    said = update_of({"sessionUpdate": "agent_message_chunk", "content": content})
    assert isinstance(said, AgentMessageChunk)
    assert "more characters" in said.content.text


def test_of_a_change_that_is_too_large_no_half_is_kept() -> None:
    change = {"type": "diff", "path": "/f", "newText": "x", "oldText": "y" * 3_000_000}
    said = update_of({"sessionUpdate": "tool_call_update", "toolCallId": "t", "content": [change]})
    assert isinstance(said, ToolCallUpdate)
    [kept] = said.content
    assert isinstance(kept, Diff)
    assert (kept.path, kept.old_text, kept.left_out) == ("/f", "", {"oldText": 3_000_000})


@pytest.mark.parametrize(
    ("kind", "members"),
    [
        (CreateTerminalRequest, {"command": "x" * 3_000_000}),
        (CreateTerminalRequest, {"command": "ls", "args": ["-l"] * 20_000}),
        (WriteTextFileRequest, {"path": "/" + "x" * 5000, "content": ""}),
        (
            RequestPermissionRequest,
            {"toolCall": {"toolCallId": "t"}, "options": [{"optionId": "o", "name": "n", "kind": "allow_once"}] * 101},
        ),
    ],
)
def test_nothing_that_is_acted_on_is_cut(kind: type[Wire], members: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError, match="length <= "):
        decoding.decode(msgspec.json.encode({"sessionId": "s", **members}), kind)


def test_what_is_unknown_is_told_by_a_short_tag() -> None:
    said = update_of({"sessionUpdate": "new" * 1000, "text": "x" * 3_000_000})
    assert isinstance(said, Unknown)
    assert isinstance(said.original, Original)
    assert len(said.original["sessionUpdate"]) <= 200
    assert len(said.original["text"]) <= 2 * 1024 * 1024
