-- Opens what lines of the chat lead to: files in a window that shows code, everything else with the system's program.
local Lines = require("acp_nvim.chat.blocks.lines")
local lookup = require("acp_nvim.buffers.lookup")
local message = require("acp_nvim.message")
local open = require("acp_nvim.review.open")
local windows = require("acp_nvim.windows.open")

local M = {}

---@param path string
---@param line? integer 1-based
---@param col? integer 1-based
function M.file(path, line, col)
  if vim.fn.isdirectory(path) == 1 then
    return M.uri(path)
  elseif not line then
    return open.file(lookup.real(path))
  end
  windows.at(path, line, col)
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
