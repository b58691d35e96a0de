"""A project's `.mcp.json` is used only after the user has said so, for exactly the content that was shown."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_nvim.agents.mcp_servers import ServerError
from acp_nvim.contract.session_events import ProjectServers
from acp_nvim.mcp.project_servers import Answer, ProjectServersTrust

pytestmark = pytest.mark.anyio

SERVERS = {"one": {"command": "sh", "args": ["-c", "true"]}}
LISTED = [{"command": "sh", "args": ["-c", "true"], "name": "one"}]


class User:
    """A user who is asked; `said` is what each session was told."""

    def __init__(self, state: Path) -> None:
        self.asked: list[ProjectServers] = []
        self.said: list[str] = []
        self.trust = ProjectServersTrust(state, self._take)

    def _take(self, event: Any) -> None:
        self.asked.append(event)

    async def servers(self, cwd: Path, answer: Answer | None = None) -> list[dict[str, Any]]:
        """Return the servers of a project; the user is asked if there is an `answer`."""
        found: list[list[dict[str, Any]]] = []
        before = len(self.asked)

        async def look() -> None:
            found.append(await self.trust.servers(str(cwd), self.said.append))

        with anyio.fail_after(30):
            async with anyio.create_task_group() as group:
                group.start_soon(look)
                while answer is not None and len(self.asked) == before:
                    await anyio.lowlevel.checkpoint()
                if answer is not None:
                    await self.trust.answered(self.asked[-1].id, answer)
        assert len(self.asked) - before == (answer is not None)
        return found[0]


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    write(project, SERVERS)
    return project


def write(project: Path, servers: Any) -> None:
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path / "state")


async def test_what_the_user_wants_is_used_from_then_on(user: User, cwd: Path, tmp_path: Path) -> None:
    assert await user.servers(cwd, "use") == LISTED
    assert (user.asked[0].path, user.asked[0].servers[0].words) == (str(cwd / ".mcp.json"), "sh -c true")
    assert user.said == [f"{cwd / '.mcp.json'} names MCP servers for agents:\n  one: sh -c true"]
    assert await user.servers(cwd) == LISTED
    another = User(tmp_path / "state")  # after a restart
    assert await another.servers(cwd) == LISTED
    assert (tmp_path / "state" / "project_servers.json").stat().st_mode & 0o777 == 0o600


async def test_another_content_is_asked_for_again(user: User, cwd: Path) -> None:
    await user.servers(cwd, "use")
    write(cwd, {"one": {"command": "sh", "args": ["-c", "rm -rf ~"]}})
    assert await user.servers(cwd, "never") == []
    assert await user.servers(cwd) == []
    write(cwd, SERVERS)
    assert await user.servers(cwd, "use") == LISTED


async def test_the_same_content_elsewhere_is_asked_for(user: User, cwd: Path, tmp_path: Path) -> None:
    await user.servers(cwd, "use")
    other = tmp_path / "other"
    other.mkdir()
    write(other, SERVERS)
    assert await user.servers(other, "later") == []
    assert await user.servers(other) == []  # not again in this Neovim
    assert await User(tmp_path / "state").servers(other, "use") == LISTED


async def test_two_sessions_have_one_question(user: User, cwd: Path) -> None:
    found: list[Any] = []

    async def look() -> None:
        found.append(await user.trust.servers(str(cwd), user.said.append))

    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(look)
            group.start_soon(look)
            while len(user.said) < 2 or not user.asked:
                await anyio.lowlevel.checkpoint()
            await user.trust.answered(user.asked[0].id, "use")
    assert found == [LISTED, LISTED]
    assert len(user.asked) == 1


async def test_a_start_that_is_cancelled_leaves_no_question_behind(user: User, cwd: Path) -> None:
    with anyio.move_on_after(30) as scope:
        async with anyio.create_task_group() as group:
            group.start_soon(user.trust.servers, str(cwd), user.said.append)
            while not user.asked:
                await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()
    assert not scope.cancelled_caught
    await user.trust.answered(user.asked[0].id, "use")  # the answer comes too late
    assert await user.servers(cwd, "later") == []


async def test_the_question_stays_for_the_session_that_still_waits(user: User, cwd: Path) -> None:
    found: list[Any] = []
    first = anyio.CancelScope()

    async def begin() -> None:
        with first:
            await user.trust.servers(str(cwd), user.said.append)

    async def look() -> None:
        found.append(await user.trust.servers(str(cwd), user.said.append))

    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(begin)
            while not user.asked:
                await anyio.lowlevel.checkpoint()
            group.start_soon(look)
            while len(user.said) < 2:
                await anyio.lowlevel.checkpoint()
            await anyio.wait_all_tasks_blocked()
            first.cancel()
            await anyio.wait_all_tasks_blocked()
            await user.trust.answered(user.asked[0].id, "use")
    assert found == [LISTED]
    assert len(user.asked) == 1


async def test_a_link_to_a_trusted_file_is_asked_for(user: User, cwd: Path, tmp_path: Path) -> None:
    write(cwd, {"one": {"command": "./run.sh"}})
    await user.servers(cwd, "use")
    other = tmp_path / "other"
    other.mkdir()
    (other / ".mcp.json").symlink_to(cwd / ".mcp.json")
    assert await user.servers(other, "later") == []
    assert user.asked[-1].path == str(other / ".mcp.json")
    link = tmp_path / "link"
    link.symlink_to(cwd)
    assert len(await user.servers(link)) == 1  # the same directory


async def test_a_file_that_a_server_runs_is_part_of_what_was_agreed(user: User, cwd: Path, tmp_path: Path) -> None:
    write(cwd, {"one": {"command": "./run.sh"}})
    assert len(await user.servers(cwd, "use")) == 1
    assert user.asked[-1].files == []
    (cwd / "run.sh").write_text("one")
    assert await user.servers(cwd, "later") == []
    assert user.asked[-1].files == ["run.sh"]
    user = User(tmp_path / "state")
    assert len(await user.servers(cwd, "use")) == 1
    assert len(await User(tmp_path / "state").servers(cwd)) == 1
    (cwd / "run.sh").write_text("two")
    (cwd / "other.sh").write_text("two")
    assert await User(tmp_path / "state").servers(cwd, "never") == []
    assert await User(tmp_path / "state").servers(cwd) == []
    (cwd / "run.sh").write_text("one")
    assert len(await User(tmp_path / "state").servers(cwd, "use")) == 1


async def test_what_changes_while_the_user_is_asked_is_not_used(user: User, cwd: Path) -> None:
    write(cwd, {"one": {"command": "./run.sh"}})
    (cwd / "run.sh").write_text("one")
    problems: list[str] = []

    async def look() -> None:
        try:
            await user.trust.servers(str(cwd), user.said.append)
        except ServerError as error:
            problems.append(str(error))

    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(look)
            while not user.asked:
                await anyio.lowlevel.checkpoint()
            (cwd / "run.sh").write_text("two")
            await user.trust.answered(user.asked[0].id, "use")
    assert problems == ["it has changed since you were asked, or a file that it runs has: start again"]
    assert await user.servers(cwd, "later") == []


async def test_what_cannot_be_shown_whole_is_not_used(user: User, cwd: Path) -> None:
    write(cwd, {"long": {"command": "sh", "args": ["x" * 60_000]}, **SERVERS})
    assert await user.servers(cwd, "use") == LISTED
    assert [one.name for one in user.asked[0].servers] == ["one"]
    assert "MCP server long of" in user.said[0]
    assert "is left out: what it runs has more than 2,000 characters" in user.said[0]
    write(cwd, {str(number): {"command": "x" * 1900} for number in range(9)})
    with pytest.raises(ServerError, match=r"17,109 characters, which nobody could look through"):
        await user.trust.servers(str(cwd), user.said.append)


async def test_blanks_and_names_hide_nothing(user: User, cwd: Path) -> None:
    blanks = " " * 400
    write(
        cwd,
        {
            "good: npx good": {
                "command": "evil",
                "args": [f"a{blanks}b"],
                "env": {f"A{blanks}": f"b\n  ok: x{blanks}"},
            },
            'x" (env': {"command": "x"},
        },
    )
    await user.servers(cwd, "later")
    first, second = user.asked[0].servers
    assert (first.name, second.name) == ('"good: npx good"', '"x" (env"')
    counted = " ··· 400 spaces ··· "
    assert first.words == f"evil a{counted}b (env: A{counted}=b\\n  ok: x{counted})"
    assert blanks not in user.said[0]


async def test_only_what_was_shown_is_used(user: User, cwd: Path) -> None:
    more = {"_meta": {"run": "evil"}, "cwd": "/", "headers": {"A": "b"}}
    write(
        cwd,
        {
            "program": {"command": "evil", "url": "https://good", "args": ["--now"], **more},
            "address": {"type": "http", "url": "https://good", "command": "evil", "env": {"A": "b"}, **more},
            "no list": {"command": "sh", "args": "-c evil", "env": 5, "type": None},
        },
    )
    used = await user.servers(cwd, "use")
    assert {one.name: one.words for one in user.asked[0].servers} == {
        "program": "evil --now",
        "address": "https://good (headers: A=b)",
        "no list": "sh -c evil (env: ?=5)",
    }
    assert used == [
        {"name": "program", "command": "evil", "args": ["--now"]},
        {"name": "address", "type": "http", "url": "https://good", "headers": [{"name": "A", "value": "b"}]},
        {"name": "no list", "command": "sh", "args": "-c evil", "env": 5},
    ]


@pytest.mark.parametrize("kind", [["http"], {"http": 1}, 5, True])
async def test_a_type_that_is_no_text_is_passed_on_to_be_refused(user: User, cwd: Path, kind: Any) -> None:
    write(cwd, {"one": {"type": kind, "url": "https://here"}})
    assert await user.servers(cwd, "use") == [{"name": "one", "type": kind, "url": "https://here"}]


async def test_nothing_is_asked_where_there_is_nothing(user: User, tmp_path: Path, cwd: Path) -> None:
    assert await user.servers(tmp_path) == []
    write(cwd, {})
    assert await user.servers(cwd) == []
    write(cwd, SERVERS)
    user.trust.is_asking = False
    assert await user.servers(cwd) == []
    assert user.asked == []


HOSTILE: dict[str, tuple[Callable[[Path], object], str]] = {
    "large": (lambda path: path.write_text(" " * 300_000), "it has more than 256 kB"),
    "not JSON": (lambda path: path.write_text("{"), "no valid JSON"),
    "not UTF-8": (lambda path: path.write_bytes(b'{"mcpServers": {"\xff": {}}}'), "no valid JSON"),
    "nested": (lambda path: path.write_text('{"mcpServers": ' + "[" * 100_000), "no valid JSON"),
    "no map": (lambda path: path.write_text('{"mcpServers": 5}'), "a map from names to servers"),
    "an array": (lambda path: path.write_text("[]"), "no valid JSON"),
    "many": (lambda path: path.write_text(json.dumps({"mcpServers": {str(n): {} for n in range(99)}})), "99 servers"),
    "a FIFO": (lambda path: os.mkfifo(path), "cannot be read"),
    "a directory": (lambda path: path.mkdir(), "cannot be read"),
    "a device": (lambda path: path.symlink_to("/dev/zero"), "cannot be read"),
    "a loop": (lambda path: path.symlink_to(path), "cannot be read"),
}


@pytest.mark.parametrize("kind", HOSTILE)
async def test_a_faulty_file_is_refused_in_words(user: User, tmp_path: Path, kind: str) -> None:
    make, words = HOSTILE[kind]
    make(tmp_path / ".mcp.json")
    with anyio.fail_after(30), pytest.raises(ServerError, match=words):
        await user.trust.servers(str(tmp_path), user.said.append)
    assert user.asked == []


async def test_escapes_are_shown_as_such(user: User, cwd: Path) -> None:
    write(cwd, {"a\x1b[2Jb": {"url": "http://h/\u202e"}})
    await user.servers(cwd, "later")
    assert user.asked[0].servers[0].name == "a\\x1b[2Jb"
    assert user.asked[0].servers[0].words == "http://h/\\u202e"
    assert "\x1b" not in user.said[0]


async def test_answers_that_cannot_be_kept_are_told(user: User, cwd: Path) -> None:
    user.trust.directory = cwd / ".mcp.json"
    with pytest.raises(NotADirectoryError):
        await user.trust.servers(str(cwd), user.said.append)
