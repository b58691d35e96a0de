-- Tools that ask the language servers about symbols.
local lookup = require("acp_nvim.buffers.lookup")
local name_of = require("acp_nvim.mcp.name")
local positions = require("acp_nvim.mcp.positions")
local servers = require("acp_nvim.mcp.servers")

local M = {}

local api = vim.api
local MOST = 5000 -- lines of an answer
local CUT = ("... only the first %d are listed"):format(MOST)

---@param items { filename: string, lnum: integer, col: integer, text: string }[]
---@return string[] lines sorted, each once
local function lines_of(items, cwd)
  table.sort(items, function(a, b)
    if a.filename ~= b.filename then
      return a.filename < b.filename
    elseif a.lnum ~= b.lnum then
      return a.lnum < b.lnum
    end
    return a.col < b.col
  end)
  local lines, last = {}, nil
  for _, one in ipairs(items) do
    local line = ("%s:%d:%d: %s"):format(name_of(one.filename, cwd), one.lnum, one.col, vim.trim(one.text or ""))
    if line ~= last then
      lines[#lines + 1], last = line, line
    end
    if #lines == MOST then
      lines[#lines + 1] = CUT
      break
    end
  end
  return lines
end

---@param result lsp.Location|lsp.Location[]|lsp.LocationLink[]|nil
---@return (lsp.Location|lsp.LocationLink)[]
local function locations(result)
  if type(result) ~= "table" then
    return {}
  end
  return (result.uri or result.targetUri) and { result } or result
end

---@param method string
---@param what string in words, as after "cannot"
---@param none string
---@param more? table parameters
---@return acp.mcp.Tool
local function places(method, what, none, more)
  return function(args, answer)
    servers.with(args, method, what, answer, function(clients, bufnr)
      local byte, problem = positions.find(bufnr, args)
      if not byte then
        return answer({ error = problem })
      end
      local params = positions.params(bufnr, args.line, byte, more)
      servers.request(clients, bufnr, method, params, answer, function(results)
        local items = {}
        for _, one in ipairs(results) do
          local found = vim.lsp.util.locations_to_items(locations(one.result), one.client.offset_encoding)
          vim.list_extend(items, found)
        end
        local note = servers.unsettled(clients)
        if #items == 0 then
          return answer({ lines = { none:format(args.symbol) }, note = note })
        end
        answer({ lines = lines_of(items, args.cwd), note = note })
      end)
    end)
  end
end

M.definition = places("textDocument/definition", "find definitions", "The language server knows no definition of `%s`.")
M.implementations =
  places("textDocument/implementation", "find implementations", "The language server knows no implementation of `%s`.")
M.references = places(
  "textDocument/references",
  "find uses",
  "The language server knows no use of `%s`.",
  { context = { includeDeclaration = true } }
)

---@type acp.mcp.Tool
function M.hover(args, answer)
  local method = "textDocument/hover"
  servers.with(args, method, "describe symbols", answer, function(clients, bufnr)
    local byte, problem = positions.find(bufnr, args)
    if not byte then
      return answer({ error = problem })
    end
    local params = positions.params(bufnr, args.line, byte)
    servers.request(clients, bufnr, method, params, answer, function(results)
      local lines = {}
      for _, one in ipairs(results) do
        local contents = type(one.result) == "table" and one.result.contents
        if contents then
          vim.list_extend(lines, vim.lsp.util.convert_input_to_markdown_lines(contents))
        end
      end
      local none = ("The language server says nothing of `%s`."):format(args.symbol)
      answer({ lines = #lines > 0 and lines or { none }, note = servers.unsettled(clients) })
    end)
  end)
end

---@return string
local function kind_of(number)
  return (vim.lsp.protocol.SymbolKind[number] or "Symbol"):lower()
end

---@param position lsp.Position
---@param bufnr? integer of the file, nil if it is not loaded
---@return integer column as in all results: in bytes, from 1
local function column(position, bufnr, encoding)
  local lines = bufnr and api.nvim_buf_get_lines(bufnr, position.line, position.line + 1, false) or {}
  if not lines[1] then
    return position.character + 1
  end
  return vim.str_byteindex(lines[1], encoding, position.character, false) + 1
end

---@param symbols (lsp.DocumentSymbol|lsp.SymbolInformation)[]
---@param file { name: string, bufnr?: integer, encoding: string }
---@param lines string[]
---@param inside string names of what they are in
local function add_symbols(symbols, file, lines, inside)
  for _, one in ipairs(symbols) do
    local range = one.selectionRange or (one.location and one.location.range)
    local full = inside .. one.name
    if #lines > MOST then
      return
    elseif #lines == MOST then
      lines[#lines + 1] = CUT
    elseif range then
      local at = range.start
      local col = column(at, file.bufnr, file.encoding)
      lines[#lines + 1] = ("%s:%d:%d: %s %s"):format(file.name, at.line + 1, col, kind_of(one.kind), full)
    end
    add_symbols(one.children or {}, file, lines, full .. ".")
  end
end

local function of_file(args, answer)
  local method = "textDocument/documentSymbol"
  servers.with(args, method, "list symbols", answer, function(clients, bufnr)
    local document = { textDocument = { uri = vim.uri_from_bufnr(bufnr) } }
    local function params()
      return document
    end
    servers.request({ clients[1] }, bufnr, method, params, answer, function(results)
      local lines, name = {}, name_of(args.path, args.cwd)
      local file = { name = name, bufnr = bufnr, encoding = clients[1].offset_encoding }
      add_symbols(results[1].result or {}, file, lines, "")
      answer({ lines = #lines > 0 and lines or { ("%s has no symbols."):format(name) } })
    end)
  end)
end

---@type acp.mcp.Tool
function M.list(args, answer)
  if args.path then
    return of_file(args, answer)
  end
  local method = "workspace/symbol"
  local clients = vim.lsp.get_clients({ method = method })
  if #clients == 0 then
    local words =
      "No language server that can search the project runs yet. Give the path of a file first, which starts it."
    return answer({ error = words })
  end
  local function params()
    return { query = args.query }
  end
  servers.request(clients, 0, method, params, answer, function(results)
    local lines, buffers = {}, nil ---@type string[], table<string, integer>?
    for _, one in ipairs(results) do
      for _, symbol in ipairs(one.result or {}) do
        local path = vim.uri_to_fname(symbol.location.uri)
        buffers = buffers or lookup.by_path()
        local file = { name = name_of(path, args.cwd), bufnr = buffers[path], encoding = one.client.offset_encoding }
        add_symbols({ symbol }, file, lines, "")
      end
    end
    local none = ("No symbol of the project matches `%s`."):format(args.query)
    answer({ lines = #lines > 0 and lines or { none }, note = servers.unsettled(clients) })
  end)
end

return M
