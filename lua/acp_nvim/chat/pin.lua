-- The window above the prompt with the plans of the turn that runs; it takes no focus.
local api = vim.api
local plain_window = require("acp_nvim.chat.plain_window")
local stack = require("acp_nvim.chat.stack")

local M = {}

local LOOKS = api.nvim_create_namespace("acp_nvim.pin")
local OPTIONS = { bufhidden = "wipe", buftype = "nofile", swapfile = false, undolevels = -1, filetype = "acp_plan" }
local LOOK = vim.tbl_extend("error", plain_window, {
  fillchars = "eob: ",
  foldenable = false,
  linebreak = false,
  statusline = " Plan",
  winbar = "",
  winfixbuf = true,
  winfixheight = true,
  wrap = false,
})

---Whoever comes here on the way from one window to the next goes on.
local function pass_on()
  local now = stack.current()
  local before = vim.fn.win_getid(vim.fn.winnr("#"))
  local to = now and (before == now.prompt and now.chat or now.prompt or now.chat)
  if to and to ~= api.nvim_get_current_win() then
    api.nvim_set_current_win(to)
  end
end

---@return integer bufnr
local function make_buffer()
  local bufnr = api.nvim_create_buf(false, true)
  for option, value in pairs(OPTIONS) do
    vim.bo[bufnr][option] = value
  end
  api.nvim_create_autocmd("WinEnter", { buffer = bufnr, nested = true, callback = pass_on })
  return bufnr
end

---@param config table for nvim_open_win
---@return integer win
function M.open(config)
  config.noautocmd = true
  local win = api.nvim_open_win(make_buffer(), false, config)
  stack.mark(win, "pin")
  for option, value in pairs(LOOK) do
    vim.wo[win][0][option] = value
  end
  return win
end

---@param win integer
---@param lines acp.PinnedLine[]
function M.draw(win, lines)
  local bufnr = api.nvim_win_get_buf(win)
  local texts = vim.tbl_map(function(line)
    return " " .. line.text
  end, lines)
  if vim.deep_equal(api.nvim_buf_get_lines(bufnr, 0, -1, true), texts) then
    return
  end
  vim.bo[bufnr].modifiable = true
  api.nvim_buf_set_lines(bufnr, 0, -1, true, texts)
  vim.bo[bufnr].modifiable = false
  api.nvim_buf_clear_namespace(bufnr, LOOKS, 0, -1)
  for row, line in ipairs(lines) do
    if line.group then
      api.nvim_buf_set_extmark(bufnr, LOOKS, row - 1, 0, { line_hl_group = line.group })
    end
  end
  api.nvim_win_call(win, function()
    vim.fn.winrestview({ topline = 1, leftcol = 0, lnum = 1, col = 0 })
  end)
end

---Closes it; no other window becomes another one's equal, whatever 'equalalways' says.
---@param win integer
function M.close(win)
  local equal = vim.o.equalalways
  vim.cmd("noautocmd set noequalalways")
  local ok, err = pcall(api.nvim_win_close, win, true)
  if equal then
    local sizes = vim.fn.winrestcmd() -- to switch it on makes all windows equal at once
    vim.cmd("noautocmd set equalalways")
    vim.cmd(sizes)
  end
  if not ok then
    error(err, 0)
  end
end

return M
