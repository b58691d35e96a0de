"""A request is decoded as it was sent, or refused: nothing in it is cut, also what would only be displayed."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import inspect

from acp_nvim.acp import decoding
from acp_nvim.acp.cursor import Cursor
from acp_nvim.acp.dialect import Dialect
from acp_nvim.acp.field_limits import LOCATIONS, NAME_CHARS, PLAN_ENTRIES, TITLE_CHARS, WORDS_CHARS
from acp_nvim.acp.fields import bound_of
from acp_nvim.acp.v1 import DialectV1
from acp_nvim.acp.v2 import DialectV2
from acp_nvim.errors import TooLargeError
from acp_nvim.limits import LEFT_OUT, LIST_ENTRIES
from tests.core.acp.schema.test_bounds import bounded_fields, kind_of, most_of, sample


def raw(value: Any) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(value))


@pytest.mark.parametrize("kind", [inspect.ListType, inspect.StrType], ids=["lists", "texts"])
def test_no_field_is_cut(kind: type[inspect.Type]) -> None:
    found = [(struct, field) for struct, field in bounded_fields((kind,)) if bound_of(field.type) is not None]
    assert len(found) > 30
    for struct, field in found:
        name, most = field.encode_name, most_of(field)
        own = kind_of(field, kind)
        group = {"group": "g", "groupId": "g"} if struct.__name__ == "SessionConfigSelectOptionsItem" else {}
        rest = {**sample(inspect.type_info(struct)), **group}
        fits = decoding.decode_whole(raw({**rest, name: sample(own, most)}), struct)
        assert (len(getattr(fits, field.name)), fits.left_out) == (most, msgspec.UNSET), (struct, name)
        with pytest.raises(TooLargeError, match=rf"length <= {most} - at `\$\.{name}`"):
            decoding.decode_whole(raw({**rest, name: sample(own, most + 1)}), struct)


def question(message: str = "m", **field: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"a": {"type": "string", **field}}}
    return {"sessionId": "s", "mode": "form", "message": message, "requestedSchema": schema}


LONG_WORDS, LONG_TITLE = "x" * (WORDS_CHARS + 1), "x" * (TITLE_CHARS + 1)
QUESTIONS = {
    "message": (question(LONG_WORDS), WORDS_CHARS),
    "title of a field": (question(title=LONG_TITLE), TITLE_CHARS),
    "description of a field": (question(description=LONG_WORDS), WORDS_CHARS),
    "title of a choice": (question(oneOf=[{"const": "c", "title": LONG_TITLE}]), TITLE_CHARS),
}


@pytest.mark.parametrize("dialect", [DialectV1(), DialectV2()], ids=["v1", "v2"])
@pytest.mark.parametrize("what", QUESTIONS)
def test_a_question_is_refused_if_a_part_of_it_could_not_be_shown(dialect: Dialect, what: str) -> None:
    said, most = QUESTIONS[what]
    with pytest.raises(TooLargeError, match=f"length <= {most}"):
        dialect.asked("elicitation/create", raw(said))


def test_it_is_refused_also_if_the_line_that_it_came_in_was_cut() -> None:
    said = {"path": "/a", "content": "", "sessionId": "s", LEFT_OUT: {"content": 1}, "_meta": {"x": "x" * LIST_ENTRIES}}
    with pytest.raises(TooLargeError, match="1 more of 'content' than acp_nvim keeps"):
        DialectV1().asked("fs/write_text_file", raw(said))


PLANS: dict[str, dict[str, Any]] = {
    "name": {"name": "x" * (NAME_CHARS + 1)},
    "overview": {"overview": LONG_WORDS},
    "entries": {"todos": [{"content": "c"}] * (PLAN_ENTRIES + 1)},
}


@pytest.mark.parametrize("what", PLANS)
def test_a_plan_that_waits_for_approval_is_refused(what: str) -> None:
    with pytest.raises(TooLargeError):
        Cursor().plan(raw({"toolCallId": "t", "plan": "p", **PLANS[what]}))


def test_of_a_permission_the_rest_is_shown_and_can_only_be_rejected() -> None:
    call = {"toolCallId": "t", "locations": [{"path": "/a"}] * (LOCATIONS + 2)}
    params = {"sessionId": "s", "toolCall": call, "options": []}
    _, asked = DialectV1().asked("session/request_permission", raw(params))
    assert asked.patch.locations_left == 2  # type: ignore[union-attr]  # `session/test_incomplete_requests.py` has the rest
