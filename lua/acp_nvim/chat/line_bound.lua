-- Bounds the lines of a message: Neovim copies a line whole with each change of it, and measures it whole to draw it.
local limits = require("acp_nvim.limits")

local M = {}

local api = vim.api

---@param line string
---@param room integer bytes, not negative
---@return string its beginning, whole characters
local function beginning(line, room)
  if #line <= room then
    return line
  end
  return line:sub(1, room + vim.str_utf_start(line, room + 1))
end

---@param count integer bytes
---@return string
local function more(count)
  local digits = tostring(count):reverse():gsub("(%d%d%d)", "%1,"):reverse():gsub("^,", "")
  return (" … and %s more bytes on this line (:AcpExport writes all of it)"):format(digits)
end

---What may stand in the buffer of lines that go on with a message; remembers how full its last line is.
---@param block acp.Block of a message
---@param lines string[] the first goes on with the last line of the block
---@return string[] in their place: of long lines the beginning, and words that count the rest
---@return integer? column of the last line from which on the first one takes the place of what is there; nil: its end
function M.take(block, lines)
  local width, over = block.width or 0, block.over or 0
  local from = over > 0 and width or nil
  local taken = {}
  for index, line in ipairs(lines) do
    if index > 1 then
      width, over = 0, 0
    end
    local most = line:find("[\128-\255]") and limits.message_wide_bytes or limits.message_line_bytes
    local shown = over > 0 and "" or beginning(line, math.max(most - width, 0))
    width, over = width + #shown, over + #line - #shown
    taken[index] = over > 0 and shown .. more(over) or shown
  end
  block.width, block.over = width, over
  return taken, from
end

---Puts more text at the end of a message.
---@param bufnr integer
---@param row integer the last one of the message
---@param block acp.Block
---@param lines string[]
function M.append(bufnr, row, block, lines)
  local taken, from = M.take(block, lines)
  api.nvim_buf_set_text(bufnr, row, from or -1, row, -1, taken)
end

---Counts text that nobody sees, as its line is full; the number on the screen follows: to draw such a line takes long.
---@param block acp.Block
---@param lines string[]
---@param recount fun() brings the number on the screen up to date
---@return boolean hidden all of it
function M.hide(block, lines, recount)
  if #lines > 1 or lines[1] == "" or (block.over or 0) == 0 then
    return false
  end
  block.over = block.over + #lines[1]
  if not block.recounts then
    block.recounts = true
    vim.defer_fn(function()
      block.recounts = nil
      recount()
    end, limits.recount_ms)
  end
  return true
end

return M
