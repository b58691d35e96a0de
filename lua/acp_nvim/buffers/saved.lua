-- The text that the file of a buffer had when the buffer last read or wrote it: the common ground when both move on.
local limits = require("acp_nvim.limits")
local text = require("acp_nvim.buffers.text")

local M = {}

local api = vim.api

---@class acp.SavedText
---@field lines? string[]
---@field shape? acp.TextShape
---@field text? string

---@type table<integer, acp.SavedText>
local saved = {}

---@param bufnr integer
---@return boolean too much to keep a copy of
local function is_large(bufnr)
  return api.nvim_buf_get_offset(bufnr, api.nvim_buf_line_count(bufnr)) > limits.saved_text_bytes
end

---The buffer has what is in the file.
---@param bufnr integer
function M.keep(bufnr)
  if is_large(bufnr) then
    saved[bufnr] = nil
  else
    saved[bufnr] = { lines = text.lines(bufnr), shape = text.shape(bufnr) }
  end
end

---@param bufnr integer
---@param content string that is in the file
function M.keep_text(bufnr, content)
  saved[bufnr] = #content <= limits.saved_text_bytes and { text = content } or nil
end

---@param bufnr integer
---@return string? text nil when it is not known
function M.text(bufnr)
  local one = saved[bufnr]
  return one and (one.text or text.join(one.lines, one.shape))
end

---@param bufnr integer
function M.forget(bufnr)
  saved[bufnr] = nil
end

return M
