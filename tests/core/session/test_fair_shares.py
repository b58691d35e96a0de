"""One agent asks for too much: every request gets one answer, a bounded number waits, and another agent goes on."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from acp_nvim.connection.router import UNANSWERED_REQUESTS
from acp_nvim.contract import events
from acp_nvim.contract.request_events import Elicitation
from acp_nvim.permissions.pending import BySession
from acp_nvim.permissions.request import broker
from acp_nvim.permissions.request.bounds import FILES_AT_ONCE
from acp_nvim.permissions.request.broker import WAITING_PERMISSIONS
from acp_nvim.session.requests import files
from acp_nvim.session.requests.elicitations import WAITING_QUESTIONS
from acp_nvim.transcript.views import OPTION_CHARS, OPTIONS
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio

COUNT = 5_000
FLOODS = """
    OPTIONS = [
        {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
        {"optionId": "no", "name": "No", "kind": "reject_once"},
    ]

    def flood(agent, method, params, count):
        agent.wire.send_lines(
            json.dumps({"jsonrpc": "2.0", "id": f"r{number}", "method": method, "params": params(number)}).encode()
            for number in range(count)
        )

    def permissions(agent, prompt, count):
        flood(agent, "session/request_permission", lambda number: {
            "sessionId": prompt.session_id, "options": OPTIONS,
            "toolCall": {"toolCallId": f"c{number}", "title": f"Number {number}", "kind": "execute"},
        }, count)

    def questions(agent, prompt, count):
        schema = {"type": "object", "properties": {"name": {"type": "string"}}}
        flood(agent, "elicitation/create", lambda number: {
            "sessionId": prompt.session_id, "mode": "form", "message": f"Number {number}", "requestedSchema": schema,
        }, count)

    def reads(agent, prompt, count):
        flood(agent, "fs/read_text_file", lambda number: {"sessionId": prompt.session_id, "path": prompt.text}, count)

    def turn(agent, prompt):
        KIND(agent, prompt, COUNT)
        prompt.wait_cancelled()
        return "cancelled"
"""


def flood(host: Host, kind: str, count: int = COUNT) -> None:
    host.script(FLOODS.replace("KIND", kind).replace("COUNT", str(count)))
    host.open()


def errors(host: Host) -> list[dict[str, Any]]:
    return [one["error"] for one in host.sent_answers() if "error" in one]


def heard(host: Host) -> int:
    """How many answers the agent has written down, which is counted sooner than read."""
    text = host.scripts["it"].traffic_path.read_bytes()
    return text.count(b'"error": {') + text.count(b'"result": {"outcome') + text.count(b'"result": {"action')


def notices(host: Host) -> dict[int, str]:
    """The last words of each notice about it, by block."""
    return {one.block: one.text for one in host.of(events.Notice) if "too much at once" in one.text}


@pytest.mark.parametrize(
    ("kind", "shown", "most", "what"),
    [
        ("permissions", events.Permission, WAITING_PERMISSIONS, "permission requests"),
        ("questions", Elicitation, WAITING_QUESTIONS, "questions"),
    ],
)
async def test_what_is_beyond_the_bound_is_refused_with_one_notice(
    host: Host, kind: str, shown: type[events.Event], most: int, what: str
) -> None:
    flood(host, kind)
    host.prompt("go")
    refused = COUNT - most
    told = f"it asks for too much at once: {most} {what} are open, and {refused:,} more were refused."
    await host.until("the notice", lambda: list(notices(host).values()) == [told])
    await host.until("the refusals", lambda: heard(host) == refused)
    words = f"{most} {what} are open already, and no more are taken: ask again when some are answered"
    with_errors = kind == "questions"  # an error for a permission ends the turn of some agents: it is cancelled
    assert [(one["code"], one["message"]) for one in errors(host)] == [(-32603, words)] * refused * with_errors
    assert len(host.of(shown)) == most
    host.cancel()
    await host.until("the other answers", lambda: heard(host) == COUNT)
    answers = host.sent_answers()
    assert set(Counter(one["id"] for one in answers).values()) == {1}
    outcomes = Counter(one["result"]["outcome"]["outcome"] for one in answers if "result" in one and not with_errors)
    assert outcomes == ({} if with_errors else {"cancelled": COUNT})
    assert len([one for one in answers if "result" in one]) == (most if with_errors else COUNT)
    assert list(host.app.permissions) == []


async def test_another_agent_works_while_a_flood_waits(host: Host) -> None:
    flood(host, "permissions")
    host.script("", name="other")
    host.open(2, "other")
    await host.until_state("idle", key=2)
    host.prompt("go")
    assert await host.turn("hi", key=2) == "end_turn"
    await host.until("the flood", lambda: len(host.of(events.Permission)) == WAITING_PERMISSIONS)
    assert await host.turn("again", key=2) == "end_turn"
    assert host.status(1).pending_permissions == WAITING_PERMISSIONS
    assert host.status(2).pending_permissions == 0
    refused = f" {COUNT - WAITING_PERMISSIONS:,} more were refused."
    await host.until("all of the flood", lambda: any(words.endswith(refused) for words in notices(host).values()))


async def test_after_an_answer_there_is_room_again_and_a_new_turn_has_a_new_notice(host: Host) -> None:
    flood(host, "permissions", WAITING_PERMISSIONS + 1)
    for turn in (1, 2):
        host.prompt("go")
        await host.until("the refusal", lambda: len(notices(host)) == turn)  # noqa: B023
        assert set(notices(host).values()) == {
            f"it asks for too much at once: {WAITING_PERMISSIONS} permission requests are open, and 1 more was refused."
        }
        host.cancel()
        await host.until("the end of the turn", lambda: len(host.of(events.TurnEnd)) == turn)  # noqa: B023
        assert list(host.app.permissions) == []


async def test_no_request_of_one_session_looks_at_those_of_another(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    listed: list[int] = []
    scan = BySession.__iter__

    def iterated(pending: BySession[Any]) -> Any:
        listed.append(1)
        return scan(pending)

    monkeypatch.setattr(BySession, "__iter__", iterated)
    lists = []
    of_session = BySession.of_session
    monkeypatch.setattr(BySession, "of_session", lambda *given: lists.append(given) or of_session(*given))
    flood(host, "permissions", WAITING_PERMISSIONS)
    host.prompt("go")
    await host.until("the flood", lambda: len(host.of(events.Permission)) == WAITING_PERMISSIONS)
    host.cancel()
    await host.until("the answers", lambda: len(host.sent_answers()) == WAITING_PERMISSIONS)
    assert not listed
    assert not lists


async def test_files_are_read_a_few_at_a_time_and_requests_are_bounded(
    host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = host.cwd / "a.txt"
    path.write_text("words\n")
    at_once, most = [0], [0]
    read = files.read_text_file

    async def counted(*given: Any) -> str:
        at_once[0] += 1
        most[0] = max(most[0], at_once[0])
        try:
            return await read(*given)
        finally:
            at_once[0] -= 1

    monkeypatch.setattr(files, "read_text_file", counted)
    asked = UNANSWERED_REQUESTS + 500
    flood(host, "reads", asked)
    host.prompt(str(path))
    await host.until("the notice", lambda: notices(host))
    await host.until("all files to be read", lambda: not at_once[0] and read_all(host, asked))
    assert most[0] == FILES_AT_ONCE
    answers = host.sent_answers()
    assert len(answers) == asked
    assert sum("result" in one for one in answers) >= UNANSWERED_REQUESTS
    assert {one["message"].partition(" are")[0] for one in errors(host)} == {f"{UNANSWERED_REQUESTS:,} requests"}


def read_all(host: Host, count: int) -> bool:
    text = host.scripts["it"].traffic_path.read_bytes()
    return text.count(b'"error": {') + text.count(b'"result": {"content') == count


MANY_OPTIONS = """
    def turn(agent, prompt):
        kinds = ["allow_once"] * 99 + ["reject_once"]
        name = "x" * 1000
        options = [{"optionId": f"o{n}", "name": name if n < 3 else "", "kind": kind} for n, kind in enumerate(kinds)]
        call = {"toolCallId": "c", "title": "Many", "kind": "execute"}
        params = {"sessionId": prompt.session_id, "toolCall": call, "options": options}
        agent.note(answer=agent.request("session/request_permission", params)["outcome"])
"""


async def test_of_many_options_the_first_are_offered_and_one_that_rejects(host: Host) -> None:
    host.script(MANY_OPTIONS)
    host.open()
    host.prompt("go")
    await host.until("the request", lambda: host.of(events.Permission))
    [asked] = host.of(events.Permission)
    options = asked.request.options
    assert len([one for one in options if not one.ours]) == OPTIONS + 1
    assert [one.kind for one in options if not one.ours][-1] == "reject_once"
    assert all(len(one.name) < OPTION_CHARS + 50 for one in options)
    last = asked.request.content[-1]
    assert isinstance(last, events.OtherItem)
    assert last.label == "… and 49 more options, which are not offered"
    host.answer(asked.request.id, "o99")
    await host.until("the answer", lambda: host.scripts["it"].notes("answer"))
    assert host.scripts["it"].notes("answer") == [{"outcome": "selected", "optionId": "o99"}]


def test_the_meaning_of_options_is_found_without_comparing_all_with_all() -> None:
    class Counted(str):
        compared = 0

        def __eq__(self, other: object) -> bool:
            Counted.compared += 1
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    options = [events.Option(Counted(f"o{number}"), "Name", "reject_once") for number in range(10_000)]
    assert broker.option_for("allow", options) is None
    assert Counted.compared <= len(options)
