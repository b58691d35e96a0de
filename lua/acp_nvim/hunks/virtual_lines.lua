-- Makes virtual lines of lines that are not in the buffer.
local limits = require("acp_nvim.limits")

local M = {}

local LINE_SPANS = 200 -- coloured pieces of one old line: more are minified code

---@class acp.Dress what is known of how they look; nothing while they are out of sight
---@field syntax? acp.SyntaxSpan[][]
---@field words? table<integer, integer[][]|false>

---@param text string
---@param column integer that it begins at
---@param tabstop integer
---@return string what can be shown
---@return integer column after it
local function shown(text, column, tabstop)
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

---@param spans integer[][] with a group, or without
---@param edges table<integer, true>
local function add_edges(spans, edges)
  for _, span in ipairs(spans) do
    edges[span[1]], edges[span[2]] = true, true
  end
end

---@param from integer
---@param group string of the whole line
---@param text_group string of words
---@param syntax acp.SyntaxSpan[]
---@param words integer[][]
---@return string[] groups, the last is above the others
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

---@param line string
---@param group string
---@param syntax acp.SyntaxSpan[]
---@param words integer[][]
---@param tabstop integer
---@return [string, string[]][]
local function pieces(line, group, syntax, words, tabstop)
  syntax = #syntax <= LINE_SPANS and syntax or {}
  local edges = { [0] = true, [#line] = true }
  add_edges(syntax, edges)
  add_edges(words, edges)
  local at = vim.tbl_keys(edges)
  table.sort(at)
  local chunks, column, text = {}, 0, nil
  for index = 1, #at - 1 do
    if at[index] >= #line then
      break
    end
    text, column = shown(line:sub(at[index] + 1, at[index + 1]), column, tabstop)
    chunks[index] = { text, groups_at(at[index], group, group .. "Text", syntax, words) }
  end
  return chunks
end

---@param line string
---@return string
local function cut(line)
  if #line <= limits.line_bytes then
    return line
  end
  return line:sub(1, limits.line_bytes + vim.str_utf_start(line, limits.line_bytes + 1) - 1) .. "…"
end

---@param count integer
---@param word string
---@return string
local function more(count, word)
  return ("… %d more %s line%s"):format(count, word, count == 1 and "" or "s")
end

---@param bufnr integer
---@param look acp.HunkLook
---@param room integer lines that are shown
---@param dress acp.Dress
---@return [string, string|string[]][][] as nvim_buf_set_extmark() takes them
function M.of(bufnr, look, room, dress)
  local lines, group = look.lines, look.lines_group
  local tabstop, rest = vim.bo[bufnr].tabstop, (" "):rep(vim.o.columns)
  local most = #lines > room and math.max(room - 1, 1) or #lines
  local out = {}
  for index = 1, most do
    local syntax = dress.syntax and dress.syntax[index] or {}
    local words = dress.words and dress.words[index] or {}
    out[index] = pieces(cut(lines[index]), group, syntax, words, tabstop)
    table.insert(out[index], { rest, group }) -- to the window's edge
  end
  if most < #lines then
    out[most + 1] = { { more(#lines - most, look.noun), { group, "AcpReviewMore" } }, { rest, group } }
  end
  return out
end

return M
