"""What a script holds in its hands: a request of the client, and a prompt with everything that belongs to its turn."""

from __future__ import annotations

from collections.abc import Iterable

from tests.agents.scripted_wire import LIMIT, Error, Json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tests.agents.scripted import Agent

OPTIONS = [
    {"optionId": "allow", "name": "Allow", "kind": "allow_once"},
    {"optionId": "always", "name": "Always allow", "kind": "allow_always"},
    {"optionId": "reject", "name": "Reject", "kind": "reject_once"},
]


class Request:
    """A request, or a notification (then `id` is None), of the client."""

    def __init__(self, agent: Agent, message: Json) -> None:
        self.agent = agent
        self.message = message
        self.method: str = message["method"]
        self.id = message.get("id")
        self.params: Json = message.get("params") or {}

    def reply(self, result: Any) -> None:
        self.agent.wire.send({"id": self.id, "result": result})

    def fail(self, code: int, message: str, data: Any = None) -> None:
        self.agent.wire.send({"id": self.id, "error": Error(code, message, data).as_json()})

    def __repr__(self) -> str:
        return f"<{self.method} id={self.id!r}>"


class Prompt(Request):
    """A `session/prompt` request; updates and requests of its turn go to its session."""

    def __init__(self, agent: Agent, message: Json) -> None:
        super().__init__(agent, message)
        self.session_id: str = self.params["sessionId"]
        self.blocks: list[Json] = self.params["prompt"]
        texts = [block["text"] for block in self.blocks if block["type"] == "text"]
        self.text = "\n".join(text for text in texts if not text.lstrip().startswith("[From the editor, not typed"))
        self._cancelled = agent.wire.threads.Event()

    # The turn's end

    def cancel(self) -> None:
        self._cancelled.set()

    @property
    def cancelled(self) -> bool:
        return self._cancelled.is_set()

    def wait_cancelled(self, timeout: float = LIMIT) -> None:
        if not self._cancelled.wait(timeout):
            raise TimeoutError(f"the turn was not cancelled in {timeout:g} s")

    def pause(self, seconds: float) -> bool:
        """Wait that long, or until the cancel; whether it was cancelled."""
        return self._cancelled.wait(seconds)

    # What the turn shows

    def update(self, kind: str, /, **fields: Any) -> None:
        self.agent.update(self.session_id, {"sessionUpdate": kind, **fields})

    def say(self, text: str, **fields: Any) -> None:
        self.update("agent_message_chunk", content={"type": "text", "text": text}, **fields)

    def think(self, text: str, **fields: Any) -> None:
        self.update("agent_thought_chunk", content={"type": "text", "text": text}, **fields)

    def say_all(self, texts: Iterable[str]) -> None:
        """One chunk for each text, as fast as the pipe takes them."""
        self.agent.flood(self.session_id, texts)

    def plan(self, *entries: tuple[str, str]) -> None:
        """Entries are pairs of content and status."""
        shown = [{"content": content, "status": status, "priority": "medium"} for content, status in entries]
        self.update("plan", entries=shown)

    def tool(self, tool_call_id: str, title: str, **fields: Any) -> None:
        self.update("tool_call", toolCallId=tool_call_id, title=title, **fields)

    def tool_update(self, tool_call_id: str, **fields: Any) -> None:
        self.update("tool_call_update", toolCallId=tool_call_id, **fields)

    def until_heard(self) -> None:
        """Wait until the client has taken all that was sent: it takes messages in order, and has to answer this one."""
        try:  # noqa: SIM105 - each agent would start a millisecond later
            self.request("_heard")
        except Error:
            pass

    # What the turn asks

    def request(self, method: str, /, **params: Any) -> Any:
        return self.agent.request(method, {"sessionId": self.session_id, **params})

    def ask(self, tool_call_id: str, options: list[Json] | None = None, **fields: Any) -> str | None:
        """Ask for permission: the chosen option's id, or None for the outcome `cancelled`."""
        shown = {"toolCallId": tool_call_id, **fields}
        answer = self.request("session/request_permission", toolCall=shown, options=options or OPTIONS)
        chosen: str | None = answer["outcome"].get("optionId")
        return chosen

    def elicit(self, properties: Json, message: str = "Some questions", **fields: Any) -> Json:
        """Have the user fill in a form: the answer. `required` goes into the schema, the rest beside it."""
        schema: Json = {"type": "object", "properties": properties}
        if "required" in fields:
            schema["required"] = fields.pop("required")
        answer: Json = self.request(
            "elicitation/create", mode="form", message=message, requestedSchema=schema, **fields
        )
        return answer

    def elicit_url(self, url: str, elicitation_id: str = "e1", message: str = "Look there", **fields: Any) -> Json:
        """Have the user open a URL: the answer."""
        answer: Json = self.request(
            "elicitation/create", mode="url", message=message, url=url, elicitationId=elicitation_id, **fields
        )
        return answer

    def read(self, path: str, **fields: Any) -> str:
        content: str = self.request("fs/read_text_file", path=path, **fields)["content"]
        return content

    def write(self, path: str, content: str) -> None:
        self.request("fs/write_text_file", path=path, content=content)

    def terminal(self, command: str, *args: str, **fields: Any) -> str:
        """Run a command in a terminal: the terminal's id. Without `args` none are sent."""
        more = {"args": list(args)} if args else {}
        terminal_id: str = self.request("terminal/create", command=command, **more, **fields)["terminalId"]
        return terminal_id

    def ask_terminal(self, what: str, terminal_id: str) -> Any:
        """`output`, `wait_for_exit`, `kill` or `release`."""
        return self.request(f"terminal/{what}", terminalId=terminal_id)

    def run(self, command: str, *args: str, **fields: Any) -> Json:
        """Run a command to its end: the answer to `terminal/output` then. The terminal is released."""
        terminal_id = self.terminal(command, *args, **fields)
        self.ask_terminal("wait_for_exit", terminal_id)
        output: Json = self.ask_terminal("output", terminal_id)
        self.ask_terminal("release", terminal_id)
        return output
