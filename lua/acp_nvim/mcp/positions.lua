-- Finds the position that an agent means by a line and the text of a symbol: models miscount columns.
local name_of = require("acp_nvim.kernel.relative_path")
local lookup = require("acp_nvim.buffers.lookup")
local values = require("acp_nvim.problems.values")

local M = {}

local api = vim.api
local OTHER_LINES = 5 -- in which the symbol stands, that are named
local NEAR_LINES = 10000 -- before and after a line, in which they are looked for: within a few milliseconds
local LINE_BYTES = 200
local LONGEST = 1024 * 1024 -- bytes of a line in which anything is looked for: a few milliseconds
local NEAR_BYTES = 4 * 1024 * 1024 -- of all the lines that are looked through, of which there are fewer if they are long
local OCCURRENCES = 100 -- in one line, that are counted

local function is_word(character)
  return character ~= "" and character:match("[%w_\128-\255]") ~= nil
end

---@param most integer
---@return integer[] byte offsets of the text in the line, as a whole word
local function occurrences(line, symbol, most)
  local found, from = {}, 1
  while true do
    local first, last = line:find(symbol, from, true)
    if not first or #found == most then
      return found
    end
    local is_begun = is_word(symbol:sub(1, 1)) and is_word(line:sub(first - 1, first - 1))
    local goes_on = is_word(symbol:sub(-1)) and is_word(line:sub(last + 1, last + 1))
    if first == 1 then
      is_begun = false
    end
    if not is_begun and not goes_on then
      found[#found + 1] = first - 1
    end
    from = first + 1
  end
end

---@param first integer
---@param last integer
---@return integer bytes of these lines
local function size(bufnr, first, last)
  local count = api.nvim_buf_line_count(bufnr)
  return api.nvim_buf_get_offset(bufnr, math.min(last, count))
    - api.nvim_buf_get_offset(bufnr, math.min(first, count) - 1)
end

---@return string words about where else the symbol stands, near that line
local function elsewhere(bufnr, symbol, near)
  local count = api.nvim_buf_line_count(bufnr)
  local middle = math.min(near, count)
  local near_lines = NEAR_LINES
  while near_lines > 0 and size(bufnr, math.max(middle - near_lines, 1), middle + near_lines) > NEAR_BYTES do
    near_lines = math.floor(near_lines / 4)
  end
  local first = math.max(middle - near_lines, 1)
  local lines = near_lines > 0 and api.nvim_buf_get_lines(bufnr, first - 1, middle + near_lines, false) or {}
  local found = {} ---@type integer[]
  local function look(number)
    local line = lines[number - first + 1]
    if line and #occurrences(line, symbol, 1) > 0 then
      found[#found + 1] = number
    end
  end
  look(middle)
  for distance = 1, math.min(near_lines, count) do
    if #found > OTHER_LINES then
      break
    end
    look(middle - distance)
    look(middle + distance)
  end
  if #found == 0 then
    local is_whole = first == 1 and middle + near_lines >= count
    local where = is_whole and "nowhere in the file" or ("not within %d lines of that one"):format(near_lines)
    return ("It is %s; read the file again."):format(where)
  end
  local nearest = vim.list_slice(found, 1, OTHER_LINES)
  table.sort(nearest)
  return ("It is in line %s%s."):format(table.concat(nearest, ", "), #found > OTHER_LINES and " and others" or "")
end

---@param args { path: string, cwd: string, line: integer }
---@return string? line
---@return string? problem
function M.line(bufnr, args)
  if size(bufnr, args.line, args.line) > LONGEST then
    local words = "Line %d of %s is too long: nothing is looked for in it."
    return nil, words:format(args.line, name_of(lookup.real_path(bufnr), args.cwd))
  end
  return api.nvim_buf_get_lines(bufnr, args.line - 1, args.line, true)[1]
end

---@param args { path: string, cwd: string, line: integer, symbol: string }
---@return integer? byte offset, from 0, of the last word of the symbol in its line
---@return string? problem
function M.find(bufnr, args)
  local name, symbol = name_of(lookup.real_path(bufnr), args.cwd), args.symbol
  local count = api.nvim_buf_line_count(bufnr)
  if args.line > count then
    return nil, ("%s has only %d lines. %s"):format(name, count, elsewhere(bufnr, symbol, args.line))
  end
  local line, problem = M.line(bufnr, args)
  if not line then
    return nil, problem
  end
  local found = occurrences(line, symbol, OCCURRENCES)
  local shown = values.cut(vim.trim(line), LINE_BYTES)
  if #found == 0 then
    local words = "`%s` is not in line %d of %s, which is: %s\n%s"
    return nil, words:format(symbol, args.line, name, shown, elsewhere(bufnr, symbol, args.line))
  elseif #found > 1 then
    local words = "`%s` stands %d times in line %d of %s: %s\nGive it with the text before it, as in `self.%s`."
    return nil, words:format(symbol, #found, args.line, name, shown, symbol)
  end
  local last_word = symbol:match("()[%w_\128-\255]+[^%w_\128-\255]*$") or 1
  return found[1] + last_word - 1
end

---@param line integer from 1
---@param byte integer from 0
---@return lsp.Position
local function position(bufnr, line, byte, encoding)
  local text = api.nvim_buf_get_lines(bufnr, line - 1, line, true)[1]
  return { line = line - 1, character = vim.str_utfindex(text, encoding, byte, false) }
end

---@param byte integer from 0
---@return fun(client: vim.lsp.Client): table params of a request about that position
function M.params(bufnr, line, byte, more)
  local document = { uri = vim.uri_from_bufnr(bufnr) }
  return function(client)
    local at = position(bufnr, line, byte, values.encoding(client))
    return vim.tbl_extend("force", { textDocument = document, position = at }, more or {})
  end
end

return M
