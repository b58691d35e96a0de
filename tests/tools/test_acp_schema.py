"""The generator of the wire types: what becomes of each construct of a schema, and when its files are old."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.tools.acp_schema import __main__ as command
from tests.tools.acp_schema import rules
from tests.tools.acp_schema.reading import Field, Item, Reader, Struct, Union, reachable
from tests.tools.acp_schema.writing import in_order, modules

TEXT = {"type": "string"}
ONE = {"properties": {"a": TEXT}, "required": ["a"]}


def ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/$defs/{name}"}


def variant(tag: str, name: str | None = None, member: str = "type") -> dict[str, Any]:
    """An alternative of a union, as the schemas write it."""
    body = {} if name is None else {"allOf": [ref(name)]}
    return {"properties": {member: {"type": "string", "const": tag}}, "required": [member], **body}


OTHER = {"title": "other", "properties": {"type": TEXT}, "not": {"anyOf": []}}


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch):
    """Reads definitions of which `Root` is what agents send, and `Sent` what we send."""
    monkeypatch.setitem(rules.READ, "v1", ("Root",))
    monkeypatch.setitem(rules.SENT, "v1", ("Sent",))

    def read(**definitions: Any) -> dict[str, Item]:
        return Reader("v1", definitions, reachable(definitions, ("Root",))).items()

    return read


def fields(item: Item) -> dict[str, Field]:
    assert isinstance(item, Struct)
    return {one.wire: one for one in item.fields}


def test_a_member_has_three_states(read) -> None:
    members = {"a": TEXT, "b": TEXT, "c": {"type": ["string", "null"]}, "d": {"anyOf": [ref("One"), {"type": "null"}]}}
    root = fields(read(Root={"properties": members, "required": ["a", "c"]}, One=ONE)["Root"])
    states = [(one.required, one.nullable) for one in root.values()]
    assert states == [(True, False), (False, False), (True, True), (False, True)]
    assert root["d"].type == "One"


def test_what_agents_send_is_bounded_and_what_we_send_is_not(read) -> None:
    members = {
        "title": TEXT,
        "callId": TEXT,
        "kind": ref("Kind"),
        "odd": TEXT,
        "things": {"type": "array", "items": TEXT},
        "free": {},
    }
    found = read(Root={"properties": members}, Sent={"properties": members}, Kind={"oneOf": [{"const": "a"}]})
    assert [one.type for one in fields(found["Root"]).values()] == [
        "Title",
        "Id",
        "Word",
        "Words",
        "Annotated[list[Words], cut(limits.ENTRIES)]",
        "Untyped",
    ]
    assert [one.type for one in fields(found["Sent"]).values()] == ["str", "str", "str", "str", "list[str]", "Any"]


def test_a_union_is_open_where_it_is_read(read) -> None:
    union = {"properties": {"b": TEXT}, "anyOf": [variant("one", "One"), variant("two"), OTHER]}
    found = read(Root={"properties": {"x": ref("Some")}}, Some=union, One=ONE)
    assert found["Some"] == Union("Some", "The definition `Some` of the official schema.", ("One", "SomeTwo"), "type")
    one = found["One"]
    assert isinstance(one, Struct)
    assert (one.tag, set(fields(one))) == (("type", "one"), {"a", "b"})


def test_a_union_that_we_send_at_the_top_is_one_struct(read) -> None:
    union = {"anyOf": [{**variant("one", "One")}, variant("two")]}
    sent = read(Root=ONE, Sent=union, One=ONE)["Sent"]
    assert isinstance(sent, Struct)
    assert {name: (one.type, one.required) for name, one in fields(sent).items()} == {
        "type": ("str", True),
        "a": ("str", False),
    }


def test_one_definition_for_several_tags_is_the_base_of_their_types(read) -> None:
    union = {"anyOf": [variant("user_chunk", "SomeChunk"), variant("add", "SomeChunk")]}
    found = read(Root={"properties": {"x": ref("Some")}}, Some=union, SomeChunk=ONE)
    assert found["Some"] == Union(
        "Some", "The definition `Some` of the official schema.", ("UserChunk", "SomeAdd"), "type"
    )
    one = found["UserChunk"]
    assert isinstance(one, Struct)
    assert (one.base, one.fields) == ("SomeChunk", ())


def test_a_variant_that_stands_alone_too_has_no_tag_there(read) -> None:
    members = {"x": ref("Some"), "y": ref("One")}
    found = read(Root={"properties": members}, Some={"anyOf": [variant("one", "One")]}, One=ONE)
    root = fields(found["Root"])
    assert (root["x"].type, root["y"].type) == ("Some", "OneFields")
    assert [found[name].tag for name in ("One", "OneFields")] == [("type", "one"), None]


def test_alternatives_without_a_tag_are_one_struct_that_needs_one_of_them(read) -> None:
    two = {"properties": {"b": TEXT, "c": TEXT}, "required": ["b", "c"]}
    root = {"properties": {"x": ref("Either")}}
    found = read(Root=root, Either={"anyOf": [{"allOf": [ref("One")]}, {"allOf": [ref("Two")]}]}, One=ONE, Two=two)
    either = found["Either"]
    assert isinstance(either, Struct)
    assert either.choices == (("a",), ("b", "c"))
    assert not any(one.required for one in either.fields)


def test_a_variant_that_is_a_union_itself_knows_the_values_of_its_tag(read) -> None:
    inner = {"anyOf": [variant("x", "One"), variant("y"), OTHER]}
    inner = json.loads(
        json.dumps(inner).replace('"type": {"type"', '"state": {"type"').replace('["type"]', '["state"]')
    )
    found = read(Root={"properties": {"x": ref("Some")}}, Some={"anyOf": [variant("s", "Inner")]}, Inner=inner, One=ONE)
    struct = found["Inner"]
    assert isinstance(struct, Struct)
    assert (struct.known, set(fields(struct))) == (("state", ("x", "y")), {"state", "a"})


# --- the command ------------------------------------------------------------------------------------------------------


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory to write to, and the schemas in one beside it, which may be changed."""
    target = tmp_path / "acp"
    target.mkdir()
    monkeypatch.setattr(command, "TARGET", target)
    shutil.copytree(command.SCHEMAS, tmp_path / "schema")
    return target


def union(name: str, *variants: str) -> Union:
    return Union(name, "", variants, None)


def test_a_type_stands_after_those_that_it_refers_to() -> None:
    items = {one.name: one for one in (union("A", "C", "D"), union("B", "C"), union("C", "E"), union("E", "str"))}
    assert [one.name for one in in_order(items)] == ["E", "C", "A", "B"]


def test_types_that_refer_to_each_other_are_named() -> None:
    with pytest.raises(ValueError, match=r"a circle of references: A -> B -> C -> B"):
        in_order({one.name: one for one in (union("A", "B"), union("B", "C"), union("C", "B"))})


def test_the_check_says_which_files_are_old(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    schemas = str(tree.parent / "schema")
    assert command.main(["--check", schemas]) == 1
    assert command.main([schemas]) == 0
    assert command.main(["--check", schemas]) == 0
    (tree / "schema_v2.py").write_text("old")
    capsys.readouterr()
    assert command.main(["--check", schemas]) == 1
    assert capsys.readouterr().out == "schema_v2.py: not what the schema says, run `make schema`\n"


def test_without_schemas_it_says_what_brings_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--check", str(tmp_path)]) == 1
    assert "make setup" in capsys.readouterr().err


def test_a_new_member_and_a_new_kind_need_no_rule(tree: Path) -> None:
    path = tree.parent / "schema" / "v1" / "schema.json"
    root = json.loads(path.read_text(encoding="utf-8"))
    definitions = root["$defs"]
    definitions["Plan"]["properties"]["mood"] = {"type": ["string", "null"]}
    definitions["SongUpdate"] = {"type": "object", "properties": {"verses": {"type": "array", "items": TEXT}}}
    song = {"type": "object", "properties": {"sessionUpdate": {"const": "song", "type": "string"}}}
    definitions["SessionUpdate"]["oneOf"].append({**song, "allOf": [ref("SongUpdate")]})
    path.write_text(json.dumps(root), encoding="utf-8")
    text = modules(tree.parent / "schema")["schema_v1"]
    assert "    mood: Maybe[Words] = UNSET" in text
    assert 'class SongUpdate(Wire, kw_only=True, tag_field="sessionUpdate", tag=' in text
    assert "    verses: Omittable[Annotated[list[Words], cut(limits.ENTRIES)]] = UNSET" in text
