-- What becomes of events about questions of agents to the user.
local autocmds = require("acp_nvim.autocmds")
local forms = require("acp_nvim.forms")
local notify = require("acp_nvim.notify")

---@type table<string, fun(session: acp.Session, event: acp.Event)>
return {
  elicitation = function(session, event)
    if forms.asked(session, event) then
      autocmds.fire("AcpElicitation", { session = session.key, request = event.request })
      notify.question(session, event.request)
    end
  end,
  elicitation_done = function(session, event)
    if forms.done(session, event) then
      local data = { session = session.key, id = event.id, action = event.action, why = event.why }
      autocmds.fire("AcpElicitationDone", data)
    end
  end,
  elicitation_complete = function(_, event)
    forms.complete(event)
  end,
  elicitation_checked = function(_, event)
    forms.checked(event)
  end,
}
