-- Words for an entry in a list of sessions.
local limits = require("acp_nvim.limits")

local M = {}

---@param text string?
---@return string
local function one_line(text)
  return (vim.trim(text or ""):gsub("%s+", " "):gsub("%c", " "))
end

---@param seconds number since 1970
---@return string
function M.time_of(seconds)
  if seconds <= 0 then
    return "undated"
  end
  local today = os.date("%Y-%m-%d") == os.date("%Y-%m-%d", math.floor(seconds))
  return os.date(today and "today %H:%M" or "%Y-%m-%d %H:%M", math.floor(seconds)) --[[@as string]]
end

---@param entry acp.SessionEntry
---@return string what it is called, on one line
function M.title(entry)
  local title = one_line(entry.title)
  return title ~= "" and vim.fn.strcharpart(title, 0, limits.list_columns) or one_line(entry.session_id)
end

---@param entry acp.SessionEntry
---@return string for a list
function M.words(entry)
  local parts = {
    entry.session and "open" or M.time_of(entry.updated),
    one_line(entry.agent),
    vim.fn.fnamemodify(entry.cwd, ":~"),
    M.title(entry),
    one_line(entry.snippet),
    not entry.session and #entry.kept == 0 and "at the agent" or "",
  }
  return table.concat(
    vim.tbl_filter(function(part)
      return part ~= ""
    end, parts),
    " · "
  )
end

return M
