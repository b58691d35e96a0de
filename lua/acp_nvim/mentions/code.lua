-- Finds the code buffers and windows that the user works in.
local sessions = require("acp_nvim.host.sessions")
local windows = require("acp_nvim.windows.open")

local M = {}

local api = vim.api

---@return boolean the buffer holds code or another text of the user
function M.is_code(bufnr)
  return api.nvim_buf_is_loaded(bufnr)
    and vim.bo[bufnr].buflisted
    and (vim.bo[bufnr].buftype == "" or vim.bo[bufnr].buftype == "acwrite")
    and not sessions.of_buffer(bufnr)
end

---@return integer[] loaded code buffers, the most recently used first
function M.buffers()
  local found = vim.tbl_filter(M.is_code, api.nvim_list_bufs())
  local used = {}
  for _, bufnr in ipairs(found) do
    used[bufnr] = vim.fn.getbufinfo(bufnr)[1].lastused
  end
  local last = M.window()
  if last then
    used[api.nvim_win_get_buf(last)] = math.huge
  end
  table.sort(found, function(a, b)
    return used[a] == used[b] and a < b or used[a] > used[b]
  end)
  return found
end

---@return integer? win the current code window, else the one of this tab page used last
function M.window()
  local current = api.nvim_get_current_win()
  return windows.is_code(current) and current or windows.other()
end

---@return integer? bufnr of that window, else the most recently used one
function M.buffer()
  local win = M.window()
  return win and api.nvim_win_get_buf(win) or M.buffers()[1]
end

return M
