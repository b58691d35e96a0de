-- Knows which requests have only just come to where a key answers them: who presses a key that early meant another one.
local limits = require("acp_nvim.limits")

local M = {}

---@type table<integer, integer> by request: when it came, in nanoseconds
local came = {}
---@type table<integer, integer> by session: when one of its requests was withdrawn last, in nanoseconds
local withdrawn = {}

---A request waits, which was not there before, or is another one now.
---@param id integer of the request
function M.came(id)
  came[id] = vim.uv.hrtime()
end

---@param one acp.Pending that waits no more; when nobody has answered it others take its place
function M.gone(one)
  came[one.request.id] = nil
  if not one.answered then
    withdrawn[one.session] = vim.uv.hrtime()
  end
end

---@param one acp.Pending
---@return boolean the user had the time to see that it is this one which a key answers
function M.is_settled(one)
  local since = math.max(came[one.request.id] or 0, withdrawn[one.session] or 0)
  return vim.uv.hrtime() - since >= limits.answer_pause_ms * 1e6
end

return M
