-- Opens, finds and closes the windows of a chat and its prompt.
local command_line_window = require("acp_nvim.command_line_window")
local config = require("acp_nvim.config")
local fit = require("acp_nvim.chat.fit")
local frame = require("acp_nvim.chat.frame")
local message = require("acp_nvim.message")
local plain_window = require("acp_nvim.chat.plain_window")
local sessions = require("acp_nvim.sessions")
local splits = require("acp_nvim.chat.splits")
local stack = require("acp_nvim.chat.stack")
local winbar = require("acp_nvim.chat.winbar")

local M = {}

local api = vim.api
local LOOK = vim.tbl_extend("error", plain_window, {
  conceallevel = 0,
  fillchars = "eob: ,fold: ",
  foldenable = true,
  linebreak = true,
  wrap = true,
})

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

---@param win integer
---@param bufnr integer
local function show_in(win, bufnr)
  local fixed = vim.wo[win].winfixbuf
  vim.wo[win].winfixbuf = false
  stack.opened(bufnr, function()
    api.nvim_win_set_buf(win, bufnr)
  end)
  vim.wo[win].winfixbuf = fixed
end

---@param session acp.Session
---@param position string
---@return integer? win nil when there is no room
---@return "winfixwidth"|"winfixheight"|nil fixed
local function open_chat(session, position)
  local bufnr = session.bufnr --[[@as integer]]
  if position == "float" then
    return frame.open_chat(session), nil
  elseif position == "tab" then
    return splits.open_tab(bufnr), nil
  end
  return splits.open_chat(bufnr, position)
end

---@param bufnr integer
---@param chat integer
---@return integer? win
local function open_prompt(bufnr, chat)
  if stack.floats(chat) then
    return frame.open_prompt(bufnr)
  end
  return splits.open_prompt(bufnr, chat)
end

---@param win integer
---@param even_last boolean it may be the only one of its tab, if there are other tabs
local function close(win, even_last)
  local session = api.nvim_win_is_valid(win) and sessions.of_buffer(api.nvim_win_get_buf(win))
  local tab = session and api.nvim_win_get_tabpage(win)
  if tab and (even_last or #api.nvim_tabpage_list_wins(tab) > 1) then
    pcall(api.nvim_win_close, win, false)
  end
end

---The prompt goes with its chat; in one frame the chat goes with its prompt, too.
---@param one integer
---@param other integer
local function close_together(one, other)
  api.nvim_create_autocmd("WinClosed", {
    pattern = tostring(one),
    once = true,
    callback = function()
      local by_itself = api.nvim_get_current_win() == one -- not by :only in the other
      vim.schedule(function()
        close(other, by_itself)
        fit.soon()
      end)
    end,
  })
end

---@param chat integer
---@param prompt integer
local function join(chat, prompt)
  close_together(chat, prompt)
  if stack.floats(chat) then
    close_together(prompt, chat)
    frame.map(api.nvim_win_get_buf(chat))
    frame.map(api.nvim_win_get_buf(prompt))
  end
end

---@param session acp.Session
---@param position string
---@return integer? win of the current tab, with the chat in it; nil when there is no room
---@return boolean? opened it was not there before
local function ensure_chat(session, position)
  local win = stack.find(function(_, bufnr)
    return bufnr == session.bufnr
  end)
  if win then
    return win
  end
  win = stack.find(function(other, bufnr)
    return bufnr == other.bufnr
  end)
  local fixed
  local is_new = not win
  if win then
    fixed = vim.wo[win].winfixwidth and "winfixwidth" or vim.wo[win].winfixheight and "winfixheight" or nil
    show_in(win, session.bufnr)
  else
    win, fixed = open_chat(session, position)
  end
  if not win then
    return nil
  end
  dress(win, fixed)
  vim.wo[win][0].conceallevel = config.get().ui.conceal and 2 or 0
  api.nvim_win_set_cursor(win, { api.nvim_buf_line_count(session.bufnr), vim.v.maxcol })
  return win, is_new
end

---@param session acp.Session
---@param chat integer
---@return integer? win nil when there is no room
local function ensure_prompt(session, chat)
  local win = stack.find(function(_, bufnr)
    return bufnr == session.prompt_bufnr
  end)
  if win then
    return win
  end
  win = stack.find(function(other, bufnr)
    return bufnr == other.prompt_bufnr
  end)
  if win then
    show_in(win, session.prompt_bufnr)
  else
    win = open_prompt(session.prompt_bufnr, chat)
    if win then
      join(chat, win)
    end
  end
  if win then
    dress(win, "winfixheight")
    fit.watch_prompt(session.prompt_bufnr)
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

---@param session acp.Session
---@param position string
---@return integer? prompt window
local function open_both(session, position)
  local chat, is_new = ensure_chat(session, position)
  local prompt = chat and ensure_prompt(session, chat)
  if chat and not prompt and is_new then -- a chat without a prompt is of no use
    pcall(api.nvim_win_close, chat, false)
  end
  return prompt
end

---Shows chat and prompt in the current tab, or in a new one where there is no room; the focus stays where it is.
---@param session acp.Session with both buffers
---@return integer? prompt window; nil when there is no room
function M.open(session)
  local position = config.get().ui.position
  local prompt = open_both(session, position) or position ~= "tab" and open_both(session, "tab") or nil
  pcall(fit.now)
  winbar.update(session)
  return prompt
end

---@param session acp.Session
---@return boolean the chat is seen in the current tab
function M.visible(session)
  return stack.find(function(_, bufnr)
    return bufnr == session.bufnr
  end) ~= nil
end

---@return acp.Session? whose chat is seen in the current tab
function M.seen()
  local now = stack.current()
  return now and now.session
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
  stack.opened(session.prompt_bufnr, function()
    api.nvim_set_current_win(prompt)
  end)
  if api.nvim_get_current_win() ~= prompt then -- an autocommand that failed prevented it
    vim.cmd(("noautocmd call win_gotoid(%d)"):format(prompt))
  end
  return true
end

---Goes to a chat that has no prompt: a kept conversation, in a tab of its own.
---@param session acp.Session
function M.focus_chat(session)
  if command_line_window.refuses() then
    return
  end
  local bufnr = session.bufnr --[[@as integer]]
  local win = vim.fn.win_findbuf(bufnr)[1]
  win = win or stack.opened(bufnr, function()
    vim.cmd(("keepalt tab sbuffer %d"):format(bufnr))
  end)
  if win then
    api.nvim_set_current_win(win)
    dress(win)
    vim.wo[win][0].conceallevel = config.get().ui.conceal and 2 or 0
  end
end

---Closes chat and prompt in the current tab; the session goes on.
---@param session acp.Session
function M.close(session)
  if command_line_window.refuses() then
    return
  end
  for _, part in ipairs({ "prompt_bufnr", "bufnr" }) do
    local win = stack.find(function(_, candidate)
      return candidate == session[part]
    end)
    if win and not pcall(api.nvim_win_close, win, false) then
      vim.wo[win].winfixbuf = false
      api.nvim_win_call(win, vim.cmd.enew) -- the last window of all
    end
  end
  fit.soon()
end

fit.watch()

return M
