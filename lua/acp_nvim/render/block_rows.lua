-- Maps blocks to rows and rows to blocks in logarithmic time.
local M = {}

local api = vim.api
local STARTS = api.nvim_create_namespace("acp_nvim.starts")

---Marks the beginning of a block, so that its row stays known when lines above it change.
---@param row integer of its first line
---@return integer mark
function M.mark(bufnr, row)
  return api.nvim_buf_set_extmark(bufnr, STARTS, row, 0, { right_gravity = false })
end

function M.forget(bufnr)
  api.nvim_buf_clear_namespace(bufnr, STARTS, 0, -1)
end

---@return integer row of its first line
function M.first(transcript, block)
  return api.nvim_buf_get_extmark_by_id(transcript.bufnr, STARTS, block.mark, {})[1]
end

---@return integer row after its last line
function M.after(transcript, block)
  local following = transcript.order[block.index + 1]
  -- an empty line separates two blocks
  return following and M.first(transcript, following) - 1 or api.nvim_buf_line_count(transcript.bufnr)
end

---Returns the block that contains a row; the empty line below a block belongs to it. Searches from the end of the chat,
---where most lookups are. (Searching extmarks backwards from the row would take time proportional to all before it.)
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

---Iterates over the blocks with a line between two rows, from the first to the last.
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

return M
