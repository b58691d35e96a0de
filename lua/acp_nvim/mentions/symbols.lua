-- Lists the symbols of code buffers: from their language servers, else from patterns of definitions.
local answers = require("acp_nvim.problems.answers")
local code = require("acp_nvim.mentions.code")
local limits = require("acp_nvim.limits")

local M = {}

local api = vim.api
local SYMBOLS = 20000 -- of one buffer: generated code has more
local SYMBOL_LINES = 5000 -- of a buffer without a server that are searched for definitions: a few milliseconds
local SYMBOL_BUFFERS = 10 -- most recently used buffers whose symbols are offered
local SAME_SYMBOLS = 5 -- of the same name that are attached: as many as there are overloads
local METHOD = "textDocument/documentSymbol"

---@class acp.Symbol
---@field name string
---@field bufnr integer
---@field first integer 1-based line
---@field last integer 1-based, included

---@type table<integer, { tick: integer, symbols: acp.Symbol[] }> by buffer
local known = {}

local INTRODUCED_BY = {}
for word in
  ("function def class struct fn func type interface enum trait impl module namespace macro sub proc"):gmatch("%a+")
do
  INTRODUCED_BY[word] = true
end

---@return string? name that the line defines
local function defined(line)
  local at = 1
  for _ = 1, 4 do -- `export async function name`, `local function name`, `pub(crate) fn name`
    local word, after = line:match("^[%s]*(%a+)%b()%s+()", at)
    if not word then
      word, after = line:match("^[%s]*(%a+)[%s]+()", at)
    end
    if not word then
      return nil
    elseif INTRODUCED_BY[word] then
      return line:match("^%(.-%)%s*([%a_][%w_]*)", after)
        or line:match("^([%a_][%w_.:]*[%w_])", after)
        or line:match("^[%a_]", after)
    end
    at = after
  end
end

---@return integer? columns nil for a blank line
local function indent(line)
  local blank = line:match("^(%s*)%S")
  return blank and #blank
end

---@return integer last line of the definition, by its indentation
local function extent(lines, first)
  local own = indent(lines[first]) or 0
  for row = first + 1, #lines do
    local columns = indent(lines[row])
    if columns and columns <= own then
      return lines[row]:match("^%s*[%]})]") and row or lines[row]:match("^%s*end%f[%W]") and row or row - 1
    end
  end
  return #lines
end

---@return acp.Symbol[]
local function by_looks(bufnr)
  local lines = api.nvim_buf_get_lines(bufnr, 0, SYMBOL_LINES, false)
  local out = {}
  for row, line in ipairs(lines) do
    local name = #line < limits.line_bytes and defined(line)
    if name then
      table.insert(out, { name = name, bufnr = bufnr, first = row, last = extent(lines, row) })
    end
  end
  for _, symbol in ipairs(out) do
    while symbol.last > symbol.first and not indent(lines[symbol.last]) do
      symbol.last = symbol.last - 1
    end
  end
  return out
end

---@param result any what a language server has answered
---@return acp.Symbol[]
local function by_server(bufnr, result)
  local found = {}
  for _, symbol in ipairs(answers.symbols(result, SYMBOLS)) do
    if symbol.first then
      local first, last = symbol.first + 1, symbol.last + 1
      found[#found + 1] = { name = symbol.name, bufnr = bufnr, first = first, last = last }
    end
  end
  return found
end

---@param done fun(symbols: acp.Symbol[]) called once
local function of_buffer(bufnr, done)
  local tick = api.nvim_buf_get_changedtick(bufnr)
  if known[bufnr] and known[bufnr].tick == tick then
    return done(known[bufnr].symbols)
  end
  local client = package.loaded["vim.lsp"] and vim.lsp.get_clients({ bufnr = bufnr, method = METHOD })[1]
  local sent = client
    and client:request(METHOD, { textDocument = { uri = vim.uri_from_bufnr(bufnr) } }, function(err, result)
      local found = {}
      if not err and type(result) == "table" then
        found = by_server(bufnr, result)
        known[bufnr] = { tick = tick, symbols = found }
      end
      done(found)
    end, bufnr)
  if not sent then
    known[bufnr] = { tick = tick, symbols = by_looks(bufnr) }
    done(known[bufnr].symbols)
  end
end

---@param done fun(symbols: acp.Symbol[]) called once, within `limits.symbol_ms`; the most recent buffer first
function M.list(done)
  local buffers = vim.list_slice(code.buffers(), 1, SYMBOL_BUFFERS)
  local left, per_buffer, finished = #buffers, {}, false
  local function finish()
    if not finished then
      finished = true
      local all = {}
      for _, bufnr in ipairs(buffers) do
        vim.list_extend(all, per_buffer[bufnr] or {})
      end
      done(all)
    end
  end
  if left == 0 then
    return finish()
  end
  vim.defer_fn(finish, limits.symbol_ms) -- do not wait for a busy server
  for _, bufnr in ipairs(buffers) do
    of_buffer(bufnr, function(symbols)
      per_buffer[bufnr] = symbols
      left = left - 1
      if left == 0 then
        finish()
      end
    end)
  end
end

---@param done fun(symbols: acp.Symbol[]) the symbols of that name in the first buffer that has any
function M.find(name, done)
  M.list(function(symbols)
    local found = {}
    for _, symbol in ipairs(symbols) do
      if symbol.name == name and (not found[1] or found[1].bufnr == symbol.bufnr) and #found < SAME_SYMBOLS then
        table.insert(found, symbol)
      end
    end
    done(found)
  end)
end

return M
