-- What becomes of events about signing in, by their type.
local login = require("acp_nvim.login")

---@type table<string, fun(event: acp.Event)>
return {
  sign_in = login.wanted,
  sign_in_terminal = login.terminal,
  sign_in_done = login.done,
}
