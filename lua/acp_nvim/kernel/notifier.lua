-- Hands messages to vim.notify. Plugins that take its place show them in narrow windows, most of which cut long lines: they
-- get lines that fit. The text says whose it is; a title that says so, too, would be shown beside it.
local lazy = require("acp_nvim.lazy")
local comment_rows = lazy("acp_nvim.render.wrapping")

local M = {}

local PART, LEAST, MARGIN = 0.4, 20, 2 -- of the screen's columns, columns, columns: as snacks.nvim, the narrowest

---@type table<any, true> what has taken the place of vim.notify, and passes messages on to it
local passing = setmetatable({}, { __mode = "k" })

---@param notify any the present vim.notify
---@return boolean a plugin shows messages
function M.is_plugin(notify)
  if type(notify) ~= "function" then
    return true -- a table that can be called, as of nvim-notify
  end
  local source = debug.getinfo(notify, "S").source -- Neovim 0.12 has none for its own code
  return not passing[notify] and source ~= "=?" and source ~= "?" and not vim.startswith(source, "@vim/_")
end

---@return boolean the text was echoed last: no plugin has taken it to show it elsewhere, or to drop it
local function is_echoed(text)
  return vim.endswith(vim.trim(vim.api.nvim_exec2("messages", { output = true }).output), vim.trim(text))
end

---@param text string
---@return string with more line breaks
local function wrapped(text)
  local width = math.max(math.floor(vim.o.columns * PART) - MARGIN, LEAST)
  local rows = {}
  for _, line in ipairs(vim.split(text, "\n", { plain = true })) do
    vim.list_extend(rows, comment_rows.wrapped(line, width))
  end
  return table.concat(rows, "\n")
end

---@param notify any the present vim.notify
---@param text string
---@param level integer of vim.log.levels
---@return boolean echoed Neovim has shown it, perhaps with more line breaks, which later messages do not get
function M.tell(notify, text, level)
  local is_plugin = M.is_plugin(notify)
  local given = is_plugin and wrapped(text) or text
  notify(given, level)
  local echoed = is_echoed(given)
  if is_plugin and echoed then
    passing[notify] = true
  end
  return echoed
end

return M
