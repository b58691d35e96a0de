-- Wraps the text of a comment: Neovim cuts virtual lines off where a window ends.
local M = {}

local api = vim.api
local FIRST, OTHERS = "└ ", "  " -- before the rows
local SIGN_COLUMNS = 2 -- are left free: no event tells that signs have appeared beside the text
local LEAST_COLUMNS = 10 -- of the text: in a narrower window it is cut off
local MOST_ROWS = 10

---@param bufnr integer
---@return integer columns of the text in the narrowest window that shows the buffer
local function width_of(bufnr)
  local width = vim.o.columns
  for _, win in ipairs(vim.fn.win_findbuf(bufnr)) do
    local info = vim.fn.getwininfo(win)[1]
    width = math.min(width, info.width - info.textoff)
  end
  return math.max(width - SIGN_COLUMNS - api.nvim_strwidth(FIRST), LEAST_COLUMNS)
end

---@param text string
---@param width integer columns
---@return string[]
function M.wrapped(text, width)
  local rows, row = {}, ""
  for blanks, word in text:gmatch("(%s*)(%S+)") do
    if row ~= "" and api.nvim_strwidth(row .. blanks .. word) > width then
      rows[#rows + 1] = row
      row = word
    else
      row = row .. blanks .. word
    end
    while api.nvim_strwidth(row) > width do
      local head = vim.fn.printf("%.*S", width, row)
      rows[#rows + 1] = head
      row = row:sub(#head + 1)
    end
  end
  rows[#rows + 1] = row
  return rows
end

---@param text string one line
---@param bufnr integer with the comment
---@return string[] rows at least one
function M.of(text, bufnr)
  local width = width_of(bufnr)
  local rows = M.wrapped(vim.fn.printf("%.*S", (MOST_ROWS + 1) * width, text), width)
  if #rows > MOST_ROWS then
    rows = vim.list_slice(rows, 1, MOST_ROWS)
    rows[MOST_ROWS] = rows[MOST_ROWS] .. "…"
  end
  for index, row in ipairs(rows) do
    rows[index] = (index == 1 and FIRST or OTHERS) .. row
  end
  return rows
end

return M
