-- Computes the syntax highlighting that deleted lines would have in a buffer.
local M = {}

local api = vim.api
local SYNTAX_CONTEXT = 30 -- lines parsed around the old lines: a string or a comment may begin there
local SYNTAX_BYTES = 32 * 1024 -- of the old lines with their context: parsed within a few milliseconds
local SYNTAX_COLUMNS = 4000 -- of the highlighted old lines of one hunk: synID() is called for each column

---@alias acp.SyntaxSpan { [1]: integer, [2]: integer, [3]: string } first byte, byte after the last, group; later spans win

---@type table<string, integer> value of 'syntax' -> hidden buffer
local scratch = {}

---@return string[] the lines with their context
---@return integer first row of the lines in it
local function in_context(bufnr, row, count, lines)
  local text = api.nvim_buf_get_lines(bufnr, math.max(row - SYNTAX_CONTEXT, 0), row, false)
  local first = #text
  vim.list_extend(text, lines)
  local after = row + count
  return vim.list_extend(text, api.nvim_buf_get_lines(bufnr, after, after + SYNTAX_CONTEXT, false)), first
end

---@param range Range4 relative to the lines
local function add(spans, lines, range, group)
  for row = math.max(range[1], 0), math.min(range[3], #lines - 1) do
    local from = row == range[1] and range[2] or 0
    local to = row == range[3] and range[4] or #lines[row + 1]
    if to > from then
      table.insert(spans[row + 1], { from, to, group })
    end
  end
end

local function capture(tree, language, text, first, lines, spans)
  local query = vim.treesitter.query.get(language, "highlights")
  if not query then
    return
  end
  for id, node in query:iter_captures(tree:root(), text, first, first + #lines) do
    local name = query.captures[id]
    if not name:match("^_") and not name:match("^n?o?spell$") and name ~= "conceal" then
      local from_row, from, to_row, to = node:range()
      add(spans, lines, { from_row - first, from, to_row - first, to }, "@" .. name .. "." .. language)
    end
  end
end

local function by_tree(language, context, first, lines)
  local text = table.concat(context, "\n") .. "\n"
  if #text > SYNTAX_BYTES then
    return nil
  end
  local spans = {}
  for index in ipairs(lines) do
    spans[index] = {}
  end
  local parser = vim.treesitter.get_string_parser(text, language)
  parser:parse(true)
  parser:for_each_tree(function(tree, inner)
    capture(tree, inner:lang(), text, first, lines, spans)
  end)
  return spans
end

local function hidden_buffer(syntax)
  local bufnr = scratch[syntax]
  if not bufnr or not api.nvim_buf_is_loaded(bufnr) then
    bufnr = api.nvim_create_buf(false, true)
    vim.bo[bufnr].undolevels = -1
    vim.bo[bufnr].syntax = syntax
    scratch[syntax] = bufnr
  end
  return bufnr
end

---@param row integer 1-based
local function line_spans(row, line)
  local spans, group, from = {}, 0, 0
  for column = 1, #line + 1 do
    local byte = line:byte(column)
    if not byte or byte < 0x80 or byte >= 0xC0 then -- a character begins, or the line ends
      local id = byte and vim.fn.synID(row, column, 1) or 0
      if id ~= group then
        if group ~= 0 then
          spans[#spans + 1] = { from, column - 1, vim.fn.synIDattr(group, "name") }
        end
        group, from = id, column - 1
      end
    end
  end
  return spans
end

local function by_syntax(syntax, context, first, lines)
  local bufnr, spans, columns = hidden_buffer(syntax), {}, 0
  api.nvim_buf_set_lines(bufnr, 0, -1, false, context)
  api.nvim_buf_call(bufnr, function()
    for index, line in ipairs(lines) do
      columns = columns + #line
      spans[index] = columns <= SYNTAX_COLUMNS and line_spans(first + index, line) or {}
    end
  end)
  return spans
end

---Uses tree-sitter or the 'syntax' option, whichever highlights the buffer itself.
---@param lines string[] that `count` lines from `row` replaced
---@return acp.SyntaxSpan[][]? spans of each line; nil when the buffer has no highlighting
function M.of(bufnr, row, count, lines)
  local context, first = in_context(bufnr, row, count, lines)
  local highlighter = vim.treesitter.highlighter.active[bufnr]
  local syntax = vim.bo[bufnr].syntax
  local ok, spans
  if highlighter then
    ok, spans = pcall(by_tree, highlighter.tree:lang(), context, first, lines)
  elseif syntax ~= "" and syntax ~= "OFF" and vim.g.syntax_on then
    ok, spans = pcall(by_syntax, syntax, context, first, lines)
  end
  return ok and spans or nil
end

return M
