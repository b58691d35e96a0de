-- Makes the changes that the host sends, where a buffer differs and nowhere else: cursors, marks, folds and extmarks stay;
-- one undo takes it back.
local pending = require("acp_nvim.buffers.pending")
local text = require("acp_nvim.buffers.text")

local M = {}

local api = vim.api
local PAIRED_LINES = 50 -- changed line by line up to here, so that marks keep their columns

---@param line string
---@param at integer bytes
---@return boolean a character begins after these bytes
local function is_boundary(line, at)
  local byte = line:byte(at + 1)
  return not byte or byte < 0x80 or byte >= 0xC0
end

---@param old string
---@param new string
---@return integer head bytes that both begin with
---@return integer tail bytes that both end with
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

---@param bufnr integer
---@param row integer
---@param old string
---@param new string
local function change_line(bufnr, row, old, new)
  if old ~= new then
    local head, tail = common(old, new)
    api.nvim_buf_set_text(bufnr, row, head, row, #old - tail, { new:sub(head + 1, #new - tail) })
  end
end

---@param bufnr integer
---@param first integer lines before the range that the hunk is of
---@param old string[]
---@param new string[]
---@param hunk integer[] start and count in old, start and count in new, as vim.diff gives them
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

---Ends an undo block, so that what follows is none of the user's own.
---@param bufnr integer
local function break_undo(bufnr)
  api.nvim_buf_call(bufnr, function()
    vim.bo.undolevels = vim.bo.undolevels
  end)
end

---@param old string[]
---@param new string[]
---@return integer[][] hunks none when they are equal
local function differences(old, new)
  if #old == 0 or #new == 0 then
    return (#old > 0 or #new > 0) and { { math.min(#old, 1), #old, math.min(#new, 1), #new } } or {}
  end
  local before, after = table.concat(old, "\n") .. "\n", table.concat(new, "\n") .. "\n"
  return before == after and {} or vim.diff(before, after, { result_type = "indices" }) --[[@as integer[][] ]]
end

---Makes `new` of the `count` lines after the first `first` ones.
---@param bufnr integer
---@param first integer
---@param count integer
---@param new string[]
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

---@param bufnr integer
---@param new string[] none: nothing at all is left
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

---Undoes what was just done, a change or two; what undo does not bring back is changed once more.
---@param bufnr integer
---@param lines string[] that the buffer had
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

---@param bufnr integer
---@param change acp.TextChange
---@param is_read? boolean the file has the text already
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

---@param err any why a buffer could not be changed
---@return acp.BufferWrite
function M.refusal(err)
  local is_text_lock = tostring(err):find("E565", 1, true) ~= nil -- it passes by itself
  return { busy = is_text_lock, error = not is_text_lock and ("the buffer takes no text: " .. tostring(err)) or nil }
end

return M
