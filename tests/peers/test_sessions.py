"""Sessions that peers keep: listed, taken up, switched, closed, deleted; and signing in and out."""

from __future__ import annotations

import pytest

from acp_nvim.acp.answers import Choice, SessionInfo
from acp_nvim.contract import events
from acp_nvim.errors import FailureError
from acp_nvim.transcript.switches import Switch, find_switch
from tests.peers.peers import PYTHON, V2
from tests.peers.talk import Shown, Talk

pytestmark = pytest.mark.anyio

KEPT: list[Shown] = [
    ("user", "What is this?"),
    ("thought", "A question."),
    ("call", events.CallView("k3", "Look", "read", "completed", [], [])),
    ("agent", "A test."),
]
NOT_FOUND = -32002


async def all_sessions(talk: Talk, cwd: str | None = None) -> list[SessionInfo]:
    """Return the sessions of all pages."""
    found: list[SessionInfo] = []
    cursor: str | None = None
    for _ in range(5):
        page = await talk.call(talk.dialect.list_sessions(cwd, cursor))
        found += page.sessions
        cursor = page.next_cursor
        if cursor is None:
            return found
    raise AssertionError(f"no end of {found}")


async def test_sessions_are_listed_page_by_page(talk: Talk) -> None:
    session = await talk.open()
    cwd = str(talk.host.cwd)
    found = await all_sessions(talk)
    assert found == [
        SessionInfo(session_id="kept", cwd=cwd, title="An older conversation", updated_at="2026-01-02T03:04:05Z"),
        SessionInfo(session_id="elsewhere", cwd="/elsewhere", title="In another directory"),
        SessionInfo(session_id=session.session_id or "", cwd=cwd),
    ]
    assert await all_sessions(talk, cwd) == [found[0], found[2]]


async def test_a_kept_session_is_loaded_with_what_was_said_once_and_in_order(talk: Talk) -> None:
    await talk.open()
    session = await talk.restore("kept", "load")
    assert talk.shown(2) == KEPT
    assert session.session_id == "kept"
    assert await talk.say("state", 2) == "mode=ask model=small verbose=false"
    assert talk.shown(2) == [*KEPT, ("user", "state"), ("agent", "mode=ask model=small verbose=false")]
    assert talk.shown(1) == []


async def test_a_kept_session_is_resumed_without_what_was_said(talk: Talk) -> None:
    await talk.restore("kept", "resume", key=1)
    assert talk.shown() == []
    assert await talk.say("state") == "mode=ask model=small verbose=false"
    assert talk.shown() == [("user", "state"), ("agent", "mode=ask model=small verbose=false")]


async def test_what_was_said_in_a_session_of_ours_comes_back(talk: Talk) -> None:
    session = await talk.open()
    await talk.host.turn("state")
    await talk.open(key=3)  # the third session keeps the agent running
    session_id = session.session_id or ""
    await talk.call(talk.dialect.close_session(session_id))
    session.stop()
    await talk.restore(session_id, "load")
    assert talk.shown(2) == talk.shown(1)


async def test_a_session_that_is_not_there_is_told(talk: Talk) -> None:
    await talk.open()
    method = "session/resume" if talk.peer is V2 else "session/load"
    talk.refusals = [(method, NOT_FOUND)]
    talk.begin_restoring("nowhere", "load")
    error = await talk.host.editor.until_event(events.Error)
    assert error.session == 2
    assert f"refused to {'resume' if talk.peer is V2 else 'load'} the session" in error.text
    assert await talk.say("state") == "mode=ask model=small verbose=false"


async def test_a_closed_session_takes_no_prompts(talk: Talk) -> None:
    session = await talk.open()
    await talk.call(talk.dialect.close_session(session.session_id or ""))
    talk.refusals = [("session/prompt", NOT_FOUND)]
    assert await talk.host.turn("state") == "error"


async def test_a_deleted_session_is_listed_no_more(talk: Talk) -> None:
    await talk.open()
    if talk.peer is PYTHON:  # whose SDK does not know it: nothing may be sent
        with pytest.raises(FailureError, match="does not offer to delete the session"):
            await talk.call(talk.dialect.delete_session("kept"))
        return
    await talk.call(talk.dialect.delete_session("kept"))
    assert "kept" not in [one.session_id for one in await all_sessions(talk)]
    talk.refusals = [("session/delete", NOT_FOUND)]
    with pytest.raises(FailureError, match="refused to delete the session"):
        await talk.call(talk.dialect.delete_session("kept"))


async def test_options_are_set(talk: Talk) -> None:
    session = await talk.open()
    configuration, switches = session.configuration, session.presenter.metadata.switches
    await configuration.change(find_switch(switches.all, "model"), "big")
    model = find_switch(switches.all, "model")
    assert model.choices == [
        Choice("small", "Small", None, "Fast"),
        Choice("big", "Big", "Thinks longer.", "Slow"),
    ]
    assert (model.kind, model.current, model.category) == ("select", "big", "model")
    status = talk.host.status()
    assert status is not None
    assert status.model == "big"
    await configuration.change(find_switch(switches.all, "verbose"), True)
    verbose = find_switch(switches.all, "verbose")
    assert (verbose.kind, verbose.current) == ("boolean", True)
    assert await talk.say("state") == "mode=ask model=big verbose=true"
    assert len(await talk.until_sent("session/set_config_option", 2)) == 2
    talk.refusals = [("session/set_config_option", -32602)]
    with pytest.raises(FailureError, match="refused to change the option"):
        await configuration.change(model, "huge")
    assert await talk.say("state") == "mode=ask model=big verbose=true"


async def test_the_mode_is_set(talk: Talk) -> None:
    session = await talk.open()
    mode = Switch(switch_id="mode", name="Mode", kind="select", how="mode")
    if talk.peer is V2:  # modes are options in version 2
        with pytest.raises(FailureError, match="does not offer to change the mode"):
            await session.configuration.change(mode, "code")
        await session.configuration.change(find_switch(session.presenter.metadata.switches.all, "mode"), "code")
    else:
        await session.configuration.change(mode, "code")
    status = talk.host.status()
    assert status is not None
    assert status.mode == "code"
    assert await talk.say("state") == "mode=code model=small verbose=false"


async def test_signing_out_and_in(talk: Talk) -> None:
    await talk.open()
    if talk.peer is PYTHON:  # whose SDK does not know it: nothing may be sent
        with pytest.raises(FailureError, match="does not offer to sign you out"):
            await talk.call(talk.dialect.logout())
        await talk.call(talk.dialect.authenticate("agent-login"))
        return
    await talk.call(talk.dialect.logout())
    talk.refusals = [("session/new", -32000)]
    talk.host.open(2)
    error = await talk.host.editor.until_event(events.Error)
    assert (error.code, error.session) == ("auth_required", 2)
    await talk.call(talk.dialect.authenticate("agent-login"))
    await talk.open(2)
    assert await talk.say("state", 2) == "mode=ask model=small verbose=false"
