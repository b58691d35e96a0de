-- Tools that ask the language servers about symbols.
local answers = require("acp_nvim.problems.answers")
local name_of = require("acp_nvim.kernel.relative_path")
local places = require("acp_nvim.mcp.places")
local positions = require("acp_nvim.mcp.positions")
local servers = require("acp_nvim.mcp.servers")
local values = require("acp_nvim.problems.values")

local M = {}

local MOST = 5000 -- entries of an answer
local CUT = ("... only the first %d are listed"):format(MOST)
local HOVER_CUT = "... the rest is too long"
local OUTSIDE = "Of files outside of the session's directories only the place is told, not the text."
local SYMBOLS_OUTSIDE = "%d more symbols are outside of the session's directories."

---@class acp.mcp.Findings what all language servers together have answered
---@field bad integer
---@field is_cut boolean

---@param found acp.mcp.Findings
---@param read acp.lsp.Read<any>
local function note_down(found, read)
  found.bad, found.is_cut = found.bad + read.bad, found.is_cut or read.is_cut
end

---Answers with lines, or with `none`; with an error if nothing could be read.
---@param answer acp.mcp.Answer
---@param lines string[]
---@param none string
---@param found acp.mcp.Findings
---@param ... string? notes
local function tell(answer, lines, none, found, ...)
  if #lines == 0 and found.bad > 0 then
    return answer({ error = servers.UNREADABLE })
  end
  local notes = vim.tbl_values({ values.note(found), ... })
  lines[#lines + 1] = found.is_cut and CUT or nil
  answer({ lines = #lines > 0 and lines or { none }, note = #notes > 0 and table.concat(notes, "\n") or nil })
end

---@param results acp.mcp.Result[]
---@return acp.mcp.Place[] sorted
---@return acp.mcp.Findings
local function places_in(results)
  local all, found = {}, { bad = 0, is_cut = false }
  for _, one in ipairs(results) do
    local read = answers.places(one.result, MOST - #all)
    note_down(found, read)
    for _, place in ipairs(read) do
      place.encoding = values.encoding(one.client)
      all[#all + 1] = place
    end
  end
  places.sort(all)
  return all, found
end

---@param method string
---@param what string in words, as after "cannot"
---@param none string
---@param more? table parameters
---@return acp.mcp.Tool
local function about(method, what, none, more)
  return function(args, answer)
    servers.with(args, method, what, answer, function(clients, bufnr)
      local byte, problem = positions.find(bufnr, args)
      if not byte then
        return answer({ error = problem })
      end
      local params = positions.params(bufnr, args.line, byte, more)
      servers.request(clients, bufnr, method, params, answer, function(results)
        local all, found = places_in(results)
        places.list(all, args, answer, function(lines, outside)
          local busy = servers.unsettled(clients)
          tell(answer, lines, none:format(args.symbol), found, busy, outside > 0 and OUTSIDE or nil)
        end)
      end)
    end)
  end
end

M.definition = about("textDocument/definition", "find definitions", "The language server knows no definition of `%s`.")
M.implementations =
  about("textDocument/implementation", "find implementations", "The language server knows no implementation of `%s`.")
M.references = about(
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
      local lines, found = {}, { bad = 0, is_cut = false }
      for _, one in ipairs(results) do
        local read = answers.hover(one.result)
        vim.list_extend(lines, read.lines)
        lines[#lines + 1] = read.is_cut and HOVER_CUT or nil
        found.bad = found.bad + read.bad
      end
      local none = ("The language server says nothing of `%s`."):format(args.symbol)
      tell(answer, lines, none, found, servers.unsettled(clients))
    end)
  end)
end

---@param all acp.mcp.Place[]
---@param found acp.mcp.Findings
---@param one acp.mcp.Result
---@param path? string of the file that all are in
local function add_symbols(all, found, one, path)
  local read = answers.symbols(one.result, MOST - #all)
  note_down(found, read)
  for _, symbol in ipairs(read) do
    local place = symbol.place --[[@as acp.mcp.Place?]]
    if place then
      place.path = path or place.path
      place.encoding = values.encoding(one.client)
      place.words = ("%s %s"):format(symbol.kind or "symbol", symbol.full)
      all[#all + 1] = place
    elseif not path then
      found.bad = found.bad + 1
    end
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
      local all, found = {}, { bad = 0, is_cut = false }
      add_symbols(all, found, results[1], args.path)
      places.list(all, args, answer, function(lines)
        tell(answer, lines, ("%s has no symbols."):format(name_of(args.path, args.cwd)), found)
      end)
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
    local all, found = {}, { bad = 0, is_cut = false }
    for _, one in ipairs(results) do
      add_symbols(all, found, one)
    end
    places.list(all, args, answer, function(lines, outside)
      local none = ("No symbol of the project matches `%s`."):format(args.query)
      local more = outside > 0 and SYMBOLS_OUTSIDE:format(outside) or nil
      tell(answer, lines, none, found, servers.unsettled(clients), more)
    end)
  end)
end

return M
