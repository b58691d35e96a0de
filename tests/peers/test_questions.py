"""Forms and pages that peers ask the user for: what is shown, what goes back."""

from __future__ import annotations

import json

import pytest

from acp_nvim.contract.request_events import Elicitation, ElicitationComplete
from tests.peers.talk import Talk

pytestmark = pytest.mark.anyio

TYPED = {
    "name": "Ada",
    "mail": "ada@example.org",
    "count": "7",
    "ratio": "0.5",
    "sure": True,
    "colour": "green",
    "size": "l",
    "tags": ["a", "c"],
    "more": ["x"],
}


async def test_a_form_with_each_kind_of_field_and_a_page(talk: Talk) -> None:
    host = talk.host
    await talk.open()
    host.prompt("questions")
    form = (await host.editor.until_event(Elicitation)).request
    assert (form.agent, form.message, form.title) == ("it", "Tell me more.", "Details")
    assert [(one.name, one.kind, one.required, one.default) for one in form.fields or ()] == [
        ("name", "text", True, None),
        ("mail", "text", False, None),
        ("count", "integer", False, "3"),
        ("ratio", "number", False, None),
        ("sure", "boolean", False, False),
        ("colour", "choice", False, "red"),
        ("size", "choice", False, None),
        ("tags", "choices", True, []),
        ("more", "choices", False, ["x"]),
    ]
    host.app.receive("elicitation_answer", {"id": form.id, "action": "accept", "values": TYPED})
    page = (await host.editor.until_event(Elicitation, 2)).request
    assert page.url is not None
    assert (page.url.url, page.url.host, page.url.warnings) == ("https://example.org/in", "example.org", [])
    host.app.receive("elicitation_answer", {"id": page.id, "action": "accept"})
    await host.editor.until_event(ElicitationComplete)
    await host.until("the answers", lambda: host.text().endswith(", then accept"))
    said = host.text().removeprefix("accept ").removesuffix(", then accept")
    assert json.loads(said) == {**TYPED, "count": 7, "ratio": 0.5}


async def test_a_question_is_declined(talk: Talk) -> None:
    host = talk.host
    await talk.open()
    host.prompt("questions")
    for count, action in [(1, "decline"), (2, "cancel")]:
        asked = (await host.editor.until_event(Elicitation, count)).request
        host.app.receive("elicitation_answer", {"id": asked.id, "action": action})
    await host.until("the answers", lambda: host.text().endswith("decline null, then cancel"))
