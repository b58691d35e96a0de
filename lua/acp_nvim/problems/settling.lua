-- Waits until the language servers of a buffer have published diagnostics for its present text.
local file_buffer = require("acp_nvim.buffers.file_buffer")
local log = require("acp_nvim.kernel.log")
local uri = require("acp_nvim.problems.uri")
local values = require("acp_nvim.problems.values")

local M = {}

local api = vim.api
local GROUP = api.nvim_create_augroup("acp_nvim.settling", {})
local QUIET_MS = 150 -- after the last diagnostics: some servers publish them in steps
local POLL_MS = 25
local PULLED = 5000 -- diagnostics of a hidden file that are taken
local LOGGED_BYTES = 1000
local PUBLISH = "textDocument/publishDiagnostics"
local PULL = "textDocument/diagnostic"
local SENT = { ["textDocument/didOpen"] = true, ["textDocument/didChange"] = true }

---@class acp.problems.Watch what is known of one buffer of a language server
---@field tick integer of the text that it was sent
---@field sent integer time in ms when it was sent
---@field heard integer time in ms of its last diagnostics
---@field pulled? integer tick of the text about which it was asked for diagnostics

---@type table<integer, table<integer, acp.problems.Watch>> client id -> bufnr -> watch
local watches = {}
---@type table<integer, true> ids of clients that published nothing within the limit, so that nothing waits for them
local silent = {}
---@type table<table, true> handlers of clients that are observed
local observed = setmetatable({}, { __mode = "k" })

---@param client_id integer
---@param name string of the file
local function heard(client_id, name)
  silent[client_id] = nil
  for bufnr, one in pairs(watches[client_id] or {}) do
    if api.nvim_buf_get_name(bufnr) == name then
      one.heard = vim.uv.now()
    end
  end
end

---@param name any URI
---@return string? name that the buffer of it would have
local function file_name(name)
  return uri.path(name) or type(name) == "string" and name or nil
end

---@param name string
---@return boolean
local function is_loaded(name)
  return vim.iter(api.nvim_list_bufs()):any(function(bufnr)
    return api.nvim_buf_is_loaded(bufnr) and api.nvim_buf_get_name(bufnr) == name
  end)
end

---Checks what Neovim does not: for the columns it reads a file that is not loaded, also a FIFO without a writer.
---@param result any
---@return string? name of the buffer; nil: Neovim cannot take it
local function published(result)
  local name = type(result) == "table" and file_name(result.uri)
  if name and values.is_list(result.diagnostics) and (not file_buffer.would_block(name) or is_loaded(name)) then
    return name
  end
end

---Notices what a client publishes: there is no event for an empty list of diagnostics.
---@param client vim.lsp.Client
local function observe(client)
  local handlers = client.handlers
  if observed[handlers] then
    return
  end
  observed[handlers] = true
  local own = handlers[PUBLISH]
  handlers[PUBLISH] = function(err, result, context)
    local name = published(result)
    if not name then
      return
    end
    heard(context.client_id, name)
    return (own or vim.lsp.handlers[PUBLISH])(err, result, context)
  end
end

api.nvim_create_autocmd("LspAttach", {
  group = GROUP,
  desc = "Notice what a language server publishes",
  callback = function(event)
    observe(assert(vim.lsp.get_client_by_id(event.data.client_id)))
  end,
})

---@param client_id integer
---@param name string
---@return integer? bufnr loaded
local function attached(client_id, name)
  local client = vim.lsp.get_client_by_id(client_id)
  for bufnr in pairs(client and client.attached_buffers or {}) do
    if api.nvim_buf_is_loaded(bufnr) and api.nvim_buf_get_name(bufnr) == name then
      return bufnr
    end
  end
end

api.nvim_create_autocmd("LspNotify", {
  group = GROUP,
  desc = "Note which text a language server has",
  callback = function(event)
    local name = SENT[event.data.method] and file_name(vim.tbl_get(event.data, "params", "textDocument", "uri"))
    local id = event.data.client_id
    local bufnr = name and attached(id, name) -- the event names no buffer
    if bufnr then
      watches[id] = watches[id] or {}
      local before = watches[id][bufnr] or { heard = 0 }
      watches[id][bufnr] = { tick = api.nvim_buf_get_changedtick(bufnr), sent = vim.uv.now(), heard = before.heard }
    end
  end,
})

api.nvim_create_autocmd("LspRequest", {
  group = GROUP,
  desc = "Notice the answers of language servers that are asked for diagnostics",
  callback = function(event)
    local request = event.data.request
    if request.method == PULL and request.type == "complete" then
      heard(event.data.client_id, api.nvim_buf_get_name(request.bufnr))
    end
  end,
})

api.nvim_create_autocmd({ "BufUnload", "LspDetach" }, {
  group = GROUP,
  desc = "Forget what was known of a buffer",
  callback = function(event)
    local id = event.data and event.data.client_id
    for client_id, of_client in pairs(watches) do
      if id == nil or id == client_id then
        of_client[event.buf] = nil
      end
    end
  end,
})

for _, client in ipairs(package.loaded["vim.lsp"] and vim.lsp.get_clients() or {}) do
  observe(client)
  watches[client.id] = {}
  for bufnr in pairs(client.attached_buffers) do -- it has looked at the text that there is now
    watches[client.id][bufnr] = { tick = api.nvim_buf_get_changedtick(bufnr), sent = 0, heard = 0 }
  end
end

---Has Neovim show what a client was asked for, if it can: the client may have sent anything.
---@param client vim.lsp.Client
local function take(client, err, result, context)
  if err or type(result) ~= "table" or result.kind ~= "full" then
    return
  end
  local items = values.entries(result.items, PULLED, function(one)
    return values.range(one.range) and type(one.message) == "string" and one or nil
  end)
  local full = { kind = "full", resultId = values.words(result.resultId), items = vim.list_slice(items) }
  local ok, problem = pcall(client.handlers[PULL] or vim.lsp.handlers[PULL], nil, full, context)
  if not ok then
    log.write("diagnostics cannot be shown: " .. tostring(problem):sub(1, LOGGED_BYTES))
  end
end

---Asks a client for diagnostics that publishes none by itself: Neovim only asks for files that are visible.
---@param client vim.lsp.Client
---@param one acp.problems.Watch
local function pull(client, bufnr, one)
  if one.pulled ~= one.tick and one.heard < one.sent and client:supports_method(PULL, bufnr) then
    one.pulled = one.tick
    client:request(PULL, { textDocument = { uri = vim.uri_from_bufnr(bufnr) } }, function(...)
      take(client, ...)
    end, bufnr)
  end
end

---@param client vim.lsp.Client
---@return boolean it has published diagnostics for the present text, or need not be waited for
local function is_settled(client, bufnr)
  if silent[client.id] then
    return true
  elseif next(client.progress.pending) then
    return false
  end
  local one = (watches[client.id] or {})[bufnr]
  if not one then
    return true -- it was sent no text, so it has no opinion about it
  end
  pull(client, bufnr, one)
  local has_text = one.tick == api.nvim_buf_get_changedtick(bufnr)
  return has_text and one.heard >= one.sent and vim.uv.now() - one.heard >= QUIET_MS
end

---@return vim.lsp.Client[] of a buffer that have not settled
local function unsettled(bufnr)
  return vim.tbl_filter(function(client)
    return not is_settled(client, bufnr)
  end, vim.lsp.get_clients({ bufnr = bufnr }))
end

---Calls `on_done` when the language servers of a buffer have settled, or after `most_ms`.
---@param bufnr integer
---@param most_ms integer
---@param on_done fun(is_settled: boolean, names: string[]) names of the servers that have not settled
function M.settled(bufnr, most_ms, on_done)
  local deadline = vim.uv.now() + most_ms
  local function look()
    local left = api.nvim_buf_is_loaded(bufnr) and unsettled(bufnr) or {}
    if #left == 0 then
      return on_done(true, {})
    elseif vim.uv.now() < deadline then
      vim.defer_fn(look, POLL_MS)
      return
    end
    local names = {}
    for _, client in ipairs(left) do
      names[#names + 1] = client.name
      local one = (watches[client.id] or {})[bufnr]
      silent[client.id] = most_ms > 1000 and one and one.heard == 0 and not next(client.progress.pending) or nil
    end
    on_done(false, names)
  end
  vim.schedule(look) -- after the event about a text that was just sent
end

return M
