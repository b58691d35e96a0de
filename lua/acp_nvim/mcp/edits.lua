-- Tools that let language servers propose edits. The host asks the user, and carries them out.
local answers = require("acp_nvim.problems.answers")
local edits = require("acp_nvim.problems.edits")
local guarded = require("acp_nvim.mcp.guarded")
local lookup = require("acp_nvim.buffers.lookup")
local name_of = require("acp_nvim.kernel.relative_path")
local positions = require("acp_nvim.mcp.positions")
local servers = require("acp_nvim.mcp.servers")
local settling = require("acp_nvim.problems.settling")
local text = require("acp_nvim.buffers.text")
local values = require("acp_nvim.problems.values")

local M = {}

local api = vim.api
local ACTION = "textDocument/codeAction"
local SETTLE_MS = 3000 -- that the diagnostics of a file are waited for
local ACTIONS = 200 -- of all language servers together
local ACTION_DIAGNOSTICS = 100 -- of a line, that are sent with a question for actions

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

---@param before? integer tick at the request
---@param version? integer that the language server has edited
local function is_other(bufnr, before, version)
  local is_changed = before ~= nil and before ~= api.nvim_buf_get_changedtick(bufnr)
  return is_changed or (version ~= nil and version < (vim.lsp.util.buf_versions[bufnr] or 0))
end

---@param files table<string, acp.lsp.FileEdits> by URI
---@param before table<integer, integer> ticks at the request
---@return acp.WorkspaceEdit?
---@return string? problem
local function workspace_edit(files, encoding, before, cwd)
  local found, buffers = {}, lookup.by_path() ---@type acp.FileEdits[], table<string, integer>
  for _, file in vim.spairs(files) do
    if not file.path then
      return nil, ("The language server wants to change %s, which is no file. Nothing was done."):format(file.uri)
    end
    local bufnr = buffers[lookup.real(file.path)]
    if bufnr and is_other(bufnr, before[bufnr], file.version) then
      return nil, CHANGED:format(name_of(file.path, cwd))
    end
    if #file.edits > 0 then
      found[#found + 1] = {
        path = file.path,
        edits = file.edits,
        state = bufnr and text.state(bufnr) or nil,
        is_unended = bufnr ~= nil and text.shape(bufnr).eol and not vim.bo[bufnr].eol,
      }
    end
  end
  return { files = found, encoding = encoding }
end

---@param answer acp.mcp.Answer
---@param title string
---@param files table<string, acp.lsp.FileEdits> by URI
---@param client vim.lsp.Client
---@param note? string about what is not done
local function propose(answer, title, files, client, before, cwd, note)
  local found, problem = workspace_edit(files, values.encoding(client), before, cwd)
  if not found then
    return answer({ error = problem })
  end
  answer({ edit = #found.files > 0 and found or nil, title = title, note = note })
end

---The same for a WorkspaceEdit, of any shape.
local function propose_any(answer, title, edit, client, before, cwd, note)
  local found, problem = edits.workspace_edit(edit)
  if not found or found.has_operations then
    return answer({ error = problem or FILE_OPERATION })
  end
  propose(answer, title, found.files, client, before, cwd, note)
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
        if not values.is_nothing(one.result) and not vim.deep_equal(one.result, {}) then
          local title = ("Rename %s to %s"):format(args.symbol, args.new_name)
          return propose_any(answer, title, one.result, one.client, before, args.cwd)
        end
      end
      answer({ error = ("The language server cannot rename `%s`."):format(args.symbol) })
    end)
  end)
end

---@class acp.mcp.Action: acp.lsp.Action
---@field client vim.lsp.Client

---@param results acp.mcp.Result[]
---@return acp.mcp.Action[]
---@return boolean is_bad there are others, which cannot be read
---@return boolean is_cut
local function actions_in(results)
  local found, is_bad, is_cut = {}, false, false
  for _, one in ipairs(results) do
    local read = answers.actions(one.result, ACTIONS - #found)
    is_bad, is_cut = is_bad or read.bad > 0, is_cut or read.is_cut
    for _, action in ipairs(read) do
      action.client = one.client
      found[#found + 1] = action
    end
  end
  return found, is_bad, is_cut
end

---@param actions acp.mcp.Action[]
---@return acp.mcp.Action[] those with that title, else those whose titles contain it
local function with_title(actions, title)
  local exact, partial = {}, {}
  for _, one in ipairs(actions) do
    if one.title == title then
      exact[#exact + 1] = one
    elseif one.title:find(title, 1, true) then
      partial[#partial + 1] = one
    end
  end
  return #exact > 0 and exact or partial
end

---@param actions acp.mcp.Action[]
---@return string[]
local function list(actions)
  return vim.tbl_map(function(one)
    local kind = one.kind and (" (%s)"):format(one.kind) or ""
    return ("%s%s, by %s"):format(one.title, kind, one.client.name)
  end, actions)
end

---@param chosen acp.mcp.Action
---@param before table<integer, integer>
local function take(chosen, bufnr, before, args, answer)
  local client = chosen.client
  if chosen.disabled then
    return answer({ error = ("%s: %s"):format(chosen.title, chosen.disabled) })
  end
  ---@param resolved acp.lsp.Action
  local function finish(resolved)
    if not resolved.edit then
      return answer({ error = NO_EDIT:format(chosen.title, client.name) })
    end
    local note = resolved.has_command and ONLY_EDIT:format(client.name) or nil
    propose_any(answer, chosen.title, resolved.edit, client, before, args.cwd, note)
  end
  if chosen.edit or not client:supports_method("codeAction/resolve", bufnr) then
    return finish(chosen)
  end
  local function params()
    return chosen.raw
  end
  servers.request({ client }, bufnr, "codeAction/resolve", params, answer, function(results)
    local result = results[1].result
    local resolved = values.is_nothing(result) and chosen or answers.action(result)
    if not resolved then
      return answer({ error = servers.UNREADABLE })
    end
    finish(resolved)
  end)
end

---@return lsp.Diagnostic[] of a line
local function diagnostics(bufnr, line)
  local where, count = { lnum = line - 1 }, 0
  for _, one in pairs(vim.diagnostic.count(bufnr, where)) do
    count = count + one
  end
  if count > ACTION_DIAGNOSTICS then
    return {}
  end
  local ok, found = pcall(vim.lsp.diagnostic.from, vim.diagnostic.get(bufnr, where)) -- of whoever set them
  return ok and found or {}
end

---@param line integer from 1
---@param last string that line
---@return fun(client: vim.lsp.Client): table
local function action_params(bufnr, line, last)
  local document = { uri = vim.uri_from_bufnr(bufnr) }
  local context = { triggerKind = 1, diagnostics = diagnostics(bufnr, line) }
  return function(client)
    local length = vim.str_utfindex(last, values.encoding(client), #last, false)
    return {
      textDocument = document,
      range = { start = { line = line - 1, character = 0 }, ["end"] = { line = line - 1, character = length } },
      context = context,
    }
  end
end

---@param clients vim.lsp.Client[]
local function act(clients, bufnr, args, answer)
  local line, problem = positions.line(bufnr, args)
  if not line then
    return answer({ error = problem })
  end
  local before = ticks()
  local params = action_params(bufnr, args.line, line)
  servers.request(clients, bufnr, ACTION, params, answer, function(results)
    local actions, is_bad, is_cut = actions_in(results)
    if #actions == 0 then
      local none = ("The language servers offer nothing for line %d."):format(args.line)
      return answer({ error = is_bad and servers.UNREADABLE or none })
    elseif not args.title then
      local note = is_bad and "Other actions cannot be read." or nil
      return answer({ lines = list(actions), note = is_cut and "There are more, which are not listed." or note })
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
      local found, problem = edits.edits(results[1].result)
      if not found then
        return answer({ error = problem })
      end
      local path = api.nvim_buf_get_name(bufnr)
      local title = ("Format %s"):format(name_of(args.path, args.cwd))
      propose(answer, title, { { uri = path, path = path, edits = found } }, client, before, args.cwd)
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
