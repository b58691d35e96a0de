-- Keeps the colours of the segments that were seen last; those of older ones are found again when they are seen again.
require("acp_nvim.chat.markdown.interpreted")()

local code = require("acp_nvim.chat.markdown.code")
local credit = require("acp_nvim.chat.markdown.credit")
local cut = require("acp_nvim.chat.markdown.cut")
local limits = require("acp_nvim.limits")
local structure = require("acp_nvim.chat.markdown.structure")

local M = {}

local api = vim.api
local SEGMENTS_KEPT = 200 -- whose colours are kept: some screens
local CODE_CONTEXT = 30 -- lines above a segment of code that are parsed as well: a string or a comment begins there
local CODE_CONTEXT_STREAMING = 12 -- the same while text comes in
local TREE_KB = 100 -- that a tree and what found captures in it are taken for: Lua counts some bytes
local CODE_TRIES = 3 -- of a segment whose parser had not enough time: the machine may be busy
local REDRAWS_SEEN = 30 -- after which a segment that was not in them counts as gone from the screen
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
  return redraws - (segment.used or 0) <= REDRAWS_SEEN
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
  if #kept <= SEGMENTS_KEPT then
    return
  end
  table.sort(kept, function(a, b)
    return a.used > b.used
  end)
  for index = #kept, math.floor(SEGMENTS_KEPT / 2) + 1, -1 do
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
---@param from integer row in the segment, from 0
---@return acp.CodeText
local function code_text(painted, from)
  local bufnr, kind, first = painted.transcript.bufnr, painted.segment.kind, painted.first + from
  local context = credit.quiet() and CODE_CONTEXT or CODE_CONTEXT_STREAMING
  local above = math.min(math.max(kind.above + from - 1, 0), context)
  local lines = lines_of(bufnr, first, painted.last, limits.code_line_bytes + 1)
  local before = lines_of(bufnr, first - above, first - 1, limits.code_line_bytes + 1)
  local cut_at, bytes = #before + 1, limits.segment_bytes
  while cut_at > 1 and bytes >= #before[cut_at - 1] do
    cut_at = cut_at - 1
    bytes = bytes - #before[cut_at]
  end
  local only_opens = painted.first == painted.last and kind.above == 0
  local closes = not only_opens and #lines > 0 and cut.closes(kind, lines[#lines])
  return { lines = lines, before = vim.list_slice(before, cut_at), kind = kind, from = from, closes = closes }
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
  segment.tries = lang and segment.plain and (segment.tries or 0) + 1 or nil
  keep(painted, rows)
  segment.done = painted.last - painted.first
  if lang and not credit.quiet() and not segment.rough then
    segment.rough = true
    credit.wait("quiet", again)
  elseif credit.quiet() then
    segment.rough = nil
  end
  if segment.tries and segment.tries < CODE_TRIES then
    credit.wait("time", again)
  end
end

---@param painted acp.Painted
---@param again fun() to be called when there is more to be seen
local function refresh_code(painted, again)
  local segment = painted.segment
  local lang = code.language(segment.kind, again)
  if not lang then
    colour_code(painted, nil, again)
  elseif credit.has() then
    local began = vim.uv.hrtime()
    colour_code(painted, lang, again)
    if credit.quiet() then -- while text streams there are few trees, and its own strings keep the collector going
      collectgarbage("step", TREE_KB)
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
  local kind = segment.kind
  if kind and kind.code then
    refresh_code(painted, again)
  else
    local lines = lines_of(painted.transcript.bufnr, painted.first, painted.last, limits.inline_bytes)
    keep(painted, structure(lines, kind and kind.inside))
  end
end

return M
