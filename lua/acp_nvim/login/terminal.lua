-- Runs the program of an agent that signs the user in, in a terminal whose output is not kept.
local command_line_window = require("acp_nvim.kernel.command_line")
local host = require("acp_nvim.host")
local keymaps = require("acp_nvim.keys")
local named = require("acp_nvim.buffers.named")
local own = require("acp_nvim.windows.own")
local switch = require("acp_nvim.windows.switch")
local typed_ahead = require("acp_nvim.keys.typed_ahead")

local M = {}

local api = vim.api
local LOGIN_ROWS = 15 -- such programs ask a few questions, and show a code

---@class acp.LoginTerminal
---@field attempt integer
---@field bufnr integer
---@field before integer window that had the focus
---@field inserting boolean in Insert mode
---@field job? integer
---@field host? integer channel of the host that awaits the exit code
---@field closed? boolean by the user

---@type table<integer, acp.LoginTerminal> by attempt
local open = {}

---Enters Insert mode again, after Neovim has left Terminal mode.
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

---Closes the terminal, and gives the focus and the mode back.
---@param one acp.LoginTerminal
local function wipe(one)
  local bufnr = one.bufnr
  local is_here = bufnr == api.nvim_get_current_buf()
  for _, win in ipairs(vim.fn.win_findbuf(bufnr)) do
    pcall(api.nvim_win_close, win, true)
  end
  if api.nvim_buf_is_valid(bufnr) then
    switch.delete(bufnr)
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
    typed_ahead.closing(function()
      wipe(one)
    end)
  elseif api.nvim_buf_is_valid(one.bufnr) and one.bufnr == api.nvim_get_current_buf() then
    vim.cmd.stopinsert() -- the last output stays to be read
  end
  if one.host and one.host == host.channel() then
    host.send("login_ended", { attempt = one.attempt, code = code })
  end
end

---Opens a window with the terminal, without the focus. Raises an error when that is not possible, or the program cannot be
---run.
---@param event acp.Event of type sign_in_terminal
---@return fun() enter goes there, to type
function M.open(event)
  if command_line_window.refuses() then
    error("the command-line window is open", 0)
  end
  local before, inserting = api.nvim_get_current_win(), api.nvim_get_mode().mode == "i"
  vim.cmd(("botright %dnew"):format(math.max(1, math.min(LOGIN_ROWS, math.floor(vim.o.lines / 2)))))
  local win, bufnr = api.nvim_get_current_win(), api.nvim_get_current_buf()
  local one = { attempt = event.attempt, bufnr = bufnr, host = host.channel(), before = before, inserting = inserting }
  local ok, result = pcall(vim.fn.jobstart, event.argv, {
    term = true,
    cwd = event.cwd,
    env = vim.tbl_isempty(event.env) and vim.empty_dict() or event.env,
    on_exit = function(_, code)
      ended(one, code)
    end,
  })
  if not ok or result <= 0 then
    wipe(one)
    error(ok and "the program cannot be run" or result, 0)
  end
  one.job = result
  open[event.attempt] = one
  own.set_options(win, { linebreak = false })
  vim.bo[bufnr].buflisted = false
  vim.bo[bufnr].bufhidden = "wipe"
  api.nvim_create_autocmd("BufWipeout", {
    buffer = bufnr,
    once = true,
    callback = function()
      one.closed = true
    end,
  })
  pcall(api.nvim_buf_set_name, bufnr, named.name(("%s sign-in %d"):format(event.agent, event.attempt)))
  keymaps.map(bufnr, "n", "close", wipe, one)
  api.nvim_set_current_win(before)
  return function()
    if api.nvim_win_is_valid(win) then
      api.nvim_set_current_win(win)
      vim.cmd.startinsert()
    end
  end
end

---Closes the terminal of a cancelled sign-in.
---@param attempt integer
---@param outcome string
function M.over(attempt, outcome)
  local one = open[attempt]
  if one and outcome == "cancelled" then
    open[attempt] = nil
    vim.fn.jobstop(one.job)
    typed_ahead.closing(function()
      wipe(one)
    end)
  end
end

return M
