-- Talks to the user: the only module that calls vim.notify.
local limits = require("acp_nvim.limits")

local M = {}

---The first lines of a long text, so that it fits above the command line.
---@param text string
---@return string
local function shortened(text)
  local lines = vim.split(vim.trim(text), "\n", { plain = true })
  local kept = table.concat(lines, "\n", 1, math.min(#lines, limits.message_lines))
  local short = vim.fn.strcharpart(kept, 0, limits.message_bytes)
  if #lines <= limits.message_lines and short == kept then
    return kept
  end
  return short .. " … (:AcpLog has more)"
end

---@param text string
---@param level integer
local function show(text, level)
  text = shortened((text:gsub("%z", "")))
  vim.schedule(function()
    vim.notify("acp_nvim: " .. text, level, { title = "acp_nvim" })
  end)
end

---@param text string
function M.info(text)
  show(text, vim.log.levels.INFO)
end

---@param text string
function M.warn(text)
  show(text, vim.log.levels.WARN)
end

---@param text string
function M.error(text)
  show(text, vim.log.levels.ERROR)
end

return M
