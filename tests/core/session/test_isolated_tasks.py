"""What fails by a bug of ours costs that one thing: every background task is made to fail, wherever it is started."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
import pytest

import acp_nvim
from acp_nvim.connection import early_requests
from acp_nvim.jsonrpc import dispatcher
from acp_nvim.review import reviews
from tests.core.session.hit_agent import HIT
from tests.core.session.injecting import Kind, TaskInjector
from tests.core.session.stage import Stage, report, staged
from tests.core.session.task_scenarios import SCENARIOS, Scenario
from tests.support.waiting import LIMIT

pytestmark = pytest.mark.anyio

ROOT = Path(acp_nvim.__file__).parent
NOT_AT_THE_END = {
    "Journal._begin": "it is started before anything that could be hit",
    "TranscriptStore._run": "runs until the host is cancelled",
    "TranscriptStore._clean": "runs once in a host; it fails at once in one of its own",
    "narrow_all": "runs once in a host; it fails at once in one of its own",
    "AgentLeases._release": "waits for longer than a test may take",
}
"""Tasks that fail only before they begin, and why."""


@pytest.fixture(autouse=True)
def no_git(monkeypatch: pytest.MonkeyPatch) -> None:
    """Snapshots take most of the time of a turn, and nothing here is about them."""
    monkeypatch.setenv("PATH", "/nowhere")


@pytest.fixture(autouse=True)
def little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits for a while before it does something does it soon."""
    monkeypatch.setattr(dispatcher, "BATCH_ANSWER_SECONDS", 0.01)
    monkeypatch.setattr(reviews, "KEEP_SECONDS", 0.01)
    monkeypatch.setattr(early_requests, "ANNOUNCED_SECONDS", 0.01)


@asynccontextmanager
async def within(what: str) -> AsyncIterator[None]:
    """What is awaited in the block must come in time; else the failure says what was made to fail."""
    try:
        with anyio.fail_after(2 * LIMIT):  # what is awaited in it says more
            yield
    except TimeoutError:
        raise AssertionError(f"nothing went on after a bug in {what}") from None


async def plays(injector: TaskInjector, stage: Stage, number: int, reached: dict[Kind, int]) -> None:
    """Note in `reached` what the host itself starts, and what the scenario starts first, while nothing fails."""
    scenario, script = SCENARIOS[number]
    reached |= dict.fromkeys(filter(is_started_once, injector.seen), 0)
    injector.aim({}, "at once")
    stage.fresh(script)
    async with within(f"nothing, {scenario.__name__}"):
        await scenario(stage)
        await turns_closed(stage, injector)
        for kind in injector.seen:
            reached.setdefault(kind, number)
        await end(stage)
        await turns_closed(stage, injector)
    reached |= dict.fromkeys(filter(is_started_once, injector.seen), 0)


def is_started_once(kind: Kind) -> bool:
    """What keeps the conversations of all sessions, and what `hello` starts."""
    return kind.act.startswith("TranscriptStore.") or kind.act in ("narrow_all", "Journal._begin")


async def turns_closed(stage: Stage, injector: TaskInjector) -> None:
    """Wait until what ends a turn has started all that it starts: it would be taken for the next scenario's."""
    await stage.host.until("the ends of the turns", lambda: all(one.is_set() for one in injector.closing))


async def play(stage: Stage, scenario: Scenario) -> None:
    """Play a scenario as far as it goes: what it waits for may not come any more."""
    with suppress(AssertionError):
        await scenario(stage)


async def end(stage: Stage) -> None:
    """The session is ended by its user."""
    for name in ("open", "enough"):
        (stage.cwd / name).touch()
    stage.tell("stop")
    stage.host.app.receive("session_close", {"id": 1, "session": stage.key})
    await stage.host.until("the end of the session", lambda: stage.key not in stage.host.app.sessions)


async def test_background_tasks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    injector = TaskInjector(ROOT)
    reached: dict[Kind, int] = {}
    ended: set[Kind] = set()
    with injector.active():
        for number in range(len(SCENARIOS)):
            injector.aim({}, "at once")
            # a host saves the review in the directories of all its sessions: with one host it takes three times as long
            async with staged(directory(tmp_path, f"scenario {number}")) as stage:
                await plays(injector, stage, number, reached)
                ended |= await fail(injector, stage, number, reached)
        for place, kind in enumerate(filter(is_started_once, reached)):
            error = f"injected into task of all {place}."
            injector.aim({kind: error}, "at once")
            async with staged(directory(tmp_path, str(place))) as stage, within(str(kind)):
                await stage.host.until(str(kind), lambda kind=kind: kind in injector.hit)
                await stage.went_on(str(kind), error)
    missed = {str(site) for site in injector.sites} - {str(kind.site) for kind in reached}
    assert missed == set(), f"no scenario starts these tasks: {', '.join(sorted(missed))}"
    assert injector.unknown == set(), "these places start tasks, and reading the source does not find them"
    assert {kind.act for kind in set(reached) - ended} == set(NOT_AT_THE_END)
    report(capsys, len(reached), f"background tasks at once, started in all {len(injector.sites)} places")
    report(capsys, len(ended), f"ends of background tasks; without {', '.join(NOT_AT_THE_END)}")


def directory(parent: Path, name: str) -> Path:
    """Make a new directory for a host."""
    made = parent / name
    made.mkdir()
    return made


async def fail(injector: TaskInjector, stage: Stage, number: int, reached: dict[Kind, int]) -> set[Kind]:
    """Let what a scenario starts first fail, at once and at the end; return what has failed at the end."""
    kinds = [kind for kind, where in reached.items() if where == number and not is_started_once(kind)]
    for place, kind in enumerate(kinds):
        await fails_at_once(stage, injector, kind, f"injected into task {number} {place}.", number)
    return await fail_at_the_end(stage, injector, kinds, number)


async def fails_at_once(stage: Stage, injector: TaskInjector, kind: Kind, error: str, number: int) -> None:
    """Play the scenario until that task has failed; then everything else goes on."""
    scenario, script = SCENARIOS[number]
    what = f"{kind}, {scenario.__name__}"
    stage.fresh(script)
    injector.aim({kind: error}, "at once")
    async with within(what), anyio.create_task_group() as group:
        group.start_soon(play, stage, scenario)
        await stage.host.until(what, lambda: kind in injector.hit)
        await stage.went_on(what, error)
        group.cancel_scope.cancel()
    async with within(what):
        if script is HIT:
            await stage.works(what)
        else:
            await end(stage)


async def fail_at_the_end(stage: Stage, injector: TaskInjector, kinds: list[Kind], number: int) -> set[Kind]:
    """All of a scenario in one play of it: each has done its work by then. Those that have ended."""
    scenario, script = SCENARIOS[number]
    errors = {kind: f"injected into the end of {scenario.__name__} {place}." for place, kind in enumerate(kinds)}
    wanted = {kind for kind in kinds if kind.act not in NOT_AT_THE_END}
    stage.fresh(script)
    injector.aim(errors, "at the end")
    async with within(f"the ends of {', '.join(map(str, kinds))}"):
        await play(stage, scenario)
        if script is HIT:
            await stage.works(scenario.__name__)
        await end(stage)
        await stage.host.until(f"the ends in {scenario.__name__}", lambda: injector.hit >= wanted)
        for kind in injector.hit:
            await stage.went_on(str(kind), errors[kind])
    return set(injector.hit)
