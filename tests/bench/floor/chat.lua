-- The floor of the chat: the least that a client inside Neovim can do to show what an agent says, in Lua.
--
-- It splits the agent's stdout at newlines, decodes every message, and appends the texts in it to a scratch buffer, in
-- batches of 16 ms; the cursor of its window stays at the end. The windows are laid out as those of the chat.
--
-- It leaves out all that makes a chat: who speaks, markdown, colours, folds, plans, places of tool calls, their states.
-- What is said of a tool call again comes again. It answers no request, and knows no errors.
local api = vim.api

local M = {}

local BATCH_MS = 16

---@type table agent's stdin
local stdin
---@type table<integer, fun(result: table)> by the id of our request
local waiting = {}
---@type string[]
local pieces = {}
local timer = assert(vim.uv.new_timer())
local answered = false

---@param method string
---@param params table
---@param on_answer fun(result: table)
local function call(method, params, on_answer)
  waiting[#waiting + 1] = on_answer
  stdin:write({ vim.json.encode({ jsonrpc = "2.0", id = #waiting, method = method, params = params }), "\n" })
end

local function flush()
  local text = table.concat(pieces)
  pieces = {}
  api.nvim_buf_set_text(M.bufnr, -1, -1, -1, -1, vim.split(text, "\n", { plain = true }))
  if M.win and api.nvim_win_is_valid(M.win) then
    api.nvim_win_set_cursor(M.win, { api.nvim_buf_line_count(M.bufnr), vim.v.maxcol })
  end
  _G.probe.ended = answered
end

local function flush_soon()
  if not timer:is_active() then
    timer:start(BATCH_MS, 0, vim.schedule_wrap(flush))
  end
end

---@param content table[] of a tool call
local function take_items(content)
  for _, item in ipairs(content) do
    if item.type == "content" then
      pieces[#pieces + 1] = item.content.text
    elseif item.type == "diff" then
      pieces[#pieces + 1] = item.newText
    end
    pieces[#pieces + 1] = "\n"
  end
end

---@param update table
local function take_update(update)
  local content = update.content
  if update.title then
    pieces[#pieces + 1] = update.title .. "\n"
  end
  if content and content.text then
    pieces[#pieces + 1] = content.text
  elseif content then
    take_items(content)
  end
  flush_soon()
end

---@param line string
local function take(line)
  local message = vim.json.decode(line)
  if message.method == "session/update" then
    take_update(message.params.update)
  elseif message.method then
    take_update(message.params.toolCall)
    for _, option in ipairs(message.params.options) do
      pieces[#pieces + 1] = option.name .. "\n"
    end
  else
    vim.schedule(function()
      waiting[message.id](message.result)
    end)
  end
end

---@return fun(err: string?, data: string?) for read_start
local function by_lines()
  local begun = {}
  return function(_, data)
    local at = 1
    local ends = data and data:find("\n", 1, true)
    while ends do
      begun[#begun + 1] = data:sub(at, ends - 1)
      take(table.concat(begun))
      begun, at = {}, ends + 1
      ends = data:find("\n", at, true)
    end
    begun[#begun + 1] = data and data:sub(at)
  end
end

---@param width integer
---@param prompt_height integer
function M.open(width, prompt_height)
  M.win = api.nvim_open_win(M.bufnr, false, { split = "right", win = -1, width = width })
  local prompt = api.nvim_create_buf(false, true)
  local win = api.nvim_open_win(prompt, false, { split = "below", win = M.win, height = prompt_height })
  api.nvim_set_current_win(win)
end

---Starts the agent; `ready` is true when its session is open.
---@param argv string[]
---@param cwd string
function M.start(argv, cwd)
  M.bufnr = api.nvim_create_buf(false, true)
  vim.bo[M.bufnr].undolevels = -1
  local stdout = assert(vim.uv.new_pipe())
  stdin = assert(vim.uv.new_pipe())
  local options = { args = vim.list_slice(argv, 2), cwd = cwd, stdio = { stdin, stdout, nil } }
  assert(vim.uv.spawn(argv[1], options, function() end))
  stdout:read_start(by_lines())
  call("initialize", { protocolVersion = 1 }, function()
    M.ready = true
  end)
end

local function end_turn()
  answered = true
  flush_soon()
end

---@param turn string
function M.prompt(turn)
  answered = false
  call("session/prompt", { sessionId = "bench", prompt = { { type = "text", text = turn } } }, end_turn)
end

function M.load()
  answered = false
  call("session/load", { sessionId = "bench", cwd = "/", mcpServers = {} }, end_turn)
end

_G.floor = M
