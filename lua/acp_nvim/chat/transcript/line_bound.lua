-- Bounds the lines of a message: Neovim copies a line whole with each change of it, and measures it whole to draw it.
local cells = require("acp_nvim.chat.cells")

local M = {}

local api = vim.api
-- Of one line of a message: drawn within a frame; what is longer is data, not text
local MESSAGE_LINE_BYTES = 128 * 1024
-- Of a line with other characters than ASCII: each takes several times as long to measure
local MESSAGE_WIDE_BYTES = 32 * 1024
local MORE = "%s … and %s more bytes on this line (:AcpExport writes all of it)"
local RECOUNT_MS = 250 -- between two looks of the words that count what a line does not show

---Splits a text at newlines and nothing else.
---@param text string
---@return string[]
function M.lines(text)
  local lines, count, from = {}, 0, 1
  local at = text:find("\n", 1, true)
  while at do -- `vim.split` takes several times as long
    count = count + 1
    lines[count] = text:sub(from, at - 1)
    from = at + 1
    at = text:find("\n", from, true)
  end
  lines[count + 1] = from > 1 and text:sub(from) or text
  return lines
end

---@param line string
---@param room integer bytes, not negative
---@return string its beginning, whole characters
local function beginning(line, room)
  if #line <= room then
    return line
  end
  return line:sub(1, room + vim.str_utf_start(line, room + 1))
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
    local most = line:find("[\128-\255]") and MESSAGE_WIDE_BYTES or MESSAGE_LINE_BYTES
    local shown = over > 0 and "" or beginning(line, math.max(most - width, 0))
    width, over = width + #shown, over + #line - #shown
    taken[index] = over > 0 and MORE:format(shown, cells.count(over)) or shown
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
    end, RECOUNT_MS)
  end
  return true
end

---Has the windows of a chat wrap very long lines anywhere: to look for the words in them would take Neovim many times as
---long, at each redraw.
---@param bufnr integer
function M.wrap_anywhere(bufnr)
  for _, win in ipairs(vim.fn.win_findbuf(bufnr)) do
    if api.nvim_get_option_value("linebreak", { win = win }) then
      api.nvim_set_option_value("linebreak", false, { win = win, scope = "local" })
    end
  end
end

return M
