"""What users set of a session: by command, picker and keys, from the editor to the agent and back."""

from __future__ import annotations

import json

from tests.support.agent_scripts import agent_script
from tests.support.processes import kill

AGENT = """
    import threading
    GO = threading.Event()
    def select(id, current, *values, **more):
        values = [value if isinstance(value, dict) else {"value": value, "name": value.title()} for value in values]
        return {"id": id, "name": id.title(), "type": "select", "currentValue": current, "options": values, **more}
    FAST = {"group": "g1", "name": "Fast", "options": [{"value": "mini", "name": "Mini", "description": "small"}]}
    GOOD = {"group": "g2", "name": "Good", "options": [{"value": "https://x/big", "name": "Big One"}]}
    OPTIONS = {
        "mode": select("mode", "ask", "ask", "plan", "code", category="mode"),
        "engine": select("engine", "mini", FAST, GOOD, category="model", description="what thinks"),
        "effort": select("effort", "low", "low", "high", category="thought_level"),
        "brave": {"id": "brave", "name": "Brave", "type": "boolean", "currentValue": False},
        "volume": {"id": "volume", "name": "Volume", "type": "slider", "currentValue": 3},
    }
    SESSION = {"configOptions": list(OPTIONS.values()), "modes": {"currentModeId": "ask", "availableModes": [
        {"id": "ask", "name": "Ask"}, {"id": "plan", "name": "Plan"}, {"id": "code", "name": "Code"}]}}
    def session_set_config_option(agent, request):
        what, value = request.params["configId"], request.params["value"]
        if value == "plan":
            GO.wait(60)
        if value == "code":
            raise Error(-32602, "no code today")
        OPTIONS[what]["currentValue"] = value
        if what == "engine":
            OPTIONS["effort"]["options"] = [{"value": "max", "name": "Max"}]
            OPTIONS["effort"]["currentValue"] = "max"
        return {"configOptions": list(OPTIONS.values())}
    def turn(agent, prompt):
        if prompt.text == "go":
            GO.set()
        elif prompt.text == "now":
            agent.note(mode=OPTIONS["mode"]["currentValue"])
        elif prompt.text == "switch":
            OPTIONS["mode"]["currentValue"] = "ask"
            prompt.update("config_option_update", configOptions=list(OPTIONS.values()))
        else:
            prompt.wait_cancelled()
            return "cancelled"
"""

SELECT = """
    vim.g.asked = {}
    vim.ui.select = function(items, opts, done)
      local lines = vim.tbl_map(opts.format_item, items)
      vim.g.asked = { prompt = opts.prompt, lines = lines }
      local wanted = table.remove(_G.answers, 1)
      for index, line in ipairs(lines) do
        if wanted and line:find(wanted, 1, true) then
          return done(items[index], index)
        end
      end
      done(nil)
    end
"""


def current(nvim, what, session=1):
    """The value of an option of the first session, as the Lua API tells it; and what it is about to be."""
    return nvim.lua(
        "local what, session = ... for _, one in ipairs(require('acp_nvim').config_options(session)) do"
        " if one.id == what then return { one.current, one.changing } end end",
        what,
        session,
    )


def choose(nvim, *answers):
    """What is chosen in the lists that come."""
    nvim.lua("_G.answers = ...", list(answers))


def asked(nvim):
    """Return the entries of the last list."""
    return nvim.lua("return vim.g.asked")


def test_everything_that_an_agent_offers_is_set_from_the_editor(editor, tmp_path):
    script = agent_script(tmp_path, AGENT)
    nvim = editor(agents={"it": {"command": script.argv}}, config={"default_agent": "it"})
    nvim.lua(SELECT)
    nvim.command("AcpChat")
    nvim.wait_until("#require('acp_nvim').config_options() == 5", what="the options")
    # the list, in the agent's order; what nobody knows is shown, and not set
    choose(nvim, "Volume")
    nvim.command("AcpConfig")
    assert asked(nvim)["lines"] == [
        "Mode: Ask",
        "Engine: Mini",
        "Effort: Low",
        "Brave: off",
        'Volume: 3 (of the type "slider": it cannot be set here)',
    ]
    nvim.wait_until(lambda: "Volume cannot be set" in str(nvim.messages()), what="why not")
    # values with their groups and what they are about; other options change with them
    choose(nvim, "Engine", "Big One")
    nvim.command("AcpConfig")
    assert asked(nvim) == {
        "prompt": "Engine (what thinks)",
        "lines": ["● Fast: Mini - small", "  Good: Big One"],
    }
    nvim.wait_until(lambda: current(nvim, "engine") == ["https://x/big"], what="the model")
    assert current(nvim, "effort") == ["max"]
    assert nvim.lua("local s = require('acp_nvim').status() return { s.model, s.model_name }") == [
        "https://x/big",
        "Big One",
    ]
    # what is on or off is switched at once
    choose(nvim, "Brave")
    nvim.command("AcpConfig")
    nvim.wait_until(lambda: current(nvim, "brave") == [True], what="brave")
    nvim.command("AcpConfig brave off")
    nvim.wait_until(lambda: current(nvim, "brave") == [False], what="not brave")
    # completion
    complete = "return vim.fn.getcompletion(..., 'cmdline')"
    assert nvim.lua(complete, "AcpConfig ") == ["mode", "engine", "effort", "brave"]
    assert nvim.lua(complete, "AcpConfig! mode ") == ["ask", "plan", "code"]
    assert nvim.lua(complete, "AcpConfig model ") == ["mini", "Big\\ One"]
    assert nvim.lua(complete, "AcpConfig engine one") == ["Big\\ One"]
    assert nvim.lua(complete, "AcpConfig brave o") == ["on", "off"]
    nvim.command("AcpConfig model mini")
    nvim.wait_until(lambda: current(nvim, "engine") == ["mini"], what="the other model")
    nvim.command("AcpConfig model Big\\ One")
    nvim.wait_until(lambda: current(nvim, "engine") == ["https://x/big"], what="the model by its name")
    # what the agent does not offer
    nvim.command("AcpConfig mode sing")
    nvim.wait_until(lambda: "has no value 'sing'" in str(nvim.messages()), what="what there is instead")
    # a key: shown as changing until the agent answers, here while a turn runs that is cancelled meanwhile
    nvim.command("AcpPrompt work")
    nvim.wait_until("require('acp_nvim').status().state == 'running'", what="a turn")
    nvim.command("AcpChat")
    nvim.keys("<M-m>")
    nvim.wait_until(lambda: current(nvim, "mode") == ["ask", "plan"], what="the change")
    bar = "return require('acp_nvim.chat.winbar').text(require('acp_nvim.host.sessions').current(), 200)"
    nvim.wait_until(lambda: "Ask → Plan …" in nvim.lua(bar), what="the change in the bar")
    nvim.command("AcpCancel")
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"), what="the end of the turn")
    assert current(nvim, "mode") == ["ask", "plan"]
    nvim.command("AcpPrompt now")  # which waits: it is to be answered in that mode
    nvim.command("AcpChat!")
    nvim.command("AcpPrompt go")  # the agent gets on with it
    nvim.wait_until(lambda: current(nvim, "mode") == ["plan"], what="the mode")
    assert nvim.lua("return require('acp_nvim').status(2).mode") == "ask"
    nvim.lua("require('acp_nvim.sessions.client').show(require('acp_nvim.host.sessions').get(1))")
    nvim.wait_until(lambda: len(nvim.events("AcpTurnEnd")) == 3, what="the turn that waited")
    assert script.notes("mode") == ["plan"]
    # the value stays after a refusal
    nvim.keys("<M-m>")
    nvim.wait_until(lambda: "no code today" in nvim.chat_text(), what="the refusal")
    nvim.wait_until(lambda: current(nvim, "mode") == ["plan"], what="what was")
    # the agent changes it itself
    nvim.command("AcpPrompt switch")
    nvim.wait_until("require('acp_nvim').status().mode == 'ask'", what="the agent's change")
    assert nvim.lua("return { require('acp_nvim').set_config('mode', 'ask', { session = 99 }) }") == [
        False,
        "there is no such session",
    ]


def test_what_is_kept_is_what_new_sessions_begin_with(editor, tmp_path):
    script = agent_script(tmp_path, AGENT)
    nvim = editor(agents={"it": {"command": script.argv}}, config={"default_agent": "it"})
    nvim.lua(SELECT)
    # without a session: the agent is started for it, and set before it gets a prompt
    nvim.command("AcpConfig! brave on")
    nvim.wait_until(lambda: "begin with Brave: on" in nvim.chat_text(), what="that it is kept")
    nvim.command("AcpStop")
    nvim.wait_until("require('acp_nvim').status().state == 'stopped'", what="the end of the agent")
    nvim.command("AcpChat!")
    nvim.command("AcpPrompt go")
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"), what="the turn")
    assert current(nvim, "brave", 2) == [True]
    methods = [one.get("method") for one in script.received()]
    assert methods[3:] == ["initialize", "session/new", "session/set_config_option", "session/prompt"]
    kept = nvim.lua("return vim.fn.stdpath('state') .. '/acp_nvim/defaults.json'")
    with open(kept, encoding="utf-8") as file:
        assert json.load(file) == {"agents": {"it": {"brave": True}}}
    choose(nvim, "Forget")
    nvim.command("AcpConfig!")
    second = (
        "table.concat(vim.api.nvim_buf_get_lines(require('acp_nvim.host.sessions').get(2).bufnr, 0, -1, true), ' ')"
    )
    nvim.wait_until(lambda: "forgotten (brave: on)" in nvim.lua(f"return {second}"), what="that it is forgotten")
    with open(kept, encoding="utf-8") as file:
        assert json.load(file) == {"agents": {}}


def test_lists_come_with_the_first_command_and_with_keys(editor, tmp_path):
    script = agent_script(tmp_path, AGENT)
    config = {"default_agent": "it", "config": {"keep": True}}
    nvim = editor(agents={"it": {"command": script.argv, "defaults": {"options": {"effort": "high"}}}}, config=config)
    nvim.lua(SELECT)
    choose(nvim, "Engine", "Big One")
    nvim.command("AcpConfig")
    nvim.wait_until(
        lambda: current(nvim, "engine") == ["https://x/big"], what="what was chosen once the agent had told"
    )
    assert script.received("session/set_config_option")[0]["params"]["value"] == "high"
    nvim.wait_until(lambda: "begin with Engine: Big One" in nvim.chat_text(), what="that it is kept")
    choose(nvim, "Mini")
    nvim.keys("i<M-l>")
    nvim.wait_until(lambda: current(nvim, "engine") == ["mini"], what="the model, by a key")
    assert nvim.api("get_mode")["mode"] == "i"
    choose(nvim, "Brave")
    nvim.keys("<M-c>")
    nvim.wait_until(lambda: current(nvim, "brave") == [True], what="what was chosen by a key")
    nvim.keys("<Esc>")
    choose(nvim, "Mini")
    plug = "vim.api.nvim_feedkeys(vim.keycode(...), 'mx', false)"
    nvim.lua(plug, "<Plug>(AcpModel)")
    assert asked(nvim)["prompt"] == "Engine (what thinks)"
    nvim.command("AcpConfig colour")
    nvim.wait_until(
        lambda: "offers no colour to choose (there is mode, engine" in str(nvim.messages()), what="what there is"
    )
    # done elsewhere: a message says so
    nvim.command("tabnew")
    nvim.command("AcpConfig brave off")
    nvim.wait_until(lambda: current(nvim, "brave") == [False], what="not brave")
    nvim.command("tabclose")
    nvim.lua("require('acp_nvim.chat.windows').close(require('acp_nvim.host.sessions').get(1))")
    nvim.command("AcpConfig brave on")
    nvim.wait_until(lambda: "it: Brave is on" in str(nvim.messages()), what="the message")
    nvim.lua(plug, "<Plug>(AcpModeNext)")
    nvim.wait_until(lambda: current(nvim, "mode") == ["ask", "plan"], what="the next mode")


def test_a_mode_outlives_the_host(editor, tmp_path):
    script = agent_script(tmp_path, AGENT)
    nvim = editor(agents={"it": {"command": script.argv}}, config={"default_agent": "it"})
    nvim.command("AcpChat")
    nvim.wait_until("#require('acp_nvim').config_options() == 5", what="the options")
    nvim.command("AcpConfig effort high")
    nvim.wait_until(lambda: current(nvim, "effort") == ["high"], what="the effort")
    kill([nvim.host()])
    nvim.wait_until("require('acp_nvim').status().state == 'failed'", what="the end of the host")
    nvim.command("AcpPrompt go")
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"), what="a turn")
    methods = [one.get("method") for one in script.received()]
    assert methods[-2:] == ["session/set_config_option", "session/prompt"]
    assert current(nvim, "effort") == ["high"]
