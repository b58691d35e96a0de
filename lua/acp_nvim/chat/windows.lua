-- Opens, finds and closes the windows of chats and prompts.
local command_line_window = require("acp_nvim.windows.command_line")
local config = require("acp_nvim.config")
local fit = require("acp_nvim.chat.windows.fit")
local lazy = require("acp_nvim.lazy")
local frame = lazy("acp_nvim.chat.windows.frame")
local message = lazy("acp_nvim.message")
local sessions = require("acp_nvim.sessions")
local splits = require("acp_nvim.chat.windows.splits")
local stack = require("acp_nvim.chat.windows.stack")
local winbar = require("acp_nvim.chat.winbar")

local M = {}

local api = vim.api
local OPTIONS = vim.tbl_extend("error", stack.PLAIN, {
  conceallevel = 0,
  fillchars = "eob: ,fold: ",
  foldenable = true,
  linebreak = true,
  wrap = true,
})

local function set_options(win, fixed)
  for option, value in pairs(OPTIONS) do
    vim.wo[win][0][option] = value
  end
  if fixed then
    vim.wo[win][0][fixed] = true
  end
end

---@param win integer of a chat
local function set_chat_options(win, fixed)
  set_options(win, fixed)
  vim.wo[win][0].conceallevel = config.get().ui.conceal and 2 or 0
end

local function show_in(win, bufnr)
  local fixed = vim.wo[win].winfixbuf
  vim.wo[win].winfixbuf = false
  stack.opened(bufnr, function()
    api.nvim_win_set_buf(win, bufnr)
  end)
  vim.wo[win].winfixbuf = fixed
end

---@param even_last boolean close it even if it is the only window of its tab page
local function close(win, even_last)
  local session = api.nvim_win_is_valid(win) and sessions.of_buffer(api.nvim_win_get_buf(win))
  local tab = session and api.nvim_win_get_tabpage(win)
  if tab and (even_last or #api.nvim_tabpage_list_wins(tab) > 1) then
    pcall(api.nvim_win_close, win, false)
  end
end

---Closes window `other` when window `one` is closed.
local function close_together(one, other)
  api.nvim_create_autocmd("WinClosed", {
    pattern = tostring(one),
    once = true,
    callback = function()
      local by_itself = api.nvim_get_current_win() == one -- and not by :only in the other
      vim.schedule(function()
        close(other, by_itself)
        fit.soon()
      end)
    end,
  })
end

---@return integer? win with the chat in the current tab page; nil when there is no room
---@return boolean? is_new
local function ensure_chat(session, position)
  local bufnr = session.bufnr --[[@as integer]]
  local win, fixed = stack.showing(bufnr), nil
  if win then
    return win
  end
  win = stack.all("bufnr")[1]
  local is_new = not win
  if win then
    fixed = vim.wo[win].winfixwidth and "winfixwidth" or vim.wo[win].winfixheight and "winfixheight" or nil
    show_in(win, bufnr)
  elseif position == "float" then
    win = frame.open_chat(session)
  elseif position == "tab" then
    win = splits.open_tab(bufnr)
  else
    win, fixed = splits.open_chat(bufnr, position)
  end
  if not win then
    return nil
  end
  set_chat_options(win, fixed)
  api.nvim_win_set_cursor(win, { api.nvim_buf_line_count(bufnr), vim.v.maxcol })
  return win, is_new
end

---@return integer? win nil when there is no room
local function ensure_prompt(session, chat)
  local bufnr = session.prompt_bufnr --[[@as integer]]
  local win = stack.showing(bufnr)
  if win then
    return win
  end
  win = stack.all("prompt_bufnr")[1]
  if win then
    show_in(win, bufnr)
  else
    if stack.floats(chat) then
      win = frame.open_prompt(bufnr)
    else
      win = splits.open_prompt(bufnr, chat)
    end
    if not win then
      return nil
    end
    close_together(chat, win)
    if stack.floats(chat) then
      close_together(win, chat)
      frame.map(api.nvim_win_get_buf(chat))
      frame.map(bufnr)
    end
  end
  set_options(win, "winfixheight")
  fit.watch_prompt(bufnr)
  return win
end

---@return integer? prompt window
local function open_both(session, position)
  local chat, is_new = ensure_chat(session, position)
  local prompt = chat and ensure_prompt(session, chat)
  if chat and not prompt and is_new then -- a chat without a prompt is of no use
    pcall(api.nvim_win_close, chat, false)
  end
  return prompt
end

---Shows chat and prompt in the current tab page, or in a new one if there is no room; does not move the focus.
---@param session acp.Session with both buffers
---@return integer? prompt window; nil when there is no room
function M.open(session)
  local position = config.get().ui.position
  local prompt = open_both(session, position) or position ~= "tab" and open_both(session, "tab") or nil
  pcall(fit.now)
  winbar.update(session)
  return prompt
end

---@return boolean the chat is visible in the current tab page
function M.visible(session)
  return stack.showing(session.bufnr) ~= nil
end

---@return acp.Session? session whose chat is visible in the current tab page
function M.seen()
  local now = stack.current()
  return now and now.session
end

---Shows chat and prompt, and moves the focus to the prompt.
---@return boolean done
function M.focus_prompt(session)
  if command_line_window.refuses() then
    return false
  end
  local elsewhere = config.get().ui.position == "tab" and not M.visible(session)
  local win = elsewhere and vim.fn.win_findbuf(session.bufnr)[1]
  if win then -- the chat is open in another tab page
    api.nvim_set_current_tabpage(api.nvim_win_get_tabpage(win))
  end
  local prompt = M.open(session)
  if not prompt then
    message.error("there is no room for the chat and its prompt: make the screen or the window larger")
    return false
  end
  stack.opened(session.prompt_bufnr, function()
    api.nvim_set_current_win(prompt)
  end)
  if api.nvim_get_current_win() ~= prompt then -- an autocommand failed
    vim.cmd(("noautocmd call win_gotoid(%d)"):format(prompt))
  end
  return true
end

---Moves the focus to the chat of a stored conversation, which has no prompt, in a separate tab page.
function M.focus_chat(session)
  if command_line_window.refuses() then
    return
  end
  local bufnr = session.bufnr --[[@as integer]]
  local win = vim.fn.win_findbuf(bufnr)[1] or splits.open_tab(bufnr)
  if win then
    api.nvim_set_current_win(win)
    set_chat_options(win)
  end
end

---Closes chat and prompt in the current tab page; the session continues.
function M.close(session)
  if command_line_window.refuses() then
    return
  end
  for _, part in ipairs({ "prompt_bufnr", "bufnr" }) do
    local win = stack.showing(session[part])
    if win and not pcall(api.nvim_win_close, win, false) then
      vim.wo[win].winfixbuf = false
      api.nvim_win_call(win, vim.cmd.enew) -- the last window
    end
  end
  fit.soon()
end

fit.watch()

return M
