-- Opens what lines of the chat lead to: files in a window that shows code, everything else with the system's program.
local Lines = require("acp_nvim.chat.blocks.lines")
local file_buffer = require("acp_nvim.file_buffer")
local lookup = require("acp_nvim.buffers.lookup")
local message = require("acp_nvim.message")
local open = require("acp_nvim.review.open")

local M = {}

local api = vim.api

---@param path string
---@param line? integer 1-based
---@param col? integer 1-based
function M.file(path, line, col)
  if vim.fn.isdirectory(path) == 1 then
    return M.uri(path)
  elseif not line then
    return open.file(lookup.real(path))
  end
  local bufnr = file_buffer.get(path)
  if not bufnr then
    return
  end
  local win = open.show(bufnr)
  local row = math.max(1, math.min(line, api.nvim_buf_line_count(bufnr)))
  api.nvim_win_set_cursor(win, { row, math.max((col or 1) - 1, 0) })
  vim.cmd("normal! zvzz")
end

---@param uri string a URL, or a file that no buffer shows
function M.uri(uri)
  local why
  if uri:match("^/") or uri:match("^%a[%w+.-]*:") and not uri:match("^[fF][iI][lL][eE]:") then
    local ok, started, problem = pcall(vim.ui.open, uri)
    why = not ok and started or problem
  else -- for the system's program it would be an option, or a file that was not looked at
    why = "it is neither a file that is there nor a URL"
  end
  if why then
    message.news(("%s could not be opened: %s"):format(Lines.one_line(uri), tostring(why)), vim.log.levels.WARN)
  end
end

return M
