-- Finds blocks by rows of the buffer, and rows by blocks: with the chat's length it takes its logarithm.
local M = {}

local api = vim.api
local STARTS = api.nvim_create_namespace("acp_nvim.starts")

---Marks where a block begins, however the lines above it change.
---@param bufnr integer
---@param row integer of its first line
---@return integer mark greater than all before it
function M.mark(bufnr, row)
  return api.nvim_buf_set_extmark(bufnr, STARTS, row, 0, { right_gravity = false })
end

---@param bufnr integer
function M.forget(bufnr)
  api.nvim_buf_clear_namespace(bufnr, STARTS, 0, -1)
end

---@param transcript acp.Transcript
---@param block acp.Block
---@return integer row of its first line
function M.first(transcript, block)
  return api.nvim_buf_get_extmark_by_id(transcript.bufnr, STARTS, block.mark, {})[1]
end

---@param transcript acp.Transcript
---@param block acp.Block
---@return integer row after its last line
function M.after(transcript, block)
  local following = transcript.order[block.index + 1]
  -- one empty line lies between two blocks
  return following and M.first(transcript, following) - 1 or api.nvim_buf_line_count(transcript.bufnr)
end

---The block of a row; of the empty line below a block: that block. It is looked for from the end, where most is asked
---about. (To look for marks backwards from the row would take time with all that are before it.)
---@param transcript acp.Transcript
---@param row integer
---@return acp.Block?
---@return integer? offset of the row in the block
function M.at(transcript, row)
  local order = transcript.order
  local low, high, step = #order, #order, 1
  while low >= 1 and M.first(transcript, order[low]) > row do
    low, high, step = low - step, low - 1, step * 2
  end
  low = math.max(low, 1)
  while low <= high do
    local middle = math.floor((low + high) / 2)
    if M.first(transcript, order[middle]) <= row then
      low = middle + 1
    else
      high = middle - 1
    end
  end
  local block = order[high]
  if block then
    return block, row - M.first(transcript, block)
  end
end

---The blocks with a line between two rows, from the first to the last.
---@param transcript acp.Transcript
---@param first integer row
---@param last integer row
---@return fun(): acp.Block?, integer?, integer? iterator block, row of its first and of its last line
function M.between(transcript, first, last)
  local block = M.at(transcript, first) or transcript.order[1]
  local begins = block and M.first(transcript, block)
  return function()
    while block and begins <= last do
      local found, row = block, begins
      local ends = M.after(transcript, found) - 1
      block = transcript.order[found.index + 1]
      begins = ends + 2
      if ends >= first then
        return found, row, ends
      end
    end
  end
end

---All blocks from the last one on.
---@param transcript acp.Transcript
---@return fun(): acp.Block?, integer?, integer? iterator block, row of its first and of its last line
function M.upwards(transcript)
  local index, after = #transcript.order, api.nvim_buf_line_count(transcript.bufnr)
  return function()
    local block = transcript.order[index]
    if block then
      local first, last = M.first(transcript, block), after - 1
      index, after = index - 1, first - 1
      return block, first, last
    end
  end
end

return M
