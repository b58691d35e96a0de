-- An in-process language server that completes prompts, for any completion plugin.
local candidates = require("acp_nvim.prompt.complete.candidates")
local cells = require("acp_nvim.render.cells")
local characters = require("acp_nvim.render.characters")
local file_buffer = require("acp_nvim.buffers.file_buffer")
local log = require("acp_nvim.kernel.log")
local sessions = require("acp_nvim.host.sessions")
local syntax = require("acp_nvim.mentions.syntax")
local version = require("acp_nvim.host.version")

local M = {}

local api = vim.api
local PEEK_LINES = 40 -- of a file in the preview of an entry: a screen
local PEEK_BYTES = 4096 -- of the same lines

local function first_lines(text)
  local lines = vim.split(text, "\r?\n")
  return table.concat(lines, "\n", 1, math.min(#lines, PEEK_LINES))
end

---@param path string absolute
---@param done fun(text?: string) not in a fast event
local function of_file(path, done)
  local answer = vim.schedule_wrap(done)
  vim.uv.fs_stat(path, function(_, stat)
    if not stat or stat.type ~= "file" then -- opening a FIFO would wait for its writer
      return answer(nil)
    end
    vim.uv.fs_open(path, file_buffer.READ, 0, function(_, descriptor)
      if not descriptor then
        return answer(nil)
      end
      vim.uv.fs_read(descriptor, PEEK_BYTES, 0, function(_, data)
        vim.uv.fs_close(descriptor, function() end)
        answer(data and not data:find("%z") and first_lines(data) or nil)
      end)
    end)
  end)
end

---@param data { bufnr?: integer, path?: string }
---@param done fun(text?: string) called once, not in a fast event
local function peek(data, done)
  if data.bufnr and api.nvim_buf_is_loaded(data.bufnr) then
    local lines = api.nvim_buf_get_lines(data.bufnr, 0, PEEK_LINES, false)
    done(table.concat(lines, "\n"):sub(1, PEEK_BYTES))
  elseif data.path then
    of_file(data.path, done)
  else
    done(nil)
  end
end

local METHOD_NOT_FOUND, INVALID_REQUEST, INTERNAL_ERROR = -32601, -32600, -32603
local NOT_INITIALIZED, CANCELLED = -32002, -32800
local BLINK_OFFSET = 100 -- more than any score and offset of another source of blink.cmp
local KINDS = { command = 14, word = 14, buffer = 17, file = 17, directory = 19, symbol = 18 } -- CompletionItemKind
local OFFERED = 2000 -- mentions of a session that are remembered
local SUMMARY_CELLS = 60 -- of what a menu says about an entry: it has room for its name, too

---@class acp.Server
---@field encoding string position encoding
---@field pending table<integer, { stop?: fun(), reply: fun(err?: table, result?: any) }>
---@field last_id integer
---@field state "new"|"running"|"shut_down"|"closed"
---@field on_exit fun(code: integer, signal: integer)

local function failure(code, words)
  return { code = code, message = words }
end

---@param server acp.Server
local function initialize(server, params)
  local offered = vim.tbl_get(params, "capabilities", "general", "positionEncodings")
  server.encoding = type(offered) == "table" and vim.list_contains(offered, "utf-8") and "utf-8" or "utf-16"
  server.state = "running"
  return {
    serverInfo = { name = "acp_nvim", version = version },
    capabilities = {
      positionEncoding = server.encoding,
      textDocumentSync = { openClose = true, change = 0 }, -- the server reads the buffer itself
      completionProvider = { triggerCharacters = { "/", "@" }, resolveProvider = true },
    },
  }
end

---@param candidate acp.Candidate
---@param index integer rank
---@param typed string text to be replaced
local function to_item(candidate, index, typed, range)
  local text = candidate.text
  local summary =
    cells.cut(cells.plain(candidate.kind == "command" and candidate.documentation or candidate.detail), SUMMARY_CELLS)
  return {
    label = characters.text(candidate.label),
    labelDetails = summary ~= "" and { description = summary } or nil,
    kind = KINDS[candidate.kind],
    cmp = candidate.kind == "command" and { kind_text = "Command" } or nil, -- read by nvim-cmp: the protocol has no such kind
    detail = candidate.detail and characters.text(candidate.detail),
    documentation = candidate.documentation and characters.text(candidate.documentation),
    sortText = ("%05d"):format(index),
    -- clients filter by prefix: a match in the middle of a path does not start with the typed text
    filterText = vim.startswith(text, typed) and text or typed .. " " .. text,
    insertTextFormat = 1,
    textEdit = { newText = text, range = range },
    score_offset = BLINK_OFFSET, -- read by blink.cmp only, whose source of paths would come first: `/boot` for `/`
    data = { bufnr = candidate.bufnr, path = candidate.path },
  }
end

---@param found acp.Candidate[]
local function to_list(found, all, typed, range)
  local items = {}
  for index, candidate in ipairs(found) do
    all = all and vim.startswith(candidate.text, typed)
    table.insert(items, to_item(candidate, index, typed, range))
  end
  return { isIncomplete = not all, items = items }
end

---@param server acp.Server
---@return acp.Session?
---@return integer row
---@return string before the line up to the cursor
local function place_of(server, params)
  local row = params.position.line
  local session = vim.iter(sessions.all()):find(function(other)
    return other.prompt_bufnr and vim.uri_from_bufnr(other.prompt_bufnr) == params.textDocument.uri
  end)
  local line = session and api.nvim_buf_get_lines(session.prompt_bufnr, row, row + 1, false)[1] or ""
  return session, row, line:sub(1, vim.str_byteindex(line, server.encoding, params.position.character, false))
end

---Keeps which mentions were offered: if one of them is sent and names nothing then, the user is told.
---@param found acp.Candidate[]
local function remember(session, found)
  local offered = session.offered or {}
  session.offered = vim.tbl_count(offered) < OFFERED and offered or {}
  for _, candidate in ipairs(found) do
    session.offered[candidate.text] = true
  end
end

---@param server acp.Server
---@param reply fun(err?: table, result?: any)
---@return fun()? stop
local function complete(server, params, reply)
  local session, row, before = place_of(server, params)
  if not session then
    return reply(nil, { isIncomplete = false, items = {} })
  end
  local function column(byte)
    return { line = row, character = vim.str_utfindex(before, server.encoding, byte) }
  end
  local command = row == 0 and before:match("^/(%S*)$")
  if command then
    local range = { start = column(0), ["end"] = column(#before) }
    return candidates.commands(session, command, function(found)
      reply(nil, to_list(found, true, before, range))
    end)
  end
  local from, text = syntax.typed(before)
  if not from then
    return reply(nil, { isIncomplete = false, items = {} })
  end
  local range = { start = column(from), ["end"] = column(#before) }
  local typed = before:sub(from + 1)
  return candidates.mentions(session, text --[[@as string]], function(found, all)
    remember(session, found)
    local more = vim.tbl_filter(function(candidate)
      return candidate.text ~= typed
    end, found)
    reply(nil, to_list(more, all, typed, range))
  end)
end

---@param _ acp.Server
---@param reply fun(err?: table, result?: any)
local function resolve(_, item, reply)
  if item.documentation or type(item.data) ~= "table" then
    return reply(nil, item)
  end
  peek(item.data, function(text)
    item.documentation = text ~= nil and text ~= "" and { kind = "plaintext", value = text } or nil
    reply(nil, item)
  end)
end

---@type table<string, fun(server: acp.Server, params: any, reply: fun(err?: table, result?: any)): fun()?>
local METHODS = {
  ["textDocument/completion"] = complete,
  ["completionItem/resolve"] = resolve,
  shutdown = function(server, _, reply)
    server.state = "shut_down"
    reply(nil, vim.NIL)
  end,
}

---@param server acp.Server
local function serve(server, id, method, params)
  local request = server.pending[id]
  if not request then
    return -- cancelled
  elseif server.state == "new" then
    return request.reply(failure(NOT_INITIALIZED, "initialize comes first"))
  elseif server.state ~= "running" then
    return request.reply(failure(INVALID_REQUEST, "the server is shut down"))
  elseif not METHODS[method] then
    return request.reply(failure(METHOD_NOT_FOUND, method))
  end
  local ok, stop = pcall(METHODS[method], server, params, request.reply)
  if not ok then
    log.write(("%s failed: %s"):format(method, stop))
    request.reply(failure(INTERNAL_ERROR, tostring(stop)))
  end
  request.stop = ok and stop or nil
end

---@param server acp.Server
local function close(server, code)
  if server.state ~= "closed" then
    server.state = "closed"
    vim.schedule(function()
      server.on_exit(code, 0)
    end)
  end
end

---@type table<string, fun(server: acp.Server, params: any)>
local NOTIFICATIONS = {
  exit = function(server)
    close(server, server.state == "shut_down" and 0 or 1)
  end,
  ["$/cancelRequest"] = function(server, params)
    local request = server.pending[params.id]
    if request then
      if request.stop then
        request.stop()
      end
      request.reply(failure(CANCELLED, "cancelled"))
    end
  end,
}

---@param server acp.Server
---@param callback fun(err?: table, result?: any)
---@param on_reply? fun(id: integer)
---@return integer id
local function accept(server, callback, on_reply)
  server.last_id = server.last_id + 1
  local id = server.last_id
  local function reply(err, result)
    if not server.pending[id] then
      return
    end
    server.pending[id] = nil
    vim.schedule(function() -- clients expect the reply after `request` has returned the id
      if on_reply then
        on_reply(id)
      end
      callback(err, result)
    end)
  end
  server.pending[id] = { reply = reply }
  return id
end

---Connects a client; for `cmd` of its configuration.
---@param dispatchers vim.lsp.rpc.Dispatchers
---@return vim.lsp.rpc.PublicClient
function M.connect(dispatchers)
  local server = { encoding = "utf-16", pending = {}, last_id = 0, state = "new", on_exit = dispatchers.on_exit }
  return {
    request = function(method, params, callback, on_reply)
      if server.state == "closed" then
        return false
      elseif method == "initialize" and server.state == "new" then
        server.last_id = server.last_id + 1
        callback(nil, initialize(server, params)) -- synchronously: completion works from the first key
        return true, server.last_id
      end
      local id = accept(server, callback, on_reply)
      serve(server, id, method, params)
      return true, id
    end,
    notify = function(method, params)
      if server.state ~= "closed" and NOTIFICATIONS[method] then
        NOTIFICATIONS[method](server, params)
      end
      return server.state ~= "closed"
    end,
    is_closing = function()
      return server.state == "closed"
    end,
    terminate = function()
      close(server, 0)
    end,
  }
end

return M
