"""Answers for good: in one file of the project, whoever writes it."""

from __future__ import annotations

import multiprocessing
import os
import stat
from pathlib import Path
from typing import Any

import anyio
import anyio.from_thread
import pytest

from acp_nvim.contract.settings import Rule
from acp_nvim.permissions import store
from acp_nvim.permissions.policy import Policy
from acp_nvim.permissions.rules import Subject, Wanted
from acp_nvim.permissions.shell_line import read_line
from acp_nvim.permissions.store import StoredRule, StoredRules

pytestmark = pytest.mark.anyio


def about(command: str) -> Subject:
    """Return the subject of a request to run a command in `/p`."""
    return Subject(agent="it", kind="execute", command=command, cwd="/p")


def add_many(directory: str, name: str, barrier: object) -> None:
    """Add many rules, from a process like the host of another Neovim."""
    rules = StoredRules(Path(directory), "/p")
    barrier.wait()  # type: ignore[attr-defined]
    for number in range(25):
        rules.add("allow", about(f"{name} {number}"))


def the_file(directory: Path) -> Path:
    """Return the only file of rules."""
    [file] = directory.glob("*.json")
    return file


def test_what_is_added_is_there_for_others_and_goes(tmp_path: Path) -> None:
    mine, others = StoredRules(tmp_path / "rules", "/p"), StoredRules(tmp_path / "rules", "/p")
    assert list(mine.rules()) == []
    rule = mine.add("allow", about("ls"))
    assert [one.about for one in others.rules()] == [about("ls")]
    others.add("reject", about("make"))
    assert [one.action for one in mine.rules()] == ["allow", "reject"]
    mine.remove(rule.id)
    assert [one.about.command for one in others.rules()] == ["make"]
    assert list(StoredRules(tmp_path / "rules", "/q").rules()) == []


def test_a_new_answer_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    rules = StoredRules(tmp_path, "/p")
    rules.add("allow", about("ls"))
    rules.add("reject", about("ls"))
    assert [one.action for one in rules.rules()] == ["reject"]


def test_nobody_else_can_read_it(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        StoredRules(tmp_path / "state" / "rules", "/p").add("allow", about("ls"))
    finally:
        os.umask(before)
    for path in (tmp_path / "state" / "rules").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "state" / "rules").stat().st_mode) == 0o700


def test_two_hosts_at_once_lose_nothing(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(2)
    hosts = [context.Process(target=add_many, args=(str(tmp_path), name, barrier)) for name in ("a", "b")]
    for host in hosts:
        host.start()
    for host in hosts:
        host.join(60)
        assert host.exitcode == 0
    assert len(StoredRules(tmp_path, "/p").rules()) == 50
    assert {path.suffix for path in tmp_path.iterdir()} == {".json", ".lock"}


@pytest.mark.parametrize("text", ["", "{", '{"project": "/p", "rules": [{"id": 5}]}', "\0\xff"])
def test_a_broken_file_is_kept_aside_and_told_once(tmp_path: Path, text: str) -> None:
    rules = StoredRules(tmp_path, "/p")
    rules.add("allow", about("ls"))
    the_file(tmp_path).write_text(text, encoding="latin-1")
    with pytest.raises(OSError, match="was not written by acp_nvim"):
        rules.rules()
    assert list(rules.rules()) == []
    [aside] = tmp_path.glob("*.broken-*")
    assert aside.read_text(encoding="latin-1") == text
    rules.add("allow", about("make"))
    assert len(rules.rules()) == 1


def test_there_are_not_more_than_somebody_could_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "STORED_RULES", 3)
    rules = StoredRules(tmp_path, "/p")
    for number in range(5):
        rules.add("allow", about(str(number)))
    assert [one.about.command for one in rules.rules()] == ["2", "3", "4"]


def test_what_cannot_be_put_in_place_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = StoredRules(tmp_path, "/p")
    rules.add("allow", about("ls"))

    def full(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        rules.add("allow", about("make"))
    assert not list(tmp_path.glob("*.new-*"))
    assert [one.about.command for one in rules.rules()] == ["ls"]


def test_words_and_view_name_what_it_is_about(tmp_path: Path) -> None:
    rules = StoredRules(tmp_path, "/p")
    one = rules.add("allow", about("ls -l"))
    other = rules.add("reject", Subject(agent="it", kind="edit", paths=("/p/a", "/p/b")))
    assert one.words == "allow agent it kind execute command ls -l"
    assert other.words == "reject agent it kind edit path /p/a, /p/b"
    assert (one.view.command, one.view.path, one.view.kind, one.view.time) == ("ls -l", None, ["execute"], one.time)
    assert (other.view.source, other.view.path) == ("stored", "/p/a\n/p/b")
    assert repr(rules).startswith("<StoredRules ")


# --- the book --------------------------------------------------------------------------------------------------------


def wanted(line: str, known: Subject | None = None) -> Wanted:
    """The agent wants to run it; an answer for good is about `known`."""
    return Wanted(agent="it", kind="execute", roots=["/p"], command=read_line(line), about=known)


async def test_an_answer_counts_at_once_and_is_written(tmp_path: Path) -> None:
    told: list[str] = []
    book = Policy(tmp_path, told.append)
    assert book.answer(wanted("ls > f", about("ls > f"))).rule is None
    await book.remember("/p", "allow", about("ls > f"))
    answer = book.answer(wanted("ls > f", about("ls > f")))
    assert (answer.action, answer.source) == ("allow", "stored")
    assert book.answer(wanted("ls > f")).action == "ask"
    assert book.answer(wanted("ls > g", about("ls > g"))).action == "ask"
    [shown] = book.shown("/p").rules
    await book.forget("/p", shown.id)
    assert book.answer(wanted("ls > f", about("ls > f"))).action == "ask"
    assert told == []


async def test_an_answer_is_shown_once_while_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    book = Policy(tmp_path, lambda words: None)
    shown: list[int] = []
    add = StoredRules.add

    def added(rules: StoredRules, *given: Any) -> StoredRule:
        shown.append(len(book.shown("/p").rules))
        made = add(rules, *given)
        shown.append(len(book.shown("/p").rules))
        return made

    monkeypatch.setattr(StoredRules, "add", added)
    await book.remember("/p", "allow", about("ls"))
    assert [*shown, len(book.shown("/p").rules)] == [1, 1, 1]


async def test_an_answer_that_is_forgotten_as_soon_as_it_is_written_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = Policy(tmp_path, lambda words: None)
    add, written = StoredRules.add, anyio.Event()

    def added(rules: StoredRules, *given: Any) -> StoredRule:
        made = add(rules, *given)
        anyio.from_thread.run_sync(written.set)
        return made

    monkeypatch.setattr(StoredRules, "add", added)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(book.remember, "/p", "allow", about("ls"))
        await written.wait()
        [stored] = book.shown("/p").rules
        await book.forget("/p", stored.id)
        assert book.shown("/p").rules == []
    assert book.shown("/p").rules == []


async def test_the_configuration_is_asked_first(tmp_path: Path) -> None:
    book = Policy(tmp_path, lambda words: None)
    await book.remember("/p", "allow", about("ls"))
    book.configured = [Rule(action="ask", command="ls")]
    answer = book.answer(wanted("ls", about("ls")))
    assert (answer.action, answer.rule, answer.source) == ("ask", "ask command ls", "config")
    assert [one.source for one in book.shown("/p").rules] == ["config", "stored"]
    assert book.shown("/p").rules[0].id == "config-1"


async def test_what_cannot_be_written_counts_for_this_neovim_and_is_told(tmp_path: Path) -> None:
    told: list[str] = []
    book = Policy(tmp_path / "file" / "rules", told.append)
    (tmp_path / "file").write_text("")
    await book.remember("/p", "reject", about("ls"))
    assert book.answer(wanted("ls", about("ls"))).action == "reject"
    assert "cannot be written" in told[0]
    await book.forget("/p", book.shown("/p").rules[0].id)
    assert book.answer(wanted("ls", about("ls"))).action == "ask"


async def test_half_a_character_cannot_be_written(tmp_path: Path) -> None:
    told: list[str] = []
    book = Policy(tmp_path, told.append)
    await book.remember("/p", "allow", about("ls \udce9"))
    assert len(told) == 1
    assert book.answer(wanted("x", about("ls \udce9"))).action == "allow"


async def test_a_broken_file_is_told_when_it_is_read(tmp_path: Path) -> None:
    told: list[str] = []
    book = Policy(tmp_path, told.append)
    await book.remember("/p", "allow", about("ls"))
    the_file(tmp_path).write_text("{")
    assert book.answer(wanted("ls", about("ls"))).action == "ask"
    assert book.answer(wanted("ls", about("ls"))).action == "ask"
    assert len(told) == 1
    assert "cannot be read: it was not written by acp_nvim" in told[0]
