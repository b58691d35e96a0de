"""All that an agent and a user can do with files, whatever they are called."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.agents.obedient_client import ObedientAgent, RefusedError
from tests.nvim.odd_names import CANARY
from tests.support.agent_edits import git
from tests.support.below import below
from tests.support.editor import HeadlessEditor
from tests.support.raw_client import RawClient

TROUBLE = re.compile(r"\bE(?!349)\d+: |[Tt]raceback|Error executing|Press ENTER|stack traceback|attempt to ")
LUA = Path(__file__).with_suffix(".lua")
OLD = "one\ntwo\nthree\n"
"""The text of files that are there before the agent comes."""

SAID = """
local bufnr, text = ...
return vim.list_contains(vim.api.nvim_buf_get_lines(bufnr, -50, -1, false), text)
"""
ASKED = "return require('acp_nvim').permissions()[1]"
ANSWER = "local id, option = ... return require('acp_nvim').answer(id, option)"
MENTION = """
local syntax = require("acp_nvim.mentions.syntax")
return vim.tbl_map(function(path)
  return syntax.format(path)
end, ...)
"""
PROMPT = "return { require('acp_nvim').prompt(...) }"
LANGUAGE_TOOLS = ("diagnostics", "definition", "references", "implementations", "hover", "symbols")


def tree(directory: Path) -> dict[str, bytes]:
    """Return the files below a directory, without git's own, by the names that git has for them."""
    found = {}
    for where, directories, files in os.walk(os.fsencode(directory)):
        if b".git" in directories and Path(os.fsdecode(where)) == directory:
            directories.remove(b".git")
        for name in files:
            path = os.path.join(where, name)
            with contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
                found[os.fsdecode(os.path.relpath(path, os.fsencode(directory)))] = file.read()
    return found


_stages = itertools.count(1)


class Stage:
    """One Neovim, one host and one agent, for any number of names; each `play` has a directory of its own."""

    def __init__(self, directory: Path) -> None:
        traffic = directory / f"traffic-{next(_stages)}.jsonl"
        self._agent = ObedientAgent(traffic)
        agents = {"odd": {"command": self._agent.argv}}
        self.nvim = HeadlessEditor(directory, agents=agents, config={"default_agent": "odd"})
        self.project = self.nvim.project
        self._plays = itertools.count(1)
        self._tools = itertools.cycle(LANGUAGE_TOOLS)
        self._marks = itertools.count(1)
        self._ends: dict[Path, int] = {}
        git(self.project, "init", "-q")
        git(self.project, "commit", "-q", "--allow-empty", "-m", "first")
        nvim = self.nvim
        nvim.api("ui_attach", 100, 40, {})  # so that a question would really wait for an answer
        swap = nvim.places.directory / "swap"
        swap.mkdir()
        nvim.command(f"set swapfile updatecount=200 directory={swap}//,. hidden")
        nvim.lua(LUA.read_text(encoding="utf-8"))
        nvim.lua("naming.root = ...", str(self.project))
        nvim.command("AcpChat")
        nvim.wait_until(lambda: nvim.events("AcpSessionReady"), what="the session")
        nvim.lua("naming.tidy()")
        entry = self._received(traffic, "session/new")["mcpServers"][-1]
        env = {one["name"]: one["value"] for one in entry["env"]}
        self._mcp = RawClient([entry["command"], *entry["args"]], self.project, env)
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        self._mcp.request("initialize", client)
        self._mcp.notify("notifications/initialized", {})

    @staticmethod
    def _received(traffic: Path, method: str) -> Any:
        for line in traffic.read_text().splitlines():
            if f'"{method}"' in line:
                found = json.loads(line)
                while "params" not in found:
                    found = next(value for value in found.values() if isinstance(value, dict))
                return found["params"]
        raise AssertionError(f"no {method}")

    def close(self) -> None:
        try:
            self._mcp.__exit__()
            self._agent.close()
        finally:
            self.nvim.close()

    # What the agent does

    def caught_up(self) -> None:
        """Neovim has shown all that the agent has sent."""
        mark = f"[caught up {next(self._marks)}]"
        self._agent.tell("tell", updates=[text(f"\n{mark}\n")])
        self.nvim.wait_until(lambda: self.nvim.lua(SAID, self.nvim.chat_buffer(), mark), what=f"the chat to say {mark}")

    def allowed(self, what: Callable[[], Any], hint: Callable[[], str] = str) -> None:
        """The agent does that, for which the user is asked, and allows it; `hint` says what came instead."""
        what()
        asked = self.nvim.wait_until(lambda: self.nvim.lua(ASKED), what=lambda: f"a request{hint()}")
        self.nvim.lua("naming.tidy()")
        allow = next(one["option_id"] for one in asked["options"] if one["kind"] == "allow_once")
        assert self.nvim.lua(ANSWER, asked["id"], allow) is True

    def tool(self, name: str, /, **arguments: Any) -> str:
        """The text of a tool's result, or of its error."""
        return self._text(self._mcp.request("tools/call", {"name": name, "arguments": arguments}))

    def allowed_tool(self, name: str, /, **arguments: Any) -> str:
        """Call a tool for which the user is asked, and allow it."""
        begun: list[int] = []
        self.allowed(
            lambda: begun.append(self._mcp.start("tools/call", {"name": name, "arguments": arguments})),
            lambda: f" of {name}, not {self._text(self._mcp.finish(begun[0], 1.0))}",
        )
        return self._text(self._mcp.finish(begun[0]))

    @staticmethod
    def _text(result: Any) -> str:
        return "\n".join(one["text"] for one in result["content"])

    # Checks

    def check(self, what: str) -> None:
        """Check that nothing was run, nothing is asked, and no error was shown."""
        for path in (self.nvim.places.directory, self.nvim.places.run):
            for where, _, files in os.walk(os.fsencode(path)):
                assert os.fsencode(CANARY) not in files, f"{what}: a name was run in {os.fsdecode(where)}"
        printed = self.nvim.printed
        self.nvim.wait_until("naming.rests()", what=lambda: f"{what}: nothing to be asked\n{printed()[-2000:]}")
        error = self.nvim.lua("return vim.v.errmsg")
        assert error == "", f"{what}: {error}\n{printed()[-2000:]}"
        said = "\n".join([*self.nvim.messages(), self.nvim.printed()])
        assert not TROUBLE.search(said), f"{what}: {said[-3000:]}"
        for log in below(self.nvim.places.directory / "state", "*.log"):
            with log.open("rb") as file:
                file.seek(self._ends.get(log, 0))
                added = file.read().decode(errors="replace")
                self._ends[log] = file.tell()
            assert "Traceback" not in added, f"{what}: {added[-3000:]}"

    # The play

    def play(self, given: Sequence[str]) -> int:
        """One turn in which the agent and the user do all that they can with files of these names; their number."""
        play = Play(self, next(self._plays), given)
        play.run()
        return len(play.written)

    def begin_turn(self, words: str, session: int | None = None) -> None:
        options = {"mentions": True} if session is None else {"session_id": session}
        answer = self.nvim.lua(PROMPT, words, options)
        assert answer[0] is True, answer
        self._agent.tell("begin_turn")

    def play_in(self, name: str) -> None:
        """One turn of a session in a directory of that name, with an agent of its own; the one before is lost."""
        self._agent.tell("tell", updates=[])
        self._agent.lose()
        directory = self.project / name
        directory.mkdir()
        ready = len(self.nvim.events("AcpSessionReady"))
        self.nvim.lua("require('acp_nvim').chat(...)", {"cwd": str(directory)})
        self.nvim.wait_until(lambda: len(self.nvim.events("AcpSessionReady")) > ready, what="the session")
        session = self.nvim.events("AcpSessionReady")[-1]["session"]
        self.nvim.lua("naming.tidy()")
        self.begin_turn("go", session)
        path = directory / name
        self.agent("write", path=str(path), content="new\n")
        assert self.agent("read", path=str(path)) == "new\n"
        self.allowed(lambda: self.begin("terminal", argv=["pwd"], cwd=str(directory)))
        self.finish()
        self.end_turn()
        self.nvim.lua("naming.files(...)", str(directory))
        self.nvim.lua("naming.review()")
        self.nvim.command("AcpSessions | redraw! | redrawstatus!")
        self.check(name)
        assert tree(directory) == {name: b"new\n"}
        self.nvim.lua("naming.leave()")

    def end_turn(self) -> None:
        ends = len(self.nvim.events("AcpTurnEnd"))
        self._agent.tell("end_turn")
        self.nvim.wait_until(lambda: len(self.nvim.events("AcpTurnEnd")) > ends, what="the end of the turn")

    def agent(self, do: str, **fields: Any) -> Any:
        return self._agent.tell(do, **fields)

    def begin(self, do: str, **fields: Any) -> None:
        self._agent.begin(do, **fields)

    def finish(self) -> Any:
        return self._agent.finish()

    def next_tool(self) -> str:
        return next(self._tools)


def text(words: str) -> dict[str, Any]:
    return {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": words}}


class Play:
    """A turn about files with some names."""

    def __init__(self, stage: Stage, number: int, given: Sequence[str]) -> None:
        self.stage = stage
        self.number = number
        self.nvim = stage.nvim
        self.directory = stage.project / f"play {number}"
        self.names = list(given)
        # every fourth is also the name of a directory
        self.paths = [
            str(self.directory / (f"{name}_d" if index % 4 == 3 else "") / name)
            for index, name in enumerate(self.names)
        ]
        self.expected: dict[str, str] = {}
        self.written: set[str] = set()

    def run(self) -> None:
        stage, nvim = self.stage, self.nvim
        for path in self.paths:
            os.makedirs(os.path.dirname(path), exist_ok=True)
        self.there, self.new = self.paths[::2], self.paths[1::2]
        for path in self.there:
            Path(path).write_text(OLD)
            self.expected[path] = OLD
        git(stage.project, "--literal-pathspecs", "add", "--", *self.there[::2])
        git(stage.project, "commit", "-q", "--allow-empty", "-m", "more")
        nvim.command("let v:errmsg = ''")
        self.mentioned = nvim.lua(MENTION, self.there[:3])
        first = nvim.api("buf_line_count", nvim.chat_buffer())
        nvim.lua("naming.set_places(...)", self.there)
        nvim.lua("naming.edit(...)", self.there[:2])
        self.step("opening", lambda: None)
        stage.begin_turn("go " + " ".join(self.mentioned))
        self.step("files", self.files)
        self.step("updates", self.updates)
        self.step("permissions", self.permissions)
        self.step("terminals", self.terminals)
        self.step("tools", self.tools)
        stage.end_turn()
        self.step("chat", lambda: nvim.lua("return naming.visit(...)", first, self.stride(first)))
        self.step("review", lambda: nvim.lua("return naming.review()"))
        self.step("completion", self.completion)
        self.step("commands", self.commands)
        if self.number % 4 == 1:
            self.step("restore", self.restore)
        self.clean()

    def stride(self, first: int) -> int:
        return max(1, (self.nvim.api("buf_line_count", self.nvim.chat_buffer()) - first) // 15)

    def step(self, what: str, do: Callable[[], Any]) -> None:
        do()
        self.stage.check(what)
        assert self.found() == self.expected, what

    # What the agent does

    def files(self) -> None:
        for path in self.there:
            assert self.stage.agent("read", path=path) == OLD, path
        for index, path in enumerate(self.paths):
            self.stage.agent("write", path=path, content=f"one\nwritten {index}\nthree\n")
            self.expected[path] = f"one\nwritten {index}\nthree\n"
            self.written.add(path)
        for path in self.new:
            assert self.stage.agent("read", path=path) == self.expected[path], path

    def updates(self) -> None:
        updates: list[dict[str, Any]] = []
        for index, (name, path) in enumerate(zip(self.names, self.paths, strict=True)):
            call = {"sessionUpdate": "tool_call", "toolCallId": f"{path} {index}", "title": name, "status": "completed"}
            diff = {"type": "diff", "path": path, "oldText": "two\n", "newText": f"written {index}\n"}
            kind = ("edit", "read", "execute", "delete", "search")[index % 5]
            raw = {"command": name, "path": path, "file_path": path}
            locations = [{"path": path, "line": 2}]
            updates.append({**call, "kind": kind, "locations": locations, "content": [diff], "rawInput": raw})
            link = {"type": "resource_link", "uri": Path(path).as_uri(), "name": name, "title": name}
            updates.append({"sessionUpdate": "agent_message_chunk", "content": link})
            resource = {"uri": Path(path).as_uri(), "text": name}
            content = {"type": "resource", "resource": resource}
            updates.append({"sessionUpdate": "agent_message_chunk", "content": content})
            words = f"\nsee {path}:2 and `{name}` and [{name}](<{path}>), {Path(path).as_uri()}#L2\n"
            updates.append(text(f"{words}\n```{name}\n{name}\n```\n\n~~~{name}\n~~~\n| {name} | {path} |\n|---|---|\n"))
        entries = [{"content": name, "priority": "medium", "status": "pending"} for name in self.names]
        updates.append({"sessionUpdate": "plan", "entries": entries})
        commands = [{"name": name, "description": path} for name, path in zip(self.names, self.paths, strict=True)]
        updates.append({"sessionUpdate": "available_commands_update", "availableCommands": commands})
        modes = [{"value": name, "name": name, "description": name} for name in self.names]
        option = {"id": "mode", "category": "mode", "name": self.names[0], "type": "select", "options": modes}
        options = [{**option, "currentValue": self.names[0]}]
        updates.append({"sessionUpdate": "config_option_update", "configOptions": options})
        updates.append({"sessionUpdate": "session_info_update", "title": self.names[0]})
        self.stage.agent("tell", updates=updates)
        self.stage.caught_up()
        self.nvim.command("redraw! | redrawstatus!")

    def permissions(self) -> None:
        paths = self.paths[self.number % 3 :: 3]
        content = [
            {"type": "diff", "path": path, "oldText": self.expected[path], "newText": "other\n"} for path in paths
        ]
        locations = [{"path": path} for path in paths]
        call = {"toolCallId": f"asked {self.paths[0]}", "title": self.names[0], "kind": "edit"}
        call = {**call, "content": content, "locations": locations, "rawInput": {"paths": paths}}
        options = [{"optionId": "yes", "name": self.names[0], "kind": "allow_once"}]
        params = {"toolCall": call, "options": options}
        self.stage.begin("ask", method="session/request_permission", params=params)
        asked = self.nvim.wait_until(lambda: self.nvim.lua(ASKED), what="a request")
        shown = "return #require('acp_nvim.review.previews').of_request(...)"
        self.nvim.wait_until(lambda: self.nvim.lua(shown, asked["id"]) > 0, what="the preview")
        self.nvim.lua("naming.preview()")
        self.stage.check("preview")
        assert self.nvim.lua(ANSWER, asked["id"], "yes") is True
        assert self.stage.finish()["outcome"]["optionId"] == "yes"

    def terminals(self) -> None:
        name, path = self.names[-1], self.paths[-1]
        for argv in (["printf", "%s", name], [f"{self.directory}/{name}", name]):
            self.stage.allowed(lambda argv=argv: self.stage.begin("terminal", argv=argv, cwd=os.path.dirname(path)))
            refused = contextlib.nullcontext() if argv[0] == "printf" else contextlib.suppress(RefusedError)
            with refused:
                self.stage.finish()

    def tools(self) -> None:
        stage = self.stage
        for path in self.paths[self.number % 2 :: 2]:
            name = stage.next_tool()
            symbol = {"line": 1, "symbol": "one"} if name not in ("diagnostics", "symbols") else {}
            stage.tool(name, path=path, **symbol)
        some = self.paths[len(self.paths) // 2]
        stage.tool("show", path=some, line=1, note=self.names[0])
        assert "written" in stage.tool("read_buffer", path=some)
        stage.tool("unsaved_diff", path=some)
        stage.tool("editor_state")
        stage.tool("symbols", query=self.names[0])
        stage.tool("terminal_output", name=self.names[0])
        stage.tool("code_action", path=some, line=1)
        stage.tool("rename", path=str(self.directory / "missing") + self.names[0], line=1, symbol="one", new_name="x")
        new_name = "x" + "".join(filter(str.isprintable, self.names[0]))  # any other is refused
        stage.allowed_tool("rename", path=some, line=1, symbol="one", new_name=new_name)
        self.expected[some] = "xne" + self.expected[some][3:]

    def completion(self) -> None:
        """Completion offers all files but those with control characters, which no mention could have."""
        there = {os.path.relpath(path, self.stage.project) for path in self.paths}
        expected = {path for path in there if not re.search("[\0-\x1f\x7f]", path)}
        offered = "return naming.files(...)"
        self.nvim.wait_until(
            lambda: expected <= set(self.nvim.lua(offered, str(self.stage.project)) or ()),
            what=lambda: f"{expected - set(self.nvim.lua(offered, str(self.stage.project)) or ())} to be offered",
        )

    def commands(self) -> None:
        """The user exports the conversation, and looks at lists of what the agent has named."""
        nvim, exported = self.nvim, self.nvim.places.directory / f"conversation {self.number}.md"
        nvim.lua("naming.tidy() naming.mention(...)", [name[:2] for name in self.names])
        nvim.command("AcpSessions")
        nvim.wait_until("#naming.listed > 0", what="the list of sessions")
        lists = "AcpConfig mode|AcpConfig|AcpMcp|AcpPermissions rules|AcpReview quickfix|cclose"
        for command in lists.split("|"):
            nvim.command(f"silent! {command}")
        nvim.command("let v:errmsg = ''")
        nvim.lua("naming.tidy()")
        nvim.command(f"AcpExport {exported}".replace(" ", "\\ ").replace("AcpExport\\ ", "AcpExport "))
        nvim.wait_until(exported.exists, what="the exported conversation")

    def restore(self) -> None:
        """The user restores what was there before the turn."""
        self.nvim.lua("naming.listed, naming.choice = {}, 1")
        self.asked = -1
        self.expected = dict.fromkeys(self.there, OLD)
        self.nvim.wait_until(self.asks_to_restore, what="the list of turns")
        self.nvim.wait_until(lambda: self.found() == self.expected, what=lambda: f"{self.expected}, not {self.found()}")
        self.nvim.lua("naming.choice = nil")

    def asks_to_restore(self) -> bool:
        """Whether the turn was listed; it may not be recorded yet."""
        refused = sum("nothing to restore" in message for message in self.nvim.messages())
        if refused != self.asked and not self.nvim.lua("return #naming.listed"):
            self.asked = refused
            self.nvim.command("AcpRestore")
        return bool(self.nvim.lua("return #naming.listed"))

    def found(self) -> dict[str, str]:
        """Return the texts of all files."""
        files = tree(self.directory).items()
        return {str(self.directory / name): data.decode(errors="replace") for name, data in files}

    def clean(self) -> None:
        """Leave nothing that the next play would have to look at."""
        self.nvim.command("AcpReview! keep")
        self.nvim.lua("naming.clear()")
        self.stage.check("the end")
        git(self.stage.project, "rm", "-q", "-r", "--cached", "--ignore-unmatch", "--", str(self.directory))
        git(self.stage.project, "commit", "-q", "--allow-empty", "-m", "less")
        shutil.rmtree(self.directory)
