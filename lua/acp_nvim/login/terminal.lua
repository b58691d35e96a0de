-- The terminal in which a program of an agent signs the user in; nothing of what it shows is kept.
local choice = require("acp_nvim.login.choice")
local command_line_window = require("acp_nvim.windows.command_line")
local host = require("acp_nvim.host")
local keymaps = require("acp_nvim.keymaps")
local message = require("acp_nvim.message")
local sessions = require("acp_nvim.sessions")

local M = {}

local api = vim.api
local LOGIN_ROWS = 15 -- of the terminal in which one signs in: such programs ask a few questions, and show a code

---@class acp.LoginTerminal
---@field attempt integer
---@field bufnr integer
---@field before integer window in which the user was
---@field inserting boolean in insert mode
---@field job? integer
---@field host? integer channel of the host that waits for its end
---@field closed? boolean by the user, before its end

---@type table<integer, acp.LoginTerminal> by attempt
local open = {}

---The mode of the terminal ends a little later than the terminal.
---@param one acp.LoginTerminal
local function insert_again(one)
  local function insert()
    if one.inserting and api.nvim_get_current_win() == one.before then
      vim.cmd.startinsert()
    end
  end
  if api.nvim_get_mode().mode ~= "t" then
    return insert()
  end
  api.nvim_create_autocmd("ModeChanged", {
    pattern = "t:n",
    once = true,
    callback = function()
      vim.schedule(insert)
    end,
  })
end

---Closes it; who is in it is back where they were.
---@param one acp.LoginTerminal
local function wipe(one)
  local bufnr = one.bufnr
  local is_here = bufnr == api.nvim_get_current_buf()
  for _, win in ipairs(vim.fn.win_findbuf(bufnr)) do
    pcall(api.nvim_win_close, win, true)
  end
  if api.nvim_buf_is_valid(bufnr) then
    pcall(api.nvim_buf_delete, bufnr, { force = true })
  end
  if is_here and api.nvim_win_is_valid(one.before) then
    api.nvim_set_current_win(one.before)
    insert_again(one)
  end
end

---@param one acp.LoginTerminal
---@param code? integer
local function ended(one, code)
  open[one.attempt] = nil
  if vim.v.exiting ~= vim.NIL then
    return
  end
  code = not one.closed and code or nil
  if code == 0 then
    wipe(one)
  elseif api.nvim_buf_is_valid(one.bufnr) and one.bufnr == api.nvim_get_current_buf() then
    vim.cmd.stopinsert() -- what it has said last stays to be read
  end
  if one.host and one.host == host.channel() then
    host.send("login_ended", { attempt = one.attempt, code = code })
  end
end

---@param one acp.LoginTerminal
---@param event acp.Event
local function start(one, event)
  local env = vim.tbl_isempty(event.env) and vim.empty_dict() or event.env
  one.job = vim.fn.jobstart(event.argv, {
    term = true,
    cwd = event.cwd,
    env = env,
    on_exit = function(_, code)
      ended(one, code)
    end,
  })
end

---@param one acp.LoginTerminal
---@param event acp.Event
local function dress(one, event)
  local bufnr = one.bufnr
  vim.bo[bufnr].buflisted = false
  vim.bo[bufnr].bufhidden = "wipe"
  api.nvim_create_autocmd("BufWipeout", {
    buffer = bufnr,
    once = true,
    callback = function()
      one.closed = true
    end,
  })
  pcall(api.nvim_buf_set_name, bufnr, ("acp://login/%s/%d"):format(event.agent, event.attempt))
  keymaps.map(bufnr, "n", "close", wipe, one)
end

---@return boolean the user is at nothing that a window with the focus would disturb
local function may_enter()
  return choice.is_possible() or sessions.of_buffer(api.nvim_get_current_buf()) ~= nil
end

---Opens a window for it. Raises an error when there can be none, or nothing to run.
---@param event acp.Event of type sign_in_terminal
function M.open(event)
  if command_line_window.refuses() then
    error("the command-line window is open", 0)
  end
  local before, enters = api.nvim_get_current_win(), may_enter()
  local inserting = api.nvim_get_mode().mode == "i"
  vim.cmd(("botright %dnew"):format(math.max(1, math.min(LOGIN_ROWS, math.floor(vim.o.lines / 2)))))
  local one = {
    attempt = event.attempt,
    bufnr = api.nvim_get_current_buf(),
    host = host.channel(),
    before = before,
    inserting = inserting,
  }
  local ok, problem = pcall(start, one, event)
  if not ok or one.job <= 0 then
    wipe(one)
    error(ok and "the program cannot be run" or problem, 0)
  end
  open[event.attempt] = one
  dress(one, event)
  if enters then
    vim.cmd.startinsert()
  else
    api.nvim_set_current_win(before)
    message.news(("sign in to %s in the terminal below"):format(event.agent), vim.log.levels.INFO)
  end
end

---@param attempt integer
---@param outcome string
function M.over(attempt, outcome)
  local one = open[attempt]
  if one and outcome == "cancelled" then
    open[attempt] = nil
    vim.fn.jobstop(one.job)
    wipe(one)
  end
end

return M
