"""The journal: what waits survives the death of the host, each prompt with its own attachments, and nothing else."""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import Mock

import anyio
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.contract import events
from acp_nvim.contract.events import PromptsTaken, Queue, QueuedText, QueueLate
from acp_nvim.prompt.items import ImageItem, TextItem
from acp_nvim.prompt.prompt import Prompt
from acp_nvim.session.journal import JOURNAL_BYTES, Journal, JournalEntry, KeptPrompt, SessionJournal
from acp_nvim.session.queue import PromptQueue
from acp_nvim.tasks import Tasks
from acp_nvim.transcript.presenter import Presenter
from tests.core.session.host import Host
from tests.support.fake_editor import FakeEditor
from tests.support.waiting import LIMIT

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written is waited for, however busy the machine is."""
    monkeypatch.setattr("acp_nvim.session.journal.WRITE_SECONDS", LIMIT)


BUSY = """
    def turn(agent, prompt):
        if prompt.text == "first":
            GO.wait(30)
        prompt.say(f"<{prompt.text}>")

    import threading
    GO = threading.Event()
"""


def note(text: str) -> TextItem:
    return TextItem(uri="file:///n", name="n", text=text)


def failing(error: Exception) -> None:
    raise AssertionError("a task failed") from error


def taken(editor: FakeEditor) -> list[int]:
    """The ids of the prompts that the editor need not keep any more."""
    return [number for told in editor.all(PromptsTaken) for number in told.ids]


async def test_what_waits_is_on_disk_before_the_editor_lets_go_of_it(host: Host) -> None:
    path = host.left_behind(key=7)
    path.unlink()
    host.script(BUSY)
    host.open()
    host.app.receive("prompt", {"session": 1, "id": 1, "text": "first"})
    await host.until_received("session/prompt")
    assert taken(host.editor) == [1]
    for number, text in (2, "one"), (3, "two"):
        context = [{"uri": "file:///n", "name": "n", "text": f"note {text} \udcff"}]
        host.app.receive("prompt", {"session": 1, "id": number, "text": "go on", "context": context})
    await host.until("both", lambda: taken(host.editor) == [1, 2, 3])
    file = path.with_name("1.json")
    kept = json.loads(file.read_text())["prompts"]
    assert [(one["id"], one["text"], one["context"][0]["text"]) for one in kept] == [
        (2, "go on", "note one \udcff"),
        (3, "go on", "note two \udcff"),
    ]
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
    host.app.sessions[1].peer.notify("go/on", {})
    host.app.receive("queue_set", {"session": 1, "prompts": [], "known": [2, 3]})
    await host.until("no journal", lambda: not file.exists())


async def test_what_a_host_has_left_is_held_and_goes_out_before_the_next_prompt(host: Host) -> None:
    prompts = [{"id": n, "text": "go on", "context": [{"type": "text", "uri": "u", "name": "n", "text": t}]}
               for n, t in ((4, "this"), (5, "that"), (6, "returned"))]  # fmt: skip
    path = host.left_behind(prompts=prompts)
    host.script("def turn(agent, prompt):\n    pass\n")
    host.app.receive("open", {"session": 1, "agent": "it", "cwd": str(host.cwd), "returned": [6]})
    await host.until("the queue", lambda: host.of(Queue))
    assert [(one.id, one.text) for one in host.of(Queue)[-1].prompts] == [(4, "go on"), (5, "go on")]
    assert host.of(Queue)[-1].held
    await host.until_state("idle")
    assert host.scripts["it"].received("session/prompt") == []
    host.app.receive("prompt", {"session": 1, "id": 7, "text": "again"})
    await host.until("all", lambda: len(host.scripts["it"].received("session/prompt")) == 3)
    said = [json.dumps(one["params"]["prompt"]) for one in host.scripts["it"].received("session/prompt")]
    assert ["this" in said[0], "that" in said[1], "again" in said[2]] == [True, True, True]
    await host.until("no journal", lambda: not path.exists())


async def test_what_was_said_before_the_journal_is_read_keeps_its_order(host: Host) -> None:
    host.left_behind(prompts=[{"id": 4, "text": "kept"}])
    host.script("def turn(agent, prompt):\n    pass\n")
    host.open()
    host.prompt("again")
    assert host.app.sessions == {}
    await host.until("both", lambda: len(host.scripts["it"].received("session/prompt")) == 2)
    texts = [one["params"]["prompt"][0]["text"] for one in host.scripts["it"].received("session/prompt")]
    assert texts == ["kept", "again"]


async def test_a_prompt_whose_start_is_cancelled_leaves_the_journal(host: Host) -> None:
    path = host.left_behind()
    path.unlink()
    host.script("def initialize(agent, request): return NO_ANSWER")
    host.open()
    host.app.receive("prompt", {"session": 1, "id": 1, "text": "go"})
    await host.until_received("initialize")
    await host.until("the journal", path.exists)
    host.cancel()
    await host.until_state("stopped")
    await host.until("no journal", lambda: not path.exists())
    assert taken(host.editor) == [1]
    assert host.notices() == ["Cancelled before it was sent."]


async def test_a_session_that_is_closed_leaves_nothing(host: Host) -> None:
    path = host.left_behind(prompts=[{"id": 4, "text": "kept"}])
    host.hello()
    host.app.receive("session_close", {"id": 1, "session": 1})
    await host.until("no journal", lambda: not path.exists())


async def test_what_may_be_a_secret_or_is_too_large_is_not_on_disk_and_stays_with_the_editor(tmp_path: Path) -> None:
    path, editor = tmp_path / "1.json", FakeEditor()
    async with anyio.create_task_group() as group:
        journal = SessionJournal(path, JournalEntry(), Tasks(group, failing))
        queue = PromptQueue(Presenter(1, "/", editor, lambda: None), journal)
        image = ImageItem(name="i", mime_type="image/png", data="A" * JOURNAL_BYTES)
        queue.add(Prompt("a", [note("token ghp_" + "a1B2" * 9)], 1))
        queue.add(Prompt("b", [image], 2))
        queue.add(Prompt("c", [note("harmless")], 3))
        await journal.written()
        assert "ghp_" not in path.read_text()
        assert [one["id"] for one in json.loads(path.read_text())["prompts"]] == [3]
        assert taken(editor) == [3]
        for number in (1, 2, 3):
            await queue.leave(queue.take())
            assert number in taken(editor)
        assert not path.exists()


async def test_without_a_directory_a_prompt_stays_with_the_editor_until_it_is_sent(tmp_path: Path) -> None:
    editor = FakeEditor()
    async with anyio.create_task_group() as group:
        journal = Journal(Tasks(group, failing), tmp_path, "", Mock())
        queue = PromptQueue(Presenter(1, "/", editor, lambda: None), journal.of(1))
        queue.add(Prompt("a", id=1))
        queue.add(Prompt("b", id=2))
        prompt = queue.take()
        assert taken(editor) == []
        await queue.leave(prompt)
        assert taken(editor) == [1]


async def test_a_disk_that_refuses_costs_the_journal_and_nothing_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "in the way").write_text("")
    editor = FakeEditor()
    async with anyio.create_task_group() as group:
        journal = SessionJournal(tmp_path / "in the way" / "1.json", JournalEntry(), Tasks(group, failing))
        queue = PromptQueue(Presenter(1, "/", editor, lambda: None), journal)
        queue.add(Prompt("a", id=1))
        await journal.written()
        assert "is not kept" in caplog.text
        assert taken(editor) == []
        await queue.leave(queue.take())
        assert taken(editor) == [1]


async def test_a_change_counts_as_kept_only_when_it_is_on_disk(tmp_path: Path) -> None:
    editor = FakeEditor()
    async with anyio.create_task_group() as group:
        journal = SessionJournal(tmp_path / "1.json", JournalEntry(), Tasks(group, failing))
        queue = PromptQueue(Presenter(1, "/", editor, lambda: None), journal)
        queue.add(Prompt("a", id=1))
        await journal.written()
        queue.set([QueuedText("a, better", 1)], [1], revision=7)
        assert taken(editor) == [1]
        await journal.written()
        assert [(one.ids, one.revisions) for one in editor.all(PromptsTaken)] == [([1], [0]), ([1], [7])]


async def test_a_sent_prompt_leaves_the_journal_although_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "1.json"
    async with anyio.create_task_group() as group:
        journal = SessionJournal(path, JournalEntry(), Tasks(group, failing))
        queue = PromptQueue(Presenter(1, "/", FakeEditor(), lambda: None), journal)
        queue.add(Prompt("a", id=1))
        queue.add(Prompt("b", id=2))
        await journal.written()
        full = Mock(side_effect=OSError(errno.ENOSPC, "No space left on device"))
        monkeypatch.setattr("acp_nvim.session.journal.write_new", full)
        await queue.leave(queue.take())
        assert [one["id"] for one in json.loads(path.read_text())["prompts"]] == [2]


async def test_a_password_in_an_address_is_not_on_disk(tmp_path: Path) -> None:
    path, url = tmp_path / "1.json", "ftp://me:hunter2hunter2@host/etc/motd"
    async with anyio.create_task_group() as group:
        journal = SessionJournal(path, JournalEntry(), Tasks(group, failing))
        queue = PromptQueue(Presenter(1, "/", FakeEditor(), lambda: None), journal)
        queue.add(Prompt("a", [TextItem(uri=url, name=url, text="harmless")], 1))
        await journal.written()
        assert not path.exists()


async def test_two_prompts_that_are_steered_at_once_both_stay_until_they_are_sent(tmp_path: Path) -> None:
    path = tmp_path / "1.json"
    async with anyio.create_task_group() as group:
        journal = SessionJournal(path, JournalEntry(), Tasks(group, failing))
        queue = PromptQueue(Presenter(1, "/", FakeEditor(), lambda: None), journal)
        for number in (1, 2, 3):
            queue.add(Prompt("p", id=number))
        await journal.written()
        queue.take_out(1)
        queue.take_out(2)
        await journal.written()
        assert [one["id"] for one in json.loads(path.read_text())["prompts"]] == [1, 2, 3]


async def test_an_older_view_of_the_queue_returns_nothing_that_still_goes_out() -> None:
    editor = FakeEditor()
    queue = PromptQueue(Presenter(1, "/", editor, lambda: None), SessionJournal(None, JournalEntry(), Mock()))
    queue.add(Prompt("a", id=1))
    queue.add(Prompt("b", id=2))
    queue.show()
    queue.set([QueuedText("a", 1), QueuedText("b2", 2)], [1, 2])
    assert editor.all(QueueLate) == []


def left_in(directory: Path) -> None:
    """A journal of session 1, and a broken one of session 2."""
    directory.mkdir()
    (directory / "1.json").write_text('{"prompts": [{"id": 1, "text": "kept"}]}')
    (directory / "2.json").write_text('{"prompts": [{"id"')


def own_start() -> str:
    """The time of start of this process, as Linux has it."""
    return Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]


async def test_journals_of_neovims_that_are_gone_are_removed_and_broken_ones_are_left_out(tmp_path: Path) -> None:
    gone, alive = tmp_path / f"m-{os.getpid()}-1", tmp_path / f"m-{os.getpid()}-{own_start()}"
    elsewhere, ours = tmp_path / "other-1-1", tmp_path / "m-1-0"
    for one in (gone, alive, elsewhere, ours):
        left_in(one)
    async with anyio.create_task_group() as group:
        ready = anyio.Event()
        journal = Journal(Tasks(group, failing), tmp_path, ours.name, ready.set)
        assert journal.is_reading
        await ready.wait()
        assert [one.text for one in journal.of(1).before.prompts] == ["kept"]
        assert journal.of(2).before.prompts == []
    assert sorted(os.listdir(tmp_path)) == sorted([alive.name, elsewhere.name, ours.name])


ACTS = st.lists(
    st.one_of(
        st.tuples(st.just("say"), st.integers(0, 2)),
        st.sampled_from([("take",), ("sent",), ("put back",), ("hold",), ("write",)]),
        st.tuples(st.just("edit"), st.permutations(range(3)), st.integers(0, 3)),
    ),
    max_size=25,
)


class Disk(SessionJournal):
    """Written when the test says so: `there` is what would be found."""

    def __init__(self, before: Sequence[KeptPrompt] = ()) -> None:
        super().__init__(None, JournalEntry(list(before)), None)  # type: ignore[arg-type]
        self.there: list[KeptPrompt] = list(before)
        self.wanted: list[KeptPrompt] = list(before)

    def keep_prompts(self, prompts: Sequence[KeptPrompt]) -> None:
        self.wanted = list(prompts)

    def write(self) -> None:
        self.there = self.wanted
        self.on_disk = {one.id: one for one in self.there}
        self.on_kept()


def edited(queue: PromptQueue, editor: FakeEditor, order: Sequence[int], count: int) -> set[int]:
    """The user puts what waits in that order, and keeps only so many: the ids of the others."""
    told = editor.all(Queue)
    views = told[-1].prompts if told else []
    wanted = [views[index] for index in order if index < len(views)][:count]
    queue.set([QueuedText(one.text, one.id) for one in wanted], [one.id for one in views])
    return {one.id for one in views} - {one.id for one in wanted}


def seen_by_editor(heard: Sequence[events.Event], kept: dict[int, str]) -> tuple[set[int], list[int]]:
    """What an editor that has heard that has in its outbox, and shows in its queue."""
    safe = {number for event in heard if isinstance(event, PromptsTaken) for number in event.ids}
    queues = [event.prompts for event in heard if isinstance(event, Queue)]
    return kept.keys() - safe, [one.id for one in queues[-1]] if queues else []


def after_the_death(disk: Disk, outbox: set[int], waits: list[int], kept: dict[int, str]) -> list[int]:
    """The ids in the queue of the next host, which the editor gives what is in its `outbox` and `waits`."""
    next_disk = Disk([one for one in disk.there if one.id in waits or one.id not in outbox])
    queue = PromptQueue(Presenter(1, "/", FakeEditor(), lambda: None), next_disk)
    queue.restore()
    wanted = [
        QueuedText("text", number, [msgspec.to_builtins(note(kept[number]))] if number in outbox else [])
        for number in waits
    ]
    if outbox:
        queue.set(wanted, [one for one in waits if one not in outbox], held=True)
    assert queue.next is None
    assert all([item.text for item in one.context] == [kept[one.id]] for one in next_disk.wanted)  # type: ignore[union-attr]
    return [one.id for one in next_disk.wanted]


def demand_each_once(disk: Disk, heard: Sequence[events.Event], kept: dict[int, str], gone: set[int]) -> None:
    """Were the host dead now, each prompt would be in its queue or with the user again, unless it is `gone`."""
    outbox, waits = seen_by_editor(heard, kept)
    restored = after_the_death(disk, outbox, waits, kept)
    assert len(set(restored)) == len(restored)
    assert kept.keys() - gone <= (outbox - set(waits)) | set(restored)
    assert not set(restored) & (outbox - set(waits))


@given(ACTS)
def test_whenever_the_host_dies_each_prompt_is_in_one_place_with_what_came_along(
    acts: list[tuple],  # type: ignore[type-arg]
) -> None:
    """Every text is one of three; the editor keeps what it was not told to let go of."""
    editor, disk = FakeEditor(), Disk()
    queue = PromptQueue(Presenter(1, "/", editor, lambda: None), disk)
    leaving: list[Prompt] = []
    kept: dict[int, str] = {}
    gone: set[int] = set()
    heard = 0
    for number, act in enumerate(acts, 1):
        match act:
            case ("say", text):
                kept[number] = f"note {number}"
                queue.add(Prompt(f"text {text}", [note(f"note {number}")], number))
            case ("take",) if queue.next is not None and not leaving:
                leaving = [queue.take()]
            case ("sent",) if leaving:
                gone.add(leaving[0].id or 0)
                queue.left(leaving.pop())
                disk.write()  # the write is waited for
            case ("put back",) if leaving:
                queue.put_back(leaving.pop())
            case ("hold",):
                queue.hold()
            case ("write",):
                disk.write()
            case ("edit", order, count):
                gone |= edited(queue, editor, order, count)
        if act[0] in ("sent", "edit"):
            heard = len(editor.events)  # a prompt is sent when the editor has heard everything
        demand_each_once(disk, editor.events[:heard], kept, gone)
        demand_each_once(disk, editor.events, kept, gone)
