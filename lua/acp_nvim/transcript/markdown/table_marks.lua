-- Draws a table over the rows of its text, which stays as it is written. A row is covered by its cells, and further lines are
-- below it as virtual lines. A low table whose rows take more lines than its cells is below the line above it, and its rows are
-- concealed. The line of the cursor shows its text, with the cells below it.
require("acp_nvim.transcript.markdown.interpreted")()

local characters = require("acp_nvim.render.characters")
local layout = require("acp_nvim.transcript.markdown.table_layout")
local search = require("acp_nvim.transcript.markdown.table_search")

local M = {}

local api = vim.api
local NAMESPACE = api.nvim_create_namespace("acp_nvim.tables")
local STARTS = api.nvim_create_namespace("acp_nvim.table_starts")
local LOW_PART = 2 -- of the window's height that a table without visible rows may take: CTRL-D scrolls by half of it

---@class acp.DrawnTable
---@field lines string[] as written
---@field width integer columns of the window it is laid out for
---@field most integer lines of a table that may be shown in place of its rows
---@field is_last boolean its last row was the last of the buffer
---@field layout? acp.TableLayout nil: it is shown as written
---@field over table<integer, acp.Chunk[][]> rows of the table, from 1, that are covered -> their lines
---@field below table<integer, { mark?: integer, lines: acp.Chunk[][] }> the same rows -> lines below them
---@field marks integer[] extmarks that conceal rows

---@type table<integer, table<integer, acp.DrawnTable>> buffer -> mark of the first row -> table
local drawn = {}
---@type table<integer, { [1]: acp.DrawnTable, [2]: integer }> rows of the window that is being drawn -> table, row in it
local covered = {}
---@type { bufnr: integer, start: integer, known: acp.DrawnTable, index: integer }? covered row with the cursor
local open

---@param win integer
---@return integer columns of the text
function M.text_width(win)
  return api.nvim_win_get_width(win) - vim.fn.getwininfo(win)[1].textoff
end

---@param start integer mark of the first row of a table
local function remove(bufnr, start)
  local known = drawn[bufnr] and drawn[bufnr][start]
  if known then
    for _, mark in ipairs(known.marks) do
      api.nvim_buf_del_extmark(bufnr, NAMESPACE, mark)
    end
    for _, below in pairs(known.below) do
      if below.mark then
        api.nvim_buf_del_extmark(bufnr, NAMESPACE, below.mark)
      end
    end
    drawn[bufnr][start] = nil
  end
  api.nvim_buf_del_extmark(bufnr, STARTS, start)
end

---Shows the tables in some rows as written, before their text changes.
---@param after integer row
function M.strip(bufnr, first, after)
  for _, start in
    ipairs(drawn[bufnr] and api.nvim_buf_get_extmarks(bufnr, STARTS, { first, 0 }, { after, 0 }, {}) or {})
  do
    remove(bufnr, start[1])
  end
end

---Shows those tables in some rows as written that are not there any more.
---@param kept table<integer, true> first rows
function M.keep(bufnr, first, last, kept)
  for _, start in ipairs(drawn[bufnr] and api.nvim_buf_get_extmarks(bufnr, STARTS, { first, 0 }, { last, 0 }, {}) or {}) do
    if not kept[start[2]] then
      remove(bufnr, start[1])
    end
  end
end

---Forgets the tables of a buffer.
function M.forget(bufnr)
  drawn[bufnr] = nil
end

---Shows all tables of a buffer as written.
function M.clear(bufnr)
  if drawn[bufnr] then
    drawn[bufnr] = nil
    api.nvim_buf_clear_namespace(bufnr, NAMESPACE, 0, -1)
    api.nvim_buf_clear_namespace(bufnr, STARTS, 0, -1)
  end
end

---@return integer number of lines that a row takes in a window by its text
local function rows_needed(win, row, width)
  return math.max(1, math.ceil((vim.fn.virtcol({ row + 1, "$" }, false, win) - 1) / width))
end

---Shows the lines below a row: with the cursor in the row, also those that would cover it.
---@param known acp.DrawnTable
---@param index integer of the row; 0: the line above the table
---@param is_open boolean the row shows its text
local function show_below(bufnr, first, known, index, is_open)
  local below = known.below[index]
  local lines = is_open and vim.list_extend(vim.list_slice(known.over[index]), below.lines) or below.lines
  local options = { id = below.mark, virt_lines = #lines > 0 and lines or nil }
  below.mark = api.nvim_buf_set_extmark(bufnr, NAMESPACE, first + index - 1, 0, options)
end

---Whether a table is shown in place of its rows, all of which are concealed: it is low, and its rows take more lines by their
---text than its cells. Of higher tables Neovim would scroll too much at once.
---@param needs integer[] lines that each row takes by its text
local function replaces_rows(known, needs)
  local all, saved = 0, 0
  for index, shown in ipairs(known.layout.lines) do
    all, saved = all + #shown, saved + math.max(needs[index] - #shown, 0)
  end
  return saved > 0 and all <= known.most
end

---Decides which rows are covered and which are concealed, and sets the marks.
---@param found acp.FoundTable
---@param known acp.DrawnTable
local function set_marks(bufnr, win, found, known)
  local last, needs = api.nvim_buf_line_count(bufnr) - 1, {}
  for index in ipairs(known.layout.lines) do
    needs[index] = rows_needed(win, found.first + index - 1, known.width)
  end
  local conceals, anchor = replaces_rows(known, needs), 0
  known.below[0], known.over[0] = { lines = {} }, {}
  for index, shown in ipairs(known.layout.lines) do
    local row = found.first + index - 1
    -- below the last line of the buffer nothing would be scrolled into view
    if conceals or #shown == 0 or row == last then
      vim.list_extend(known.below[anchor].lines, shown)
      known.marks[#known.marks + 1] = api.nvim_buf_set_extmark(bufnr, NAMESPACE, row, 0, { conceal_lines = "" })
    else
      known.over[index] = vim.list_slice(shown, 1, needs[index])
      known.below[index], anchor = { lines = vim.list_slice(shown, needs[index] + 1) }, index
    end
  end
  for index, below in pairs(known.below) do
    if #below.lines > 0 then
      show_below(bufnr, found.first, known, index, false)
    end
  end
end

---@return acp.Chunk[] line that covers a whole row
local function padded(line, width)
  local used = 0
  for _, chunk in ipairs(line) do
    used = used + api.nvim_strwidth(chunk[1])
  end
  local out = vim.list_slice(line)
  out[#out + 1] = { (" "):rep(math.max(width - used, 0)) }
  return out
end

---@param win integer
---@param found acp.FoundTable
---@return boolean changed
function M.draw(bufnr, win, width, found)
  drawn[bufnr] = drawn[bufnr] or {}
  local start = api.nvim_buf_get_extmarks(bufnr, STARTS, { found.first, 0 }, { found.first, 0 }, { limit = 1 })[1]
  local known = start and drawn[bufnr][start[1]]
  local is_last = found.first + #found.lines == api.nvim_buf_line_count(bufnr)
  local most = math.floor(api.nvim_win_get_height(win) / LOW_PART)
  if
    known
    and known.width == width
    and known.most == most
    and known.is_last == is_last
    and vim.deep_equal(known.lines, found.lines)
  then
    return false
  end
  local grown = known and known.layout and known.width == width and known.lines[1] == found.lines[1]
  local before = grown and known.lines[2] == found.lines[2] and known.layout or nil
  if start then
    remove(bufnr, start[1])
  end
  known = { lines = found.lines, width = width, most = most, is_last = is_last, over = {}, marks = {} }
  known.below = {}
  if
    found.first > 0
    and characters.is_valid(table.concat(found.lines, "\n"))
    and not layout.is_aligned(found.lines, found.columns, width)
  then
    known.layout = layout.lay_out(found.lines, found.columns, width, found.base, before)
  end
  if known.layout then
    set_marks(bufnr, win, found, known)
  end
  drawn[bufnr][api.nvim_buf_set_extmark(bufnr, STARTS, found.first, 0, { right_gravity = false })] = known
  api.nvim__redraw({ buf = bufnr, range = { found.first, found.first + #found.lines }, flush = false })
  return true
end

---Prepares the drawing of a window.
---@param top integer row
---@param bottom integer row
function M.seen(win, bufnr, top, bottom)
  covered = {}
  if not drawn[bufnr] or not next(drawn[bufnr]) then
    return
  end
  local width = M.text_width(win)
  for _, start in
    ipairs(api.nvim_buf_get_extmarks(bufnr, STARTS, { math.max(top - search.ROWS, 0), 0 }, { bottom, 0 }, {}))
  do
    local known = drawn[bufnr][start[1]]
    for index in pairs(known and known.width == width and known.over or {}) do
      covered[start[2] + index - 1] = { known, index }
    end
  end
end

---Whether a row shows its text: the cursor is in it.
local function shows_text(win, row)
  local is_at_cursor = win == api.nvim_get_current_win() and api.nvim_win_get_cursor(win)[1] == row + 1
  return is_at_cursor and not vim.wo[win].concealcursor:find(api.nvim_get_mode().mode:sub(1, 1):lower(), 1, true)
end

---Shows the cells of the row with the cursor below it, and those of the row where the cursor was in their place.
function M.cursor_moved()
  local win, bufnr = api.nvim_get_current_win(), api.nvim_get_current_buf()
  local row = api.nvim_win_get_cursor(win)[1] - 1
  if
    open
    and drawn[open.bufnr]
    and drawn[open.bufnr][open.start] == open.known
    and api.nvim_buf_is_loaded(open.bufnr)
  then
    local first = api.nvim_buf_get_extmark_by_id(open.bufnr, STARTS, open.start, {})[1]
    if first and (open.bufnr ~= bufnr or row ~= first + open.index - 1) then
      show_below(open.bufnr, first, open.known, open.index, false)
    end
  end
  open = nil
  local above = { math.max(row - search.ROWS, 0), 0 }
  local starts = drawn[bufnr] and api.nvim_buf_get_extmarks(bufnr, STARTS, above, { row, 0 }, {}) or {}
  local start = starts[#starts]
  local known = start and drawn[bufnr][start[1]]
  local index = known and row - start[2] + 1
  if known and index > 0 and known.over[index] and shows_text(win, row) then
    open = { bufnr = bufnr, start = start[1], known = known, index = index }
    show_below(bufnr, start[2], known, index, true)
  end
end

---Covers a row by the lines of its cells, in a window that is being drawn.
---@return boolean done
function M.cover(win, bufnr, row)
  local known, index = unpack(covered[row] or {})
  if not known or shows_text(win, row) then
    return false
  end
  local line = api.nvim_buf_get_lines(bufnr, row, row + 1, false)[1]
  if line ~= known.lines[index] then -- it has changed since
    return false
  end
  for at = 1, rows_needed(win, row, known.width) do
    local column = at == 1 and 0 or vim.fn.virtcol2col(win, row + 1, (at - 1) * known.width + 1) - 1
    api.nvim_buf_set_extmark(bufnr, NAMESPACE, row, math.max(column, 0), {
      virt_text = padded(known.over[index][at] or known.layout.blank, known.width),
      virt_text_pos = "overlay",
      hl_mode = "combine",
      priority = 300,
      ephemeral = true,
      strict = false,
    })
  end
  return true
end

return M
