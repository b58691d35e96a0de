-- Opens, finds and closes the windows of a chat and its prompt.
local command_line_window = require("acp_nvim.command_line_window")
local config = require("acp_nvim.config")
local message = require("acp_nvim.message")
local sessions = require("acp_nvim.sessions")
local winbar = require("acp_nvim.chat.winbar")

local M = {}

local api = vim.api
local LOOK = {
  breakindent = true,
  colorcolumn = "",
  concealcursor = "",
  conceallevel = 0,
  cursorbind = false,
  cursorline = false,
  diff = false,
  fillchars = "eob: ",
  foldcolumn = "0",
  foldenable = false,
  linebreak = true,
  list = false,
  number = false,
  relativenumber = false,
  scrollbind = false,
  signcolumn = "no",
  spell = false,
  statuscolumn = "",
  winhighlight = "",
  wrap = true,
}

---@param win integer
---@param fixed "winfixwidth"|"winfixheight"|nil
local function dress(win, fixed)
  for option, value in pairs(LOOK) do
    vim.wo[win][0][option] = value
  end
  if fixed then
    vim.wo[win][0][fixed] = true
  end
end

---@param accept fun(session: acp.Session, bufnr: integer): boolean
---@return integer? win of the current tab
local function find(accept)
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    local bufnr = api.nvim_win_get_buf(win)
    local session = sessions.of_buffer(bufnr)
    if session and accept(session, bufnr) then
      return win
    end
  end
end

---@param wanted number lines or columns, or a part of all
---@param all integer
---@param least integer
---@return integer
local function size(wanted, all, least)
  local exact = wanted < 1 and math.floor(wanted * all) or math.floor(wanted)
  -- leave a third to the code where the screen is small
  return math.max(1, math.min(math.max(exact, least), math.floor(all * 2 / 3)))
end

---What opens windows runs autocommands of others; when one fails the window may be there all the same.
---@param bufnr integer that should be seen now
---@param open fun()
---@return integer? win of the current tab; nil when there was no room
local function opened(bufnr, open)
  local ok, err = pcall(open)
  local win = find(function(_, candidate)
    return candidate == bufnr
  end)
  if not ok and win then
    message.warn("an autocommand failed: " .. (tostring(err):gsub("^%S+%.lua:%d+: ", "")))
  end
  return win
end

---@param win integer
---@param bufnr integer
local function show_in(win, bufnr)
  local fixed = vim.wo[win].winfixbuf
  vim.wo[win].winfixbuf = false
  opened(bufnr, function()
    api.nvim_win_set_buf(win, bufnr)
  end)
  vim.wo[win].winfixbuf = fixed
end

---@param bufnr integer
---@return integer? win
local function open_tab(bufnr)
  return opened(bufnr, function()
    vim.cmd(("keepalt tab sbuffer %d"):format(bufnr))
  end)
end

---@param bufnr integer
---@return integer? win nil when there is no room
---@return "winfixwidth"|"winfixheight"|nil fixed
local function open_chat(bufnr)
  local ui = config.get().ui
  if ui.position == "tab" then
    return open_tab(bufnr), nil
  end
  local shape = { split = ui.position == "bottom" and "below" or ui.position, win = -1 }
  if ui.position == "bottom" then
    shape.height = size(ui.height, vim.o.lines, 8)
  else
    shape.width = size(ui.width, vim.o.columns, 40)
  end
  local win = opened(bufnr, function()
    api.nvim_open_win(bufnr, false, shape)
  end)
  if not win then -- no room for a split
    return open_tab(bufnr), nil
  end
  return win, ui.position == "bottom" and "winfixheight" or "winfixwidth"
end

---The prompt goes with its chat.
---@param chat integer
---@param prompt integer
local function close_together(chat, prompt)
  api.nvim_create_autocmd("WinClosed", {
    pattern = tostring(chat),
    once = true,
    callback = vim.schedule_wrap(function()
      local session = api.nvim_win_is_valid(prompt) and sessions.of_buffer(api.nvim_win_get_buf(prompt))
      local tab = session and api.nvim_win_get_tabpage(prompt)
      if tab and #api.nvim_tabpage_list_wins(tab) > 1 then
        pcall(api.nvim_win_close, prompt, false)
      end
    end),
  })
end

---@param session acp.Session
---@return integer? win of the current tab, with the chat in it; nil when there is no room
local function ensure_chat(session)
  local win = find(function(_, bufnr)
    return bufnr == session.bufnr
  end)
  if win then
    return win
  end
  win = find(function(other, bufnr)
    return bufnr == other.bufnr
  end)
  local fixed
  if win then
    fixed = vim.wo[win].winfixwidth and "winfixwidth" or vim.wo[win].winfixheight and "winfixheight" or nil
    show_in(win, session.bufnr)
  else
    win, fixed = open_chat(session.bufnr)
  end
  if not win then
    return nil
  end
  dress(win, fixed)
  vim.wo[win][0].conceallevel = config.get().ui.conceal and 2 or 0
  api.nvim_win_set_cursor(win, { api.nvim_buf_line_count(session.bufnr), vim.v.maxcol })
  return win
end

---@param bufnr integer
---@param chat integer
---@return integer? win below the chat
local function open_prompt(bufnr, chat)
  local height = math.max(1, math.min(math.floor(config.get().ui.prompt_height), api.nvim_win_get_height(chat) - 3))
  local win = opened(bufnr, function()
    api.nvim_open_win(bufnr, false, { split = "below", win = chat, height = height })
  end)
  if win then
    close_together(chat, win)
  end
  return win
end

---@param session acp.Session
---@param chat integer
---@return integer? win nil when there is no room
local function ensure_prompt(session, chat)
  local win = find(function(_, bufnr)
    return bufnr == session.prompt_bufnr
  end)
  if win then
    return win
  end
  win = find(function(other, bufnr)
    return bufnr == other.prompt_bufnr
  end)
  if win then
    show_in(win, session.prompt_bufnr)
  else
    win = open_prompt(session.prompt_bufnr, chat)
  end
  if win then
    dress(win, "winfixheight")
  end
  return win
end

---A chat that has a tab of its own is not opened in another one as well.
---@param session acp.Session
local function go_to_tab(session)
  for _, win in ipairs(config.get().ui.position == "tab" and vim.fn.win_findbuf(session.bufnr) or {}) do
    if not M.visible(session) then
      api.nvim_set_current_tabpage(api.nvim_win_get_tabpage(win))
    end
  end
end

---Shows chat and prompt in the current tab; the focus stays where it is.
---@param session acp.Session with both buffers
---@return integer? prompt window; nil when there is no room
function M.open(session)
  local chat = ensure_chat(session)
  local prompt = chat and ensure_prompt(session, chat)
  winbar.update(session)
  return prompt
end

---@param session acp.Session
---@return boolean the chat is seen in the current tab
function M.visible(session)
  return find(function(_, bufnr)
    return bufnr == session.bufnr
  end) ~= nil
end

---@param session acp.Session
---@return boolean done
function M.focus_prompt(session)
  if command_line_window.refuses() then
    return false
  end
  go_to_tab(session)
  local prompt = M.open(session)
  if not prompt then
    message.error("there is no room for the chat and its prompt: make the screen or the window larger")
    return false
  end
  opened(session.prompt_bufnr, function()
    api.nvim_set_current_win(prompt)
  end)
  if api.nvim_get_current_win() ~= prompt then -- an autocommand that failed prevented it
    vim.cmd(("noautocmd call win_gotoid(%d)"):format(prompt))
  end
  return true
end

---Closes chat and prompt in the current tab; the session goes on.
---@param session acp.Session
function M.close(session)
  for _, bufnr in ipairs({ session.prompt_bufnr, session.bufnr }) do
    local win = find(function(_, candidate)
      return candidate == bufnr
    end)
    if win and not pcall(api.nvim_win_close, win, false) then
      vim.wo[win].winfixbuf = false
      api.nvim_win_call(win, vim.cmd.enew) -- the last window of all
    end
  end
end

return M
