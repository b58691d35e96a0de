"""The script of the agent whose session is hit: its turns do what the first word of the prompt says."""

HIT = """
    import subprocess

    METHODS = [{"id": "browser", "name": "Browser"}]
    MODES = {"currentModeId": "a", "availableModes": [{"id": "a", "name": "A"}, {"id": "b", "name": "B"}]}
    INITIALIZE = {
        "authMethods": METHODS,
        "agentCapabilities": {"auth": {"logout": {}}, "sessionCapabilities": {"close": {}, "list": {}}},
        "_meta": {"steering": {"supported": True}},
    }
    SESSION = {"modes": MODES}

    def path(name):
        return os.path.join(os.getcwd(), name)

    def diff(name):
        return {"type": "diff", "path": path(name), "oldText": "one", "newText": "TWO"}

    def session_set_mode(agent, request):
        return {}

    def session_list(agent, request):
        return {"sessions": []}

    def session_close(agent, request):
        return {}

    def authenticate(agent, request):
        return {}

    def logout(agent, request):
        return {}

    def session_steering(agent, request):
        return {"outcome": "injected"}

    def session_new(agent, request):
        if os.path.exists("locked") and not os.path.exists("open"):
            raise Error(-32000, "Authentication required")
        agent.number = getattr(agent, "number", 0) + 1
        return {"sessionId": f"{os.getpid()}-{agent.number}", **SESSION}

    def turn(agent, prompt):
        word, _, rest = prompt.text.partition(" ")
        return WORDS[word](agent, prompt, rest)

    def say(agent, prompt, rest):
        prompt.say("said: " + rest)

    def nothing(agent, prompt, rest):
        pass

    def edit(agent, prompt, rest):
        prompt.tool("t", "Edit", kind="edit", status="in_progress", content=[diff("file")])
        prompt.write(path("file"), "zero\\nTWO\\n")
        prompt.tool_update("t", status="completed", locations=[{"path": path("file"), "line": 2}])

    def ask(agent, prompt, rest):
        prompt.say(str(prompt.ask("t", kind="edit", title="Edit", content=[diff("file")],
                                  locations=[{"path": path("file")}])))

    def delegate(agent, prompt, rest):
        child = {"sessionUpdate": "subagent_update", "sessionId": f"child of {prompt.session_id}", "title": "A child",
                 "state": {"state": "idle"}}
        agent.update(prompt.session_id, child)
        agent.request("fs/write_text_file", {
            "sessionId": child["sessionId"], "path": path("of the child"), "content": "x\\n"})

    def elicit(agent, prompt, rest):
        prompt.elicit({"name": {"type": "string"}})

    def command(agent, prompt, rest):
        terminal = prompt.terminal("/bin/sh", "-c", "echo printed; " + rest)
        prompt.tool("t", "Run", kind="execute", content=[{"type": "terminal", "terminalId": terminal}])
        prompt.ask_terminal("wait_for_exit", terminal)

    def leave(agent, prompt, rest):
        line = "until test -e enough; do /bin/sleep 0.01; done"
        prompt.tool("t", line, kind="execute", status="in_progress", rawInput={"command": line})
        prompt.until_heard()
        quiet = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        subprocess.Popen(["/bin/sh", "-c", line], start_new_session=True, **quiet)

    def stray(agent, prompt, rest):
        agent.update("nobody's", {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Run"})

    def later(agent, prompt, rest):
        prompt.reply({"stopReason": "end_turn"})
        prompt.say("later")
        return NO_ANSWER

    def batch(agent, prompt, rest):
        prompt.say("waits")
        call = {"jsonrpc": "2.0", "id": "b", "method": "session/request_permission", "params": {
            "sessionId": prompt.session_id, "toolCall": {"toolCallId": "b"},
            "options": [{"optionId": "allow", "name": "Allow", "kind": "allow_once"}]}}
        agent.raw(json.dumps([call]).encode() + b"\\n")
        prompt.wait_cancelled()
        return "cancelled"

    def obey(agent, prompt, rest):
        prompt.say("waits")
        prompt.wait_cancelled()
        return "cancelled"

    def resist(agent, prompt, rest):
        prompt.say("waits")
        prompt.wait_cancelled()
        prompt.pause(0)
        while not os.path.exists("enough"):
            time.sleep(0.01)
        return "cancelled"

    def request(agent, prompt, rest):
        try:
            form = {"type": "object", "properties": {"name": {"type": "string"}}}
            answer = prompt.request(rest, mode="form", message="m", requestedSchema=form)
            agent.note(code=answer["outcome"]["outcome"])
        except Error as error:
            agent.note(code=error.code)

    TURNS = (say, nothing, edit, ask, elicit, delegate, command, leave, stray, later, batch, obey, resist, request)
    WORDS = {one.__name__: one for one in TURNS}
"""

HIT_V2 = """
    INITIALIZE = {"protocolVersion": 2, "info": {"name": "v2", "version": "1"}, "capabilities": {"session": {}}}

    def opened(agent, session_id):
        for state in ("running", "idle"):
            agent.update(session_id, {"sessionUpdate": "state_update", "state": state})
"""

STREAM = """
    def turn(agent, prompt):
        number = 0
        while not os.path.exists(prompt.text):
            prompt.say(f"{number} ")
            number += 1
            prompt.pause(0.02)
        agent.note(said=number)
"""
