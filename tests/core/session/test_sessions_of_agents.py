"""Sessions that agents keep, as the user handles them: listed, gone on with, forked, closed, deleted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from acp_nvim.contract import events
from acp_nvim.contract.session_events import AgentsListed, SessionDone, SessionsListed, WorktreeSeen
from acp_nvim.rpc.session_lists import EMPTY_PAGES
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio

ABLE = """
    INITIALIZE = {"agentCapabilities": {"loadSession": True, "sessionCapabilities": {
        "list": {}, "resume": {}, "fork": {}, "close": {}, "delete": {}}}}
    def turn(agent, prompt):
        if prompt.text == "hang":
            prompt.wait_cancelled()
            return "cancelled"
        prompt.say(f"said {prompt.text}")
    def session_list(agent, request):
        page = int(request.params.get("cursor") or 0)
        sessions = [{"sessionId": f"s{page}{n}", "cwd": request.params.get("cwd", "/"), "title": f"T{page}{n}",
                     "updatedAt": "2026-11-20T10:00:00Z"} for n in range(2)]
        sessions.append({"sessionId": "far", "cwd": "/elsewhere"})
        request.reply({"sessions": sessions, **({"nextCursor": str(page + 1)} if page < 2 else {})})
        return NO_ANSWER
    def say(agent, session_id, text):
        agent.update(session_id, {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}})
    def session_load(agent, request):
        if request.params["sessionId"] == "lost":
            raise Error(-32002, "no such session")
        say(agent, request.params["sessionId"], "told anew")
        return {}
    def session_resume(agent, request):
        if request.params["sessionId"] == "lost":
            raise Error(-32002, "no such session")
        return {}
    def session_fork(agent, request):
        say(agent, "forked", "told again")
        return {"sessionId": "forked"}
    def session_close(agent, request): return {}
    def session_delete(agent, request):
        if request.params["sessionId"] == "held":
            raise Error(-32000 - 99, "it is held")
        return {}
"""


def transcripts(host: Host) -> list[Path]:
    return sorted(host.log_path.parent.with_name("state").glob("transcripts/*/*.jsonl"))


def texts(path: Path) -> list[str]:
    """What is said in a kept conversation, last words."""
    last: dict[int, str] = {}
    for line in path.read_text().splitlines()[1:]:
        one = json.loads(line)
        if one["type"] in ("append", "replace"):
            before = last.get(one["block"], "") if one["type"] == "append" else ""
            last[one["block"]] = before + one["text"]
    return list(last.values())


def words(host: Host, key: int, kind: str = "agent") -> str:
    """What the chat shows of it, also what was kept."""
    told = [event for event in host.editor.events if isinstance(event, events.Append | events.Replace)]
    return "".join(event.text for event in told if (event.session, event.kind) == (key, kind))


async def answered(host: Host, kind: type[Any], number: int = 1) -> Any:
    await host.until("the answer", lambda: any(one.id == number for one in host.editor.all(kind)))
    return next(one for one in host.editor.all(kind) if one.id == number)


async def ask(host: Host, method: str, kind: type[Any], number: int = 1, **params: Any) -> Any:
    host.app.receive(method, {"id": number, **params})
    return await answered(host, kind, number)


async def listed(host: Host, number: int = 1, **wanted: Any) -> SessionsListed:
    """The first answer with all that these agents tell."""
    host.app.receive("sessions_list", {"id": number, "cwd": str(host.cwd), "open": [], **wanted})
    return await whole_list(host, number)


async def whole_list(host: Host, number: int, answers: int = 1) -> SessionsListed:
    """The list when no agent is waited for, and so many answers have come."""

    def told() -> list[SessionsListed]:
        return [one for one in host.editor.all(SessionsListed) if one.id == number]

    await host.until("the list", lambda: len(told()) >= answers and not told()[-1].waits)
    return told()[-1]


async def kept(host: Host) -> str:
    """A conversation in session 1, which is closed: the id of its transcript."""
    await host.turn("hello")
    host.app.receive("session_close", {"id": 90, "session": 1})
    await answered(host, SessionDone, 90)
    [path] = transcripts(host)
    return f"{path.parent.name}/{path.name}"


def resume(host: Host, key: int, **wanted: Any) -> None:
    host.app.receive("resume", {"session": key, "agent": "it", "cwd": str(host.cwd), **wanted})


async def test_an_agent_lists_its_sessions_of_a_directory_page_by_page(host: Host) -> None:
    host.script(ABLE)
    asked = await ask(host, "agents_known", AgentsListed)
    assert asked.agents == []
    told = await listed(host, agents=["it"])
    assert (told.more, told.asked) == (["it"], ["it"])
    for _ in range(2):
        answers = len(host.editor.all(SessionsListed))
        host.app.receive("sessions_more", {"id": 1, "agent": "it"})
        told = await whole_list(host, 1, answers + 1)
    assert [one.session_id for one in told.entries] == ["s00", "s01", "s10", "s11", "s20", "s21"]
    assert told.more == []
    assert (told.entries[0].updated, told.entries[0].listed) == (1795168800.0, True)
    assert len(host.scripts["it"].received("initialize")) == 1
    told = await listed(host, 9, everywhere=True)  # it runs, and can list
    assert [one.session_id for one in told.entries] == ["s00", "s01", "far"]
    [known] = (await ask(host, "agents_known", AgentsListed, 2)).agents
    assert (known.agent, known.running) == ("it", True)
    assert known.offers == ["list", "load", "resume", "fork", "close", "delete"]


PAGES = """
    INITIALIZE = {"agentCapabilities": {"sessionCapabilities": {"list": {}}}}
    PAGES = %s
    def session_list(agent, request):
        names, cursor = PAGES[request.params.get("cursor")]
        sessions = [{"sessionId": one, "cwd": "/elsewhere" if one == "far" else request.params.get("cwd", "/")}
                    for one in names]
        request.reply({"sessions": sessions, **({} if cursor is None else {"nextCursor": cursor})})
        return NO_ANSWER
"""


@pytest.mark.parametrize(
    ("pages", "steps"),
    [
        ({None: ([], "1"), "1": ([], "2"), "2": (["a"], "3"), "3": (["b"], None)}, [["a"], ["a", "b"]]),
        ({None: (["far"], "1"), "1": (["a"], None)}, [["a"]]),
        ({None: (["a"], "1"), "1": (["b"], "1")}, [["a"], ["a", "b"]]),
        ({None: (["a"], "1"), "1": (["b"], "2"), "2": ([], "1")}, [["a"], ["a", "b"], ["a", "b"]]),
        ({None: ([], "1"), "1": ([], "1")}, [[]]),
    ],
)
async def test_empty_pages_are_passed_and_a_circle_ends(host: Host, pages: Any, steps: list[list[str]]) -> None:
    host.script(PAGES % repr(pages))
    told = await listed(host, agents=["it"])
    seen = [sorted(one.session_id or "" for one in told.entries)]
    while told.more:
        answers = len(host.editor.all(SessionsListed))
        host.app.receive("sessions_more", {"id": 1, "agent": "it"})
        told = await whole_list(host, 1, answers + 1)
        seen.append(sorted(one.session_id or "" for one in told.entries))
    assert seen == steps
    assert told.problems == {}


async def test_an_agent_that_never_lists_anything_is_left_alone(host: Host) -> None:
    host.script(PAGES % "type('Endless', (), {'__getitem__': lambda self, at: ([], str(int(at or 0) + 1))})()")
    told = await listed(host, agents=["it"])
    assert (told.entries, told.more) == ([], ["it"])
    assert len(host.scripts["it"].received("session/list")) == EMPTY_PAGES


@pytest.mark.parametrize(
    ("source", "words"),
    [("", "does not offer to list its sessions"), ("def initialize(agent, request): agent.exit(3)", "exit code 3")],
)
async def test_what_keeps_an_agent_from_listing_is_told(host: Host, source: str, words: str) -> None:
    host.script(source)
    told = await listed(host, agents=["it", "nobody"])
    assert words in told.problems["it"]
    assert "no agent called 'nobody'" in told.problems["nobody"]
    assert told.entries == []


async def test_a_kept_conversation_goes_on_in_its_file(host: Host) -> None:
    host.script(ABLE)
    transcript = await kept(host)
    resume(host, 2, session_id="session-1", transcript=transcript)
    host.prompt("more", 2)  # at once: it waits until what was said before is there
    await host.until("the turn", lambda: host.of(events.TurnEnd, 2))
    assert (words(host, 2, "user"), words(host, 2)) == ("hellomore", "said hellosaid more")
    assert host.editor.all(events.Error) == []
    assert host.scripts["it"].received("session/resume")[0]["params"]["sessionId"] == "session-1"
    await host.app.transcripts.flush()
    host.app.receive("session_close", {"id": 5, "session": 2})
    await answered(host, SessionDone, 5)
    [path] = transcripts(host)
    assert texts(path) == ["hello", "said hello", "more", "said more"]


async def test_the_transcript_is_found_by_the_session(host: Host) -> None:
    host.script(ABLE)
    await kept(host)
    resume(host, 2, session_id="session-1")
    await host.until_state("idle", 2)
    assert words(host, 2) == "said hello"


async def test_what_the_agent_tells_anew_takes_another_file_and_both_stay(host: Host) -> None:
    host.script(ABLE)
    transcript = await kept(host)
    resume(host, 2, session_id="session-1", transcript=transcript, how="load")
    await host.until_state("idle", 2)
    await host.turn("more", 2)
    host.app.receive("session_close", {"id": 5, "session": 2})
    await answered(host, SessionDone, 5)
    assert sorted(map(texts, transcripts(host))) == [["hello", "said hello"], ["told anew", "more", "said more"]]
    [entry] = (await listed(host, 8, agents=[])).entries
    assert [one.supersedes for one in entry.kept] == [transcript, None]


@pytest.mark.parametrize("how", ["load", "resume"])
async def test_what_cannot_be_taken_up_leaves_what_was_kept_in_sight(host: Host, how: str) -> None:
    host.script(ABLE)
    transcript = await kept(host)
    resume(host, 2, session_id="lost", transcript=transcript, how=how)
    await host.until_state("failed", 2)
    assert words(host, 2) == "said hello"
    assert "no such session" in host.notices(2)[-1]
    assert "begins a new session" in host.notices(2)[-1]
    assert await host.turn("more", 2) == "end_turn"
    assert len(host.scripts["it"].received("session/new")) == 2


async def test_a_kept_conversation_may_begin_a_new_session(host: Host) -> None:
    host.script(ABLE)
    transcript = await kept(host)
    resume(host, 2, transcript=transcript)
    await host.turn("more", 2)
    assert any("does not know what is above" in one for one in host.notices(2))
    assert words(host, 2) == "said hellosaid more"
    await host.app.transcripts.flush()
    assert sorted(map(texts, transcripts(host))) == [
        ["hello", "said hello"],
        ["hello", "said hello", "more", "said more"],
    ]


async def test_a_fork_shows_what_was_said_once_and_that_it_is_one(host: Host) -> None:
    host.script(ABLE)
    await host.turn("hello")
    resume(host, 2, session_id="session-1", source=1, how="fork")
    await host.until_state("idle", 2)
    assert words(host, 2) == "said hello"
    assert any("This is a fork" in one for one in host.notices(2))
    status = host.status(2)
    assert status is not None
    assert status.session_id == "forked"
    await host.turn("here", 2)
    await host.turn("there", 1)
    assert (words(host, 1), words(host, 2)) == ("said hellosaid there", "said hellosaid here")
    await host.app.transcripts.flush()
    assert sorted(map(texts, transcripts(host))) == [
        ["hello", "said hello", "here", "said here"],
        ["hello", "said hello", "there", "said there"],
    ]


async def test_a_transcript_that_is_gone_keeps_nobody_from_going_on(host: Host) -> None:
    host.script(ABLE)
    resume(host, 2, session_id="s", transcript="p-0/x.jsonl", how="resume")
    await host.until_state("idle", 2)
    assert any("cannot be read" in one for one in host.notices(2))


async def test_a_closed_session_is_closed_at_the_agent_and_gone_here(host: Host) -> None:
    host.script(ABLE)
    await host.turn("hello")
    host.open(2)
    await host.until_state("idle", 2)
    host.prompt("hang")
    await host.until_received("session/prompt", 2)
    await ask(host, "session_close", SessionDone, session=1)
    assert [one["params"] for one in host.scripts["it"].received("session/close")] == [{"sessionId": "session-1"}]
    assert list(host.app.sessions) == [2]
    assert await host.turn("more", 2) == "end_turn"
    assert len(host.scripts["it"].received("initialize")) == 1


async def test_deleting_goes_to_the_agent_first_and_what_fails_keeps_the_rest(host: Host) -> None:
    host.script(ABLE)
    transcript = await kept(host)
    wanted = {"agent": "it", "cwd": str(host.cwd), "transcripts": [transcript]}
    done = await ask(host, "session_delete", SessionDone, session_id="held", **wanted)
    assert "it is held" in done.problem
    assert len(transcripts(host)) == 1
    done = await ask(host, "session_delete", SessionDone, 2, session_id="session-1", **wanted)
    assert (done.problem, done.words) == (None, "deleted at it and here")
    assert transcripts(host) == []


async def test_what_is_being_written_is_not_deleted_but_with_its_session(host: Host) -> None:
    host.script(ABLE)
    await host.turn("hello")
    await host.app.transcripts.flush()
    [path] = transcripts(host)
    wanted = {"agent": "it", "cwd": str(host.cwd), "transcripts": [f"{path.parent.name}/{path.name}"]}
    done = await ask(host, "session_delete", SessionDone, **wanted)
    assert "still being written" in done.problem
    done = await ask(host, "session_delete", SessionDone, 2, session=1, **wanted)
    assert (done.problem, transcripts(host), list(host.app.sessions)) == (None, [], [])


async def test_no_directory_but_a_worktree_of_ours_is_removed(host: Host) -> None:
    seen = await ask(host, "worktree_look", WorktreeSeen, path=str(host.cwd))
    assert (seen.path, seen.problem) == ("", None)
    done = await ask(host, "worktree_remove", SessionDone, 2, path=str(host.cwd), force=True)
    assert done.problem == f"{host.cwd} is no worktree of ours"
    assert host.cwd.exists()


async def test_what_an_agent_can_is_known_also_when_it_cannot_list(host: Host) -> None:
    host.script('INITIALIZE = {"agentCapabilities": {"loadSession": True}}')
    told = await listed(host, agents=["it"])
    assert "does not offer to list its sessions" in told.problems["it"]
    [known] = (await ask(host, "agents_known", AgentsListed, 2)).agents
    assert (known.running, known.offers) == (True, ["load"])
