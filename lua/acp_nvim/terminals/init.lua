-- Shows the whole output of a command in a terminal buffer, with its colours, while the command runs and after.
local Lines = require("acp_nvim.render.lines")
local SafeOutput = require("acp_nvim.terminals.safe_output")
local edge = require("acp_nvim.windows.edge")
local keymaps = require("acp_nvim.keys")
local limits = require("acp_nvim.limits")
local message = require("acp_nvim.kernel.message")
local named = require("acp_nvim.buffers.named")
local own = require("acp_nvim.windows.own")
local requests = require("acp_nvim.host.requests")
local switch = require("acp_nvim.windows.switch")

local M = {}

local api = vim.api
local TERMINAL_LINES = 10000 -- of scrollback: each line makes the next one cost more, with this many 10 µs
local TERMINAL_SETTLE_MS = 50 -- until Neovim has updated a terminal's buffer: its own timer takes 10
local TERMINAL_PART = 0.4 -- of the screen's lines: the chat stays visible
local GROUP = api.nvim_create_augroup("acp_nvim.terminals", {})
local GONE = api.nvim_create_namespace("acp_nvim.terminals.gone")
-- Ends a sequence whose rest was dropped, and resets the colours.
local RESET = "\24\27[0m"

---@class acp.OpenTerminal
---@field session acp.Session
---@field target acp.Target
---@field key string
---@field bufnr integer
---@field channel? integer once it is in a window
---@field fed_ns integer when it got output last
---@field safe acp.SafeOutput
---@field used? boolean it has output
---@field size? string of its windows
---@field resizing? boolean a check for output lost by a resize is scheduled
---@field ended? boolean it shows the end of the command

---@type table<string, acp.OpenTerminal> by session and number
local open = {}

local function key_of(session, number)
  return session.key .. "-" .. number
end

---@param what "terminal_open"|"terminal_close"
---@return boolean sent
local function send(session, target, what)
  return requests.send(session, what, { terminal = target.terminal })
end

---Opens the terminal without TermOpen: users' autocommands are for interactive terminals, and may start Insert mode.
---@return integer channel
local function open_channel(bufnr)
  local ignored = vim.o.eventignore
  vim.o.eventignore = ignored == "" and "TermOpen" or ignored .. ",TermOpen"
  local ok, channel = pcall(api.nvim_open_term, bufnr, {}) -- without `on_input` its replies are dropped
  vim.o.eventignore = ignored
  if not ok then
    error(channel, 0)
  end
  vim.bo[bufnr].scrollback = TERMINAL_LINES
  vim.bo[bufnr].modifiable = false
  return channel
end

---@return string sizes of its windows
local function size_of(bufnr)
  local sizes = vim.tbl_map(function(win)
    return api.nvim_win_get_width(win) .. "x" .. api.nvim_win_get_height(win)
  end, vim.fn.win_findbuf(bufnr))
  return table.concat(sizes, " ")
end

---Requests the whole output again, since Neovim may lose what comes while the size changes.
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
      send(terminal.session, terminal.target, "terminal_open")
    end
  end, 2 * TERMINAL_SETTLE_MS)
end

local function watch(terminal)
  local bufnr = terminal.bufnr
  api.nvim_create_autocmd("WinResized", {
    group = GROUP,
    callback = function()
      return not api.nvim_buf_is_valid(bufnr) or resized(terminal)
    end,
  })
  keymaps.map(bufnr, "n", "close", function()
    own.close(api.nvim_get_current_win())
    switch.delete(bufnr) -- of the last window
  end)
  api.nvim_create_autocmd("TermEnter", { group = GROUP, buffer = bufnr, command = "stopinsert" })
  api.nvim_create_autocmd("BufWipeout", {
    group = GROUP,
    buffer = bufnr,
    callback = function()
      if open[terminal.key] == terminal then
        open[terminal.key] = nil
        send(terminal.session, terminal.target, "terminal_close")
      end
    end,
  })
end

local function new_terminal(session, target)
  local bufnr, key = api.nvim_create_buf(false, true), key_of(session, target.terminal)
  local safe = SafeOutput.new()
  local terminal = { session = session, target = target, key = key, bufnr = bufnr, fed_ns = 0, safe = safe }
  open[key] = terminal
  vim.bo[bufnr].bufhidden = "wipe" -- the host keeps the output
  watch(terminal)
  return terminal
end

local function name(terminal)
  local command = vim.fn.strcharpart(Lines.one_line(terminal.target.words), 0, limits.terminal_name)
  pcall(api.nvim_buf_set_name, terminal.bufnr, named.name(vim.trim(("terminal %s %s"):format(terminal.key, command))))
end

---Makes the buffer a terminal, of its final size: Neovim loses lines that come while the size changes.
local function attach(terminal)
  api.nvim_win_call(vim.fn.win_findbuf(terminal.bufnr)[1] or 0, function()
    terminal.channel = open_channel(terminal.bufnr)
    vim.cmd("keepjumps normal! G") -- a cursor at the end stays there
  end)
  terminal.size = size_of(terminal.bufnr)
end

local function set_up(win)
  own.set_options(win, { linebreak = false })
  own.set_filetype(win, "acp_terminal")
end

local function show(bufnr)
  local win = vim.fn.win_findbuf(bufnr)[1]
  if win then
    return api.nvim_set_current_win(win)
  end
  edge.below(bufnr, math.floor(vim.o.lines * TERMINAL_PART))
  set_up(api.nvim_get_current_win())
end

---Opens the output of a command, or moves the focus to it.
function M.open(session, target)
  local known = open[key_of(session, target.terminal)]
  if known and api.nvim_buf_is_valid(known.bufnr) then
    return show(known.bufnr)
  elseif not send(session, target, "terminal_open") then
    return message.info("The host that knew this terminal is gone; what the chat shows is left of it.")
  end
  local terminal = new_terminal(session, target)
  name(terminal)
  show(terminal.bufnr)
  attach(terminal)
end

---@param words string a line of ours
local function add_line(terminal, words)
  local data = ("%s\r\27[K\27[2m[%s]\27[0m\r\n"):format(RESET, words:gsub("%c", " "))
  api.nvim_chan_send(terminal.channel, data)
end

local function add(terminal, event)
  local dropped = event.dropped or 0
  if dropped > 0 then
    terminal.safe = SafeOutput.new()
    local size = dropped < 10000 and ("%d bytes"):format(dropped) or ("%.1f MB"):format(dropped / 1e6)
    add_line(terminal, size .. " before this are not kept")
  end
  api.nvim_chan_send(terminal.channel, terminal.safe:feed(event.data or ""))
  terminal.fed_ns = vim.uv.hrtime()
  local words = event.exit_code and "exit " .. event.exit_code
  if event.signal and event.signal ~= "" then
    words = "killed by " .. Lines.one_line(event.signal)
  end
  if words and not terminal.ended then
    terminal.ended = true
    add_line(terminal, words)
  end
  if api.nvim_buf_line_count(terminal.bufnr) >= TERMINAL_LINES then
    local text = { { "  older lines are not kept", "AcpToolDetail" } }
    api.nvim_buf_set_extmark(terminal.bufnr, GONE, 0, 0, { id = 1, virt_text = text, virt_text_pos = "right_align" })
  end
end

---Adds output of a command, or replaces what is shown.
function M.output(session, event)
  local terminal = open[key_of(session, event.terminal)]
  if not terminal or not api.nvim_buf_is_valid(terminal.bufnr) then
    return
  end
  if event.whole and terminal.used then -- a new buffer, since a terminal cannot forget all that it has shown
    local old = terminal
    terminal = new_terminal(old.session, old.target)
    for _, win in ipairs(vim.fn.win_findbuf(old.bufnr)) do
      own.set_buffer(win, terminal.bufnr)
      set_up(win)
    end
    switch.delete(old.bufnr)
    name(terminal)
    attach(terminal)
  end
  add(terminal, event)
  terminal.used = true
end

return M
