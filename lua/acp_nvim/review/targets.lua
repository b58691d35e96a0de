-- Which changed files the lines of a buffer stand for that is none of them: the list, the text of a deleted file.
local M = {}

---@alias acp.Targets fun(first: integer, last: integer): string[] rows -> paths

---@type table<integer, acp.Targets> by buffer
local by_buffer = {}
---@type fun(bufnr: integer)[]
local listeners = {}

---@param listener fun(bufnr: integer) called with each buffer that gets targets
function M.on_set(listener)
  listeners[#listeners + 1] = listener
end

---@param bufnr integer
---@param targets acp.Targets
function M.set(bufnr, targets)
  by_buffer[bufnr] = targets
  vim.api.nvim_create_autocmd("BufWipeout", {
    buffer = bufnr,
    once = true,
    callback = function()
      by_buffer[bufnr] = nil
    end,
  })
  for _, listener in ipairs(listeners) do
    listener(bufnr)
  end
end

---@param bufnr integer
---@param first integer row
---@param last integer row
---@return string[]? paths nil when its lines stand for no files
function M.of(bufnr, first, last)
  local targets = by_buffer[bufnr]
  return targets and targets(first, last)
end

return M
