"""What an agent was allowed is exactly what runs: everything else that it tries afterwards asks again."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_nvim.contract import events
from acp_nvim.limits import COMMAND_SHOWN_CHARS
from tests.core.jsonrpc.peer import all_done
from tests.core.session.inner_agent import InnerHost, inner_host
from tests.support.examples import examples

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("no_profile")]

LINE = "echo é; echo two"
HOME = "{home}"
"""Stands for the session's directory in what follows."""

OPTIONS = [
    {"optionId": "once", "name": "Allow", "kind": "allow_once"},
    {"optionId": "always", "name": "Always allow", "kind": "allow_always"},
    {"optionId": "reject", "name": "Reject", "kind": "reject_once"},
]

Json = dict[str, Any]


@dataclass
class Session:
    """A turn runs; the agent's messages are sent one at a time, and their effect is waited for."""

    host: InnerHost
    home: Path
    requests: int = 0

    async def ask(self, call: Json, answer: str | None = "once", tool_call_id: str = "c") -> events.RequestView:
        """The agent asks for a permission, and the user answers with that option: what was shown."""
        params = {"sessionId": "s", "toolCall": {"toolCallId": tool_call_id, **self._placed(call)}, "options": OPTIONS}
        request_id = self._request("session/request_permission", params)
        view = self.host.of(events.Permission)[-1].request if await self._is_shown(request_id) else None
        assert view is not None
        if answer is not None:
            await self.answer(view, answer)
            await self.host.editor.until("the answer", lambda: self._answered(request_id))
        return view

    async def answer(self, view: events.RequestView, option: str) -> None:
        """Answer a request as the user."""
        self.host.say("answer", id=view.id, option_id=option)
        await all_done()

    async def update(self, update: Json, tool_call_id: str = "c", what: str = "tool_call_update") -> None:
        """The agent tells of a tool call."""
        self.host.agent.update(sessionUpdate=what, toolCallId=tool_call_id, **self._placed(update))
        await all_done()

    async def run(self, **wanted: Any) -> str:
        """The agent creates a terminal: `ran` unasked, `asked` for, or `refused`; it does not run in the end."""
        request_id = self._request("terminal/create", {"sessionId": "s", **self._placed(wanted)})
        if await self._is_shown(request_id):
            await self.answer(self.host.of(events.Permission)[-1].request, "reject_once")
            return "asked"
        [answer] = self._answered(request_id)
        if "error" in answer:
            return "refused"
        released = {"sessionId": "s", "terminalId": answer["result"]["terminalId"]}
        release_id = self._request("terminal/release", released)
        await self.host.editor.until("the end of the terminal", lambda: self._answered(release_id))
        return "ran"

    async def next_turn(self) -> None:
        """The turn ends, and another one begins."""
        await self.end_turn()
        before = len(self.host.agent.heard_of("session/prompt"))
        self.host.say("prompt", text="more")
        await self.host.editor.until("a turn", lambda: len(self.host.agent.heard_of("session/prompt")) > before)

    async def end_turn(self) -> None:
        """Let the agent end its turn."""
        before = len(self.host.of(events.TurnEnd))
        self.host.agent.end_turn("end_turn")
        await self.host.editor.until("its end", lambda: len(self.host.of(events.TurnEnd)) > before)

    def _request(self, method: str, params: Json) -> str:
        self.requests += 1
        request_id = f"r{self.requests}"
        self.asked_before = len(self.host.of(events.Permission))
        self.host.agent.say({"id": request_id, "method": method, "params": params})
        return request_id

    async def _is_shown(self, request_id: str) -> bool:
        """Whether it became a question to the user, rather than being answered at once."""

        def is_over() -> bool:
            return len(self.host.of(events.Permission)) > self.asked_before or bool(self._answered(request_id))

        await self.host.editor.until("a question, or an answer", is_over)
        return not self._answered(request_id)

    def _answered(self, request_id: str) -> list[Any]:
        return [one for one in self.host.agent.answers() if one.get("id") == request_id]

    def _placed(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: self._placed(one) for name, one in value.items()}
        if isinstance(value, list):
            return [self._placed(one) for one in value]
        return value.replace(HOME, str(self.home)) if isinstance(value, str) else value


@asynccontextmanager
async def session(directory: Path, *quirks: str) -> AsyncIterator[Session]:
    """A session with an agent of those quirks."""
    home = directory / "project"
    (home / "sub").mkdir(parents=True)
    async with inner_host(home, v2=False, agents={"inner": {"command": ["inner"], "quirks": quirks}}) as host:
        yield Session(host, home)


def text(words: str) -> Json:
    """Return a text as content of a tool call."""
    return {"type": "content", "content": {"type": "text", "text": words}}


def named(command: Any = LINE, **more: Any) -> Json:
    """A tool call that names a command."""
    return {"title": "Run", "kind": "execute", "rawInput": {"command": command, **more}}


# --- what was allowed runs -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "run"),
    [
        (named(), {"command": LINE}),
        (named(), {"command": "/bin/sh", "args": ["-c", LINE]}),
        (named(), {"command": "bash", "args": ["-lc", LINE], "env": [{"name": "NO_COLOR", "value": "1"}]}),
        (named(), {"command": "bash", "args": ["-l", "-c", LINE]}),
        (named(), {"command": "/bin/bash", "args": ["--noprofile", "--norc", "-c", LINE]}),
        (named("bash", args=["-l", "-c", LINE]), {"command": LINE}),
        (named(["zsh", "-l", "-c", LINE]), {"command": "bash", "args": ["-l", "-c", LINE]}),
        (named(directory=f"{HOME}/sub"), {"command": "bash", "args": ["-l", "-c", LINE], "cwd": f"{HOME}/sub"}),
        (named(["zsh", "-c", LINE]), {"command": LINE, "cwd": HOME}),
        (named(cwd=f"{HOME}/sub"), {"command": LINE, "cwd": f"{HOME}/sub"}),
        (named(["echo", "a b"]), {"command": "echo", "args": ["a b"]}),
        (named("echo", args=["a b"]), {"command": "echo", "args": ["a b"]}),
        (named("true"), {"command": "true"}),
        (named(" echo a\t\n"), {"command": " echo a\t\n"}),
        ({"title": "Run", "rawInput": {"command": LINE}}, {"command": LINE}),
        ({"title": "Run", "kind": None, "rawInput": {"cmd": LINE}}, {"command": LINE}),
    ],
)
async def test_what_was_allowed_runs_once(tmp_path: Path, asked: Json, run: Json) -> None:
    async with session(tmp_path) as agent:
        await agent.ask(asked)
        assert [await agent.run(**run) for _ in range(2)] == ["ran", "asked"]


# --- nothing else does -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Attack:
    """After what came `before` the user allows what is `asked`; then the agent runs something, `quirks` or not."""

    name: str
    asked: Json = field(default_factory=named)
    run: Json = field(default_factory=lambda: {"command": LINE})
    before: list[Json] = field(default_factory=list)
    after: list[Json] = field(default_factory=list)
    quirks: tuple[str, ...] = ()
    answer: str = "once"


def byte(name: str, command: str, allowed: str = LINE) -> Attack:
    """A line that differs from the one that was allowed in what a reader hardly sees."""
    return Attack(name, asked=named(allowed), run={"command": command})


RM = "rm -rf ~"
KIMI = ("command_in_content", "cd_before_command")
BYTES = [
    byte("newline behind", f"{LINE}\n"),
    byte("newline before", f"\n{LINE}"),
    byte("blank behind", f"{LINE} "),
    byte("blank before", f" {LINE}"),
    byte("tab behind", f"{LINE}\t"),
    byte("carriage return behind", f"{LINE}\r"),
    byte("NUL behind", f"{LINE}\0"),
    byte("backslash behind", f"{LINE}\\"),
    byte("hash behind", f"{LINE}#"),
    byte("semicolon behind", f"{LINE};"),
    byte("ampersand behind", f"{LINE}&"),
    byte("no-break space behind", f"{LINE}\u00a0"),
    byte("next line behind", f"{LINE}\u0085"),
    byte("zero width space within", LINE.replace("two", "t\u200bwo")),
    byte("bidi override within", LINE.replace("two", "\u202etwo")),
    byte("byte order mark before", f"\ufeff{LINE}"),
    byte("decomposed", LINE.replace("é", "e\u0301")),
    byte("composed", LINE, allowed=LINE.replace("é", "e\u0301")),
    byte("Cyrillic o", LINE.replace("two", "tw\u043e")),
    byte("full width", LINE.replace("two", "tw\uff4f")),
    byte("capital", LINE.replace("two", "twO")),
    byte("two blanks", LINE.replace(" two", "  two")),
    byte("tab for a blank", LINE.replace(" two", "\ttwo")),
    byte("no-break space for a blank", LINE.replace(" two", "\u00a0two")),
    byte("newline for a semicolon", LINE.replace("; ", "\n")),
    byte("or for a semicolon", LINE.replace(";", "|")),
    byte("one byte less", LINE[:-1]),
    byte("one byte less at the beginning", LINE[1:]),
    byte("one byte more", f"{LINE}x"),
    byte("in backquotes", f"`{LINE}`"),
    byte("backquotes off", LINE, allowed=f"`{LINE}`"),
    byte("in quotes", f"'{LINE}'"),
    byte("behind a prompt", f"$ {LINE}"),
    byte("prompt off", LINE, allowed=f"$ {LINE}"),
    byte("the beginning", "echo é"),
    byte("the end", "echo two"),
    byte("the tail behind 400 blanks", "rm -rf x", allowed=f"npm test{' ' * 400}; rm -rf x"),
    byte("behind 400 blanks", f"npm test{' ' * 400}; rm -rf x", allowed="npm test"),
    byte("cut off with dots", LINE, allowed=f"{LINE[:-1]}…"),
    byte("a comment less", LINE, allowed=f"{LINE} # and nothing else"),
    byte("a change of directory", f"cd '{HOME}' && {LINE}"),
]
SHAPES = [
    Attack("another option of the shell", run={"command": "sh", "args": ["-ic", LINE]}),
    *(
        Attack(f"a shell with {' '.join(options)}", run={"command": "bash", "args": [*options, LINE]})
        for options in (
            ["-c", "-l"],
            ["-l"],
            ["-s"],
            ["-l", "-x", "-c"],
            ["-l", "-i", "-c"],
            ["-o", "errexit", "-c"],
            ["-cx"],
            ["-l", "--norc", "-c"],
            ["--rcfile", "x", "-c"],
            ["--norc"],
            ["-c", "--"],
            ["+l", "-c"],
            ["-c", "-c"],
        )
    ),
    Attack("a long option of another shell", run={"command": "sh", "args": ["--norc", "-c", LINE]}),
    Attack("an argument more for a login shell", run={"command": "bash", "args": ["-l", "-c", LINE, "x"]}),
    Attack("a login shell elsewhere", run={"command": "bash", "args": ["-l", "-c", LINE], "cwd": f"{HOME}/sub"}),
    Attack(
        "a login shell with a variable",
        run={"command": "bash", "args": ["-l", "-c", LINE], "env": [{"name": "BASH_ENV", "value": "x"}]},
    ),
    Attack("a login shell through env", run={"command": "env", "args": ["bash", "-c", LINE]}),
    Attack("a directory that is none", asked=named(cwd=5)),
    Attack("two directories by two names", asked=named(cwd=HOME, directory=f"{HOME}/sub")),
    Attack("an argument more for the shell", run={"command": "sh", "args": ["-c", LINE, "x"]}),
    Attack("a shell of the project", run={"command": "./sh", "args": ["-c", LINE]}),
    Attack("a shell from elsewhere", run={"command": "/tmp/bash", "args": ["-c", LINE]}),
    Attack("a shell below the session", run={"command": f"{HOME}/bash", "args": ["-lc", LINE]}),
    Attack("a shell that reads otherwise", run={"command": "fish", "args": ["-c", LINE]}),
    Attack("a byte within the shell", run={"command": "sh", "args": ["-c", f"{LINE} "]}),
    Attack("words for a line", asked=named("echo a b"), run={"command": "echo", "args": ["a", "b"]}),
    Attack("a line for words", asked=named(["echo", "a b"]), run={"command": "echo 'a b'"}),
    Attack("words cut elsewhere", asked=named(["echo", "a b"]), run={"command": "echo", "args": ["a", "b"]}),
    Attack("a word more", asked=named(["echo", "a"]), run={"command": "echo", "args": ["a", ""]}),
    Attack("a word less", asked=named(["echo", "a", ""]), run={"command": "echo", "args": ["a"]}),
    Attack("words that were left out", asked=named("rm", args=["x"]), run={"command": "rm"}),
    Attack("words in a text", asked=named("rm", args="-rf x"), run={"command": "rm"}),
    Attack("two commands", asked=named(LINE, cmd=RM), run={"command": RM}),
    Attack("the first of two commands", asked=named(LINE, cmd=RM)),
    Attack("a variable", run={"command": LINE, "env": [{"name": "LD_PRELOAD", "value": "x"}]}),
    Attack("the path of programs", run={"command": LINE, "env": [{"name": "PATH", "value": HOME}]}),
    Attack("without the variable that was named", asked=named(env={"DRY_RUN": "1"})),
    Attack(
        "another value of the variable",
        asked=named(env={"DRY_RUN": "1"}),
        run={"command": LINE, "env": [{"name": "DRY_RUN", "value": ""}]},
    ),
    Attack(
        "variables in another shape",
        asked=named(env=["DRY_RUN=1"]),
        run={"command": LINE, "env": [{"name": "DRY_RUN", "value": "1"}]},
    ),
    Attack("another directory", run={"command": LINE, "cwd": f"{HOME}/sub"}),
    Attack("home and not the named directory", asked=named(cwd=f"{HOME}/sub")),
    Attack("a directory outside", asked=named(cwd="/")),
    Attack("two directories", asked=named(cwd=HOME, workdir=f"{HOME}/sub")),
    Attack("a command that is a number", asked=named(5), run={"command": "5"}),
    Attack("words that are none", asked=named(["echo", 5]), run={"command": "echo", "args": ["5"]}),
    Attack("input that is a text", asked={"title": "Run", "kind": "execute", "rawInput": LINE}),
    Attack("input in a list", asked={"title": "Run", "kind": "execute", "rawInput": [{"command": LINE}]}),
    Attack("input below input", asked={"title": "Run", "kind": "execute", "rawInput": {"input": {"command": LINE}}}),
]
PLACES = [
    Attack("in the title", asked={"title": LINE, "kind": "execute"}),
    Attack("part of the title", asked={"title": "rm -rf ~/.cache/foo", "kind": "execute"}, run={"command": RM}),
    Attack("title in backquotes", asked={"title": f"`{LINE}`", "kind": "execute"}),
    Attack("title with a tail", asked={"title": f"npm test{' ' * 400}; {RM}", "kind": "execute"}, run={"command": RM}),
    Attack("in the content", asked={"title": "Run", "kind": "execute", "content": [text(LINE)]}),
    Attack("behind a prompt", asked={"title": "Run", "kind": "execute", "content": [text(f"$ {LINE}")]}),
    Attack("in the description", asked=named("true", description=LINE)),
    Attack(
        "one of 22 contents",
        asked={"title": "Run", "kind": "execute", "content": [*(text(f"{n}") for n in range(21)), text(LINE)]},
    ),
    Attack("title, and another in the input", asked={**named("true"), "title": LINE}),
    Attack("content, and another in the input", asked={**named("true"), "content": [text(LINE)]}),
    Attack("in the output", asked={"title": "Run", "kind": "execute", "rawOutput": {"command": LINE}}),
    Attack("in the metadata", asked={"title": "Run", "kind": "execute", "_meta": {"command": LINE}}),
]
TIMES = [
    Attack("named before the request", before=[named()], asked={"title": "Run"}),
    Attack("named before, only the id in the request", before=[named()], asked={}),
    Attack("named before, cleared in the request", before=[named()], asked={"title": "Run", "rawInput": None}),
    Attack("named after the answer", asked={"title": "Run", "kind": "execute"}, after=[named()]),
    Attack("in the title, named afterwards", asked={"title": LINE, "kind": "execute"}, after=[named()]),
    Attack(
        "part of the title, named afterwards",
        asked={"title": "rm -rf ~/.cache/foo", "kind": "execute"},
        after=[named(RM)],
        run={"command": RM},
    ),
    Attack("changed after the answer", asked=named("true"), after=[named()]),
    Attack("the title changed", asked=named("true"), after=[{"title": LINE}]),
    Attack("the content changed", asked=named("true"), after=[{"content": [text(LINE)]}]),
    Attack("the tool call is done", after=[{"status": "completed"}]),
    Attack("the tool call has failed", after=[{"status": "failed"}]),
    Attack("the tool call was done and goes on", after=[{"status": "completed"}, {"status": "in_progress"}]),
    Attack("another before the request", before=[named()], asked=named("true")),
    Attack("rejected", answer="reject"),
]
KINDS = [
    *(
        Attack(f"{kind}, then execute", asked={**named(), "kind": kind}, after=[{"kind": "execute"}])
        for kind in ("think", "read", "edit", "delete", "move", "search", "fetch", "switch_mode", "other", "_new")
    ),
    Attack(
        "a thought before, no kind in the request", before=[{"kind": "think"}], asked={"rawInput": {"command": LINE}}
    ),
    Attack("read, named afterwards", asked={"title": LINE, "kind": "read"}, after=[named()]),
]
QUIRKS = [
    Attack("behind words", quirks=KIMI, asked={"kind": "execute", "content": [text(f"Approve: {LINE}")]}),
    Attack("without words", quirks=KIMI, asked={"kind": "execute", "content": [text(LINE)]}),
    Attack(
        "a blank more",
        quirks=KIMI,
        asked={"kind": "execute", "content": [text(f"Requesting approval to Running:  {LINE}")]},
    ),
    Attack(
        "cut off",
        quirks=KIMI,
        asked={"kind": "execute", "content": [text(f"Requesting approval to Running: {LINE[:-1]}…")]},
        after=[named()],
    ),
    Attack(
        "two texts",
        quirks=KIMI,
        asked={"kind": "execute", "content": [text(f"Requesting approval to Running: {LINE}"), text("x")]},
    ),
    Attack(
        "in the title",
        quirks=KIMI,
        asked={"title": f"Requesting approval to Running: {LINE}", "kind": "execute"},
    ),
    Attack(
        "without a kind",
        quirks=KIMI,
        asked={"content": [text(f"Requesting approval to Running: {LINE}")]},
    ),
    Attack(
        "text and input",
        quirks=KIMI,
        asked={**named("true"), "content": [text(f"Requesting approval to Running: {LINE}")]},
    ),
    Attack(
        "without the quirk", asked={"kind": "execute", "content": [text(f"Requesting approval to Running: {LINE}")]}
    ),
    Attack("a change elsewhere", quirks=KIMI, run={"command": f"cd '{HOME}/sub' && {LINE}"}),
    Attack("a change in other quotes", quirks=KIMI, run={"command": f'cd "{HOME}" && {LINE}'}),
    Attack("a change without end", quirks=KIMI, run={"command": f"cd '{HOME}' || {LINE}"}),
    Attack("two changes", quirks=KIMI, run={"command": f"cd '{HOME}' && cd '{HOME}' && {LINE}"}),
    Attack(
        "words of two commands",
        quirks=("words_for_line",),
        asked=named("echo a; echo b"),
        run={"command": "echo", "args": ["a;", "echo", "b"]},
    ),
    *(
        Attack(
            f"words of {line!r}", quirks=("words_for_line",), asked=named(line), run={"command": "echo", "args": args}
        )
        for line, args in [
            ("echo *", ["*"]),
            ("echo $HOME", ["$HOME"]),
            ("echo ~", ["~"]),
            ("echo a # b", ["a"]),
            ("echo a >/dev/null", ["a"]),
            ("echo a;", ["a"]),
            ("echo a b", ["a b"]),
            ("echo 'a b'", ["a", "b"]),
            ("echo a", ["a", "b"]),
            ("A=b echo a", ["a"]),
        ]
    ),
]
ATTACKS = {"bytes": BYTES, "shapes": SHAPES, "places": PLACES, "times": TIMES, "kinds": KINDS, "quirks": QUIRKS}


@pytest.mark.parametrize("attacks", ATTACKS.values(), ids=ATTACKS)
async def test_what_was_not_allowed_does_not_run_unasked(tmp_path: Path, attacks: list[Attack]) -> None:
    """Each attack has a turn of its own."""
    came_to: dict[str, str] = {}
    for quirks in sorted({attack.quirks for attack in attacks}):
        async with session(tmp_path / "-".join(["with", *quirks]), *quirks) as agent:
            for number, attack in enumerate(one for one in attacks if one.quirks == quirks):
                for update in attack.before:
                    await agent.update({"title": "Run", **update}, f"c{number}", "tool_call")
                await agent.ask(attack.asked, attack.answer, f"c{number}")
                for update in attack.after:
                    await agent.update(update, f"c{number}")
                came_to[attack.name] = await agent.run(**attack.run)
                await agent.next_turn()
    assert len(came_to) == len(attacks)
    assert [name for name, what in came_to.items() if what == "ran"] == []


def test_there_are_many_such_attacks(capsys: pytest.CaptureFixture[str]) -> None:
    count = sum(map(len, ATTACKS.values()))
    with capsys.disabled():
        print(f" [{count} commands that were not allowed] ", end="")
    assert count >= 120


# --- whose it is, and when it ends -----------------------------------------------------------------------------------


async def test_always_of_the_agent_is_once_too(tmp_path: Path) -> None:
    async with session(tmp_path) as agent:
        await agent.ask(named(), "always")
        assert [await agent.run(command=LINE) for _ in range(2)] == ["ran", "asked"]


async def test_a_grant_ends_with_the_turn(tmp_path: Path) -> None:
    async with session(tmp_path) as agent:
        await agent.ask(named(), "always")
        await agent.next_turn()
        await agent.update({"title": "Run", "status": "pending"}, what="tool_call")
        assert await agent.run(command=LINE) == "asked"
        await agent.ask(named())
        await agent.end_turn()
        await agent.update({"title": "Run", "status": "pending"}, what="tool_call")
        assert await agent.run(command=LINE) == "asked"


async def _prompt(agent: Session) -> None:
    """The user prompts while the agent works by itself: the agent goes on in the turn of the prompt."""
    before = len(agent.host.agent.heard_of("session/prompt"))
    agent.host.say("prompt", text="more")
    await agent.host.editor.until("a turn", lambda: len(agent.host.agent.heard_of("session/prompt")) > before)


async def test_what_is_allowed_between_turns_does_not_reach_the_next_prompt(tmp_path: Path) -> None:
    async with session(tmp_path) as agent:
        await agent.end_turn()
        await agent.ask(named())
        assert [await agent.run(command=LINE) for _ in range(2)] == ["ran", "asked"]
        await agent.ask(named(), tool_call_id="d")
        await _prompt(agent)
        assert await agent.run(command=LINE) == "asked"
        await agent.ask(named(), tool_call_id="e")
        assert await agent.run(command=LINE) == "ran"


async def test_what_is_asked_between_turns_and_allowed_after_the_next_prompt_grants_nothing(tmp_path: Path) -> None:
    async with session(tmp_path) as agent:
        await agent.end_turn()
        view = await agent.ask(named(), None)
        await _prompt(agent)
        await agent.answer(view, "once")
        assert await agent.run(command=LINE) == "asked"


async def test_what_is_asked_after_a_turn_ends_with_the_agents_own(tmp_path: Path) -> None:
    async with session(tmp_path) as agent:
        await agent.end_turn()
        await agent.ask(named())
        agent.host.say("cancel")
        agent.host.say("prompt", text="more")
        await agent.host.editor.until("a turn", lambda: len(agent.host.agent.heard_of("session/prompt")) == 2)
        assert await agent.run(command=LINE) == "asked"


async def test_a_cancelled_turn_takes_its_grants_along(tmp_path: Path) -> None:
    async with session(tmp_path) as agent:
        await agent.ask(named())
        agent.host.say("cancel")
        await all_done()
        assert await agent.run(command=LINE) == "refused"
        await agent.next_turn()
        assert await agent.run(command=LINE) == "asked"


async def test_two_requests_of_one_tool_call_grant_what_each_has_named(tmp_path: Path) -> None:
    async with session(tmp_path) as agent:
        await agent.ask(named("echo a"))
        await agent.ask(named("echo b"), "reject")
        await agent.ask(named("echo c"))
        commands = ["echo b", "echo c", "echo a", "echo a", "echo c"]
        assert [await agent.run(command=one) for one in commands] == ["asked", "ran", "ran", "asked", "asked"]


async def test_a_call_that_ends_while_it_is_asked_for_ends_what_is_allowed(tmp_path: Path) -> None:
    async with session(tmp_path) as agent:
        view = await agent.ask(named(), None)
        await agent.update({"status": "completed"})
        await agent.update({"status": "in_progress"})
        await agent.answer(view, "once")
        assert await agent.run(command=LINE) == "asked"
        await agent.ask(named())
        assert await agent.run(command=LINE) == "ran"


async def test_variables_are_shown_and_belong_to_what_is_allowed(tmp_path: Path) -> None:
    async with session(tmp_path) as agent:
        view = await agent.ask(named(env={"DRY_RUN": "1", "TERM": "dumb"}))
        assert view.env == ["DRY_RUN=1", "TERM=dumb"]
        wanted = [{"name": "DRY_RUN", "value": "1"}]
        assert [await agent.run(command=LINE, env=wanted) for _ in range(2)] == ["ran", "asked"]
        assert agent.host.of(events.Permission)[-1].request.env == ["DRY_RUN=1"]


async def test_a_terminal_whose_variables_cannot_be_shown_is_refused(tmp_path: Path) -> None:
    async with session(tmp_path) as agent:
        long = [{"name": "A", "value": "x" * COMMAND_SHOWN_CHARS}]
        assert await agent.run(command=LINE, env=long) == "refused"


async def test_nothing_of_a_terminal_is_ever_cut(tmp_path: Path) -> None:
    async with session(tmp_path) as agent:
        many = {"env": [{"name": f"V{number}", "value": ""} for number in range(2001)]}
        for beyond in ({"cwd": "/" + "x" * 4096}, {"args": [""] * 10_001}, many, {"args": ["x" * 2_097_153]}):
            assert await agent.run(**{"command": "true", **beyond}) == "refused"


async def test_requests_that_wait_side_by_side_grant_what_was_allowed(tmp_path: Path) -> None:
    async with session(tmp_path) as agent:
        first = await agent.ask(named("echo a"), None)
        second = await agent.ask(named("echo b"), None)
        assert (first.command, second.command) == ("echo a", "echo b")
        await agent.answer(second, "once")
        assert [await agent.run(command=one) for one in ("echo a", "echo b")] == ["asked", "ran"]


async def test_a_terminal_that_comes_before_the_answer_is_asked_for(tmp_path: Path) -> None:
    async with session(tmp_path) as agent:
        await agent.ask(named(), None)
        assert await agent.run(command=LINE) == "asked"


async def test_a_link_that_leads_elsewhere_since_then_is_another_directory(tmp_path: Path) -> None:
    async with session(tmp_path) as agent:
        link = agent.home / "link"
        link.symlink_to("sub")
        asked = await agent.ask(named(cwd=str(link)))
        assert asked.cwd == str(link)
        link.unlink()
        link.symlink_to(".")
        assert await agent.run(command=LINE, cwd=str(link)) == "asked"
        assert await agent.run(command=LINE, cwd=f"{HOME}/sub") == "ran"


async def test_a_program_that_is_called_like_a_line_is_another_command(tmp_path: Path) -> None:
    async with session(tmp_path) as agent:
        program = agent.home / "echo a" / "b"
        program.parent.mkdir()
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        await agent.ask(named("echo a/b"))
        assert await agent.run(command="echo a/b") == "asked"
        program.unlink()
        assert await agent.run(command="echo a/b") == "ran"


# --- any order -------------------------------------------------------------------------------------------------------

COMMANDS = ("true", "true ", "true\n", "true #", " true", "TRUE=1 true", "true; true")
some_commands = st.sampled_from(COMMANDS)
some_ids = st.sampled_from("cd")
some_calls = st.one_of(
    some_commands.map(named),
    some_commands.map(lambda one: {**named(one), "title": "true"}),
    some_commands.map(lambda one: {"rawInput": {"command": one}}),
    some_commands.map(lambda one: {"title": one, "content": [text(one)]}),
    st.tuples(some_commands, st.sampled_from(["think", "read", "other"])).map(
        lambda two: {**named(two[0]), "kind": two[1]}
    ),
)
some_steps = st.one_of(
    st.tuples(st.just("ask"), some_calls, st.sampled_from(["once", "always", "reject"]), some_ids),
    st.tuples(st.just("update"), some_calls, some_ids),
    st.tuples(st.just("finish"), some_ids),
    st.tuples(st.just("run"), some_commands),
    st.tuples(st.just("run"), some_commands),
    st.just(("next turn",)),
)


async def play(steps: list[tuple[Any, ...]]) -> None:
    """Check that a terminal runs unasked only if its command was allowed in this turn, and has not run since."""
    granted: list[tuple[str, str]] = []  # the command, and its tool call
    kinds: dict[str, str] = {}
    finished: set[str] = set()
    with tempfile.TemporaryDirectory() as directory:
        async with session(Path(directory)) as agent:
            for number, (what, *rest) in enumerate(steps):
                if what == "ask":
                    call, answer, tool_call_id = rest
                    kinds[tool_call_id] = call.get("kind", kinds.get(tool_call_id, "other"))
                    await agent.ask(call, answer, tool_call_id)
                    command = call.get("rawInput", {}).get("command")
                    is_other = call.get("kind") == "other" or kinds[tool_call_id] not in ("execute", "other")
                    if command is not None and answer != "reject" and not is_other:
                        granted.append((command, tool_call_id))
                elif what == "update":
                    call, tool_call_id = rest
                    kinds[tool_call_id] = call.get("kind", kinds.get(tool_call_id, "other"))
                    await agent.update(call, tool_call_id)
                elif what == "finish":
                    finished |= set(rest)
                    await agent.update({"status": "completed"}, rest[0])
                elif what == "next turn":
                    finished |= set(kinds)  # no tool call stays open
                    await agent.next_turn()
                else:
                    fits = [one for one in granted if one[0] == rest[0] and one[1] not in finished]
                    assert await agent.run(command=rest[0]) == ("ran" if fits else "asked"), (number, steps)
                    if fits:
                        granted.remove(fits[0])


@pytest.mark.hypothesis
def test_in_any_order_a_terminal_runs_unasked_if_it_was_allowed_and_only_then() -> None:
    @settings(max_examples=examples(60))
    @given(st.lists(some_steps, min_size=1, max_size=10))
    def any_order(steps: list[tuple[Any, ...]]) -> None:
        anyio.run(play, steps)

    any_order()
