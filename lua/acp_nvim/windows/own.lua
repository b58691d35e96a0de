-- Sets the options of the plugin's own windows, and keeps the buffers of others out of them.
local lazy = require("acp_nvim.lazy")
local message = lazy("acp_nvim.kernel.message")
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

---@return boolean the plugin has set the options of the window, which is not a copy that :split or CTRL-W T has made
function M.is_set_up(win)
  return vim.w[win][BUFFER] == api.nvim_win_get_buf(win)
end

---Lets go of the buffer of a window that is the only one of its tab page, since any other buffer would have no window, and
---of all buffers while a session file is read, which shows its own in the windows that there are.
---@param tab integer
---@param closing? integer window that closes now
local function fix_buffers(tab, closing)
  local splits = vim.tbl_filter(function(win)
    return win ~= closing and api.nvim_win_get_config(win).relative == ""
  end, api.nvim_tabpage_list_wins(tab))
  local is_fixed = #splits > 1 and vim.g.SessionLoad == nil
  for _, win in ipairs(splits) do
    local is_ours = M.is_set_up(win)
    local is_copy = not is_ours and vim.startswith(api.nvim_buf_get_name(api.nvim_win_get_buf(win)), "acp://")
    if is_ours and vim.wo[win].winfixbuf ~= is_fixed or is_copy and not is_fixed then
      vim.wo[win][0].winfixbuf = is_fixed
    end
  end
end

---@type fun(is_loading: boolean)[]
local listeners = {}

---@param listener fun(is_loading: boolean) called when Neovim begins to read a session file, and has read it
function M.on_session(listener)
  listeners[#listeners + 1] = listener
end

---Notes that Neovim begins to read a session file, or has read it.
function M.session_changed()
  for _, tab in ipairs(api.nvim_list_tabpages()) do
    fix_buffers(tab)
  end
  for _, listener in ipairs(listeners) do
    listener(vim.g.SessionLoad ~= nil)
  end
end

---Sets the options of a window for the buffer that it shows.
---@param more table<string, any> options besides those of `PLAIN`, or in their place
function M.set_options(win, more)
  for option, value in pairs(vim.tbl_extend("force", M.PLAIN, more)) do
    vim.wo[win][0][option] = value
  end
  vim.w[win][BUFFER] = api.nvim_win_get_buf(win)
  fix_buffers(api.nvim_win_get_tabpage(win))
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

---Closes a window. The last one gets an empty buffer instead. The focus goes back to the window that had it before.
---@param win integer
---@param force? boolean also if the buffer has changes
---@param before? integer that window
function M.close(win, force, before)
  before = before or vim.fn.win_getid(vim.fn.winnr("#"))
  if win == api.nvim_get_current_win() and before > 0 and api.nvim_win_is_valid(before) then
    pcall(api.nvim_set_current_win, before) -- first: else Neovim would enter the neighbour
  end
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

local group = api.nvim_create_augroup("acp_nvim.windows.own", {})

api.nvim_create_autocmd({ "WinNew", "WinEnter", "WinClosed" }, {
  group = group,
  desc = "Let the only window of a tab page show any buffer",
  callback = function(event)
    local closing = event.event == "WinClosed" and tonumber(event.match) or nil
    fix_buffers(closing and api.nvim_win_get_tabpage(closing) or 0, closing)
  end,
})

vim.cmd([[call dictwatcheradd(g:, "SessionLoad", {-> v:lua.require("acp_nvim.windows.own").session_changed()})]])

api.nvim_create_autocmd("BufWinEnter", {
  group = group,
  desc = "Release a window of the plugin that got another buffer, by :edit! or :bdelete",
  callback = function()
    local win = api.nvim_get_current_win()
    if vim.w[win][BUFFER] and vim.w[win][BUFFER] ~= api.nvim_win_get_buf(win) then
      release(win)
    end
  end,
})

return M
