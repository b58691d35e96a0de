"""Comments that were not sent outlive their Neovim, however it ends, and each has one owner."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.nvim.commenting import GONE, NUMBERS, Desk, Start, prompts
from tests.support.agent_scripts import agent_script
from tests.support.editor import HeadlessEditor
from tests.support.waiting import wait_until

Begin = Callable[..., Desk]

RESTORED = "restored {} (:AcpReview comments)"
RELOAD = 'for name in pairs(package.loaded) do if name:match("^acp_nvim") then package.loaded[name] = nil end end'


@pytest.fixture
def begin(editor: Start, tmp_path: Path) -> Begin:
    """Neovims that have a project and a state directory together."""
    project, state = tmp_path / "shared", tmp_path / "state"
    project.mkdir()
    state.mkdir()

    def start(**given: object) -> Desk:
        return Desk(editor, **{"project": project, "state": state, **given})

    return start


def directory(tmp_path: Path) -> Path:
    return tmp_path / "state" / "nvim" / "acp_nvim" / "comments"


def stored(tmp_path: Path) -> list[tuple[str, int, int]]:
    """Text, first and last line of the comments on disk, sorted."""
    found = []
    for path in directory(tmp_path).glob("*.json"):
        with contextlib.suppress(FileNotFoundError):  # it was claimed or deleted just now
            content = json.loads(path.read_bytes().decode(errors="replace"))
            found += [(one["text"], one["first"], one["last"]) for one in content["comments"]]
    return sorted(found)


def until_stored(tmp_path: Path, *wanted: tuple[str, int, int]) -> None:
    """Wait until the files are replaced: these comments are there, and nothing else."""
    wait_until(lambda: stored(tmp_path) == sorted(wanted), what=f"{wanted} on disk", describe=lambda: stored(tmp_path))
    wait_until(lambda: not list(directory(tmp_path).glob("*.new")), what="the end of the write")


def killed(begin: Begin, tmp_path: Path, text: str, line: int = 2) -> None:
    """A Neovim writes a comment, and is killed once that is on disk."""
    desk = begin()
    desk.nvim.command(f"{line}AcpReview comment {text}")
    wait_until(lambda: (text, line, line) in stored(tmp_path), what="the comment on disk")
    desk.nvim.kill()


@pytest.mark.parametrize("end", [HeadlessEditor.kill, HeadlessEditor.close], ids=["killed", "left"])
@pytest.mark.parametrize("use", ["AcpReview comments", "5AcpReview comment other"])
def test_comments_are_back_in_the_next_neovim(
    begin: Begin, tmp_path: Path, use: str, end: Callable[[HeadlessEditor], None]
) -> None:
    first = begin()
    first.nvim.command("2AcpReview comment one")
    first.nvim.command("3,4AcpReview comment two")
    until_stored(tmp_path, ("one", 2, 2), ("two", 3, 4))
    [path] = directory(tmp_path).iterdir()
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    end(first.nvim)
    second = begin()
    assert second.nvim.lua("return package.loaded['acp_nvim.review.comments'] == nil")
    second.nvim.command(use)
    second.until_said(RESTORED.format("2 unsent comments"))
    second.nvim.command(f"buffer {second.path}")
    other = [(5, "└ other")] if "other" in use else []
    second.until_shown((2, "└ one"), (4, "└ two (lines 3 to 4)"), *other)
    assert len(second.comments()) == 2 + len(other)
    assert not path.exists()
    until_stored(tmp_path, ("one", 2, 2), ("two", 3, 4), *[("other", line, line) for line, _ in other])
    end(second.nvim)
    third = begin()
    third.nvim.command("AcpReview comments")
    third.nvim.command(f"buffer {third.path}")
    third.until_shown((2, "└ one"), (4, "└ two (lines 3 to 4)"), *other)


def test_the_last_comment_is_written_when_neovim_is_left(begin: Begin, tmp_path: Path) -> None:
    first = begin()
    first.nvim.command("2AcpReview comment in a hurry")
    first.nvim.close()
    assert stored(tmp_path) == [("in a hurry", 2, 2)]
    second = begin()
    second.nvim.command("AcpReview comments")
    second.nvim.command(f"buffer {second.path} | %AcpReview uncomment")
    second.nvim.close()
    assert list(directory(tmp_path).iterdir()) == []


def test_an_edited_comment_and_one_that_is_being_written(begin: Begin, tmp_path: Path) -> None:
    first = begin()
    first.nvim.command("2AcpReview comment old")
    first.nvim.keys("2G:AcpReview comment<CR>er<CR>")
    until_stored(tmp_path, ("older", 2, 2))
    first.nvim.lua("vim.ui.input = function() end")
    first.nvim.command("4AcpReview comment")
    first.nvim.command("1delete")
    until_stored(tmp_path, ("older", 1, 1))
    first.nvim.kill()
    second = begin()
    second.nvim.command("AcpReview comments")
    assert second.comments() == [["f", 2, 2, "older", False]]


def test_two_neovims_have_their_own_comments(begin: Begin, tmp_path: Path) -> None:
    first, second = begin(), begin()
    for desk, text in ((first, "of the first"), (second, "of the second")):
        desk.nvim.command(f"2AcpReview comment {text}")
    until_stored(tmp_path, ("of the first", 2, 2), ("of the second", 2, 2))
    assert len(list(directory(tmp_path).iterdir())) == 2
    third = begin()
    for desk, wanted in ((first, ["of the first"]), (second, ["of the second"]), (third, [])):
        desk.nvim.command("AcpReview comments")
        assert [one[3] for one in desk.comments()] == wanted
    first.nvim.kill()
    third.nvim.command("AcpReview comments")
    assert [one[3] for one in third.comments()] == ["of the first"]
    second.nvim.command("AcpReview comments")
    assert [one[3] for one in second.comments()] == ["of the second"]


def test_neovims_that_restore_at_the_same_time_share_nothing(begin: Begin, tmp_path: Path) -> None:
    first = begin()
    names = [f"g{number}" for number in range(30)]
    for name in names:
        (first.path.parent / name).write_text(NUMBERS)
        first.nvim.command(f"edit {name} | 2AcpReview comment on {name}")
    until_stored(tmp_path, *((f"on {name}", 2, 2) for name in names))
    first.nvim.kill()
    desks = [begin(), begin()]
    with ThreadPoolExecutor() as threads:
        list(threads.map(lambda desk: desk.nvim.command("silent! AcpReview comments"), desks))
    assert sorted(str(one[3]) for desk in desks for one in desk.comments()) == sorted(f"on {name}" for name in names)
    until_stored(tmp_path, *((f"on {name}", 2, 2) for name in names))


def test_removed_comments_are_not_on_disk(begin: Begin, tmp_path: Path) -> None:
    nvim = begin().nvim
    nvim.command("2AcpReview comment one")
    nvim.command("4AcpReview comment two")
    until_stored(tmp_path, ("one", 2, 2), ("two", 4, 4))
    nvim.command("2AcpReview uncomment")
    until_stored(tmp_path, ("two", 4, 4))
    nvim.command("4AcpReview uncomment")
    wait_until(lambda: not list(directory(tmp_path).iterdir()), what="the file to be deleted")


def test_sent_comments_are_on_disk_until_the_prompt_is(editor: Start, begin: Begin, tmp_path: Path) -> None:
    killed(begin, tmp_path, "precious")
    script = agent_script(tmp_path, "def turn(agent, prompt):\n    prompt.say('Thanks.')\n")
    desk = begin(script=script)
    nvim = desk.nvim
    nvim.command("AcpChat")
    nvim.wait_until(lambda: nvim.events("AcpSessionReady"), what="the session")
    host = nvim.host()
    assert host
    os.kill(host.pid, signal.SIGSTOP)
    nvim.command("AcpReview send")
    desk.until_said("1 comment sent")

    def is_deleted() -> bool:
        is_there = bool(stored(tmp_path))
        drafts = (tmp_path / "state").glob("nvim/acp_nvim/drafts/*/*.json")
        assert is_there or any("precious" in path.read_text() for path in drafts)
        return not is_there

    wait_until(is_deleted, what="the comment to be deleted")
    os.kill(host.pid, signal.SIGCONT)
    nvim.wait_until(lambda: prompts(script), what="the prompt")
    nvim.kill()
    last = begin()
    last.nvim.command("AcpReview comments")
    last.until_said("there are no comments")


def test_own_comments_are_not_sent_with_those_that_were_not_seen(begin: Begin, tmp_path: Path) -> None:
    first = begin()
    script = agent_script(tmp_path, "def turn(agent, prompt):\n    prompt.say('Thanks.')\n")
    second = begin(script=script)
    first.nvim.command("2AcpReview comment theirs")
    second.nvim.command("4AcpReview comment mine")
    until_stored(tmp_path, ("mine", 4, 4), ("theirs", 2, 2))
    first.nvim.kill()
    for wanted in (["mine"], ["mine", "theirs"]):
        second.nvim.command("AcpReview send")
        second.nvim.wait_until(lambda wanted=wanted: len(prompts(script)) == len(wanted), what="the prompt")
        assert [one.split("\n")[-1] for one in prompts(script)] == wanted


def test_places_are_found_again(begin: Begin, tmp_path: Path) -> None:
    first = begin()
    first.path.write_bytes(b"one\nm\xe9l\nthree\nfour\nfive\n")
    first.nvim.command("edit! ++bin")
    first.nvim.command("2AcpReview comment moved")
    first.nvim.command("3AcpReview comment lost")
    first.nvim.command("4,5AcpReview comment back")
    first.nvim.command("4,5delete")
    first.nvim.command("call append(0, range(2000)) | write")
    until_stored(tmp_path, ("moved", 2002, 2002), ("lost", 2003, 2003), ("back", 2003, 2003))
    first.nvim.kill()
    lines = b"".join(b"%d\n" % number for number in range(2000))
    first.path.write_bytes(lines + b"zero\none\nm\xe9l\nfour\nfive\nsix\n")
    second = begin()
    second.nvim.command("enew | bdelete # | AcpReview comments")
    second.nvim.command(f"edit ++bin {second.path}")
    second.until_shown((2003, "└ moved"), (2003, "└ lost"), (2005, "└ back (lines 2004 to 2005)"))


def test_lines_that_are_gone(begin: Begin, tmp_path: Path) -> None:
    first = begin()
    first.nvim.command("2AcpReview comment it")
    first.nvim.command("2delete | write")
    first.until_shown((1, f"└ it {GONE}"))
    until_stored(tmp_path, ("it", 2, 2))
    wait_until(lambda: '"is_gone":true' in next(directory(tmp_path).glob("*.json")).read_text(), what="it to be stored")
    first.nvim.kill()
    second = begin()
    second.nvim.command("AcpReview comments")
    second.nvim.command(f"buffer {second.path}")
    second.until_shown((1, f"└ it {GONE}"))
    second.nvim.command("call append(3, 'two') | write | edit")
    second.until_shown((4, "└ it"))


def test_elsewhere_only_the_comments_on_loaded_files_are_restored(begin: Begin, tmp_path: Path) -> None:
    first = begin()
    first.nvim.command("2AcpReview comment here")
    (first.path.parent / "g").write_text(NUMBERS)
    first.nvim.command("edit g | 3AcpReview comment there")
    until_stored(tmp_path, ("here", 2, 2), ("there", 3, 3))
    first.nvim.kill()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    second = begin(project=elsewhere)
    second.nvim.command("AcpReview comments")
    second.until_said("there are no comments")
    second.nvim.command(f"edit {first.path.parent / 'g'} | AcpReview comments")
    assert second.comments() == [["g", 3, 3, "there", False]]
    third = begin()
    third.nvim.command("AcpReview comments")
    assert third.comments() == [["f", 2, 2, "here", False]]


def test_the_tool_restores_comments(begin: Begin, tmp_path: Path) -> None:
    killed(begin, tmp_path, "it")
    desk = begin()
    answer = (
        "local cwd = vim.fn.getcwd() local args, found = { cwd = cwd, directories = { cwd } }, nil "
        "require('acp_nvim.mcp.comments').list(args, function(one) found = one end)"
    )
    assert desk.nvim.lua(f"{answer} return found.lines") == ["f:2:1: it"]
    desk.until_said(RESTORED.format("1 unsent comment"))


def test_the_modules_are_loaded_again(begin: Begin, tmp_path: Path) -> None:
    nvim = begin().nvim
    nvim.command("2AcpReview comment it")
    nvim.lua(RELOAD)
    nvim.command("AcpReview comments")
    until_stored(tmp_path, ("it", 2, 2))
    nvim.lua(RELOAD)
    nvim.command("cclose | 4AcpReview comment more")
    until_stored(tmp_path, ("it", 2, 2), ("more", 4, 4))
    assert len(list(directory(tmp_path).iterdir())) == 1


def test_files_that_are_not_understood_are_left_alone(begin: Begin, tmp_path: Path) -> None:
    killed(begin, tmp_path, "good")
    [path] = directory(tmp_path).iterdir()
    content = json.loads(path.read_text())
    other = {**content["comments"][0], "lines": [1]}
    owner = path.name.rpartition("-")[0]
    bad = {
        f"{owner}-901.json": "",
        f"{owner}-902.json": '{"version":1,"comm',
        f"{owner}-903.json": json.dumps({**content, "version": 2}),
        f"{owner}-904.json": json.dumps({**content, "comments": {"text": "x"}}),
        f"{owner}-905.json": json.dumps({**content, "comments": [*content["comments"], other]}),
        f"{owner}-906.json": json.dumps([1, None, "x"]),
        "notes.txt": "mine",
    }
    for name, text in bad.items():
        (path.parent / name).write_text(text)
    (path.parent / f"{owner}-907.json").mkdir()
    interrupted = path.parent / f"{path.name}.new"
    interrupted.write_text("half a fi")
    desk = begin()
    for _ in range(2):
        desk.nvim.command("AcpReview comments")
        assert desk.comments() == [["f", 2, 2, "good", False]]
    assert desk.nvim.messages() == [f"acp_nvim: {RESTORED.format('1 unsent comment')}"]
    assert {name: (path.parent / name).read_text() for name in bad} == bad
    assert not interrupted.exists()
    log = Path(desk.nvim.lua("return require('acp_nvim.kernel.log').path()"))
    left = [f"left alone: {path.parent / name}\n" for name in [*bad, f"{owner}-907.json"]]
    wait_until(lambda: all(line in log.read_text() for line in left), what="the host to log them")
    assert [log.read_text().count(line) for line in left] == [1] * len(left)


def test_a_state_directory_that_cannot_be_written(begin: Begin, tmp_path: Path) -> None:
    directory(tmp_path).parent.mkdir(parents=True)
    directory(tmp_path).write_text("in the way")
    desk = begin()
    desk.nvim.command("2AcpReview comment one")
    desk.until_said("review comments cannot be stored")
    desk.nvim.command("4AcpReview comment two")
    desk.nvim.command("AcpReview comments")
    assert [one[3] for one in desk.comments()] == ["one", "two"]
    directory(tmp_path).unlink()
    desk.nvim.command(f"buffer {desk.path} | 5AcpReview comment three")
    until_stored(tmp_path, ("one", 2, 2), ("two", 4, 4), ("three", 5, 5))
    assert len(desk.nvim.messages()) == 1
