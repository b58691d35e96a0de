"""The scripted agent itself; `scripted_agent.py` starts it and says what scripts can do."""

from __future__ import annotations

import _signal as signals  # `signal` imports `enum`, a fifth of the start
import os
import sys
from collections import deque
from collections.abc import Callable, Iterable

from tests.agents import quick_json as json
from tests.agents.scripted_prompt import Prompt, Request
from tests.agents.scripted_wire import LIMIT, Call, Error, Json, Pipes, Record, Threads, Wire

TYPE_CHECKING = False  # a test may start hundreds of agents, and `typing` takes a tenth of the time
if TYPE_CHECKING:
    from typing import Any, NoReturn

NO_ANSWER = object()
STUBBORN = ["sh", "-c", "trap '' TERM HUP INT; while :; do sleep 0.2; done"]  # a child that only SIGKILL ends
MISTAKE = 70  # exit code


class Module:
    """A module that scripts may use, imported when one does."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(__import__(self._name), name)


class Agent:
    """The agent as its script sees it; every method may be called from any thread."""

    def __init__(self, script: Json, record: Record, threads: Any, pipes: Any) -> None:
        self.script = script
        self._threads = threads
        self.wire = Wire(record, threads, pipes)
        self._inbox: deque[Request] = deque()
        self._arrived = threads.Condition()
        self._numbering = threads.Lock()
        self._next_id = 0
        self._sessions = 0
        self._prompts: list[Prompt] = []

    # To the client

    def notify(self, method: str, params: Any = None) -> None:
        self.wire.send({"method": method, "params": params})

    def update(self, session_id: str, update: Json) -> None:
        self.notify("session/update", {"sessionId": session_id, "update": update})

    def flood(self, session_id: str, texts: Iterable[str], kind: str = "agent_message_chunk") -> None:
        """One text chunk for each text, in few large writes: 100,000 take about a second."""
        content = {"type": "text", "text": "@"}
        params = {"sessionId": session_id, "update": {"sessionUpdate": kind, "content": content}}
        message = json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params})
        head, _, tail = message.rpartition('"@"')
        self.wire.send_lines(f"{head}{json.dumps(text)}{tail}".encode() for text in texts)

    def call(self, method: str, params: Any = None, request_id: Any = None) -> Call:
        """Send a request and go on; `.result()` waits. Any id may be given, one in use as well."""
        return self.wire.call(self._new_id() if request_id is None else request_id, method, params)

    def request(self, method: str, params: Any = None, request_id: Any = None, timeout: float = LIMIT) -> Any:
        return self.call(method, params, request_id).result(timeout)

    def raw(self, data: bytes) -> None:
        """Any bytes on stdout; no newline is added."""
        self.wire.raw(data)

    def stderr(self, text: str) -> None:
        os.write(2, text.encode("utf-8", "surrogateescape"))

    # From the client

    def expect(self, method: str, timeout: float = LIMIT) -> Any:
        """The oldest request or notification of that method that nobody took; the others stay."""
        with self._arrived:
            if not self._arrived.wait_for(lambda: self._oldest(method) is not None, timeout):
                raise TimeoutError(f"no {method} in {timeout:g} s; there is {list(self._inbox)}")
            found = self._oldest(method)
            assert found is not None
            self._inbox.remove(found)
            return found

    def handshake(self) -> str:
        """Answer initialize and session/new as usual; the session's id."""
        self._answer_default(self.expect("initialize"))
        return str(self._answer_default(self.expect("session/new"))["sessionId"])

    def serve(self) -> NoReturn:
        """Answer everything as usual, or as the script's functions say, until the end."""
        while True:
            with self._arrived:
                self._arrived.wait_for(lambda: self._inbox)
                request = self._inbox.popleft()
            self._dispatch(request)

    def pause_reading(self) -> None:
        """Read at most one more message until `resume_reading`: the client's pipe fills up."""
        self.wire.reading.clear()

    def resume_reading(self) -> None:
        self.wire.reading.set()

    # The process

    def note(self, **values: Any) -> None:
        """Tell the test something: it finds it in the traffic."""
        self.wire.record.value("note", values)

    def spawn(self, argv: list[str], *, setsid: bool = False, share_pipes: bool = False) -> int:
        """Start a child (with SIGTERM ignored if ours is), noted as `spawned`; its pid."""
        import subprocess  # here, not above: few scripts need it, and all would start later

        stdio = None if share_pipes else subprocess.DEVNULL
        child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=stdio, stderr=stdio, start_new_session=setsid)
        self.note(spawned=child.pid)
        return child.pid

    def close_stdout(self) -> None:
        os.close(1)

    def exit(self, code: int = 0) -> NoReturn:
        self.wire.pipes.exit(code)

    def die(self, number: int = signals.SIGKILL) -> None:
        os.kill(os.getpid(), number)

    # Inside

    def run(self) -> None:
        if "start" in self.script:
            self._guarded(self.script["start"], self)
        self._threads.Thread(target=self._guarded, args=(self._read,), daemon=True).start()
        self._guarded(self.script.get("run", Agent.serve), self)
        self._threads.Event().wait()  # the script has no more to say; the end of stdin, or a signal, ends us

    def _read(self) -> None:
        self.wire.read(self._take)
        if "at_eof" in self.script:
            self.script["at_eof"](self)
        elif not self.script.get("IGNORE_EOF"):
            self.exit(0)

    def _take(self, message: Json) -> None:
        kind = Prompt if message["method"] == "session/prompt" else Request
        request = kind(self, message)
        with self._arrived:
            if isinstance(request, Prompt):
                self._prompts.append(request)
            elif request.method == "session/cancel":
                self._cancel(request.params["sessionId"])
            self._inbox.append(request)
            self._arrived.notify_all()

    def _cancel(self, session_id: str) -> None:
        for prompt in self._prompts:
            if prompt.session_id == session_id:
                prompt.cancel()

    def _dispatch(self, request: Request) -> None:
        function = self.script.get(request.method.strip("$/_").replace("/", "_"))
        if function is not None:
            self._threads.Thread(target=self._guarded, args=(self._answer, request, function), daemon=True).start()
        elif isinstance(request, Prompt):
            turn = self.script.get("turn", _echo)
            self._threads.Thread(target=self._guarded, args=(self._turn, request, turn), daemon=True).start()
        elif request.id is not None:
            self._answer_default(request)

    def _turn(self, prompt: Prompt, turn: Callable[..., Any]) -> None:
        def result(agent: Agent, prompt: Request) -> Any:
            given = turn(agent, prompt)
            return {"stopReason": given or "end_turn"} if given is None or isinstance(given, str) else given

        self._answer(prompt, result)

    def _answer(self, request: Request, function: Callable[..., Any]) -> None:
        try:
            result = function(self, request)
        except Error as error:
            request.fail(error.code, error.message, error.data)
        else:
            if result is not NO_ANSWER and request.id is not None:
                request.reply({} if result is None else result)

    def _answer_default(self, request: Request) -> Json:
        if request.method == "initialize":
            result = {**self.initialize_result(), **self.script.get("INITIALIZE", {})}
        elif request.method == "session/new":
            self._sessions += 1
            result = {"sessionId": f"session-{self._sessions}", **self.script.get("SESSION", {})}
        else:
            request.fail(-32601, "Method not found", request.method)
            return {}
        request.reply(result)
        if request.method == "session/new" and "opened" in self.script:
            self.script["opened"](self, result["sessionId"])
        return result

    @staticmethod
    def initialize_result() -> Json:
        capabilities = {"loadSession": False, "promptCapabilities": {"embeddedContext": True}}
        info = {"name": "scripted", "title": "Scripted agent", "version": "1.0"}
        return {"protocolVersion": 1, "agentCapabilities": capabilities, "authMethods": [], "agentInfo": info}

    def _guarded(self, function: Callable[..., Any], *arguments: Any) -> None:
        try:
            function(*arguments)
        except BrokenPipeError:
            if not self.script.get("IGNORE_EOF"):
                self.exit(0)
        except self._threads.Ended:
            raise
        except BaseException:
            import traceback  # here, as `subprocess` above

            traceback.print_exc()
            sys.stderr.flush()
            self.exit(MISTAKE)

    def _oldest(self, method: str) -> Request | None:
        return next((request for request in self._inbox if request.method == method), None)

    def _new_id(self) -> Any:
        with self._numbering:
            self._next_id += 1
            return f"agent-{self._next_id}" if self.script.get("STRING_IDS") else self._next_id - 1


def _echo(agent: Agent, prompt: Prompt) -> None:
    prompt.say(f"You said: {prompt.text}")


def read_script(path: str) -> Json:
    """What a script defines, beside what it is given."""
    names = (Agent, Prompt, Request, Error)
    script: Json = {kind.__name__: kind for kind in names}
    script |= {"NO_ANSWER": NO_ANSWER, "STUBBORN": STUBBORN, "os": os}
    script |= {name: Module(name) for name in ("json", "signal", "time")}
    with open(path, encoding="utf-8") as file:
        exec(compile(file.read(), path, "exec"), script)
    return script


def main() -> None:
    path = sys.argv[1]
    record = Record(sys.argv[2] if len(sys.argv) > 2 else os.environ.get("ACP_NVIM_TEST_TRAFFIC"))
    record.value("note", {"started": os.getpid(), "cwd": os.getcwd()})
    script = read_script(path)
    if script.get("IGNORE_SIGTERM"):
        signals.signal(signals.SIGTERM, signals.SIG_IGN)
    Agent(script, record, Threads, Pipes()).run()
