-- Tools that let language servers propose edits. The host asks the user, and carries them out.
local guarded = require("acp_nvim.mcp.guarded")
local lookup = require("acp_nvim.buffers.lookup")
local name_of = require("acp_nvim.mcp.name")
local positions = require("acp_nvim.mcp.positions")
local servers = require("acp_nvim.mcp.servers")
local settling = require("acp_nvim.problems.settling")
local text = require("acp_nvim.buffers.text")

local M = {}

local api = vim.api
local ACTION = "textDocument/codeAction"
local SETTLE_MS = 3000 -- that the diagnostics of a file are waited for
local MOST_COUNT = 2 ^ 31 - 1 -- some language servers name the end of a text by a number that no integer holds
local MALFORMED = "the language server has sent a malformed edit"

local CHANGED = "%s was changed meanwhile. Nothing was done; try again."
local FILE_OPERATION = "The language server wants to create, rename or delete files, too. Nothing was done: do that "
  .. "yourself, and edit the texts."
local NO_EDIT =
  "%s: this action runs a command of the language server %s, which is not done for agents. Nothing was done."

local ONLY_EDIT = "Only the edit is done: the action would also run a command of the language server %s."

---@return table<integer, integer> bufnr -> tick of each loaded file
local function ticks()
  local found = {}
  for _, bufnr in ipairs(lookup.file_buffers()) do
    found[bufnr] = api.nvim_buf_get_changedtick(bufnr)
  end
  return found
end

---@param number any line or character of a position
---@return integer
local function count(number)
  if type(number) ~= "number" or number < 0 or number % 1 ~= 0 then
    error(MALFORMED, 0)
  end
  return math.min(number, MOST_COUNT)
end

---@param edits lsp.TextEdit[]
---@return acp.LspEdit[]
local function plain(edits)
  return vim.tbl_map(function(one)
    local from, to = one.range.start, one.range["end"]
    if type(one.newText) ~= "string" then
      error(MALFORMED, 0)
    end
    return {
      line = count(from.line),
      character = count(from.character),
      end_line = count(to.line),
      end_character = count(to.character),
      text = one.newText,
    }
  end, edits)
end

---@param edit lsp.WorkspaceEdit
---@return table<string, lsp.TextEdit[]>? edits by URI, nil with file operations
---@return table<string, integer> versions that the language server has edited, by URI
local function by_uri(edit)
  local found, versions = {}, {} ---@type table<string, lsp.TextEdit[]>, table<string, integer>
  if not edit.documentChanges then
    return edit.changes or found, versions
  end
  for _, one in ipairs(edit.documentChanges) do
    if one.kind then
      return nil, versions
    end
    local uri, version = one.textDocument.uri, one.textDocument.version
    found[uri] = vim.list_extend(found[uri] or {}, one.edits)
    versions[uri] = type(version) == "number" and version or nil
  end
  return found, versions
end

---@param before? integer tick at the request
---@param version? integer that the language server has edited
local function is_other(bufnr, before, version)
  local is_changed = before ~= nil and before ~= api.nvim_buf_get_changedtick(bufnr)
  return is_changed or (version ~= nil and version < (vim.lsp.util.buf_versions[bufnr] or 0))
end

---@param edit lsp.WorkspaceEdit
---@param before table<integer, integer> ticks at the request
---@return acp.WorkspaceEdit?
---@return string? problem
local function workspace_edit(edit, encoding, before, cwd)
  local found, versions = by_uri(edit)
  if not found then
    return nil, FILE_OPERATION
  end
  local files, buffers = {}, lookup.by_path() ---@type acp.FileEdits[], table<string, integer>
  for uri, edits in vim.spairs(found) do
    if not vim.startswith(uri, "file:") then
      return nil, ("The language server wants to change %s, which is no file. Nothing was done."):format(uri)
    end
    local path = vim.uri_to_fname(uri)
    local bufnr = buffers[lookup.real(path)]
    if bufnr and is_other(bufnr, before[bufnr], versions[uri]) then
      return nil, CHANGED:format(name_of(path, cwd))
    end
    if #edits > 0 then
      files[#files + 1] = {
        path = path,
        edits = plain(edits),
        state = bufnr and text.state(bufnr) or nil,
        is_unended = bufnr ~= nil and text.shape(bufnr).eol and not vim.bo[bufnr].eol,
      }
    end
  end
  return { files = files, encoding = encoding }
end

---@param answer acp.mcp.Answer
---@param title string
---@param edit lsp.WorkspaceEdit
---@param note? string about what is not done
local function propose(answer, title, edit, encoding, before, cwd, note)
  local found, problem = workspace_edit(edit, encoding, before, cwd)
  if not found then
    return answer({ error = problem })
  end
  answer({ edit = #found.files > 0 and found or nil, title = title, note = note })
end

---@type acp.mcp.Tool
function M.rename(args, answer)
  local method = "textDocument/rename"
  servers.with(args, method, "rename", answer, function(clients, bufnr)
    local byte, problem = positions.find(bufnr, args)
    if not byte then
      return answer({ error = problem })
    end
    local busy, before = servers.unsettled(clients), ticks()
    if busy then
      return answer({ error = busy .. " Nothing was done." })
    end
    local params = positions.params(bufnr, args.line, byte, { newName = args.new_name })
    servers.request(clients, bufnr, method, params, answer, function(results)
      for _, one in ipairs(results) do
        if type(one.result) == "table" and next(one.result) then
          local title = ("Rename %s to %s"):format(args.symbol, args.new_name)
          return propose(answer, title, one.result, one.client.offset_encoding, before, args.cwd)
        end
      end
      answer({ error = ("The language server cannot rename `%s`."):format(args.symbol) })
    end)
  end)
end

---@class acp.mcp.Action
---@field client vim.lsp.Client
---@field action lsp.CodeAction|lsp.Command

---@return acp.mcp.Action[]
local function actions_in(results)
  local found = {}
  for _, one in ipairs(results) do
    for _, action in ipairs(one.result or {}) do
      found[#found + 1] = { client = one.client, action = action }
    end
  end
  return found
end

---@param actions acp.mcp.Action[]
---@return acp.mcp.Action[] those with that title, else those whose titles contain it
local function with_title(actions, title)
  local exact, partial = {}, {}
  for _, one in ipairs(actions) do
    if one.action.title == title then
      exact[#exact + 1] = one
    elseif one.action.title:find(title, 1, true) then
      partial[#partial + 1] = one
    end
  end
  return #exact > 0 and exact or partial
end

---@param actions acp.mcp.Action[]
---@return string[]
local function list(actions)
  return vim.tbl_map(function(one)
    local kind = one.action.kind and (" (%s)"):format(one.action.kind) or ""
    return ("%s%s, by %s"):format(one.action.title, kind, one.client.name)
  end, actions)
end

---@param chosen acp.mcp.Action
---@param before table<integer, integer>
local function take(chosen, bufnr, before, args, answer)
  local client, action = chosen.client, chosen.action
  if action.disabled then
    return answer({ error = ("%s: %s"):format(action.title, action.disabled.reason or "it cannot be done now") })
  end
  local function finish(resolved)
    if type(resolved.edit) ~= "table" then
      return answer({ error = NO_EDIT:format(action.title, client.name) })
    end
    local note = resolved.command and ONLY_EDIT:format(client.name) or nil
    propose(answer, action.title, resolved.edit, client.offset_encoding, before, args.cwd, note)
  end
  if action.edit or not client:supports_method("codeAction/resolve", bufnr) then
    return finish(action)
  end
  local function params()
    return action
  end
  servers.request({ client }, bufnr, "codeAction/resolve", params, answer, function(results)
    finish(results[1].result or action)
  end)
end

---@param diagnostics vim.Diagnostic[]
---@return fun(client: vim.lsp.Client): table
local function action_params(bufnr, line, diagnostics)
  local document = { uri = vim.uri_from_bufnr(bufnr) }
  local last = api.nvim_buf_get_lines(bufnr, line - 1, line, true)[1]
  return function(client)
    local length = vim.str_utfindex(last, client.offset_encoding, #last, false)
    return {
      textDocument = document,
      range = { start = { line = line - 1, character = 0 }, ["end"] = { line = line - 1, character = length } },
      context = { triggerKind = 1, diagnostics = vim.lsp.diagnostic.from(diagnostics) },
    }
  end
end

---@param clients vim.lsp.Client[]
local function act(clients, bufnr, args, answer)
  local before = ticks()
  local params = action_params(bufnr, args.line, vim.diagnostic.get(bufnr, { lnum = args.line - 1 }))
  servers.request(clients, bufnr, ACTION, params, answer, function(results)
    local actions = actions_in(results)
    if #actions == 0 then
      return answer({ error = ("The language servers offer nothing for line %d."):format(args.line) })
    elseif not args.title then
      return answer({ lines = list(actions) })
    end
    local found = with_title(actions, args.title)
    if #found ~= 1 then
      local words = #found == 0 and "No action has such a title. There are:" or "More than one has such a title:"
      return answer({ error = table.concat({ words, unpack(list(#found == 0 and actions or found)) }, "\n") })
    end
    take(found[1], bufnr, before, args, answer)
  end)
end

---@type acp.mcp.Tool
function M.code_action(args, answer)
  servers.with(args, ACTION, "offer actions", answer, function(clients, bufnr)
    local run = guarded(answer, function()
      local count = api.nvim_buf_is_loaded(bufnr) and api.nvim_buf_line_count(bufnr) or 0
      if args.line > count then
        return answer({ error = ("%s has only %d lines."):format(name_of(args.path, args.cwd), count) })
      end
      act(clients, bufnr, args, answer)
    end)
    settling.settled(bufnr, SETTLE_MS, run) -- most actions are about diagnostics
  end)
end

---@type acp.mcp.Tool
function M.format(args, answer)
  local method = "textDocument/formatting"
  servers.with(args, method, "format", answer, function(clients, bufnr)
    local before, client = ticks(), clients[1]
    local options = { tabSize = vim.lsp.util.get_effective_tabstop(bufnr), insertSpaces = vim.bo[bufnr].expandtab }
    local function params()
      return { textDocument = { uri = vim.uri_from_bufnr(bufnr) }, options = options }
    end
    servers.request({ client }, bufnr, method, params, answer, function(results)
      local edit = { changes = { [vim.uri_from_bufnr(bufnr)] = results[1].result or {} } }
      local title = ("Format %s"):format(name_of(args.path, args.cwd))
      propose(answer, title, edit, client.offset_encoding, before, args.cwd)
    end)
  end)
end

---Opens files without showing them, so that undo takes an edit of them back. Keys of the user are handled in between.
---@param args { paths: string[] }
---@param answer acp.mcp.Answer
function M.open(args, answer)
  local at, step = 0, nil
  step = guarded(answer, function()
    at = at + 1
    if not args.paths[at] then
      return answer({})
    end
    servers.buffer(args.paths[at]) -- one that cannot be opened is changed on disk
    vim.schedule(step)
  end)
  step()
end

return M
