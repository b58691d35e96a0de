-- The keys of the chat and of the prompt, but for those that answer permissions.
local config = require("acp_nvim.config")
local config_picker = require("acp_nvim.session_config.picker")
local dress = require("acp_nvim.chat.dress")
local help = require("acp_nvim.chat.help")
local history = require("acp_nvim.prompt.history")
local images = require("acp_nvim.prompt.images")
local login = require("acp_nvim.login")
local permission = require("acp_nvim.permission")
local prompt = require("acp_nvim.prompt.buffer")
local queue_commands = require("acp_nvim.queue_commands")
local requests = require("acp_nvim.requests")
local session_config = require("acp_nvim.session_config")
local targets = require("acp_nvim.chat.targets")
local windows = require("acp_nvim.chat.windows")

local M = {}

---@param bufnr integer
---@param modes string[]
---@param action string
---@param run fun()
local function map(bufnr, modes, action, run)
  for _, key in ipairs(config.keys(action)) do
    local desc = "acp: " .. action:gsub("_", " ")
    vim.keymap.set(modes, key, run, { buffer = bufnr, nowait = true, desc = desc })
  end
end

---@param session acp.Session
---@param backwards boolean
local function jump(session, backwards)
  local line
  for _ = 1, vim.v.count1 do
    local row = dress.user_message(session.bufnr, (line or vim.api.nvim_win_get_cursor(0)[1]) - 1, backwards)
    line = row and row + 2 or line
  end
  if line then
    vim.cmd("normal! m'")
    vim.api.nvim_win_set_cursor(0, { line, 0 })
  end
end

---@param session acp.Session
---@param bufnr integer
---@param where "chat"|"prompt"
local function attach_both(session, bufnr, where)
  map(bufnr, { "n" }, "cancel", function()
    requests.cancel(session, false)
  end)
  map(bufnr, { "n" }, "sign_in", function()
    login.ask(session.agent)
  end)
  local modes = where == "prompt" and { "n", "i" } or { "n" }
  map(bufnr, modes, "mode_next", function()
    session_config.next(session, "mode")
  end)
  map(bufnr, modes, "model", function()
    config_picker.option(session, "model")
  end)
  map(bufnr, modes, "config", function()
    config_picker.all(session)
  end)
  map(bufnr, { "n" }, "help", function()
    help.show(where, #permission.waiting(session) > 0)
  end)
end

---@param session acp.Session
local function focus_prompt(session)
  prompt.ensure(session)
  M.attach_prompt(session)
  if windows.focus_prompt(session) then
    vim.cmd("startinsert!")
  end
end

---@param session acp.Session
function M.attach_chat(session)
  local bufnr = session.bufnr --[[@as integer]]
  attach_both(session, bufnr, "chat")
  map(bufnr, { "n" }, "focus_prompt", function()
    focus_prompt(session)
  end)
  map(bufnr, { "n" }, "close", function()
    windows.close(session)
  end)
  for _, key in ipairs(config.keys("open")) do
    vim.keymap.set("n", key, function()
      targets.open(session, key)
    end, { buffer = bufnr, nowait = true, desc = "acp: open" })
  end
  for _, key in ipairs(config.keys("details")) do
    vim.keymap.set("n", key, function()
      targets.details(session, key)
    end, { buffer = bufnr, nowait = true, desc = "acp: details" })
  end
  for _, key in ipairs(config.keys("session_actions")) do
    local opts = { buffer = bufnr, nowait = true, remap = true, desc = "acp: session actions" }
    vim.keymap.set("n", key, "<Plug>(AcpSessionActions)", opts)
  end
  map(bufnr, { "n", "x" }, "next_message", function()
    jump(session, false)
  end)
  map(bufnr, { "n", "x" }, "previous_message", function()
    jump(session, true)
  end)
end

---@param session acp.Session
function M.attach_prompt(session)
  local bufnr = session.prompt_bufnr --[[@as integer]]
  attach_both(session, bufnr, "prompt")
  local function send()
    prompt.send(session)
  end
  map(bufnr, { "n" }, "send", send)
  map(bufnr, { "n", "i" }, "send_insert", send)
  map(bufnr, { "n", "i" }, "history_previous", function()
    history.walk(session, -1)
  end)
  map(bufnr, { "n", "i" }, "history_next", function()
    history.walk(session, 1)
  end)
  map(bufnr, { "n", "i" }, "history_pick", function()
    history.pick(session)
  end)
  map(bufnr, { "n", "i" }, "steer", function()
    queue_commands.steer(session)
  end)
  map(bufnr, { "n", "i" }, "paste_image", function()
    images.paste(session)
  end)
  map(bufnr, { "n", "i" }, "drop_context", function()
    prompt.drop_context(session)
  end)
end

return M
