-- Collects the highlights of a segment as arguments of nvim_buf_set_extmark().
require("acp_nvim.transcript.markdown.interpreted")()

local limits = require("acp_nvim.limits")

local M = {}

local api = vim.api

---A highlight in a line: its first column, and the options of its extmark.
---@class acp.Span
---@field [1] integer byte column
---@field [2] vim.api.keyset.set_extmark

---@type table<string, integer> group -> id
local ids = {}

function M.id(group)
  local id = ids[group]
  if not id then
    id = api.nvim_get_hl_id_by_name(group)
    ids[group] = id
  end
  return id
end

---@param rows table<integer, acp.Span[]>
---@param from integer byte column
---@param to integer byte column
---@param conceal? string replacement
---@param priority? integer
function M.add(rows, row, from, to, group, conceal, priority)
  local spans = rows[row]
  if not spans then
    spans = {}
    rows[row] = spans
  end
  spans[#spans + 1] = {
    from,
    {
      end_col = to,
      hl_group = group and M.id(group) or nil,
      conceal = conceal,
      priority = priority or 100,
      ephemeral = true,
      strict = false,
    },
  }
end

---Repeats a character after a line, up to the edge of the window.
---@param rows table<integer, acp.Span[]>
---@param at integer byte column: the end of the line
function M.fill_line(rows, row, at, char, group)
  table.insert(rows[row], {
    at,
    {
      virt_text = { { char:rep(limits.rule_columns), M.id(group) } },
      virt_text_pos = "overlay",
      priority = 100,
      ephemeral = true,
      strict = false,
    },
  })
end

---Compares what a row shows; cheaper than vim.deep_equal(), and called for each row of a text that streams in.
---@param a? acp.Span[]
---@param b? acp.Span[]
---@return boolean
function M.same(a, b)
  if not a or not b or #a ~= #b then
    return a == b or #(a or b) == 0
  end
  for index, one in ipairs(a) do
    local other = b[index]
    local mine, theirs = one[2], other[2]
    if
      one[1] ~= other[1]
      or mine.end_col ~= theirs.end_col
      or mine.hl_group ~= theirs.hl_group
      or mine.conceal ~= theirs.conceal
    then
      return false
    end
  end
  return true
end

return M
