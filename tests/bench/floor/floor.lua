-- The floor of reading and writing: the least that a client inside Neovim can do to serve an agent's files, in Lua.
--
-- It splits the agent's stdout at newlines, decodes, answers, and that is all. A read is the buffer's lines, joined. A
-- write changes the one run of lines that differs (of one line: the bytes that differ, so that marks stay), and saves.
--
-- It leaves out what keeps a user's work: it does not look whether the path is the session's, whether the buffer is as
-- the agent has read it, whether the file is as Neovim has read it, whether the buffer may be changed and was saved. It
-- knows no end of line but "\n", no file that is not loaded, no undo block, no errors, no chat.
-- Of several changes it would replace all that is between them.
local api = vim.api

local M = {}

---@type table agent's stdin
local stdin
---@type table<integer, fun(result: table)> by the id of our request
local waiting = {}
---@type string
local session

---@param message table
local function send(message)
  message.jsonrpc = "2.0"
  stdin:write({ vim.json.encode(message), "\n" })
end

---@param method string
---@param params table
---@param on_answer fun(result: table)
local function call(method, params, on_answer)
  local id = #waiting + 1
  waiting[id] = on_answer
  send({ id = id, method = method, params = params })
end

---@param params { path: string, line?: integer, limit?: integer }
---@return table
local function read(params)
  local first = (params.line or 1) - 1
  local lines =
    api.nvim_buf_get_lines(vim.fn.bufnr(params.path), first, params.limit and first + params.limit or -1, true)
  return { content = table.concat(lines, "\n") .. "\n" }
end

---@param text string
---@return string[]
local function split(text)
  local lines, count, at = {}, 0, 1
  while true do
    local ends = text:find("\n", at, true)
    if not ends then
      return lines
    end
    count = count + 1
    lines[count] = text:sub(at, ends - 1)
    at = ends + 1
  end
end

---@param old string
---@param new string
---@return integer head bytes that both begin with
---@return integer tail bytes that both end with
local function common(old, new)
  local shorter, head, tail = math.min(#old, #new), 0, 0
  while head < shorter and old:byte(head + 1) == new:byte(head + 1) do
    head = head + 1
  end
  while tail < shorter - head and old:byte(#old - tail) == new:byte(#new - tail) do
    tail = tail + 1
  end
  return head, tail
end

---@param bufnr integer
---@param new string[]
local function change(bufnr, new)
  local old = api.nvim_buf_get_lines(bufnr, 0, -1, true)
  local shorter, head, tail = math.min(#old, #new), 0, 0
  while head < shorter and old[head + 1] == new[head + 1] do
    head = head + 1
  end
  while tail < shorter - head and old[#old - tail] == new[#new - tail] do
    tail = tail + 1
  end
  if #old == #new and head + tail == #new - 1 then
    local before, after = old[head + 1], new[head + 1]
    local first, last = common(before, after)
    api.nvim_buf_set_text(bufnr, head, first, head, #before - last, { after:sub(first + 1, #after - last) })
  else
    api.nvim_buf_set_lines(bufnr, head, #old - tail, true, vim.list_slice(new, head + 1, #new - tail))
  end
end

---@param params { path: string, content: string }
---@return table
local function write(params)
  local bufnr = vim.fn.bufnr(params.path)
  change(bufnr, split(params.content))
  api.nvim_buf_call(bufnr, function()
    vim.cmd("silent write!")
  end)
  return vim.empty_dict()
end

local serves = { ["fs/read_text_file"] = read, ["fs/write_text_file"] = write }

---@param line string
local function take(line)
  local message = vim.json.decode(line)
  if message.method then
    send({ id = message.id, result = serves[message.method](message.params) })
  else
    waiting[message.id](message.result)
  end
end

---@return fun(err: string?, data: string?) for read_start
local function by_lines()
  local pieces = {}
  return function(_, data)
    local ends = data and data:find("\n", 1, true)
    while ends do
      pieces[#pieces + 1] = data:sub(1, ends - 1)
      local line = table.concat(pieces)
      vim.schedule(function()
        take(line)
      end)
      pieces, data = {}, data:sub(ends + 1)
      ends = data:find("\n", 1, true)
    end
    pieces[#pieces + 1] = data
  end
end

---Starts the agent; `ready` is true when its session is open.
---@param argv string[]
---@param cwd string
function M.start(argv, cwd)
  local stdout = assert(vim.uv.new_pipe())
  stdin = assert(vim.uv.new_pipe())
  local options = { args = vim.list_slice(argv, 2), cwd = cwd, stdio = { stdin, stdout, nil } }
  assert(vim.uv.spawn(argv[1], options, function() end))
  stdout:read_start(by_lines())
  local capabilities = { fs = { readTextFile = true, writeTextFile = true } }
  call("initialize", { protocolVersion = 1, clientCapabilities = capabilities }, function()
    call("session/new", { cwd = cwd, mcpServers = {} }, function(result)
      session, M.ready = result.sessionId, true
    end)
  end)
end

---`done` is true at the end of the turn.
function M.prompt()
  call("session/prompt", { sessionId = session, prompt = { { type = "text", text = "work" } } }, function()
    M.done = true
  end)
end

return M
