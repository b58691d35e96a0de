-- Keeps the colours of the segments that were seen last; those of older ones are found again when they are seen again.
local code = require("acp_nvim.chat.markdown.code")
local credit = require("acp_nvim.chat.markdown.credit")
local cut = require("acp_nvim.chat.markdown.cut")
local limits = require("acp_nvim.limits")
local structure = require("acp_nvim.chat.markdown.structure")

local M = {}

local api = vim.api
---@type acp.Segment[] that have colours
local kept = {}
local seen = 0

---@param segment acp.Segment
function M.seen(segment)
  seen = seen + 1
  segment.used = seen
end

---@param segment acp.Segment
---@param rows table<integer, acp.Span[]>
local function keep(segment, rows)
  if not segment.rows then
    M.seen(segment)
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
    kept[index].rows, kept[index].fresh = nil, nil
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
---@return acp.CodeText
local function code_text(painted)
  local segment, bufnr = painted.segment, painted.transcript.bufnr
  local lines = lines_of(bufnr, painted.first, painted.last, limits.code_line_bytes + 1)
  local above = math.min(math.max(segment.first - segment.fence - 1, 0), limits.code_context)
  local before = lines_of(bufnr, painted.first - above, painted.first - 1, limits.code_line_bytes + 1)
  local only_opens = #lines == 1 and segment.first == segment.fence
  local closes = not only_opens and #lines > 0 and cut.closes(segment, lines[#lines])
  return { lines = lines, before = before, segment = segment, closes = closes }
end

---@param painted acp.Painted
---@param again fun() to be called when there is more to be seen
local function refresh_code(painted, again)
  local segment = painted.segment
  local lang = code.language(segment, again)
  if lang and not credit.has() then
    if not segment.waits then
      segment.waits = true
      credit.wait(function()
        segment.waits = nil
        again()
      end)
    end
    return
  end
  local began = vim.uv.hrtime()
  keep(segment, code.colour(code_text(painted), lang))
  credit.spend(lang and vim.uv.hrtime() - began or 0)
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
    keep(segment, structure(lines, segment.inside))
  end
end

return M
