"""An agent wants the user to sign in: which ways are told, what each does, and that the prompt goes out by itself."""

from __future__ import annotations

import os
from textwrap import dedent
from typing import Any

import pytest

from acp_nvim.contract import events
from acp_nvim.contract.request_events import Elicitation, ElicitationDone, SignIn, SignInDone, SignInTerminal
from acp_nvim.traffic.masking import LEARNED
from tests.agents.in_process import look_at
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio

METHODS = """
    METHODS = [
        {"id": "browser", "name": "Browser", "description": "In a browser"},
        {"id": "term", "name": "Terminal", "type": "terminal", "args": ["--login", "a b"], "env": {"LOGIN": "1"}},
        {"id": "key", "name": "Key", "type": "env_var", "link": "https://example.com",
         "vars": [{"name": "IT_KEY", "label": "The key"}, {"name": "IT_BASE", "secret": False, "optional": True}]},
        {"id": "odd", "name": "Odd", "type": "_retina", "description": "look here"},
    ]
    INITIALIZE = {"authMethods": METHODS, "agentCapabilities": {"auth": {"logout": {}}}}
    STATE = {"signed_in": os.path.exists("signed-in")}
    def session_new(agent, request):
        if not STATE["signed_in"]:
            raise Error(-32000, "Authentication required")
        return {"sessionId": f"s{os.getpid()}-{request.id}"}
    def turn(agent, prompt):
        if os.path.exists("signed-out"):
            raise Error(-32000, "Authentication required")
        prompt.say("did: " + prompt.text)
    def logout(agent, request):
        open("signed-out", "w").close()
        return {}
"""
"""Signed in by `authenticate`, or by a file in its directory; a file signs out, too."""

AUTHENTICATES = """
    def authenticate(agent, request):
        agent.note(method=request.params["methodId"])
        STATE["signed_in"] = True
        if os.path.exists("signed-out"):
            os.unlink("signed-out")
        return {}
"""


@pytest.fixture(autouse=True)
def nothing_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    """The secrets of one test are none of the next."""
    monkeypatch.setattr(LEARNED, "secrets", frozenset())


def login(host: Host, method: str, key: int | None = 1, **more: Any) -> None:
    """Choose a way to sign in, as the user."""
    host.app.receive("login", {"agent": "it", "cwd": str(host.cwd), "method": method, "session": key, **more})


async def asked(host: Host, key: int = 1, count: int = 1) -> SignIn:
    """The agent wants it, for that session."""
    await host.until("the wish to sign in", lambda: len(host.of(SignIn, key)) >= count)
    event: SignIn = host.of(SignIn, key)[count - 1]
    return event


async def done(host: Host, count: int = 1) -> SignInDone:
    """Wait for the end of a sign-in."""
    return await host.editor.until_event(SignInDone, count)


async def prompted(host: Host, source: str, text: str = "hi") -> None:
    """Open a session with this script and send a prompt that is refused."""
    host.script(dedent(METHODS) + dedent(source))
    host.open()
    host.prompt(text)
    await asked(host)
    await host.until_state("failed")


async def test_the_ways_are_told_and_the_prompt_waits(host: Host) -> None:
    await prompted(host, "")
    event = await asked(host)
    assert [(one.id, one.name, one.kind, one.description) for one in event.methods] == [
        ("browser", "Browser", "agent", "In a browser"),
        ("term", "Terminal", "terminal", None),
        ("key", "Key", "env_var", None),
        ("odd", "Odd", "_retina", "look here"),
    ]
    assert (event.agent, event.cwd, event.asked, event.hint) == ("it", str(host.cwd), False, None)
    assert "Authentication required" in (event.reason or "")
    assert event.methods[1].command == " ".join([*host.scripts["it"].argv, "--login", "'a b'"])
    assert [(one.name, one.label, one.secret, one.optional) for one in event.methods[2].variables] == [
        ("IT_KEY", "The key", True, False),
        ("IT_BASE", None, False, True),
    ]
    status = host.status()
    assert status is not None
    assert (status.sign_in, status.queue) == ("needed", 1)
    assert any(":AcpLogin" in one for one in host.notices())


async def test_the_agent_signs_in_and_the_prompt_goes_out_by_itself_in_the_same_process(host: Host) -> None:
    await prompted(host, AUTHENTICATES)
    login(host, "browser")
    await host.editor.until_event(events.TurnEnd)
    assert host.text() == "did: hi"
    assert host.text("user") == "hi"
    assert (await done(host)).outcome == "done"
    assert host.scripts["it"].notes("method") == ["browser"]
    assert len(host.scripts["it"].notes("started")) == 1
    status = host.status()
    assert status is not None
    assert (status.sign_in, status.state) == (None, "idle")


async def test_two_sessions_wait_for_the_same_and_both_go_on(host: Host) -> None:
    await prompted(host, AUTHENTICATES)
    host.open(2)
    host.prompt("ho", 2)
    await asked(host, 2)
    login(host, "browser")
    await host.editor.until_event(events.TurnEnd, 2)
    assert [host.text(key=key) for key in (1, 2)] == ["did: hi", "did: ho"]
    assert host.scripts["it"].notes("method") == ["browser"]
    assert len(host.scripts["it"].notes("started")) == 1


async def test_a_second_attempt_at_the_same_time_is_refused_in_words(host: Host) -> None:
    await prompted(host, "def authenticate(agent, request): return NO_ANSWER")
    login(host, "browser")
    await host.until_received("authenticate")
    login(host, "term")
    assert ":AcpCancel" in (await done(host)).text
    assert host.status().sign_in == "running"  # type: ignore[union-attr]
    host.cancel()
    assert (await done(host, 2)).outcome == "cancelled"


async def test_who_gives_up_takes_the_call_back_and_may_try_again(host: Host) -> None:
    await prompted(host, "def authenticate(agent, request): return NO_ANSWER")
    login(host, "browser")
    [call] = await host.until_received("authenticate")
    host.cancel()
    assert (await done(host)).outcome == "cancelled"
    [withdrawn] = await host.until_received("$/cancel_request")
    assert withdrawn["params"] == {"requestId": call["id"]}
    status = host.status()
    assert status is not None
    assert (status.sign_in, status.queue) == ("needed", 1)
    login(host, "browser")
    await host.until_received("authenticate", 2)
    host.app.receive("login_cancel", {"agent": "it"})
    assert (await done(host, 2)).outcome == "cancelled"


async def test_a_refusal_is_told_and_the_prompt_stays(host: Host) -> None:
    await prompted(host, 'def authenticate(agent, request): raise Error(-32000, "No", {"details": "wrong account"})')
    login(host, "browser")
    told = await done(host)
    assert told.outcome == "failed"
    assert "wrong account" in told.text
    assert any("wrong account" in one for one in host.notices())
    assert host.status().sign_in == "needed"  # type: ignore[union-attr]


async def test_an_agent_that_dies_meanwhile_leaves_words_and_can_be_tried_again(host: Host) -> None:
    await prompted(
        host,
        """
    def authenticate(agent, request):
        if not os.path.exists("died"):
            open("died", "w").close()
            agent.stderr("no browser here\\n")
            agent.exit(3)
        STATE["signed_in"] = True
        return {}
    """,
    )
    login(host, "browser")
    told = await done(host)
    assert told.outcome == "failed"
    assert "exit code 3" in told.text
    assert "no browser here" in told.text
    login(host, "browser")
    await host.editor.until_event(events.TurnEnd)
    assert host.text() == "did: hi"


async def test_an_agent_that_dies_while_it_waits_says_so(host: Host) -> None:
    await prompted(host, AUTHENTICATES)
    os.kill(host.scripts["it"].notes("started")[0], 9)
    await host.until("words", lambda: any("ended while it waited" in one for one in host.notices()))
    login(host, "browser")
    await host.editor.until_event(events.TurnEnd)
    assert host.text() == "did: hi"


async def test_the_next_prompt_tries_again_and_the_first_stays_first(host: Host) -> None:
    await prompted(host, "")
    host.prompt("and")
    await asked(host, count=2)
    (host.cwd / "signed-in").touch()
    host.stop()
    host.prompt("more")
    await host.editor.until_event(events.TurnEnd, 3)
    assert host.text() == "did: hidid: anddid: more"


async def test_a_terminal_runs_the_agents_program_and_exit_0_gets_a_new_process(host: Host) -> None:
    host.script(METHODS)
    host.config["agents"]["it"]["env"] = {"MINE": "m"}
    host.hello()
    host.open()
    host.prompt("hi")
    await asked(host)
    login(host, "term")
    shown = await host.editor.until_event(SignInTerminal)
    assert shown.argv == [*host.scripts["it"].argv, "--login", "a b"]
    assert shown.env == {"MINE": "m", "LOGIN": "1"}
    assert shown.cwd == str(host.cwd)
    assert host.status().sign_in == "running"  # type: ignore[union-attr]
    (host.cwd / "signed-in").touch()
    host.app.receive("login_ended", {"attempt": shown.attempt, "code": 0})
    await host.editor.until_event(events.TurnEnd)
    assert host.text() == "did: hi"
    assert host.scripts["it"].received("authenticate") == []
    pids = host.scripts["it"].notes("started")
    assert len(pids) == 2
    await host.until("the end of the first process", lambda: look_at(pids[0]) is None)


@pytest.mark.parametrize(
    ("ending", "words"),
    [
        ({"code": 1}, "exit code 1"),
        ({"code": None}, "was closed"),
        ({"code": -1}, "was closed"),
        ({"problem": "there is no room for a window"}, "no room"),
    ],
)
async def test_other_ends_of_the_terminal_are_told(host: Host, ending: dict[str, Any], words: str) -> None:
    await prompted(host, "")
    login(host, "term")
    shown = await host.editor.until_event(SignInTerminal)
    host.app.receive("login_ended", {"attempt": shown.attempt, **ending})
    told = await done(host)
    assert (told.outcome, told.attempt) == ("failed", shown.attempt)
    assert words in told.text
    assert host.status().sign_in == "needed"  # type: ignore[union-attr]


async def test_a_terminal_is_given_up_with_its_attempt(host: Host) -> None:
    await prompted(host, "")
    login(host, "term")
    shown = await host.editor.until_event(SignInTerminal)
    host.cancel()
    told = await done(host)
    assert (told.outcome, told.attempt) == ("cancelled", shown.attempt)
    host.app.receive("login_ended", {"attempt": shown.attempt, "code": 0})  # it was too late


WITH_KEY = """
    STATE["signed_in"] = os.environ.get("IT_KEY") == "right-key-0123"
    agent_env = {name: os.environ.get(name) for name in ("IT_KEY", "IT_BASE")}
    def start(agent): agent.note(has=agent_env["IT_KEY"] is not None, base=agent_env["IT_BASE"])
"""


async def test_entered_variables_reach_a_new_process(host: Host) -> None:
    await prompted(host, WITH_KEY)
    login(host, "key", values={"IT_KEY": "right-key-0123", "IT_BASE": "http://here", "OTHER": "x"})
    await host.editor.until_event(events.TurnEnd)
    assert host.text() == "did: hi"
    assert host.scripts["it"].notes("base") == [None, "http://here"]
    assert len(host.scripts["it"].received("authenticate")) == 1  # the one that it does not know
    again = host.app.sign_ins
    assert "right-key-0123" not in repr(again.credentials)


async def test_wrong_variables_leave_the_prompt_and_can_be_entered_again(host: Host) -> None:
    await prompted(host, WITH_KEY)
    login(host, "key", values={"IT_KEY": "wrong-key-0123"})
    await asked(host, count=2)
    assert host.status().sign_in == "needed"  # type: ignore[union-attr]
    event = await asked(host, count=2)
    assert [one.is_set for one in event.methods[2].variables] == [True, False]
    assert "wrong-key-0123" not in repr(event)
    login(host, "key", values={"IT_KEY": "right-key-0123"})
    await host.editor.until_event(events.TurnEnd)
    assert host.text() == "did: hi"


async def test_an_agent_that_checks_the_variables_itself_says_what_is_wrong(host: Host) -> None:
    await prompted(
        host,
        dedent(WITH_KEY)
        + """
def authenticate(agent, request):
    if not STATE["signed_in"]:
        raise Error(401, "bad key " + str(os.environ.get("IT_KEY")))
    return {}
    """,
    )
    login(host, "key", values={"IT_KEY": "wrong-key-0123"})
    told = await done(host)
    assert (told.outcome, "bad key [masked]" in told.text) == ("failed", True)
    login(host, "key", values={"IT_KEY": "right-key-0123"})
    await host.editor.until_event(events.TurnEnd)
    assert host.text() == "did: hi"


async def test_what_is_not_entered_is_named(host: Host) -> None:
    await prompted(host, WITH_KEY)
    login(host, "key", values=[])
    told = await done(host)
    assert told.outcome == "failed"
    assert all(word in told.text for word in ("IT_KEY", "https://example.com", "agents.it.env"))
    assert "IT_BASE" not in told.text


async def test_a_type_that_nobody_knows_is_said_in_words(host: Host) -> None:
    await prompted(host, "")
    login(host, "odd")
    told = await done(host)
    assert told.outcome == "failed"
    assert "_retina" in told.text
    assert "look here" in told.text


async def test_a_method_that_the_agent_does_not_name_is_not_sent(host: Host) -> None:
    await prompted(host, AUTHENTICATES)
    login(host, "telepathy")
    assert "telepathy" in (await done(host)).text
    assert host.scripts["it"].received("authenticate") == []


async def test_a_session_goes_on_after_it_was_signed_out_in_its_middle(host: Host) -> None:
    (host.cwd / "signed-in").touch()
    host.script(METHODS + AUTHENTICATES)
    assert await host.turn("one") == "end_turn"
    host.app.receive("logout", {"agent": "it", "cwd": str(host.cwd)})
    assert (await done(host)).outcome == "done"
    assert any("Signed out" in one for one in host.notices())
    host.prompt("two")
    await asked(host)
    status = await host.until_state("failed")
    assert (status.sign_in, status.queue) == ("needed", 1)
    login(host, "browser")
    await host.until("the second turn", lambda: host.text() == "did: onedid: two")
    assert len(host.of(events.SessionReady)) == 1  # in the same session
    assert host.text("user") == "onetwo"


async def test_what_an_agent_does_not_offer_is_not_sent(host: Host) -> None:
    script = host.script("def turn(agent, prompt): prompt.say('x')")
    await host.turn()
    host.app.receive("logout", {"agent": "it", "cwd": str(host.cwd)})
    told = await done(host)
    assert (told.outcome, "does not offer to sign you out" in told.text) == ("failed", True)
    assert script.received("logout") == []


async def test_signing_out_forgets_what_was_entered(host: Host) -> None:
    await prompted(host, WITH_KEY)
    login(host, "key", values={"IT_KEY": "right-key-0123"})
    await host.editor.until_event(events.TurnEnd)
    host.app.receive("logout", {"agent": "it", "cwd": str(host.cwd)})
    await done(host, 2)
    host.open(2)
    event = await asked(host, 2)
    assert [one.is_set for one in event.methods[2].variables] == [False, False]


async def test_who_asks_gets_the_ways_of_an_agent_that_does_not_run(host: Host) -> None:
    script = host.script(METHODS)
    host.app.receive("login_methods", {"agent": "it", "cwd": str(host.cwd)})
    event = await host.editor.until_event(SignIn)
    assert (event.asked, event.session, len(event.methods)) == (True, None, 4)
    [pid] = script.notes("started")
    await host.until("its end", lambda: look_at(pid) is None)
    host.app.receive("login_methods", {"agent": "nobody", "cwd": str(host.cwd)})
    assert "nobody" in (await done(host)).text


async def test_an_agent_without_ways_gets_a_hint(host: Host) -> None:
    host.script('def session_new(agent, request): raise Error(-32000, "Log in first")')
    host.open()
    event = await asked(host)
    assert event.methods == []
    assert "does not say how to sign in" in (event.hint or "")


async def test_an_error_may_name_the_ways_itself(host: Host) -> None:
    host.script("""
        def session_new(agent, request):
            if not os.path.exists("in"):
                raise Error(-32000, "Authentication required", {"authMethods": [{"id": "login", "name": "L"}]})
            return {"sessionId": "s"}
        def authenticate(agent, request):
            open("in", "w").close()
            return {}
    """)
    host.open()
    assert [one.id for one in (await asked(host)).methods] == ["login"]
    login(host, "login")
    await host.editor.until_event(events.SessionReady)


async def test_variables_that_an_agent_is_known_to_take_are_a_way_of_ours(host: Host) -> None:
    host.script("""
        def session_new(agent, request):
            if os.environ.get("GEMINI_API_KEY") != "right-key-0123":
                raise Error(-32000, "Authentication required")
            return {"sessionId": "s"}
    """)
    host.config["agents"]["gemini"] = host.config["agents"]["it"]
    host.hello()
    host.open(1, "gemini")
    [way] = (await asked(host)).methods
    assert way.kind == "env_var"
    assert ("GEMINI_API_KEY", True) in [(one.name, one.secret) for one in way.variables]
    for values, words in (({}, "nothing was entered"), ({"GEMINI_API_KEY": "right-key-0123"}, "Signed in")):
        before = len(host.editor.all(SignInDone))
        more = {"agent": "gemini", "cwd": str(host.cwd), "method": way.id, "values": values}
        host.app.receive("login", more)
        assert words in (await done(host, before + 1)).text
    await host.editor.until_event(events.SessionReady)
    assert host.scripts["it"].received("authenticate") == []


async def test_a_status_of_http_means_the_same(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            if not os.path.exists("paid"):
                raise Error(401, "invalid key")
            prompt.say("did: " + prompt.text)
    """)
    host.open()
    host.prompt("hi")
    await asked(host)
    await host.until_state("failed")
    (host.cwd / "paid").touch()
    host.prompt("ho")
    await host.editor.until_event(events.TurnEnd, 3)
    assert host.text() == "did: hidid: ho"


@pytest.mark.parametrize("method", ["session_new", "turn"])
@pytest.mark.parametrize(
    ("reason", "hints"), [("401 Unauthorized", True), ("set an API key", True), ("no luck", False)]
)
async def test_other_errors_that_sound_like_it_name_the_command(
    host: Host, method: str, reason: str, hints: bool
) -> None:
    host.script(f'def {method}(agent, prompt): raise Error(-32603, "Internal error", {{"message": {reason!r}}})')
    host.open()
    host.prompt("hi")
    error = await host.editor.until_event(events.Error)
    assert (":AcpLogin" in error.text) is hints
    assert error.code != "auth_required"


async def test_a_prompt_that_is_not_wanted_any_more_is_dropped_and_none_goes_out_twice(host: Host) -> None:
    await prompted(host, AUTHENTICATES)
    host.cancel()
    host.cancel()
    status = host.status()
    assert status is not None
    assert status.queue == 0
    login(host, "browser")
    await host.until_state("idle")
    assert await host.turn("other") == "end_turn"
    assert host.text() == "did: other"
    assert len(host.scripts["it"].received("session/prompt")) == 1


ASKS_MEANWHILE = """
    def authenticate(agent, request):
        ask = {"requestId": request.id, "mode": "url", "message": "Sign in", "elicitationId": "e",
               "url": "https://example.org/device"}
        call = agent.call("elicitation/create", ask)
        if os.path.exists("dies"):
            time.sleep(0.2)
            agent.exit(3)
        STATE["signed_in"] = call.result()["action"] == "accept"
        return {}
"""


async def test_an_agent_may_ask_the_user_meanwhile(host: Host) -> None:
    await prompted(host, ASKS_MEANWHILE)
    login(host, "browser")
    question = await host.editor.until_event(Elicitation)
    assert question.session == 1
    answer = {"id": question.request.id, "version": 1, "action": "accept"}
    host.app.receive("elicitation_answer", answer)
    await host.editor.until_event(events.TurnEnd)
    assert host.text() == "did: hi"


@pytest.mark.parametrize("ending", ["given up", "dead"])
async def test_what_it_asked_does_not_outlive_the_attempt(host: Host, ending: str) -> None:
    await prompted(host, ASKS_MEANWHILE)
    if ending == "dead":
        (host.cwd / "dies").touch()
    login(host, "browser")
    await host.editor.until_event(Elicitation)
    if ending == "given up":
        host.cancel()
    assert (await host.editor.until_event(ElicitationDone)).action == "cancel"
    assert (await done(host)).outcome == ("cancelled" if ending == "given up" else "failed")
    status = await host.until_state("failed")
    assert (status.pending_elicitations, status.sign_in) == (0, "needed")


async def test_sessions_in_other_directories_try_again_where_they_are(host: Host) -> None:
    await prompted(host, AUTHENTICATES)
    other = host.directory / "other"
    other.mkdir()
    host.open(2, cwd=str(other))
    host.prompt("ho", 2)
    await asked(host, 2)
    (other / "signed-in").touch()  # what the agent has written at its home, say
    login(host, "browser")
    await host.editor.until_event(events.TurnEnd, 2)
    assert [host.text(key=key) for key in (1, 2)] == ["did: hi", "did: ho"]
    assert host.scripts["it"].notes("method") == ["browser"]


async def test_a_chat_that_is_left_waits_no_more_and_its_process_ends(host: Host) -> None:
    await prompted(host, AUTHENTICATES)
    [pid] = host.scripts["it"].notes("started")
    host.stop()
    await host.until("its end", lambda: look_at(pid) is None)
    status = host.status()
    assert status is not None
    assert (status.sign_in, status.queue) == (None, 1)


V2 = """
    INITIALIZE = {"protocolVersion": 2, "info": {"name": "v2", "version": "1"}, "capabilities": {"session": {}},
        "authMethods": [{"methodId": "browser", "name": "Browser", "type": "agent"},
                        {"methodId": "term", "name": "T", "type": "terminal", "args": ["login"]}]}
    STATE = {"signed_in": os.path.exists("signed-in")}
    def session_new(agent, request):
        if not STATE["signed_in"]:
            raise Error(-32000, "Authentication required")
        return {"sessionId": "s"}
    def auth_login(agent, request):
        agent.note(method=request.params["methodId"])
        STATE["signed_in"] = True
        return {}
    def auth_logout(agent, request): return {}
"""


@pytest.fixture
async def v2(host: Host) -> Host:
    host.hello(protocol={"v2": True})
    host.script(V2)
    return host


async def test_version_2_signs_in_and_out_with_its_own_words(v2: Host) -> None:
    v2.open()
    assert [one.kind for one in (await asked(v2)).methods] == ["agent", "terminal"]
    login(v2, "browser")
    await v2.editor.until_event(events.SessionReady)
    assert v2.scripts["it"].notes("method") == ["browser"]
    v2.app.receive("logout", {"agent": "it", "cwd": str(v2.cwd)})
    await v2.until_received("auth/logout")


async def test_version_2_never_hears_of_a_method_in_a_terminal(v2: Host) -> None:
    v2.open()
    await asked(v2)
    login(v2, "term")
    shown = await v2.editor.until_event(SignInTerminal)
    assert shown.argv[-1] == "login"
    (v2.cwd / "signed-in").touch()
    v2.app.receive("login_ended", {"attempt": shown.attempt, "code": 0})
    await v2.editor.until_event(events.SessionReady)
    assert v2.scripts["it"].received("auth/login") == []


async def test_a_session_that_works_goes_on_at_a_process_that_knows_of_it(host: Host) -> None:
    (host.cwd / "signed-in").touch()
    host.script(METHODS)
    assert await host.turn("one") == "end_turn"
    login(host, "term")
    shown = await host.editor.until_event(SignInTerminal)
    host.app.receive("login_ended", {"attempt": shown.attempt, "code": 0})
    await host.editor.until_event(events.SessionReady, 2)
    assert await host.turn("two") == "end_turn"
    assert len(host.scripts["it"].notes("started")) == 2


async def test_a_command_with_a_secret_in_it_is_never_kept_as_a_rule(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            for word in ("harmless", "entered-secret"):
                line = {"command": f"curl {word}"}
                prompt.ask(word, [{"optionId": "y", "name": "Y", "kind": "allow_once"}], kind="execute", rawInput=line)
    """)
    LEARNED.learn(["entered-secret"])
    host.open()
    host.prompt("go")
    for number, ours in ((1, True), (2, False)):
        asking = await host.editor.until_event(events.Permission, number)
        assert any(one.ours for one in asking.request.options) is ours
        host.answer(asking.request.id, "y")
    await host.editor.until_event(events.TurnEnd)


@pytest.mark.parametrize(("name", "sent"), [("scripted", {"apiKey": "k-0123456"}), ("gemini-cli", "k-0123456")])
async def test_a_key_goes_along_as_the_agent_wants_it(host: Host, name: str, sent: Any) -> None:
    host.script(f"""
        INITIALIZE = {{"agentInfo": {{"name": {name!r}, "version": "1"}}, "authMethods": [
            {{"id": "k", "name": "K", "_meta": {{"api-key": {{"provider": "x"}}}}}}]}}
        STATE = []
        def session_new(agent, request):
            if not STATE:
                raise Error(-32000, "Authentication required")
            return {{"sessionId": "s"}}
        def authenticate(agent, request):
            agent.note(meta=request.params.get("_meta"))
            STATE.append(1)
            return {{}}
    """)
    host.open()
    [way] = (await asked(host)).methods
    assert (way.kind, [(one.secret, one.optional) for one in way.variables]) == ("api_key", [(True, True)])
    login(host, "k", values={"api-key": "k-0123456"})
    await host.editor.until_event(events.SessionReady)
    assert host.scripts["it"].notes("meta") == [{"api-key": sent}]
    assert "k-0123456" in LEARNED.secrets


async def test_giving_up_an_attempt_keeps_the_prompt_although_the_agent_has_a_question(host: Host) -> None:
    await prompted(host, ASKS_MEANWHILE)
    login(host, "browser")
    await host.editor.until_event(Elicitation)
    host.cancel()
    await done(host)
    assert len(host.app.sessions[1].queue) == 1
