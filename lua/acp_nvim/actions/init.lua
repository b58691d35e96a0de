-- Maps the keys of chat and prompt, except those that answer permission requests.
local config = require("acp_nvim.config")
local lazy = require("acp_nvim.lazy")
local decoration = lazy("acp_nvim.render.decoration")
local help = lazy("acp_nvim.keys.help")
local history = lazy("acp_nvim.prompt.history")
local keymaps = require("acp_nvim.keys")
local login = lazy("acp_nvim.login")
local message = lazy("acp_nvim.kernel.message")
local permission = lazy("acp_nvim.permission")
local prompt = require("acp_nvim.prompt.buffer")
local requests = require("acp_nvim.host.requests")
local sessions = require("acp_nvim.host.sessions")
local windows = require("acp_nvim.chat.windows")

local M = {}

local BOTH = { "n", "i" }

local function jump(session, backwards)
  local line
  for _ = 1, vim.v.count1 do
    local row = decoration.user_message(session.bufnr, (line or vim.api.nvim_win_get_cursor(0)[1]) - 1, backwards)
    line = row and row + 2 or line
  end
  if line then
    vim.cmd("normal! m'")
    vim.api.nvim_win_set_cursor(0, { line, 0 })
  end
end

local function attach_both(session, bufnr, where)
  local modes, owner = where == "prompt" and BOTH or "n", sessions.owner(session) or session
  keymaps.map(bufnr, "n", "cancel", requests.send, session, "cancel", { force = false })
  keymaps.map(bufnr, "n", "sign_in", function()
    login.ask(session.agent)
  end)
  keymaps.map(bufnr, "n", "continue_last", function()
    vim.cmd("AcpContinue")
  end)
  keymaps.map(bufnr, modes, "mode_next", lazy.fn("acp_nvim.options", "next"), owner, "mode")
  keymaps.map(bufnr, modes, "model", lazy.fn("acp_nvim.options.picker", "option"), owner, "model")
  keymaps.map(bufnr, modes, "config", lazy.fn("acp_nvim.options.picker", "all"), owner)
  keymaps.map(bufnr, "n", "help", function()
    help.show(where, #permission.waiting(session) > 0)
  end)
end

local function focus_prompt(session)
  prompt.ensure(session)
  M.attach_prompt(session)
  if windows.focus_prompt(session) then
    vim.cmd("startinsert!")
  end
end

function M.attach_chat(session)
  local bufnr = session.bufnr --[[@as integer]]
  attach_both(session, bufnr, "chat")
  keymaps.map(bufnr, "n", "focus_prompt", focus_prompt, session)
  keymaps.map(bufnr, "n", "close", windows.close, session)
  keymaps.map(bufnr, "n", "send_problems", requests.send, sessions.owner(session) or session, "send_problems")
  keymaps.map(bufnr, "n", "cancel_block", lazy.fn("acp_nvim.actions.cancelling", "key"), session)
  for _, action in ipairs({ "open", "details" }) do
    local run = lazy.fn("acp_nvim.actions.targets", action)
    for _, key in ipairs(config.keys(action)) do
      keymaps.map_key(bufnr, "n", key, function()
        run(session, key)
      end, action)
    end
  end
  for _, key in ipairs(config.keys("session_actions")) do
    local opts = { buffer = bufnr, nowait = true, remap = true, desc = "acp: session actions" }
    vim.keymap.set("n", key, "<Plug>(AcpSessionActions)", opts)
  end
  keymaps.map(bufnr, { "n", "x" }, "next_message", jump, session, false)
  keymaps.map(bufnr, { "n", "x" }, "previous_message", jump, session, true)
end

---What the keys of a prompt do, by the names of their options.
---@type table<string, { modes: string|string[], run: fun(session: acp.Session) }>
local PROMPT = {
  send = { modes = "n", run = prompt.send },
  send_insert = { modes = BOTH, run = prompt.send },
  history_previous = {
    modes = BOTH,
    run = function(session)
      history.walk(session, -1)
    end,
  },
  history_next = {
    modes = BOTH,
    run = function(session)
      history.walk(session, 1)
    end,
  },
  history_pick = { modes = BOTH, run = lazy.fn("acp_nvim.prompt.history", "pick") },
  steer = { modes = BOTH, run = lazy.fn("acp_nvim.prompt.queue_buffer", "steer") },
  paste_image = { modes = BOTH, run = lazy.fn("acp_nvim.prompt.images", "paste") },
  drop_context = { modes = BOTH, run = prompt.drop_context },
}

function M.attach_prompt(session)
  local bufnr = session.prompt_bufnr --[[@as integer]]
  attach_both(session, bufnr, "prompt")
  for action, key in pairs(PROMPT) do
    keymaps.map(bufnr, key.modes, action, key.run, session)
  end
end

---Does what a key of the prompt does, in the current session; for <Plug> maps.
---@param action string name of the option
function M.run(action)
  local session = sessions.current_owner()
  if session and session.prompt_bufnr and vim.api.nvim_buf_is_loaded(session.prompt_bufnr) then
    PROMPT[action].run(session)
  else
    message.info("there is no prompt yet: :AcpChat opens one")
  end
end

return M
