-- Caches the highlights of the segments that were visible last, and computes them when needed.
require("acp_nvim.transcript.markdown.interpreted")()

local code = require("acp_nvim.transcript.markdown.code")
local budget = require("acp_nvim.transcript.markdown.parse_budget")
local cut = require("acp_nvim.transcript.markdown.cut")
local limits = require("acp_nvim.limits")
local structure = require("acp_nvim.transcript.markdown.structure")

local M = {}

local api = vim.api
local SEGMENTS_KEPT = 200 -- in the cache: some screens
local CODE_CONTEXT = 30 -- lines parsed above a segment of code: a string or comment may begin there
local CODE_CONTEXT_STREAMING = 12 -- the same while text arrives
local TREE_KB = 100 -- estimated size of a tree and its query cursor, of which Lua counts only some bytes
local CODE_TRIES = 5 -- to highlight a segment within the time limits: the machine may be busy
local REDRAWS_SEEN = 30 -- after which a segment that was not drawn counts as off the screen
---@type acp.Segment[] with highlights
local cache = {}
local redraws = 0

---Notes that a window with these segments is drawn.
---@param visible acp.Painted[]
function M.seen(visible)
  redraws = redraws + 1
  for _, painted in ipairs(visible) do
    local segment = painted.segment
    segment.used = redraws
    if segment.rough and budget.is_quiet() then
      segment.fresh = nil
    end
  end
end

---@param segment acp.Segment
---@return boolean it was drawn recently
function M.is_seen(segment)
  return redraws - (segment.used or 0) <= REDRAWS_SEEN
end

local function keep(painted, rows)
  local segment = painted.segment
  if not segment.rows then
    segment.used, segment.cut = redraws, painted.block.cut
    cache[#cache + 1] = segment
  end
  segment.rows, segment.fresh = rows, true
  if #cache <= SEGMENTS_KEPT then
    return
  end
  table.sort(cache, function(a, b)
    return a.used > b.used
  end)
  for index = #cache, math.floor(SEGMENTS_KEPT / 2) + 1, -1 do
    cut.pack(cache[index])
    cache[index] = nil
  end
end

---@param bytes integer limit of each line
local function lines_of(bufnr, first, last, bytes)
  local lines = api.nvim_buf_get_lines(bufnr, first, last + 1, false)
  for index, line in ipairs(lines) do
    line = #line > bytes and line:sub(1, bytes) or line
    lines[index] = line:find("\n", 1, true) and line:gsub("\n", " ") or line -- a NUL
  end
  return lines
end

---@param from integer row in the segment, from 0
local function code_text(painted, from)
  local bufnr, kind, first = painted.transcript.bufnr, painted.segment.kind, painted.first + from
  local context = budget.is_quiet() and CODE_CONTEXT or CODE_CONTEXT_STREAMING
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

---Highlights code: while text arrives only the new lines, with some context; when no more arrives, the whole segment.
local function colour_code(painted, lang, again)
  local segment, rows = painted.segment, {}
  local from = lang and not budget.is_quiet() and segment.done or 0
  for row = 1, from do
    rows[row] = segment.rows and segment.rows[row]
  end
  segment.plain = not code.colour(rows, code_text(painted, from), lang)
  segment.tries = lang and segment.plain and (segment.tries or 0) + 1 or nil
  keep(painted, rows)
  segment.done = painted.last - painted.first
  if lang and not budget.is_quiet() and not segment.rough then
    segment.rough = true
    budget.wait("quiet", again)
  elseif budget.is_quiet() then
    segment.rough = nil
  end
  if segment.tries and segment.tries < CODE_TRIES then
    budget.wait("time", again)
  end
end

---@param again fun() called when more highlights can be computed
local function refresh_code(painted, again)
  local segment = painted.segment
  local lang = code.language(segment.kind, again)
  if not lang then
    colour_code(painted, nil, again)
  elseif budget.is_available() then
    local began = vim.uv.hrtime()
    colour_code(painted, lang, again)
    if budget.is_quiet() then -- while text arrives there are few trees, and its strings keep the collector running
      collectgarbage("step", TREE_KB)
    end
    budget.spend(vim.uv.hrtime() - began)
  elseif not segment.waits then
    segment.waits = true
    budget.wait("time", function()
      segment.waits = nil
      again()
    end)
  end
end

---Updates the highlights of a segment if there is time for it.
---@param again fun() called when more highlights can be computed
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
