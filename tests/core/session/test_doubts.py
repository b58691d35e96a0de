"""Changes of unknown origin: they stay listed, and are judged again only while something new may be known of them."""

from __future__ import annotations

import anyio
import pytest

from acp_nvim.contract.review_events import Review
from acp_nvim.evidence import work
from acp_nvim.evidence.evidence import Evidence, Observation, Verdict
from acp_nvim.review import change
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio

WAITS = """
    def turn(agent, prompt):
        if prompt.text == "name it":
            place = {"path": "server.log"}
            call = {"toolCallId": "late", "kind": "edit", "title": "Edit server.log", "locations": [place]}
            agent.update(prompt.session_id, {"sessionUpdate": "tool_call", "status": "completed", **call})
        elif prompt.text != "hi":
            agent.note(works=prompt.text)
            while not os.path.exists(prompt.text):
                time.sleep(0.01)
"""


async def other_program(host: Host, number: int, name: str = "server.log", key: int = 1) -> None:
    """A turn in which another program appends to a file."""
    done = host.cwd.parent / f"done{number}"
    ended = len(host.scripts["it"].notes("works"))
    host.prompt(str(done), key)
    await host.until_note("works", ended + 1)
    await anyio.run_process(["sh", "-c", f"echo {number} >> {name}; touch {done}"], cwd=host.cwd)
    await host.until_state("idle", key)
    await host.app.sessions[key].changes.settled()


async def begin(host: Host, keys: tuple[int, ...] = (1,)) -> None:
    """Sessions, and a log that is older than they are."""
    (host.cwd / "server.log").write_text("0\n")
    host.script(WAITS)
    for key in keys:
        host.open(key)
        await host.turn("hi", key)


async def idle_turn(host: Host, text: str = "hi", key: int = 1) -> None:
    """A turn in which nothing is changed, until that is known."""
    await host.turn(text, key)
    await host.app.sessions[key].changes.settled()


def listed(host: Host, name: str = "server.log") -> Review:
    """The last word on a file."""
    return [one for one in host.editor.all(Review) if one.path == str(host.cwd / name)][-1]


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[Observation]:
    """What is judged from now on."""
    found: list[Observation] = []
    judge = Evidence.judge

    async def noted(self: Evidence, seen: Observation) -> Verdict:
        found.append(seen)
        return await judge(self, seen)

    monkeypatch.setattr(Evidence, "judge", noted)
    return found


async def test_a_turn_judges_nothing_again_of_which_nothing_new_is_known(host: Host, judged: list[Observation]) -> None:
    await begin(host)
    for number in range(3):
        await other_program(host, number)
    await idle_turn(host)
    assert listed(host).by == "unknown"
    judged.clear()
    await idle_turn(host)
    assert judged == []


async def test_a_file_that_changes_in_every_turn_costs_the_same_in_each(
    host: Host, judged: list[Observation], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(change, "MAX_DOUBTS", 3)
    await begin(host)
    for number in range(6):
        judged.clear()
        await other_program(host, number)
    assert [one.path for one in judged] == [str(host.cwd / "server.log")], "the last change alone"
    assert (listed(host).by, listed(host).added) == ("unknown", 6)
    await idle_turn(host, "name it")
    assert listed(host).by == "unknown", "a call that names it is no evidence for the changes that are final"


async def test_what_a_call_names_afterwards_is_judged_again(host: Host, judged: list[Observation]) -> None:
    await begin(host)
    (host.cwd / "other.log").write_text("0\n")
    await idle_turn(host)
    await other_program(host, 1)
    await other_program(host, 2, "other.log")
    await idle_turn(host)
    judged.clear()
    await idle_turn(host, "name it")
    assert str(host.cwd / "server.log") in {one.path for one in judged}
    assert str(host.cwd / "other.log") not in {one.path for one in judged}


async def test_a_change_of_unknown_origin_outlives_what_was_known_then(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "MAX_TURNS", 2)
    await begin(host)
    await other_program(host, 1)
    for _ in range(3):
        await idle_turn(host)
    await idle_turn(host, "name it")
    assert (listed(host).by, listed(host).operation) == ("unknown", "modify")


async def test_a_change_of_unknown_origin_outlives_its_session(host: Host) -> None:
    await begin(host, (1, 2))
    await other_program(host, 1)
    host.app.sessions[1].changes.forget()  # as a child session does when its parent has no room for it any more
    await host.until("its work to be forgotten", lambda: len(host.app.reviews.evidence.works) == 1)
    await idle_turn(host, key=2)
    assert (listed(host).by, listed(host).operation) == ("unknown", "modify")
