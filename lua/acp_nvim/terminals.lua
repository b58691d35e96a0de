-- The buffers that show all that a command printed, with its colours, and what it still prints.
local Lines = require("acp_nvim.chat.blocks.lines")
local SafeOutput = require("acp_nvim.terminals.safe_output")
local keymaps = require("acp_nvim.keymaps")
local limits = require("acp_nvim.limits")
local message = require("acp_nvim.message")
local requests = require("acp_nvim.host.requests")

local M = {}

local api = vim.api
-- Kept of an open terminal: with each that is kept the next one costs more, this many take 10 µs
local TERMINAL_LINES = 10000
local TERMINAL_SETTLE_MS = 50 -- until Neovim has brought a terminal's buffer up to its screen: its own timer takes 10
local TERMINAL_PART = 0.4 -- of the screen's lines, for a terminal that is opened: the chat stays in sight
local GROUP = api.nvim_create_augroup("acp_nvim.terminals", {})
local GONE = api.nvim_create_namespace("acp_nvim.terminals.gone")
local LOOK =
  { cursorline = false, list = false, number = false, relativenumber = false, signcolumn = "no", spell = false }
-- Ends what a sequence that was dropped in its middle may have begun.
local AFRESH = "\24\27[0m"

---@class acp.OpenTerminal
---@field session acp.Session
---@field target acp.Target
---@field key string
---@field bufnr integer
---@field channel? integer once it is in a window
---@field fed_ns integer when it was given something
---@field safe acp.SafeOutput
---@field used? boolean something stands there
---@field size? string of its windows
---@field resizing? boolean it is looked at soon whether that has lost anything
---@field ended? boolean its end stands there

---@type table<string, acp.OpenTerminal> by session and number
local open = {}

---@param session acp.Session
---@param number integer
---@return string
local function key_of(session, number)
  return session.key .. "-" .. number
end

---@param session acp.Session
---@param target acp.Target
---@param what "terminal_open"|"terminal_close"
---@return boolean sent
local function tell(session, target, what)
  return requests.send(session, what, { terminal = target.terminal })
end

---Others' autocommands for terminals are about those that one types into: some begin to insert.
---@param bufnr integer
---@return integer channel
local function open_channel(bufnr)
  local ignored = vim.o.eventignore
  vim.o.eventignore = ignored == "" and "TermOpen" or ignored .. ",TermOpen"
  local ok, channel = pcall(api.nvim_open_term, bufnr, {}) -- without `on_input` nobody hears what it would answer
  vim.o.eventignore = ignored
  if not ok then
    error(channel, 0)
  end
  vim.bo[bufnr].scrollback = TERMINAL_LINES
  vim.bo[bufnr].modifiable = false
  return channel
end

---@param bufnr integer in the current window
local function leave(bufnr)
  if not pcall(api.nvim_win_close, 0, false) then -- the last window
    vim.cmd("enew")
    pcall(api.nvim_buf_delete, bufnr, { force = true })
  end
end

---@param bufnr integer
---@return string
local function size_of(bufnr)
  return table.concat(
    vim.tbl_map(function(win)
      return api.nvim_win_get_width(win) .. "x" .. api.nvim_win_get_height(win)
    end, vim.fn.win_findbuf(bufnr)),
    " "
  )
end

---What came while the size changed may be lost to Neovim: the host is asked for all of it again.
---@param terminal acp.OpenTerminal
local function resized(terminal)
  local since = vim.uv.hrtime() - TERMINAL_SETTLE_MS * 1e6
  local size = size_of(terminal.bufnr)
  if open[terminal.key] ~= terminal or terminal.resizing or terminal.size == size then
    return
  end
  terminal.resizing, terminal.size = true, size
  vim.defer_fn(function()
    terminal.resizing = nil
    if open[terminal.key] == terminal and terminal.fed_ns > since then
      tell(terminal.session, terminal.target, "terminal_open")
    end
  end, 2 * TERMINAL_SETTLE_MS)
end

---@param terminal acp.OpenTerminal
local function watch(terminal)
  local bufnr = terminal.bufnr
  api.nvim_create_autocmd("WinResized", {
    group = GROUP,
    callback = function()
      return not api.nvim_buf_is_valid(bufnr) or resized(terminal)
    end,
  })
  keymaps.map(bufnr, "n", "close", leave, bufnr)
  api.nvim_create_autocmd("TermEnter", { group = GROUP, buffer = bufnr, command = "stopinsert" })
  api.nvim_create_autocmd("BufWipeout", {
    group = GROUP,
    buffer = bufnr,
    callback = function()
      if open[terminal.key] == terminal then
        open[terminal.key] = nil
        tell(terminal.session, terminal.target, "terminal_close")
      end
    end,
  })
end

---@param session acp.Session
---@param target acp.Target
---@return acp.OpenTerminal
local function new_terminal(session, target)
  local bufnr, key = api.nvim_create_buf(false, true), key_of(session, target.terminal)
  local safe = SafeOutput.new()
  local terminal = { session = session, target = target, key = key, bufnr = bufnr, fed_ns = 0, safe = safe }
  open[key] = terminal
  vim.bo[bufnr].bufhidden = "wipe" -- the host has all of it
  vim.bo[bufnr].filetype = "acp_terminal"
  watch(terminal)
  return terminal
end

---@param terminal acp.OpenTerminal
local function name(terminal)
  local command = vim.fn.strcharpart(Lines.one_line(terminal.target.words), 0, limits.terminal_name)
  pcall(api.nvim_buf_set_name, terminal.bufnr, vim.trim(("acp://terminal/%s %s"):format(terminal.key, command)))
end

---@param win integer
local function dress(win)
  for option, value in pairs(LOOK) do
    vim.wo[win][0][option] = value
  end
end

---Makes it a terminal: of the size that it will have, for while Neovim changes the size it loses lines that come.
---@param terminal acp.OpenTerminal
local function attach(terminal)
  api.nvim_win_call(vim.fn.win_findbuf(terminal.bufnr)[1] or 0, function()
    terminal.channel = open_channel(terminal.bufnr)
    vim.cmd("keepjumps normal! G") -- a cursor at the end stays there
  end)
  terminal.size = size_of(terminal.bufnr)
end

---@param bufnr integer
local function show(bufnr)
  local win = vim.fn.win_findbuf(bufnr)[1]
  if win then
    api.nvim_set_current_win(win)
    return
  end
  local height = math.max(5, math.floor(vim.o.lines * TERMINAL_PART))
  if not pcall(api.nvim_open_win, bufnr, true, { split = "below", win = -1, height = height }) then -- no room
    vim.cmd(("tab sbuffer %d"):format(bufnr))
  end
  dress(api.nvim_get_current_win())
end

---Shows all that a command printed, in a window that has the focus then.
---@param session acp.Session
---@param target acp.Target
function M.open(session, target)
  local known = open[key_of(session, target.terminal)]
  if known and api.nvim_buf_is_valid(known.bufnr) then
    return show(known.bufnr)
  elseif not tell(session, target, "terminal_open") then
    return message.info("The host that knew this terminal is gone; what the chat shows is left of it.")
  end
  local terminal = new_terminal(session, target)
  name(terminal)
  show(terminal.bufnr)
  attach(terminal)
end

---@param size integer
---@return string
local function in_words(size)
  return size < 10000 and ("%d bytes"):format(size) or ("%.1f MB"):format(size / 1e6)
end

---@param event acp.Event
---@return string? words nil while it runs
local function ending(event)
  if event.signal and event.signal ~= "" then
    return "killed by " .. Lines.one_line(event.signal)
  elseif event.exit_code then
    return "exit " .. event.exit_code
  end
end

---@param terminal acp.OpenTerminal
---@param words string a line of ours
local function say(terminal, words)
  local data = ("%s\r\27[K\27[2m[%s]\27[0m\r\n"):format(AFRESH, words:gsub("%c", " "))
  api.nvim_chan_send(terminal.channel, data)
end

---The buffer says so when it does not hold its beginning any more.
---@param bufnr integer
local function mark_beginning(bufnr)
  if api.nvim_buf_line_count(bufnr) >= TERMINAL_LINES then
    local words = { { "  older lines are not kept", "AcpToolDetail" } }
    api.nvim_buf_set_extmark(bufnr, GONE, 0, 0, { id = 1, virt_text = words, virt_text_pos = "right_align" })
  end
end

---@param terminal acp.OpenTerminal
---@param event acp.Event
local function add(terminal, event)
  if event.dropped and event.dropped > 0 then
    terminal.safe = SafeOutput.new()
    say(terminal, in_words(event.dropped) .. " before this are not kept")
  end
  api.nvim_chan_send(terminal.channel, terminal.safe:feed(event.data or ""))
  terminal.fed_ns = vim.uv.hrtime()
  local words = ending(event)
  if words and not terminal.ended then
    terminal.ended = true
    say(terminal, words)
  end
  mark_beginning(terminal.bufnr)
end

---What was there is another text now: nothing of it stays, and no terminal forgets all that it has shown.
---@param old acp.OpenTerminal
---@return acp.OpenTerminal
local function renewed(old)
  local new = new_terminal(old.session, old.target)
  for _, win in ipairs(vim.fn.win_findbuf(old.bufnr)) do
    api.nvim_win_set_buf(win, new.bufnr)
    dress(win)
  end
  pcall(api.nvim_buf_delete, old.bufnr, { force = true })
  name(new)
  attach(new)
  return new
end

---@param session acp.Session
---@param event acp.Event
function M.output(session, event)
  local terminal = open[key_of(session, event.terminal)]
  if not terminal or not api.nvim_buf_is_valid(terminal.bufnr) then
    return
  end
  if event.whole and terminal.used then
    terminal = renewed(terminal)
  end
  add(terminal, event)
  terminal.used = true
end

return M
