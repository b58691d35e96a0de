"""What only the unstable schema has, with a peer on the official SDK."""

from __future__ import annotations

import json
from typing import Any

import pytest

from acp_nvim.acp.answers import Provider
from acp_nvim.contract import events
from acp_nvim.contract.request_events import SignIn, SignInDone
from acp_nvim.contract.session_events import SessionDone, SessionsListed
from acp_nvim.contract.views import Tokens
from tests.peers.peers import UNSTABLE, Peer
from tests.peers.talk import Talk

pytestmark = pytest.mark.anyio


@pytest.fixture
def peer() -> Peer:
    """The only one with all this."""
    return UNSTABLE


async def answer(talk: Talk, kind: type[Any], number: int) -> Any:
    """The last event of that kind that answers a request, once it is complete."""

    def found() -> list[Any]:
        return [one for one in talk.host.editor.all(kind) if one.id == number and not getattr(one, "waits", ())]

    await talk.host.until("an answer", found)
    return found()[-1]


async def asked(talk: Talk, number: int, method: str, **params: Any) -> SessionDone:
    """The answer to a message about an agent."""
    talk.host.app.receive(method, {"id": number, "agent": "it", "cwd": str(talk.host.cwd), **params})
    done: SessionDone = await answer(talk, SessionDone, number)
    return done


async def names(talk: Talk, number: int, archived: bool) -> list[tuple[str | None, str | None]]:
    """The sessions of the list, with their titles."""
    wanted = {"id": number, "cwd": str(talk.host.cwd), "open": [], "agents": ["it"], "archived": archived}
    talk.host.app.receive("sessions_list", wanted)
    listed = await answer(talk, SessionsListed, number)
    return [(one.session_id, one.title) for one in listed.entries if one.listed]


async def test_a_turn_with_plans_and_tokens_and_a_system_prompt(talk: Talk) -> None:
    talk.host.config["agents"]["it"]["system_prompt"] = {"text": "In verse.", "mode": "override"}
    talk.host.hello()
    system = {"mode": "override", "content": [{"type": "text", "text": "In verse."}]}
    assert json.loads(await talk.say("hi")) == {"system": system, "text": "hi"}
    plans = {one.block: one for one in talk.host.of(events.Plan)}.values()
    assert [(one.title, one.removed, one.text, one.uri) for one in plans] == [
        ("steps", True, None, None),
        ("text", False, "# Plan", None),
        ("file", False, None, "file:///plan.md"),
    ]
    status = await talk.host.until_state("idle")
    assert status.tokens == Tokens(total=12, input=7, output=4, thought=1)


async def test_a_session_is_renamed_archived_and_brought_back(talk: Talk) -> None:
    talk.refusals = [("session/set_title", -32602)]
    session_id = (await talk.open()).session_id
    assert (await asked(talk, 1, "session_rename", session_id=session_id, title=" New ")).words == "renamed to 'New'"
    assert (await asked(talk, 2, "session_rename", session_id=session_id, title=" ")).problem is not None
    assert (await asked(talk, 3, "session_archive", session_id=session_id)).problem is None
    assert await names(talk, 4, archived=False) == []
    assert await names(talk, 5, archived=True) == [(session_id, "New")]
    assert (await asked(talk, 6, "session_archive", session_id=session_id, archived=False)).problem is None
    assert await names(talk, 7, archived=False) == [(session_id, "New")]


async def test_the_account_is_known_before_and_after_a_sign_in(talk: Talk) -> None:
    await talk.open()
    where = {"agent": "it", "cwd": str(talk.host.cwd)}
    talk.host.app.receive("login_methods", where)
    assert (await talk.host.editor.until_event(SignIn)).account == "not signed in"
    talk.host.app.receive("login", {**where, "method": "agent-login"})
    assert (await talk.host.editor.until_event(SignInDone)).outcome == "done"
    talk.host.app.receive("login_methods", where)
    assert (await talk.host.editor.until_event(SignIn, 2)).account == "A peer's"


async def test_providers_are_set_and_disabled(talk: Talk) -> None:
    await talk.open()
    main, other = await talk.call(talk.dialect.list_providers())
    assert main.required
    assert (main.api_type, main.base_url, other.base_url) == ("anthropic", "https://a.example.org", None)
    headers = {"Authorization": "Bearer x"}
    done = await asked(
        talk, 1, "provider_set", provider="other", api_type="openai", base_url="https://b.example.org", headers=headers
    )
    assert done.problem is None
    expected = Provider(
        provider_id="other",
        supported=["anthropic", "openai"],
        required=False,
        api_type="openai",
        base_url="https://b.example.org",
    )
    assert (await talk.call(talk.dialect.list_providers()))[1] == expected
    assert (await asked(talk, 2, "provider_disable", provider="other")).problem is None
    assert (await talk.call(talk.dialect.list_providers()))[1].base_url is None
