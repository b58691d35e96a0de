"""Sessions of an agent that are renamed, archived, and listed again."""

from __future__ import annotations

from typing import Any

import pytest

from acp_nvim.contract.session_events import AgentsListed, SessionDone
from tests.core.session.host import Host
from tests.core.session.test_sessions_of_agents import ask, listed

pytestmark = pytest.mark.anyio

AGENT = """
    INITIALIZE = {"agentCapabilities": {"sessionCapabilities": {
        "list": {}, "resume": {}, "close": {}, "title": {}, "archive": {}}}}
    archived = {"old"}
    def session_list(agent, request):
        which = request.params.get("archived", "exclude")
        known = [one for one in ("new", "old") if which == "include" or one not in archived]
        return {"sessions": [{"sessionId": one, "cwd": request.params["cwd"], "title": one.title(),
                              "archived": one in archived} for one in known]}
    def session_set_title(agent, request):
        title = request.params["title"].strip()
        if not title:
            raise Error(-32602, "a title has letters")
        return {"title": title[:20]}
    def session_archive(agent, request):
        archived.add(request.params["sessionId"])
        return {}
    def session_unarchive(agent, request):
        archived.discard(request.params["sessionId"])
        return {}
"""
PLAIN = """
    INITIALIZE = {"agentCapabilities": {"sessionCapabilities": {"list": {}, "resume": {}}}}
    def session_list(agent, request):
        return {"sessions": [{"sessionId": "new", "cwd": request.params["cwd"], "archived": 7}]}
"""


async def done(host: Host, method: str, number: int, **more: Any) -> SessionDone:
    """Send a request about a session and return the host's answer."""
    named = {"agent": "it", "cwd": str(host.cwd), "session_id": "new", **more}
    answer: SessionDone = await ask(host, method, SessionDone, number, **named)
    return answer


async def names(host: Host, number: int, archived: bool = False) -> list[str | None]:
    """Return the ids of the sessions in the list."""
    return [one.session_id for one in (await listed(host, number, agents=["it"], archived=archived)).entries]


async def test_a_session_is_renamed_as_the_agent_stores_it(host: Host) -> None:
    host.script(AGENT)
    host.open()
    status = await host.until_state("idle")
    answer = await done(
        host, "session_rename", 1, session_id=status.session_id, title="  Größe \U0001f41a " + "x" * 50, session=1
    )
    assert (answer.words, answer.problem) == (f"renamed to {('Größe 🐚 ' + 'x' * 50)[:20]!r}", None)
    await host.until("the title", lambda: (now := host.status()) is not None and now.title is not None)
    assert (now := host.status()) is not None
    assert now.title == ("Größe 🐚 " + "x" * 50)[:20]


async def test_a_title_of_another_session_does_not_become_that_of_the_open_one(host: Host) -> None:
    host.script(AGENT)
    host.open()
    await host.until_state("idle")
    assert (await done(host, "session_rename", 1, title="Other", session=1)).words == "renamed to 'Other'"
    host.app.sessions[1].presenter.publish_status()
    assert (now := host.status()) is not None
    assert now.title is None


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ('raise Error(-32602, "a title has letters")', "a title has letters"),
        ('return {"title": 7}', "something that acp_nvim does not understand"),
        ("return None", "something that acp_nvim does not understand"),
        ("os._exit(1)", "ended with exit code 1"),
    ],
)
async def test_a_title_that_is_not_stored_is_told(host: Host, answer: str, why: str) -> None:
    host.script(AGENT + f"\n    def session_set_title(agent, request):\n        {answer}\n")
    told = await done(host, "session_rename", 1, title="x")
    assert told.problem is not None
    assert told.problem.startswith("it is not renamed: ")
    assert why in told.problem


async def test_archived_sessions_have_a_list_of_their_own(host: Host) -> None:
    host.script(AGENT)
    assert await names(host, 1) == ["new"]
    assert await names(host, 2, archived=True) == ["old"]
    told = await done(host, "session_archive", 3)
    assert told.words == "archived; :AcpSessions ++archived lists it"
    assert await names(host, 4) == []
    assert sorted(filter(None, await names(host, 5, archived=True))) == ["new", "old"]
    told = await done(host, "session_archive", 6, session_id="old", archived=False)
    assert told.words == "not archived any more"
    assert await names(host, 7) == ["old"]
    known = await ask(host, "agents_known", AgentsListed, 8)
    assert {"rename", "archive"} <= set(known.agents[0].offers)


async def test_an_open_session_is_closed_before_it_is_archived(host: Host) -> None:
    host.script(AGENT)
    host.open()
    status = await host.until_state("idle")
    await done(host, "session_archive", 1, session_id=status.session_id, session=1)
    methods = [one["method"] for one in host.scripts["it"].received()]
    assert methods.index("session/close") < methods.index("session/archive")
    assert host.app.sessions == {}


async def test_an_agent_that_cannot_is_not_asked(host: Host) -> None:
    host.script(PLAIN)
    host.open()
    status = await host.until_state("idle")
    renamed = await done(host, "session_rename", 1, title="x")
    archived = await done(host, "session_archive", 2, session_id=status.session_id, session=1)
    assert all(one.problem is not None and "does not offer" in one.problem for one in (renamed, archived))
    assert list(host.app.sessions) == [1], "nothing was closed"
    assert "new" in await names(host, 3)
    assert await names(host, 4, archived=True) == []
    assert all("archived" not in one["params"] for one in host.scripts["it"].received("session/list"))
    sent = {one["method"] for one in host.scripts["it"].received()}
    assert not sent & {"session/set_title", "session/archive"}
