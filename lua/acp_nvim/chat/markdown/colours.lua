-- Keeps the colours of the segments that were seen last; those of older ones are found again when they are seen again.
require("acp_nvim.chat.markdown.interpreted")()

local code = require("acp_nvim.chat.markdown.code")
local credit = require("acp_nvim.chat.markdown.credit")
local cut = require("acp_nvim.chat.markdown.cut")
local limits = require("acp_nvim.limits")
local structure = require("acp_nvim.chat.markdown.structure")

local M = {}

local api = vim.api
---@type acp.Segment[] that have colours
local kept = {}
local redraws = 0

---A window is drawn that has these segments.
---@param visible acp.Painted[]
function M.seen(visible)
  redraws = redraws + 1
  for _, painted in ipairs(visible) do
    local segment = painted.segment
    segment.used = redraws
    if segment.rough and credit.quiet() then
      segment.fresh = nil
    end
  end
end

---@param segment acp.Segment
---@return boolean it was on the screen a moment ago
function M.is_seen(segment)
  return redraws - (segment.used or 0) <= limits.redraws_seen
end

---@param painted acp.Painted
---@param rows table<integer, acp.Span[]>
local function keep(painted, rows)
  local segment = painted.segment
  if not segment.rows then
    segment.used, segment.cut = redraws, painted.block.cut
    kept[#kept + 1] = segment
  end
  segment.rows, segment.fresh = rows, true
  if #kept <= limits.segments_kept then
    return
  end
  table.sort(kept, function(a, b)
    return a.used > b.used
  end)
  for index = #kept, math.floor(limits.segments_kept / 2) + 1, -1 do
    cut.pack(kept[index])
    kept[index] = nil
  end
end

---@param bufnr integer
---@param first integer row
---@param last integer row
---@param bytes integer of each line, at the most
---@return string[]
local function lines_of(bufnr, first, last, bytes)
  local lines = api.nvim_buf_get_lines(bufnr, first, last + 1, false)
  for index, line in ipairs(lines) do
    line = #line > bytes and line:sub(1, bytes) or line
    lines[index] = line:find("\n", 1, true) and line:gsub("\n", " ") or line -- a NUL
  end
  return lines
end

---@param painted acp.Painted
---@param first integer row
---@param last integer row
---@return string[]
local function code_lines(painted, first, last)
  return lines_of(painted.transcript.bufnr, first, last, limits.code_line_bytes + 1)
end

---@param painted acp.Painted
---@param lines string[]
---@return boolean
local function closes(painted, lines)
  local segment = painted.segment
  local only_opens = painted.first == painted.last and segment.first == segment.fence
  return not only_opens and #lines > 0 and cut.closes(segment, lines[#lines])
end

---@param lines string[]
---@param bytes integer
---@return string[] as many of the last ones
local function last_of(lines, bytes)
  local first = #lines + 1
  while first > 1 and bytes >= #lines[first - 1] do
    first = first - 1
    bytes = bytes - #lines[first]
  end
  return vim.list_slice(lines, first)
end

---@param painted acp.Painted
---@param from integer row in the segment, from 0
---@return acp.CodeText
local function code_text(painted, from)
  local segment, first = painted.segment, painted.first + from
  local all = credit.quiet() and limits.code_context or limits.code_context_streaming
  local above = math.min(math.max(segment.first + from - segment.fence - 1, 0), all)
  local lines, before = code_lines(painted, first, painted.last), code_lines(painted, first - above, first - 1)
  before = last_of(before, limits.segment_bytes)
  return { lines = lines, before = before, segment = segment, from = from, closes = closes(painted, lines) }
end

---While text comes in only what is new is coloured, with what is above it; when it is quiet again, all of it.
---@param painted acp.Painted
---@param lang? acp.Language|false
---@param again fun()
local function colour_code(painted, lang, again)
  local segment, rows = painted.segment, {}
  local from = lang and not credit.quiet() and segment.done or 0
  for row = 1, from do
    rows[row] = segment.rows and segment.rows[row]
  end
  segment.plain = not code.colour(rows, code_text(painted, from), lang)
  keep(painted, rows)
  segment.done = painted.last - painted.first
  if lang and not credit.quiet() and not segment.rough then
    segment.rough = true
    credit.wait("quiet", again)
  elseif credit.quiet() then
    segment.rough = nil
  end
end

---@param painted acp.Painted
---@param again fun() to be called when there is more to be seen
local function refresh_code(painted, again)
  local segment = painted.segment
  local lang = code.language(segment, again)
  if not lang then
    colour_code(painted, nil, again)
  elseif credit.has() then
    local began = vim.uv.hrtime()
    colour_code(painted, lang, again)
    if credit.quiet() then -- while text streams there are few trees, and its own strings keep the collector going
      collectgarbage("step", limits.tree_kb)
    end
    credit.spend(vim.uv.hrtime() - began)
  elseif not segment.waits then
    segment.waits = true
    credit.wait("time", function()
      segment.waits = nil
      again()
    end)
  end
end

---Brings the colours of a segment up to its text, if there is time for it.
---@param painted acp.Painted
---@param again fun() called when there is more to be seen
function M.refresh(painted, again)
  local segment = painted.segment
  if segment.code then
    refresh_code(painted, again)
  else
    local lines = lines_of(painted.transcript.bufnr, painted.first, painted.last, limits.inline_bytes)
    keep(painted, structure(lines, segment.inside))
  end
end

return M
