-- Colours the markdown that is on the screen, and nothing else: a decoration provider with marks that last one redraw.
require("acp_nvim.chat.markdown.interpreted")()

local block_rows = require("acp_nvim.chat.transcript.block_rows")
local colours = require("acp_nvim.chat.markdown.colours")
local credit = require("acp_nvim.chat.markdown.credit")
local cut = require("acp_nvim.chat.markdown.cut")
local log = require("acp_nvim.log")
local spans = require("acp_nvim.chat.markdown.spans")

local M = {}

local api = vim.api
-- Of each drawing for markdown that was not seen before, while text comes in: twenty lines and more
local PAINT_NS = 1e6
local NAMESPACE = api.nvim_create_namespace("acp_nvim.markdown")

---@class acp.Painted a segment that is in the window
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
local conceals = false -- that window hides marks
local deadline = math.huge -- for segments that have no colours yet
local late = {} ---@type table<integer, true> buffers with segments that had to wait

---@param transcript acp.Transcript
function M.attach(transcript)
  by_buffer[transcript.bufnr] = transcript
end

---Text came in.
M.streaming = credit.streaming

---@param bufnr integer
function M.detach(bufnr)
  by_buffer[bufnr] = nil
end

---Rows are to be drawn again, if they are on the screen.
---@param bufnr integer
---@param first integer
---@param after integer
function M.redraw(bufnr, first, after)
  if api.nvim_buf_is_loaded(bufnr) then
    api.nvim__redraw({ buf = bufnr, range = { first, after }, flush = false })
  end
end

---@param painted acp.Painted
---@param was? table<integer, acp.Span[]>
local function redraw_changed(painted, was)
  local is = painted.segment.rows or {}
  local first, last
  for row = 1, painted.last - painted.first + 1 do
    if not spans.same(was and was[row], is[row]) then
      first, last = first or row, row
    end
  end
  if first then
    M.redraw(painted.transcript.bufnr, painted.first + first - 1, painted.first + last)
  end
end

---@param painted acp.Painted
---@return boolean found where it is now
local function place(painted)
  local block, segment = painted.block, painted.segment
  if painted.transcript.order[block.index] ~= block then -- the chat was emptied meanwhile
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

---Brings the colours of a segment up to its text. What fails there is logged: nothing may come between while drawing.
---@param painted acp.Painted
local function refresh(painted)
  local segment = painted.segment
  local was = segment.rows
  local ok, err = pcall(colours.refresh, painted, function()
    segment.fresh = nil
    if colours.is_seen(segment) and api.nvim_buf_is_loaded(painted.transcript.bufnr) and place(painted) then
      local before = segment.rows
      refresh(painted)
      redraw_changed(painted, before)
    end
  end)
  if not ok then
    segment.rows, segment.fresh = segment.rows or {}, true
    log.write("markdown has no colours: " .. tostring(err))
  end
  if was and was ~= segment.rows then
    redraw_changed(painted, was)
  end
end

---While text streams in, each drawing may show a whole new screen: what takes too long is coloured when it is quiet.
---@param painted acp.Painted
---@return boolean
local function has_to_wait(painted)
  if deadline == math.huge or painted.segment.rows or vim.uv.hrtime() < deadline then
    return false
  end
  local bufnr = painted.transcript.bufnr
  if not late[bufnr] then
    late[bufnr] = true
    credit.wait("quiet", function()
      late[bufnr] = nil
      if by_buffer[bufnr] then
        M.redraw(bufnr, 0, -1)
      end
    end)
  end
  return true
end

---@param transcript acp.Transcript
---@param block acp.Block
---@param begins integer row of its first line
---@param top integer row
---@param bottom integer row
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

---@param win integer
---@param bufnr integer
---@param top integer row
---@param bottom integer row
---@return boolean drawn by this provider
local function on_win(_, win, bufnr, top, bottom)
  local transcript = by_buffer[bufnr]
  if not transcript then
    return false
  end
  visible, current = {}, 1
  deadline = credit.quiet() and math.huge or vim.uv.hrtime() + PAINT_NS
  conceals = api.nvim_get_option_value("conceallevel", { win = win }) > 0
  for block, begins in block_rows.between(transcript, top, bottom) do
    if block.cut then
      gather(transcript, block, begins, top, bottom)
    end
  end
  colours.seen(visible)
  for _, painted in ipairs(visible) do
    if painted.segment.rows and not painted.segment.fresh then
      refresh(painted) -- also for lines that are not drawn now
    end
  end
  return #visible > 0
end

---@param row integer
---@return acp.Painted?
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

---@param group string
---@param priority integer
---@param to_edge boolean
---@return vim.api.keyset.set_extmark of a whole line, but for its row
local function whole_line(group, priority, to_edge)
  local look = { end_col = 0, hl_group = spans.id(group), hl_eol = to_edge, priority = priority }
  look.ephemeral, look.strict = true, false
  return look
end

local CODE = whole_line("AcpCode", 80, true)
local RAW = whole_line("@markup.raw.block.markdown", 90, false)
local THOUGHT = whole_line("AcpThought", 200, false)

---@param bufnr integer
---@param row integer
---@param look vim.api.keyset.set_extmark
local function colour_line(bufnr, row, look)
  look.end_row = row + 1
  api.nvim_buf_set_extmark(bufnr, NAMESPACE, row, 0, look)
end

---@param bufnr integer
---@param row integer
local function on_line(_, _, bufnr, row)
  local painted = painted_at(row)
  if not painted then
    return
  end
  local segment = painted.segment
  if not segment.fresh and not has_to_wait(painted) then
    refresh(painted)
  end
  if segment.kind and segment.kind.code then
    colour_line(bufnr, row, CODE)
    if segment.plain then
      colour_line(bufnr, row, RAW)
    end
  end
  if painted.block.kind == "thought" then
    colour_line(bufnr, row, THOUGHT)
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
