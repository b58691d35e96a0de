-- The text for a status line: the agent, its activity, and requests that wait for the user.
local cells = require("acp_nvim.render.cells")
local status_parts = require("acp_nvim.chat.winbar.status_parts")

local M = {}

local STATUSLINE_CELLS = 40 -- of the text: other parts of the status line need room, too

---@return string without highlighting, for %{%...%}: percent signs are doubled
function M.text(session)
  local status = session.status
  local head = (status_parts.symbol(status)) .. " " .. cells.plain(status.agent or session.agent or "agent")
  local tail = ""
  for _, words in ipairs({
    status_parts.elapsed(status) or false,
    session.unread and ("%d unread"):format(session.unread) or false,
  }) do
    tail = words and tail .. " " .. words or tail
  end
  local waits, asks = status.pending_permissions or 0, status.pending_elicitations or 0
  local does = waits > 0 and ("%d to allow"):format(waits)
    or asks > 0 and ("%d to answer"):format(asks)
    or status.state ~= "idle" and status_parts.activity(status)
  local room = STATUSLINE_CELLS - vim.api.nvim_strwidth(head .. tail) - 1
  if does and room > 0 then
    head = head .. " " .. cells.cut(does, room)
  end
  return ((head .. tail):gsub("%%", "%%%%"))
end

return M
