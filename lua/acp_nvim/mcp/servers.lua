-- Asks the language servers of a buffer; all of them at once, and none without a limit.
local file_buffer = require("acp_nvim.buffers.file_buffer")
local guarded = require("acp_nvim.mcp.guarded")
local lookup = require("acp_nvim.buffers.lookup")
local name_of = require("acp_nvim.kernel.relative_path")
local values = require("acp_nvim.problems.values")

require("acp_nvim.problems.settling") -- notices from now on what language servers are sent and publish

local M = {}

local FILE_BYTES = 8 * 1024 * 1024 -- of a file that is opened for a language server
local START_MS = 15000 -- for a language server to start
local QUIET_MS = 1500 -- after which a buffer that was just opened has no language server
local ANSWER_MS = 20000 -- for a language server to answer
local POLL_MS = 25

M.UNREADABLE = "The language server has sent an answer that cannot be read. Go on without it."

---@class acp.mcp.Result
---@field client vim.lsp.Client
---@field result any
---@field err? string

---@type table<integer, integer> bufnr -> time in ms when it was read: language servers attach soon after
local opened = {}

vim.api.nvim_create_autocmd({ "BufReadPost", "BufUnload" }, {
  group = vim.api.nvim_create_augroup("acp_nvim.mcp.opened", {}),
  desc = "Note when a file was read",
  callback = function(event)
    opened[event.buf] = event.event == "BufReadPost" and vim.uv.now() or nil
  end,
})

---Returns the buffer of a file; opens it without showing it if need be.
---@param path string absolute
---@return integer? bufnr
---@return string? problem
function M.buffer(path)
  local bufnr = lookup.find(path)
  if bufnr then
    return bufnr
  end
  return file_buffer.load(path, FILE_BYTES)
end

---@param method string
---@return vim.lsp.Client[]
local function able(bufnr, method)
  return vim.lsp.get_clients({ bufnr = bufnr, method = method })
end

---@return boolean a language server of the buffer is starting
local function is_starting(bufnr)
  local all = vim.lsp.get_clients({ bufnr = bufnr, _uninitialized = true })
  return #all > #vim.lsp.get_clients({ bufnr = bufnr })
end

---@return boolean a language server of the buffer is starting, or may be about to
local function may_come(bufnr)
  return is_starting(bufnr) or (opened[bufnr] ~= nil and vim.uv.now() - opened[bufnr] < QUIET_MS)
end

---@param bufnr integer
---@param what string what they should be able to do, in words
---@param cwd string
---@return string
local function missing(bufnr, what, cwd)
  local name = name_of(lookup.real_path(bufnr), cwd)
  local names = vim.tbl_map(function(client)
    return client.name
  end, vim.lsp.get_clients({ bufnr = bufnr }))
  if #names == 0 then
    local filetype = vim.bo[bufnr].filetype
    local words = "No language server runs for %s%s. Search the text instead, or ask the user to enable one."
    return words:format(name, filetype ~= "" and (" (filetype %s)"):format(filetype) or "")
  end
  local words = "The language server of %s (%s) cannot %s. Search the text instead."
  return words:format(name, table.concat(names, ", "), what)
end

---Calls `run` with the language servers of a file that offer a method, when they have started.
---@param args { path: string, cwd: string }
---@param method string
---@param what string in words, as after "cannot"
---@param answer acp.mcp.Answer gets an error if there is none
---@param run fun(clients: vim.lsp.Client[], bufnr: integer)
function M.with(args, method, what, answer, run)
  local bufnr, problem = M.buffer(args.path)
  if not bufnr then
    return answer({ error = problem })
  end
  local deadline = vim.uv.now() + START_MS
  local function look()
    if not vim.api.nvim_buf_is_loaded(bufnr) then
      return answer({ error = "The file was closed meanwhile. Try again." })
    end
    local clients = able(bufnr, method)
    if #clients > 0 then
      return run(clients, bufnr)
    elseif not may_come(bufnr) or vim.uv.now() > deadline then
      return answer({ error = missing(bufnr, what, args.cwd) })
    end
    vim.defer_fn(guarded(answer, look), POLL_MS)
  end
  look()
end

---Calls `run` when the language servers of a buffer have started, or the time is over.
---@param ms integer
---@param run fun()
function M.when_started(bufnr, ms, run)
  local deadline = vim.uv.now() + math.min(ms, START_MS)
  local function look()
    local is_there = vim.api.nvim_buf_is_loaded(bufnr) and may_come(bufnr)
    if is_there and #vim.lsp.get_clients({ bufnr = bufnr }) > 0 and not is_starting(bufnr) then
      is_there = false
    end
    if not is_there or vim.uv.now() > deadline then
      return run()
    end
    vim.defer_fn(look, POLL_MS)
  end
  look()
end

---@param clients vim.lsp.Client[]
---@return string? note about those that are not ready
function M.unsettled(clients)
  for _, client in ipairs(clients) do
    local title = select(2, next(client.progress.pending))
    if title then
      local words = "%s is still busy (%s): this may be incomplete. Try again in a moment."
      return words:format(client.name, values.words(title) or "?")
    end
  end
end

local tracking ---@type any

---Sends the changes that Neovim still holds back, of all files: a request only does that for its own file.
---@param client vim.lsp.Client
local function flush(client)
  if tracking == nil then
    local ok, found = pcall(require, "vim.lsp._changetracking") -- no public function does it
    tracking = ok and found.flush and found or false
  end
  for bufnr in pairs(tracking and client.attached_buffers or {}) do
    tracking.flush(client, bufnr)
  end
end

---@param client vim.lsp.Client
---@param method string
---@param params table
---@param take fun(err: any, result: any)
---@return integer? id of the request; nil: the client has ended, or cannot send this
local function send(client, method, params, take, bufnr)
  flush(client)
  local ok, is_sent, id = pcall(client.request, client, method, params, take, bufnr)
  return ok and is_sent and id or nil
end

---Sends a request to each of the clients, and calls `on_done` with what they have answered: anything, of any size.
---@param clients vim.lsp.Client[]
---@param bufnr integer
---@param method string
---@param params fun(client: vim.lsp.Client): table
---@param answer acp.mcp.Answer gets an error if none of them answers
---@param on_done fun(results: acp.mcp.Result[])
function M.request(clients, bufnr, method, params, answer, on_done)
  local results, left, is_over = {}, #clients, false ---@type acp.mcp.Result[], integer, boolean
  local pending, timer = {}, nil ---@type table<vim.lsp.Client, integer>
  on_done = guarded(answer, on_done)
  local function finish()
    if is_over then
      return
    end
    is_over = true
    if not timer:is_closing() then -- one that has run is closed
      timer:close()
    end
    for client, id in pairs(pending) do
      pcall(client.cancel_request, client, id)
    end
    local good = vim.tbl_filter(function(one)
      return not one.err
    end, results)
    if #good > 0 then
      return on_done(good)
    elseif #results > 0 then
      return answer({ error = ("%s: %s"):format(results[1].client.name, results[1].err) })
    end
    answer({ error = ("%s has not answered in %d s. Try again."):format(clients[1].name, ANSWER_MS / 1000) })
  end
  timer = vim.defer_fn(finish, ANSWER_MS)
  for _, client in ipairs(clients) do
    local is_taken = false -- a client that runs in Neovim may answer twice
    local function take(err, result)
      if is_taken then
        return
      end
      is_taken, pending[client] = true, nil
      results[#results + 1] = { client = client, result = result, err = err and values.error(err) or nil }
      left = left - 1
      if left == 0 then
        finish()
      end
    end
    local id = send(client, method, params(client), take, bufnr)
    if not id then
      take("it has ended")
    elseif not is_taken then
      pending[client] = id
    end
  end
end

return M
