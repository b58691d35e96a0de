"""An agent that others have started, at a TCP port: it serves a chat as a process of ours does, until its end."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from acp_nvim.agents.catalogue import Catalogue
from acp_nvim.agents.definition import AgentDefinition
from acp_nvim.contract import events, review_events
from acp_nvim.failures import failures
from acp_nvim.session.cancelling import CLOSED, Patience
from acp_nvim.session.connecting import ANEW, GOES_ON
from acp_nvim.transports.interface import Disconnected
from tests.core.session.host import Host
from tests.support.agent_scripts import AgentScript
from tests.support.below import below
from tests.support.certificates import certificate
from tests.support.listening import Listener, free_port, listening
from tests.support.waiting import LIMIT

pytestmark = pytest.mark.anyio

Listen = Callable[..., tuple[AgentScript, Listener]]

TALKS = """
    def turn(agent, prompt):
        if prompt.text == "wait":
            prompt.say("waiting")
            return NO_ANSWER
        if prompt.text == "leave":
            agent.exit(3)
        prompt.say(f"<{prompt.text} to {prompt.session_id}>")
"""
RESUMES = (
    TALKS
    + """
    INITIALIZE = {"agentCapabilities": {"sessionCapabilities": {"resume": {}}}}

    def session_resume(agent, request):
        return {}
"""
)


@pytest.fixture
def listen(host: Host) -> Iterator[Listen]:
    """Runs a script behind a port, and configures that as the agent `it`."""
    with ExitStack() as stack:

        def started(source: str, *options: str, port: int = 0, **settings: Any) -> tuple[AgentScript, Listener]:
            script = host.script(source)
            tls = settings.pop("certificate", None)
            server = stack.enter_context(listening(script.argv, *options, tls=tls, port=port))
            host.config["agents"]["it"] = {"address": server.address, **settings}
            host.hello()
            return script, server

        yield started


async def test_a_turn_with_files_a_permission_and_a_plan(host: Host, listen: Listen) -> None:
    script, _ = listen("""
        def turn(agent, prompt):
            prompt.plan(("Look", "pending"))
            prompt.tool("c", "Run it", kind="execute", status="in_progress")
            answer = prompt.ask("c")
            prompt.tool_update("c", status="completed")
            agent.note(read=prompt.read(prompt.text))
            prompt.write(prompt.text, "by the agent")
            prompt.say(f"{answer} wörks")
            try:
                prompt.terminal("ls")
            except Error as error:
                agent.note(terminal=error.code)
    """)
    file = host.cwd / "file"
    file.write_text("ours")
    host.open()
    host.prompt(str(file))
    request = (await host.editor.until_event(events.Permission)).request
    host.answer(request.id, request.options[0].option_id)
    await host.until("the end of the turn", lambda: host.of(events.TurnEnd))
    assert host.of(events.TurnEnd)[0].stop_reason == "end_turn"
    assert host.text().endswith("wörks")
    assert (script.notes("read"), file.read_text()) == (["ours"], "by the agent\n")
    assert script.received("initialize")[0]["params"]["clientCapabilities"]["terminal"] is False
    assert script.notes("terminal") == [-32601]


@pytest.mark.parametrize("piece", ["1", "3", "4000"])
async def test_what_it_says_may_come_in_odd_pieces(host: Host, listen: Listen, piece: str) -> None:
    listen('    def turn(agent, prompt): prompt.say("äöü\\U0001f600" * 40)', "--piece", piece)
    assert await host.turn() == "end_turn"
    assert host.text() == "äöü\U0001f600" * 40


async def test_its_work_is_told_from_that_of_others(host: Host, listen: Listen) -> None:
    """No process of it is ours: what its tool calls name is evidence, and what it does in silence is not known."""
    listen(
        """
        def turn(agent, prompt):
            if prompt.text == "edit":
                diff = {"type": "diff", "path": os.path.join(PLACE, "file"), "oldText": "one", "newText": "two"}
                prompt.tool("c", "Edit", kind="edit", status="in_progress", content=[diff])
            open(os.path.join(PLACE, "silent" if prompt.text == "silent" else "file"), "w").write("two")
            prompt.tool_update("c", status="completed")
    """.replace("PLACE", repr(str(host.cwd)))
    )
    (host.cwd / "file").write_text("one")

    def shown() -> dict[str, str]:
        last = {Path(one.path).name: one for one in host.editor.all(review_events.Review)}
        return {name: one.by for name, one in last.items()}

    await host.turn("edit")
    await host.until("the edit", lambda: shown().get("file") == "agent")
    await host.turn("silent")
    await host.until("the silent change", lambda: "silent" in shown())
    assert shown() == {"file": "agent", "silent": "unknown"}


@pytest.mark.parametrize("options", [(), ("--reset",)])
@pytest.mark.parametrize("how", ["leave", "kill"])
async def test_a_connection_that_ends_in_a_turn_is_told_and_opened_again(
    host: Host, listen: Listen, how: str, options: tuple[str, ...]
) -> None:
    script, server = listen(TALKS, *options)
    await host.turn("hello")
    host.prompt("leave" if how == "leave" else "wait")
    host.prompt("queued")
    if how == "kill":
        await host.until_received("session/prompt", 2)
        server.kill()
    status = await host.until_state("failed")
    assert (status.queue, host.of(events.TurnEnd)[-1].stop_reason) == (1, "error")
    [error] = host.editor.all(events.Error)
    assert error.code == "agent_exited"
    assert error.text.startswith(f"The connection to agent 'it' at {server.address} was ")
    assert "Your next prompt connects again. What the agent still does there is not known." in error.text
    if how == "kill":
        with listening(script.argv, port=server.port):
            host.prompt("next")
            await host.until("the end of all turns", lambda: len(host.of(events.TurnEnd)) == 4)
            host.stop()
            await host.until_state("stopped")
    else:
        host.prompt("next")
        await host.until("the end of all turns", lambda: len(host.of(events.TurnEnd)) == 4)
    assert "<queued to session-1><next to session-1>" in host.text()
    assert ANEW in host.notices()


async def test_the_session_goes_on_where_the_agent_can_do_that(host: Host, listen: Listen) -> None:
    script, _ = listen(RESUMES)
    await host.turn("hello")
    await host.turn("leave")
    await host.until_state("failed")
    assert await host.turn("again") == "end_turn"
    assert host.notices()[-1] == GOES_ON
    assert len(script.received("session/resume")) == 1


async def test_stopping_closes_the_connection_and_nothing_else(host: Host, listen: Listen) -> None:
    script, server = listen(TALKS + "\n    def at_eof(agent):\n        agent.note(eof=True)\n        agent.exit(0)\n")
    await host.turn("hello")
    host.stop()
    await host.until_state("stopped")
    await host.until_note("eof")
    assert server.process.poll() is None
    assert host.editor.all(events.Error) == []
    assert await host.turn("again") == "end_turn"
    assert len(script.notes("started")) == 2


async def test_an_idle_connection_is_closed(host: Host, listen: Listen) -> None:
    script, _ = listen(RESUMES, idle_seconds=0.05)
    await host.turn("hello")
    await host.until("sleep", lambda: (status := host.status()) is not None and status.asleep)
    assert await host.turn("again") == "end_turn"
    assert len(script.received("session/resume")) == 1


async def test_who_does_not_stop_is_left_by_closing_the_connection(host: Host, listen: Listen) -> None:
    listen(TALKS)
    host.open()
    host.prompt("wait")
    await host.until("its word", lambda: host.text() == "waiting")
    host.app.sessions[1].cancelling.patience = Patience(0, 0)
    host.cancel()
    await host.until("impatience", lambda: any("has not stopped" in text for text in host.notices()))
    assert "then its session is closed, then the connection. The chat stays." in host.notices()[-1]
    host.cancel(force=True)
    await host.until("the end", lambda: host.of(events.TurnEnd))
    await host.until("the words", lambda: f"{CLOSED} Your next prompt connects again." in host.notices())
    assert await host.turn("again") == "end_turn"


async def test_where_nothing_listens_the_prompt_is_kept(host: Host, listen: Listen) -> None:
    port = free_port()
    host.hello(agents={"it": {"address": f"127.0.0.1:{port}"}})
    host.open()
    host.prompt("go")
    error = await host.editor.until_event(events.Error)
    assert error.code == "agent_not_found"
    assert f"Agent 'it' cannot be reached: nothing listens at 127.0.0.1:{port}." in error.text
    assert "Start the agent there, or correct agents.it.address in your configuration." in error.text
    assert (await host.until_state("failed")).queue == 1
    listen(TALKS, port=port)
    host.prompt("again")
    await host.until("both turns", lambda: len(host.of(events.TurnEnd)) == 2)
    assert host.text() == "<go to session-1><again to session-1>"


async def test_a_name_that_is_looked_up_for_ever_holds_nobody_up(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on, real = threading.Event(), threading.Event(), socket.getaddrinfo

    def slow(name: Any, *more: Any, **named: Any) -> Any:
        if name == "far.example":
            begun.set()
            go_on.wait(LIMIT)
        return real("127.0.0.1", *more, **named)

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    host.script(TALKS, "other")
    host.config["agents"]["it"] = {"address": f"far.example:{free_port()}"}
    host.hello()
    try:
        host.open()
        host.prompt("go")
        await host.until("the look-up", begun.is_set)
        host.open(2, "other")
        host.prompt("hello", 2)
        await host.until("another turn", lambda: host.of(events.TurnEnd, 2))
        host.cancel()
        await host.until("the end of the wait", lambda: (shown := host.status()) and shown.state in ("stopped", "idle"))
        host.hello(timeouts={"initialize": 100})
        host.prompt("go")
        error = await host.editor.until_event(events.Error)
        assert "did not answer within 0.1 s. Check agents.it.address, the network" in error.text
    finally:
        go_on.set()


async def test_a_connection_with_tls(host: Host, listen: Listen) -> None:
    made = certificate(host.directory, "localhost")
    listen(TALKS, certificate=made, tls=str(made.file))
    assert await host.turn("hello") == "end_turn"
    assert host.text() == "<hello to session-1>"


async def test_a_certificate_that_is_not_known_is_told_with_what_to_do(host: Host, listen: Listen) -> None:
    made = certificate(host.directory, "localhost")
    listen(TALKS, certificate=made, tls=True)
    host.open()
    error = await host.editor.until_event(events.Error)
    assert "is not accepted: self" in error.text
    assert 'agents.it.tls = "/path/of/its/certificate.pem"' in error.text


async def test_who_wants_tls_and_gets_none_is_told(host: Host, listen: Listen) -> None:
    listen(TALKS, certificate=certificate(host.directory, "localhost"))
    host.open()
    error = await host.editor.until_event(events.Error)
    assert "if it wants TLS, set agents.it.tls = true." in error.text


async def test_who_hangs_up_after_tls_was_set_up_is_not_said_to_want_it(host: Host, listen: Listen) -> None:
    made = certificate(host.directory, "localhost")
    listen("    def run(agent): agent.exit(0)", certificate=made, tls=str(made.file))
    host.open()
    error = await host.editor.until_event(events.Error)
    assert error.code == "agent_exited"
    assert "Check that an ACP agent listens there." in error.text


def at(address: str, tls: bool | str = False) -> AgentDefinition:
    """The agent at that address, with that value of `tls`."""
    return Catalogue({"it": {"address": address, **({"tls": tls} if tls else {})}}).find("it")


@pytest.mark.parametrize(
    ("definition", "hint"),
    [
        (at("box:1"), True),
        (at("box:1", tls=True), False),
        (at("ws://box/acp"), False),
        (at("wss://box/acp"), False),
    ],
)
def test_tls_is_proposed_only_where_it_is_missing(definition: AgentDefinition, hint: bool) -> None:
    never_spoke = failures.ended(definition, Disconnected(str(definition.address), "was lost", False))
    is_silent = failures.silent(definition, 2.0, ())
    assert ["agents.it.tls = true" in one.next_step for one in (never_spoke, is_silent)] == [hint, hint]


ADDRESS = "Correct agents.it.address in your configuration;"


@pytest.mark.parametrize(
    ("definition", "cause", "step"),
    [
        (at("box:1", tls=True), "not_tls", "Remove agents.it.tls, or correct agents.it.address in your configuration."),
        (at("wss://box"), "not_tls", f"{ADDRESS} without TLS it begins with ws://."),
        (
            at("wss://box", tls="/ca.pem"),
            "not_tls",
            f"{ADDRESS} without TLS it begins with ws://, and agents.it.tls is not set.",
        ),
        (
            at("ws://box"),
            "no_websocket",
            f"{ADDRESS} with TLS it begins with wss://, for plain TCP it is only host:port.",
        ),
        (at("wss://box"), "no_websocket", f"{ADDRESS} for plain TCP it is only host:port."),
        (
            at("box:1", tls="/ca.pem"),
            "certificate",
            "Add its certificate, or that of its authority, to the file that agents.it.tls names.",
        ),
        (
            at("box:1", tls="/ca.pem"),
            "outdated",
            "Renew its certificate there, and check the date of both machines.",
        ),
    ],
)
def test_the_next_step_suits_what_is_configured(definition: AgentDefinition, cause: str, step: str) -> None:
    assert failures.cannot_reach(definition, cause, "a reason").next_step == step


async def test_who_says_nothing_is_not_waited_for(host: Host, listen: Listen) -> None:
    _, server = listen("    def initialize(agent, request): return NO_ANSWER")
    host.hello(timeouts={"initialize": 2000})
    host.open()
    error = await host.editor.until_event(events.Error)
    assert error.code == "agent_silent"
    assert f"Agent 'it' at {server.address} did not answer within 2 s; the connection was closed." in error.text


async def test_what_is_no_protocol_is_survived(host: Host, listen: Listen) -> None:
    listen("""
        def run(agent):
            agent.raw(b"SSH-2.0-OpenSSH_9.9\\r\\n\\xff\\xfe\\0{\\n[]\\n")
            agent.expect("initialize")
            agent.exit(0)
    """)
    host.open()
    error = await host.editor.until_event(events.Error)
    assert "was closed by the other side" in error.text
    await host.until_state("failed")


async def test_a_server_that_always_hangs_up_is_left_alone_after_a_while(host: Host, listen: Listen) -> None:
    script, _ = listen("    def turn(agent, prompt): agent.exit(1)")
    host.open()
    for text in ("one", "two", "three"):
        host.prompt(text)
    await host.until_state("failed")
    started = len(script.notes("started"))
    assert 1 <= started <= 3
    assert len(host.editor.all(events.Error)) == started


async def test_a_directory_that_is_nowhere_there_is_told(host: Host, listen: Listen) -> None:
    script, _ = listen(TALKS, paths=[{"here": str(host.cwd), "there": "/work"}])
    host.open(cwd="/usr")
    error = await host.editor.until_event(events.Error)
    assert "nothing says where /usr is there" in error.text
    assert script.notes("started") == []
    host.open(2)
    await host.until_state("idle", 2)
    assert script.received("session/new")[0]["params"]["cwd"] == "/work"


@pytest.mark.parametrize(
    "method",
    [
        {"id": "t", "name": "In a terminal", "type": "terminal", "description": "Run `it login`.", "args": ["login"]},
        {"id": "v", "name": "With a key", "type": "env_var", "description": "Set KEY.", "vars": [{"name": "KEY"}]},
    ],
)
async def test_a_sign_in_that_needs_its_machine_is_done_there(host: Host, listen: Listen, method: Any) -> None:
    _, server = listen(
        f"    INITIALIZE = {{'authMethods': [{method!r}]}}\n\n"
        "    def session_new(agent, request): raise Error(-32000, 'Authentication required')\n"
    )
    host.open()
    await host.until_state("failed")
    host.app.receive(
        "login",
        {"agent": "it", "cwd": str(host.cwd), "session": 1, "method": method["id"], "values": {"KEY": "a-secret-key"}},
    )
    words = f"{method['name']!r} is done where the agent runs ({server.address}): {method['description']}"
    await host.until("the words", lambda: any(words in one for one in told(host)))


def told(host: Host) -> list[str]:
    return [str(getattr(one, "text", "")) for one in host.editor.events]


async def test_a_recording_names_the_address(host: Host, listen: Listen) -> None:
    _, server = listen(TALKS)
    host.hello(log={"traffic": True})
    await host.turn("hello")
    [file] = (host.log_path.with_suffix("") / "traffic").glob("*.jsonl")
    assert f'"command":["{server.address}"]' in file.read_text().replace(" ", "")
    assert server.address in host.log_path.read_text()


# --- WebSocket, a draft ----------------------------------------------------------------------------------------------

DRAFTS = {"draft_transports": True}


@pytest.mark.parametrize("token", ["s3cret-of-mine", "pw12"], ids=["long", "short"])
async def test_a_websocket_serves_a_chat_as_well(
    host: Host, listen: Listen, monkeypatch: pytest.MonkeyPatch, token: str
) -> None:
    monkeypatch.setenv("MY_ACCESS", token)
    made = certificate(host.directory, "localhost")
    options = ("--websocket", "--token", token)
    says = """
        def turn(agent, prompt):
            if prompt.text == "leave":
                agent.exit(0)
            prompt.say(TOKEN + " wörds" * 2000)
    """.replace("TOKEN", repr(token))
    _, server = listen(says, *options, certificate=made, tls=str(made.file), token_env="MY_ACCESS")
    host.hello(protocol=DRAFTS, log={"traffic": True})
    assert await host.turn("hello") == "end_turn"
    assert host.text() == token + " wörds" * 2000
    assert await host.turn("leave") == "error"
    error = await host.editor.until_event(events.Error)
    assert f"The connection to agent 'it' at {server.address} was closed by the other side" in error.text
    assert await host.turn("again") == "end_turn"
    host.stop()
    await host.until_state("stopped")
    written = [path for path in below(host.log_path.parent.parent) if path.is_file() and path.suffix != ".py"]
    kept = [path for path in written if token.encode() in path.read_bytes() and "traffic.jsonl" not in path.name]
    assert kept == []


async def test_a_draft_is_used_only_if_the_user_wants_it(host: Host, listen: Listen) -> None:
    script, server = listen(TALKS, "--websocket")
    host.open()
    error = await host.editor.until_event(events.Error)
    assert f"{server.address} is for WebSocket, which is a draft of the protocol." in error.text
    assert "Set protocol.draft_transports = true to use it all the same; it may change." in error.text
    assert script.notes("started") == []


async def test_the_package_for_it_may_be_missing(host: Host, listen: Listen, monkeypatch: pytest.MonkeyPatch) -> None:
    listen(TALKS, "--websocket")
    host.hello(protocol=DRAFTS)
    for name in [name for name in sys.modules if name.partition(".")[0] == "websockets"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "acp_nvim.transports.websocket", raising=False)
    monkeypatch.setattr(sys, "meta_path", [NoWebsockets(), *sys.meta_path])
    host.open()
    error = await host.editor.until_event(events.Error)
    assert f"the host's Python has no package `websockets` ({sys.executable})." in error.text
    assert "Install it with that Python: -m pip install websockets" in error.text


class NoWebsockets:
    """An import finder that has no package `websockets`."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        if name.partition(".")[0] == "websockets":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "the environment variable MY_ACCESS is not set."),
        (" \n", "the environment variable MY_ACCESS is not set."),
        ("a\r\nX-Header: b", "the environment variable MY_ACCESS contains characters that no token has."),
        ("schlüssel", "the environment variable MY_ACCESS contains characters that no token has."),
        ("another", "answers with the HTTP status 401. Check the token, which the environment variable named by"),
    ],
)
async def test_a_token_that_cannot_be_used_is_told(
    host: Host, listen: Listen, monkeypatch: pytest.MonkeyPatch, value: str | None, reason: str
) -> None:
    if value is not None:
        monkeypatch.setenv("MY_ACCESS", value)
    script, _ = listen(TALKS, "--websocket", "--token", "right", token_env="MY_ACCESS")
    host.hello(protocol=DRAFTS)
    host.open()
    assert reason in (await host.editor.until_event(events.Error)).text
    assert script.notes("started") == []
