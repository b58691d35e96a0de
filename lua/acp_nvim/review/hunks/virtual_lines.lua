-- Builds virtual lines from lines that are not in the buffer.
local limits = require("acp_nvim.limits")

local M = {}

local LINE_SPANS = 200 -- syntax spans of one line: a line with more is minified code and gets none

---@class acp.LineHighlights highlights of virtual lines; empty until the lines are on the screen
---@field syntax? acp.SyntaxSpan[][]
---@field words? table<integer, integer[][]|false>

---@param column integer of the first character
---@return string text with tabs and NULs replaced
---@return integer column after it
local function expand_tabs(text, column, tabstop)
  text = text:gsub("[%z\n]", "^@")
  if not text:find("\t", 1, true) then
    return text, column + vim.api.nvim_strwidth(text)
  end
  local parts = {}
  for part, tab in text:gmatch("([^\t]*)(\t?)") do
    column = column + vim.api.nvim_strwidth(part)
    parts[#parts + 1] = part
    if tab ~= "" then
      local width = tabstop - column % tabstop
      parts[#parts + 1] = (" "):rep(width)
      column = column + width
    end
  end
  return table.concat(parts), column
end

---@return string[] groups, the last one on top
local function groups_at(from, group, text_group, syntax, words)
  local groups = { group }
  for _, span in ipairs(words) do
    if span[1] <= from and from < span[2] then
      groups[2] = text_group
    end
  end
  for _, span in ipairs(syntax) do
    if span[1] <= from and from < span[2] then
      groups[#groups + 1] = span[3]
    end
  end
  return groups
end

local function pieces(line, group, syntax, words, tabstop)
  syntax = #syntax <= LINE_SPANS and syntax or {}
  local edges = { [0] = true, [#line] = true }
  for _, spans in ipairs({ syntax, words }) do
    for _, span in ipairs(spans) do
      edges[span[1]], edges[span[2]] = true, true
    end
  end
  local at = vim.tbl_keys(edges)
  table.sort(at)
  local chunks, column, text = {}, 0, nil
  for index = 1, #at - 1 do
    if at[index] >= #line then
      break
    end
    text, column = expand_tabs(line:sub(at[index] + 1, at[index + 1]), column, tabstop)
    chunks[index] = { text, groups_at(at[index], group, group .. "Text", syntax, words) }
  end
  return chunks
end

local function cut(line)
  if #line <= limits.line_bytes then
    return line
  end
  return line:sub(1, limits.line_bytes + vim.str_utf_start(line, limits.line_bytes + 1) - 1) .. "…"
end

---@param style acp.HunkStyle
---@param room integer lines at most
---@param highlights acp.LineHighlights
---@return [string, string|string[]][][] for nvim_buf_set_extmark()
function M.of(bufnr, style, room, highlights)
  local lines, group = style.lines, style.lines_group
  local tabstop, rest = vim.bo[bufnr].tabstop, (" "):rep(vim.o.columns)
  local most = #lines > room and math.max(room - 1, 1) or #lines
  local out = {}
  for index = 1, most do
    local syntax = highlights.syntax and highlights.syntax[index] or {}
    local words = highlights.words and highlights.words[index] or {}
    out[index] = pieces(cut(lines[index]), group, syntax, words, tabstop)
    table.insert(out[index], { rest, group }) -- to the window's edge
  end
  if most < #lines then
    local words = ("… %d more %s line%s"):format(#lines - most, style.noun, #lines - most == 1 and "" or "s")
    out[most + 1] = { { words, { group, "AcpReviewMore" } }, { rest, group } }
  end
  return out
end

return M
