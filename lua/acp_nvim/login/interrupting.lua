-- Says whether a list to choose from may open now: it takes the keys, which somebody may be typing for something else.
local sessions = require("acp_nvim.sessions")

local M = {}

local api = vim.api

---@return boolean no command is being typed, and no list is open
function M.is_possible()
  local now = api.nvim_get_mode()
  return now.mode == "n" and not now.blocking and vim.fn.getcmdwintype() == ""
end

---@param bufnr integer
---@return boolean
local function is_empty(bufnr)
  return api.nvim_buf_line_count(bufnr) == 1 and api.nvim_buf_get_lines(bufnr, 0, 1, true)[1] == ""
end

---@param session acp.Session
---@return boolean the user is in its chat or its prompt, and writes nothing
function M.is_welcome(session)
  local bufnr = api.nvim_get_current_buf()
  local is_prompt = bufnr == session.prompt_bufnr
  if sessions.of_buffer(bufnr) ~= session or (is_prompt and not is_empty(bufnr)) then
    return false
  end
  local now = api.nvim_get_mode()
  local has_just_sent = is_prompt and now.mode == "i" and not now.blocking
  return has_just_sent or M.is_possible()
end

return M
