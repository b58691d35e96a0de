-- Sets the options of the plugin's own windows, and keeps the buffers of others out of them.
local lazy = require("acp_nvim.lazy")
local message = lazy("acp_nvim.message")
local switch = require("acp_nvim.windows.switch")

local M = {}

local api = vim.api
local BUFFER = "acp_nvim_buffer" -- variable of a window: the buffer that its options are for
local FIXED = { "winfixbuf", "winfixheight", "winfixwidth" } -- set for a window, whatever buffer it shows

---Options of all these windows: only the text, whatever the user has set for code.
M.PLAIN = {
  breakindent = false, -- doubles the time of placing the cursor
  colorcolumn = "",
  concealcursor = "",
  cursorbind = false,
  cursorcolumn = false,
  cursorline = false,
  diff = false,
  foldcolumn = "0",
  foldenable = false,
  linebreak = true, -- no break within a word where a line wraps
  list = false,
  number = false,
  relativenumber = false,
  scrollbind = false,
  signcolumn = "no",
  spell = false,
  statuscolumn = "",
  winfixbuf = true,
  winhighlight = "", -- Neovim would recompute all groups at each redraw
  wrap = true,
}

---Sets the options of a window for the buffer that it shows.
---@param more table<string, any> options besides those of `PLAIN`, or in their place
function M.set_options(win, more)
  for option, value in pairs(vim.tbl_extend("force", M.PLAIN, more)) do
    vim.wo[win][0][option] = value
  end
  vim.w[win][BUFFER] = api.nvim_win_get_buf(win)
end

---@return boolean the plugin has set the options of the window, which is not a copy that :split or CTRL-W T has made
function M.is_set_up(win)
  return vim.w[win][BUFFER] == api.nvim_win_get_buf(win)
end

---Shows the error of an autocommand that ran while a window was opened or changed.
---@param err any
function M.report(err)
  message.warn("an autocommand failed: " .. (tostring(err):gsub("^%S+%.lua:%d+: ", "")))
end

---Sets the filetype of the buffer in a window, whose options are set: FileType autocommands of the user may change them.
---@param filetype string
function M.set_filetype(win, filetype)
  local ok, err = pcall(api.nvim_win_call, win, function()
    vim.bo.filetype = filetype
  end)
  if not ok then
    M.report(err)
  end
end

---Shows another buffer of the plugin in a window; `set_options` is to be called next.
function M.set_buffer(win, bufnr)
  vim.wo[win].winfixbuf = false
  local ok, err = pcall(switch.show, win, bufnr)
  if not ok then
    M.report(err)
  end
end

---Leaves a window to other buffers.
local function release(win)
  for _, option in ipairs(FIXED) do
    vim.wo[win][option] = false
  end
  vim.w[win][BUFFER] = nil
end

---Shows an empty buffer in a window that has to stay.
function M.empty(win)
  release(win)
  api.nvim_win_call(win, vim.cmd.enew)
end

---Closes a window. The last one gets an empty buffer instead.
---@param force? boolean also if the buffer has changes
function M.close(win, force)
  if not pcall(api.nvim_win_close, win, force or false) and api.nvim_win_is_valid(win) then
    M.empty(win)
  end
end

---Runs something that opens or closes windows without making others equal, whatever 'equalalways' is.
---@param run fun()
function M.keep_sizes(run)
  local equal = vim.o.equalalways
  vim.cmd("noautocmd set noequalalways")
  local ok, err = pcall(run)
  if equal then
    local sizes = vim.fn.winrestcmd() -- setting 'equalalways' makes all windows equal
    vim.cmd("noautocmd set equalalways")
    vim.cmd(sizes)
  end
  if not ok then
    error(err, 0)
  end
end

api.nvim_create_autocmd("BufWinEnter", {
  group = api.nvim_create_augroup("acp_nvim.windows.own", {}),
  desc = "Release a window of the plugin that got another buffer, by :edit! or :bdelete",
  callback = function()
    local win = api.nvim_get_current_win()
    if vim.w[win][BUFFER] and vim.w[win][BUFFER] ~= api.nvim_win_get_buf(win) then
      release(win)
    end
  end,
})

return M
