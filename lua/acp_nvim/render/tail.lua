-- Keeps words of virtual text behind a line whole: Neovim breaks such text anywhere, whatever 'linebreak' is.
local M = {}

local api = vim.api

---@return integer? width columns of the text in the window with the buffer; nil when none shows it
---@return integer? win
function M.width(bufnr)
  local win = vim.fn.bufwinid(bufnr)
  if win == -1 then
    return nil
  end
  return api.nvim_win_get_width(win) - vim.fn.getwininfo(win)[1].textoff, win
end

---Fills the row with blanks before each word that the edge of the window would cut.
---@param chunks string[][] of an extmark's inline virtual text
---@param used integer columns of the row that the line takes
---@param width integer columns
---@return string[][]
function M.wrapped(chunks, used, width)
  local out = {}
  for _, chunk in ipairs(chunks) do
    local pieces = {}
    for blanks, word in chunk[1]:gmatch("(%s*)(%S+)") do
      local columns = api.nvim_strwidth(word)
      local is_cut = used + #blanks + columns > width and columns <= width
      pieces[#pieces + 1] = is_cut and (" "):rep(width - used) or blanks
      pieces[#pieces + 1] = word
      used = is_cut and columns or (used + #blanks + columns - 1) % width + 1
    end
    out[#out + 1] = { table.concat(pieces), chunk[2] }
  end
  return out
end

---Returns virtual text for the end of a line, for the width of its window.
---@param row integer
---@param bytes integer length of the line
---@param chunks string[][]
---@return string[][]
---@return integer? width columns that it was made for
function M.fit(bufnr, row, bytes, chunks)
  local width, win = M.width(bufnr)
  if not width or width < 1 then
    return chunks, nil
  end
  local column = bytes > 0 and vim.fn.virtcol({ row + 1, bytes }, false, win) or 0
  return M.wrapped(chunks, column > 0 and (column - 1) % width + 1 or 0, width), width
end

return M
