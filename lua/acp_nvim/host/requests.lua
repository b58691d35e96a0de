-- Sends messages about a session that the running host knows.
local host = require("acp_nvim.host")

local M = {}

---Sends a message about a session.
---@param method string
---@param params? table
---@return boolean sent false when the running host does not know the session
function M.send(session, method, params)
  if not host.channel() or session.host ~= host.channel() then
    return false
  end
  return host.send(method, vim.tbl_extend("force", params or {}, { session = session.key }))
end

---@return boolean sent
function M.redraw(session)
  if session.kept then
    return host.send("transcript_open", { session = session.key, id = session.kept })
  end
  return M.send(session, "redraw", { after = session.before_host and true or nil })
end

---@param block integer of the tool call whose details are requested
---@return boolean sent
function M.call_details(session, block)
  if session.kept then
    return host.send("transcript_call", { session = session.key, id = session.kept, block = block })
  end
  return M.send(session, "call_details", { block = block })
end

---@param id integer of the permission request
---@param option_id string
---@return boolean sent
function M.answer(id, option_id)
  return host.send("answer", { id = id, option_id = option_id })
end

return M
