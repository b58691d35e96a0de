-- What becomes of events about the configuration of sessions.
local session_config = require("acp_nvim.options")

---@type table<string, fun(session: acp.Session, event: acp.Event)>
return {
  config = session_config.told,
}
