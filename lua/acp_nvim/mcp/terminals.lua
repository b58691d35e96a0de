-- The terminals that the user shares with agents, and the tool that reads them.
local message = require("acp_nvim.kernel.message")
local values = require("acp_nvim.problems.values")

local M = {}

local api = vim.api

local BLANK_LINES = 10000 -- at the end, that are passed over
local TITLE_BYTES = 200

local NONE = "The user has shared no terminal%s. They can share one with :AcpShareTerminal in its window."

---Shares the terminal in the current window with the agents, or stops that.
---@param is_shared boolean
function M.share(is_shared)
  if vim.bo.buftype ~= "terminal" then
    return message.warn("this window is not a terminal: use the command in the window of one")
  end
  vim.b.acp_nvim_shared = is_shared or nil
  message.info(is_shared and "agents may read this terminal" or "agents may not read this terminal any more")
end

---@return string
local function name_of(bufnr)
  local title = vim.b[bufnr].term_title
  return type(title) == "string" and title ~= "" and values.words(title, TITLE_BYTES) or api.nvim_buf_get_name(bufnr)
end

---@return string[] the last lines that are not empty
local function last_lines(bufnr, count)
  local end_ = api.nvim_buf_line_count(bufnr)
  local first = math.max(end_ - count - BLANK_LINES, 0)
  local lines = api.nvim_buf_get_lines(bufnr, first, end_, true)
  local last = #lines
  while last > 0 and vim.trim(lines[last]) == "" do
    last = last - 1
  end
  return vim.list_slice(lines, math.max(last - count, 0) + 1, last)
end

---@type acp.mcp.Tool
function M.output(args, answer)
  local lines = {}
  for _, bufnr in ipairs(api.nvim_list_bufs()) do
    local is_shared = api.nvim_buf_is_loaded(bufnr) and vim.bo[bufnr].buftype == "terminal"
    is_shared = is_shared and vim.b[bufnr].acp_nvim_shared == true
    if is_shared and (not args.name or name_of(bufnr):find(args.name, 1, true)) then
      lines[#lines + 1] = ("== terminal %s"):format(name_of(bufnr))
      vim.list_extend(lines, last_lines(bufnr, args.lines))
    end
  end
  if #lines == 0 then
    return answer({ error = NONE:format(args.name and " with such a name" or "") })
  end
  answer({ lines = lines })
end

return M
