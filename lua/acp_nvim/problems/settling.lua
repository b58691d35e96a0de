-- Waits until the language servers of a buffer have published diagnostics for its present text.
local M = {}

local api = vim.api
local GROUP = api.nvim_create_augroup("acp_nvim.settling", {})
local QUIET_MS = 150 -- after the last diagnostics: some servers publish them in steps
local POLL_MS = 25
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

---@param client_id integer
---@param uri string of a document that the client has sent
---@return integer? bufnr which the event does not name
local function buffer_of(client_id, uri)
  local client = vim.lsp.get_client_by_id(client_id)
  local name = vim.uri_to_fname(uri)
  for bufnr in pairs(client and client.attached_buffers or {}) do
    if api.nvim_buf_is_valid(bufnr) and api.nvim_buf_get_name(bufnr) == name then
      return bufnr
    end
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
    local result_of = { (own or vim.lsp.handlers[PUBLISH])(err, result, context) }
    if type(result) == "table" and type(result.uri) == "string" then
      heard(context.client_id, vim.uri_to_fname(result.uri))
    end
    return unpack(result_of)
  end
end

api.nvim_create_autocmd("LspAttach", {
  group = GROUP,
  desc = "Notice what a language server publishes",
  callback = function(event)
    observe(assert(vim.lsp.get_client_by_id(event.data.client_id)))
  end,
})

api.nvim_create_autocmd("LspNotify", {
  group = GROUP,
  desc = "Note which text a language server has",
  callback = function(event)
    local uri = SENT[event.data.method] and vim.tbl_get(event.data, "params", "textDocument", "uri")
    local id = event.data.client_id
    local bufnr = uri and buffer_of(id, uri)
    if bufnr and api.nvim_buf_is_loaded(bufnr) then
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

---Asks a client for diagnostics that publishes none by itself: Neovim only asks for files that are visible.
---@param client vim.lsp.Client
---@param one acp.problems.Watch
local function pull(client, bufnr, one)
  if one.pulled ~= one.tick and one.heard < one.sent and client:supports_method(PULL, bufnr) then
    one.pulled = one.tick
    client:request(PULL, { textDocument = { uri = vim.uri_from_bufnr(bufnr) } }, nil, bufnr)
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
