-- Applies the host's changes to a buffer, only where the text differs: cursors, marks, folds and extmarks elsewhere
-- stay. One undo reverts a change.
local pending = require("acp_nvim.buffers.pending")
local text = require("acp_nvim.buffers.text")

local M = {}

local api = vim.api
local PAIRED_LINES = 50 -- hunks up to this size change line by line, so that marks keep their columns

---@param at integer bytes
---@return boolean a character starts after these bytes
local function is_boundary(line, at)
  local byte = line:byte(at + 1)
  return not byte or byte < 0x80 or byte >= 0xC0
end

---@return integer head length in bytes of the common prefix
---@return integer tail length in bytes of the common suffix
local function common(old, new)
  local shorter = math.min(#old, #new)
  local head = 0
  while head < shorter and old:byte(head + 1) == new:byte(head + 1) do
    head = head + 1
  end
  while head > 0 and not (is_boundary(old, head) and is_boundary(new, head)) do
    head = head - 1
  end
  local tail = 0
  while tail < shorter - head and old:byte(#old - tail) == new:byte(#new - tail) do
    tail = tail + 1
  end
  while tail > 0 and not (is_boundary(old, #old - tail) and is_boundary(new, #new - tail)) do
    tail = tail - 1
  end
  return head, tail
end

local function change_line(bufnr, row, old, new)
  if old ~= new then
    local head, tail = common(old, new)
    api.nvim_buf_set_text(bufnr, row, head, row, #old - tail, { new:sub(head + 1, #new - tail) })
  end
end

---@param first integer lines before the range that was compared
---@param hunk integer[] start and count in old, start and count in new, as in vim.diff
local function apply_hunk(bufnr, first, old, new, hunk)
  local from, count, to_from, to_count = unpack(hunk)
  if count == to_count and count <= PAIRED_LINES then
    for offset = count - 1, 0, -1 do
      change_line(bufnr, first + from - 1 + offset, old[from + offset], new[to_from + offset])
    end
    return
  end
  local row = first + (count == 0 and from or from - 1)
  api.nvim_buf_set_lines(bufnr, row, row + count, true, vim.list_slice(new, to_from, to_from + to_count - 1))
end

---Ends the undo block, so that the change is not undone together with the user's own.
local function break_undo(bufnr)
  api.nvim_buf_call(bufnr, function()
    vim.bo.undolevels = vim.bo.undolevels
  end)
end

---@return integer[][] hunks empty when both are equal
local function differences(old, new)
  if #old == 0 or #new == 0 then
    return (#old > 0 or #new > 0) and { { math.min(#old, 1), #old, math.min(#new, 1), #new } } or {}
  end
  local before, after = table.concat(old, "\n") .. "\n", table.concat(new, "\n") .. "\n"
  return before == after and {} or vim.diff(before, after, { result_type = "indices" }) --[[@as integer[][] ]]
end

---Replaces the `count` lines after the first `first` lines by `new`.
local function apply_range(bufnr, first, count, new)
  local old = api.nvim_buf_get_lines(bufnr, first, first + count, true)
  local hunks = differences(old, new)
  if #hunks == 0 then
    return
  end
  break_undo(bufnr)
  for index = #hunks, 1, -1 do
    apply_hunk(bufnr, first, old, new, hunks[index])
  end
  break_undo(bufnr)
end

---@param new string[] empty: the buffer becomes empty
local function apply_lines(bufnr, new)
  local count = api.nvim_buf_line_count(bufnr)
  local was_void = count == 1 and api.nvim_buf_get_lines(bufnr, 0, 1, true)[1] == ""
  if #new > 0 and not was_void then
    return apply_range(bufnr, 0, count, new)
  end
  break_undo(bufnr)
  api.nvim_buf_set_lines(bufnr, 0, -1, true, new)
  break_undo(bufnr)
end

---Undoes the last change. Writes the lines that undo does not restore.
---@param lines string[] of the buffer before the change
function M.take_back(bufnr, lines)
  local is_typing = api.nvim_get_mode().mode:match("^[iR]") ~= nil
  for _ = 1, is_typing and 0 or 3 do
    if vim.deep_equal(api.nvim_buf_get_lines(bufnr, 0, -1, true), lines) then
      return
    end
    api.nvim_buf_call(bufnr, function()
      vim.cmd("silent! keepjumps undo")
    end)
  end
  apply_lines(bufnr, lines)
end

---@param change acp.TextChange
---@param is_read? boolean the file already has the text
function M.apply(bufnr, change, is_read)
  pending.with_selection(bufnr, function()
    if change.lines then
      return apply_range(bufnr, change.first, change.count, change.lines)
    end
    local lines, shape = text.take_apart(bufnr, change.text)
    apply_lines(bufnr, lines)
    text.set_shape(bufnr, shape, is_read)
  end)
end

---@param err any error of the failed change
---@return acp.BufferWrite
function M.refusal(err)
  local is_text_lock = tostring(err):find("E565", 1, true) ~= nil -- a text lock ends by itself
  return is_text_lock and { busy = true } or { busy = false, error = "the buffer cannot be changed: " .. tostring(err) }
end

return M
