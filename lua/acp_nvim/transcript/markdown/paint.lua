-- Draws the markdown on the screen, in a decoration provider with ephemeral extmarks.
require("acp_nvim.transcript.markdown.interpreted")()

local block_rows = require("acp_nvim.render.block_rows")
local lazy = require("acp_nvim.lazy")
local colours = lazy("acp_nvim.transcript.markdown.colours")
local budget = require("acp_nvim.transcript.markdown.parse_budget")
local cut = require("acp_nvim.transcript.markdown.cut")
local log = require("acp_nvim.kernel.log")
local spans = require("acp_nvim.transcript.markdown.spans")
local table_marks = require("acp_nvim.transcript.markdown.table_marks")
local tables = require("acp_nvim.transcript.markdown.tables")

local M = {}

local api = vim.api
-- Nanoseconds of each redraw for new markdown while text arrives: enough for twenty lines and more
local PAINT_NS = 1e6
local NAMESPACE = api.nvim_create_namespace("acp_nvim.markdown")

---@class acp.Painted a visible segment
---@field transcript acp.Transcript
---@field block acp.Block
---@field segment acp.Segment
---@field first integer row in the buffer
---@field last integer row in the buffer

---@type table<integer, acp.Transcript> by buffer
local by_buffer = {}
---@type acp.Painted[] of the window that is being drawn
local visible = {}
local current = 1
local conceals = false -- 'conceallevel' of that window is above 0
local deadline = math.huge -- for segments without highlights
local late = {} ---@type table<integer, true> buffers with segments that missed it

function M.attach(transcript)
  by_buffer[transcript.bufnr] = transcript
  tables.attach(transcript)
end

---Notes that text has arrived.
M.streaming = budget.streaming
M.grows, M.strip_tables, M.clear_tables = tables.grows, table_marks.strip, table_marks.clear

function M.detach(bufnr)
  by_buffer[bufnr] = nil
  tables.detach(bufnr)
end

---Redraws rows that are on the screen.
function M.redraw(bufnr, first, after)
  if api.nvim_buf_is_loaded(bufnr) then
    api.nvim__redraw({ buf = bufnr, range = { first, after }, flush = false })
  end
end

local function redraw_changed(painted, before)
  local now = painted.segment.rows or {}
  local first, last
  for row = 1, painted.last - painted.first + 1 do
    if not spans.same(before and before[row], now[row]) then
      first, last = first or row, row
    end
  end
  if first then
    M.redraw(painted.transcript.bufnr, painted.first + first - 1, painted.first + last)
  end
end

---Updates the rows of a segment; returns false when the segment is gone.
local function locate(painted)
  local block, segment = painted.block, painted.segment
  if painted.transcript.order[block.index] ~= block then -- the chat was emptied
    return false
  end
  local begins, index = block_rows.first(painted.transcript, block), cut.at(block.cut, segment.first)
  if block.cut.segments[index] ~= segment then
    return false
  end
  painted.first = begins + segment.first
  painted.last = begins + (cut.first(block.cut, index + 1) or block.cut.row + 1) - 1
  return true
end

---Updates the highlights of a segment. Errors are logged, because a redraw must not be interrupted by a message.
local function refresh(painted)
  local segment = painted.segment
  local rows = segment.rows
  local ok, err = pcall(colours.refresh, painted, function()
    segment.fresh = nil
    if colours.is_seen(segment) and api.nvim_buf_is_loaded(painted.transcript.bufnr) and locate(painted) then
      local before = segment.rows
      refresh(painted)
      redraw_changed(painted, before)
    end
  end)
  if not ok then
    segment.rows, segment.fresh = segment.rows or {}, true
    log.write("markdown has no highlighting: " .. tostring(err))
  end
  if rows and rows ~= segment.rows then
    redraw_changed(painted, rows)
  end
end

---Whether a segment must wait: while text arrives, each redraw may show a whole new screen, so highlights that would take
---too long are computed when no more text arrives.
local function has_to_wait(painted)
  if deadline == math.huge or painted.segment.rows or vim.uv.hrtime() < deadline then
    return false
  end
  local bufnr = painted.transcript.bufnr
  if not late[bufnr] then
    late[bufnr] = true
    budget.wait("quiet", function()
      late[bufnr] = nil
      if by_buffer[bufnr] then
        M.redraw(bufnr, 0, -1)
      end
    end)
  end
  return true
end

---@param begins integer row of its first line
local function gather(transcript, block, begins, top, bottom)
  for index = cut.at(block.cut, math.max(top - begins, 0)), #block.cut.segments do
    local first = begins + cut.first(block.cut, index)
    if first > bottom then
      return
    end
    local segment = cut.segment(block.cut, index)
    local last = begins + (cut.first(block.cut, index + 1) or block.cut.row + 1) - 1
    visible[#visible + 1] = { transcript = transcript, block = block, segment = segment, first = first, last = last }
  end
end

---@return boolean has_markdown
local function on_win(_, win, bufnr, top, bottom)
  local transcript = by_buffer[bufnr]
  if not transcript or #transcript.order == 0 then
    return false
  end
  visible, current = {}, 1
  deadline = budget.is_quiet() and math.huge or vim.uv.hrtime() + PAINT_NS
  conceals = api.nvim_get_option_value("conceallevel", { win = win }) > 0
  for block, begins in block_rows.between(transcript, top, bottom) do
    if block.cut then
      gather(transcript, block, begins, top, bottom)
    end
  end
  colours.seen(visible)
  table_marks.seen(win, bufnr, top, bottom)
  for _, painted in ipairs(visible) do
    if painted.segment.rows and not painted.segment.fresh then
      refresh(painted) -- also for lines that are not redrawn
    end
  end
  return #visible > 0
end

local function painted_at(row)
  if not visible[current] or visible[current].first > row then
    current = 1
  end
  while visible[current] and visible[current].last < row do -- lines are drawn from the top down
    current = current + 1
  end
  local painted = visible[current]
  return painted and painted.first <= row and painted or nil
end

---@return vim.api.keyset.set_extmark options for a whole line; the row is set later
local function whole_line(group, priority, to_edge)
  local options = { end_col = 0, hl_group = spans.id(group), hl_eol = to_edge, priority = priority }
  options.ephemeral, options.strict = true, false
  return options
end

local CODE = whole_line("AcpCode", 80, true)
local RAW = whole_line("@markup.raw.block.markdown", 90, false)
local THOUGHT = whole_line("AcpThought", 200, false)

local function highlight_line(bufnr, row, options)
  options.end_row = row + 1
  api.nvim_buf_set_extmark(bufnr, NAMESPACE, row, 0, options)
end

local function on_line(_, win, bufnr, row)
  local painted = painted_at(row)
  if not painted then
    return
  end
  local segment = painted.segment
  if not segment.fresh and not has_to_wait(painted) then
    refresh(painted)
  end
  if segment.kind and segment.kind.code then
    highlight_line(bufnr, row, CODE)
    if segment.plain then
      highlight_line(bufnr, row, RAW)
    end
  end
  if painted.block.kind == "thought" then
    highlight_line(bufnr, row, THOUGHT)
  end
  if table_marks.cover(win, bufnr, row) then
    return
  end
  local found = segment.rows and segment.rows[row - painted.first + 1]
  for index = 1, found and #found or 0 do
    local span = found[index]
    if conceals or not span[2].virt_text then
      api.nvim_buf_set_extmark(bufnr, NAMESPACE, row, span[1], span[2])
    end
  end
end

api.nvim_set_decoration_provider(NAMESPACE, { on_win = on_win, on_line = on_line })

return M
