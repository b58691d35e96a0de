-- Limits the length of lines in messages: Neovim copies a whole line on each change, and measures it whole to draw it.
local cells = require("acp_nvim.render.cells")

local M = {}

local api = vim.api
-- Of one line: drawn within a frame; a longer line is data, not text
local MESSAGE_LINE_BYTES = 128 * 1024
-- Of a line with non-ASCII characters, each of which takes several times as long to measure
local MESSAGE_WIDE_BYTES = 32 * 1024
local MORE = "%s … and %s more bytes on this line (:AcpExport writes all of it)"
local RECOUNT_MS = 250 -- between two updates of the count of hidden bytes

---Splits a text at newlines.
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

---@param room integer bytes, not negative
---@return string beginning in whole characters
local function beginning(line, room)
  if #line <= room then
    return line
  end
  return line:sub(1, room + vim.str_utf_start(line, room + 1))
end

---Cuts long lines that are appended to a message; records in the block how long its last line is.
---@param block acp.Block of a message
---@param lines string[] the first continues the last line of the block
---@return string[] lines for the buffer: of long lines the beginning, and a count of the rest
---@return integer? column in the last line from which the first line replaces the text; nil: append
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

---Counts text that goes into a line that is full already. The count on the screen is updated later, since drawing such a
---line is slow.
---@param recount fun() updates the count on the screen
---@return boolean is_hidden the line is full, and the text was only counted
function M.hide(block, lines, recount)
  if #lines > 1 or lines[1] == "" or (block.over or 0) == 0 then
    return false
  end
  block.over = block.over + #lines[1]
  if not block.is_recount_due then
    block.is_recount_due = true
    vim.defer_fn(function()
      block.is_recount_due = nil
      recount()
    end, RECOUNT_MS)
  end
  return true
end

---Switches 'linebreak' off in the windows of a chat with very long lines: finding words in them would make each redraw
---many times slower.
function M.wrap_anywhere(bufnr)
  for _, win in ipairs(vim.fn.win_findbuf(bufnr)) do
    if api.nvim_get_option_value("linebreak", { win = win }) then
      api.nvim_set_option_value("linebreak", false, { win = win, scope = "local" })
    end
  end
end

return M
