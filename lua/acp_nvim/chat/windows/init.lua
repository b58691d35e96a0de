-- Opens, finds and closes the windows of chats and prompts.
local code_windows = require("acp_nvim.windows.open")
local command_line_window = require("acp_nvim.kernel.command_line")
local config = require("acp_nvim.config")
local edge = require("acp_nvim.windows.edge")
local fit = require("acp_nvim.chat.windows.fit")
local lazy = require("acp_nvim.lazy")
local frame = lazy("acp_nvim.chat.windows.frame")
local message = lazy("acp_nvim.kernel.message")
local own = require("acp_nvim.windows.own")
local sessions = require("acp_nvim.host.sessions")
local splits = require("acp_nvim.chat.windows.splits")
local stack = require("acp_nvim.chat.windows.stack")
local winbar = require("acp_nvim.chat.winbar")

local M = {}

local api = vim.api
local FILL = "eob: ,fold: "

---@param win integer of a chat
---@param fixed? "winfixwidth"|"winfixheight"
local function set_up_chat(win, fixed)
  local options = { conceallevel = config.get().ui.conceal and 2 or 0, fillchars = FILL, foldenable = true }
  if fixed then
    options[fixed] = true
  end
  own.set_options(win, options)
  own.set_filetype(win, "acp_chat")
  vim.bo[api.nvim_win_get_buf(win)].syntax = "" -- highlights come from the blocks
end

---@param win integer of a prompt
local function set_up_prompt(win)
  own.set_options(win, { conceallevel = 0, fillchars = FILL, winfixheight = true })
  own.set_filetype(win, "acp_prompt")
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

---@return boolean only floating windows are beside it in its tab page
local function is_below_floats(win)
  local others = vim.tbl_filter(function(other)
    return other ~= win
  end, api.nvim_tabpage_list_wins(api.nvim_win_get_tabpage(win)))
  return #others > 0
    and vim.iter(others):all(function(other)
      return api.nvim_win_get_config(other).relative ~= ""
    end)
end

---Closes the windows of prompts in the current tab page.
---@param kept? integer window that stays
local function close_prompts(kept)
  for _, win in ipairs(stack.all("prompt_bufnr")) do
    if win ~= kept and not stack.floats(win) and is_below_floats(win) then -- a floating chat would be closed with it
      own.empty(win)
    elseif win ~= kept then
      own.close(win)
    end
  end
end

---Closes the prompt with its chat, and a floating chat with its prompt.
local function tie(chat, prompt)
  close_together(chat, prompt)
  if stack.floats(chat) then
    close_together(prompt, chat)
    frame.map(api.nvim_win_get_buf(chat))
    frame.map(api.nvim_win_get_buf(prompt))
  end
end

---@return integer? win with the chat in the current tab page; nil when there is no room
---@return boolean? is_new
local function ensure_chat(session, position)
  local bufnr = session.bufnr --[[@as integer]]
  local win, fixed = stack.showing(bufnr), nil
  if win then
    if not own.is_set_up(win) then
      set_up_chat(win)
    end
    return win
  end
  local now = stack.current()
  win = now and now.chat
  local is_new = not win
  if win then
    fixed = vim.wo[win].winfixwidth and "winfixwidth" or vim.wo[win].winfixheight and "winfixheight" or nil
    own.set_buffer(win, bufnr)
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
  if is_new then -- prompts of a chat that is not here any more
    close_prompts()
  end
  set_up_chat(win, fixed)
  api.nvim_win_set_cursor(win, { api.nvim_buf_line_count(bufnr), vim.v.maxcol })
  return win, is_new
end

---@return integer? win nil when there is no room
local function ensure_prompt(session, chat)
  local bufnr = session.prompt_bufnr --[[@as integer]]
  local now = stack.current()
  local win = now and now.prompt or stack.all("prompt_bufnr")[1]
  local is_tied = win ~= nil and own.is_set_up(win)
  close_prompts(win)
  if not win and stack.floats(chat) then
    win = frame.open_prompt(bufnr)
  elseif not win then
    win = splits.open_prompt(bufnr, chat)
  elseif api.nvim_win_get_buf(win) ~= bufnr then
    own.set_buffer(win, bufnr)
  end
  if not win then
    return nil
  end
  if not is_tied then
    tie(chat, win)
  end
  if not own.is_set_up(win) then
    set_up_prompt(win)
    fit.watch_prompt(bufnr)
  end
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
  local elsewhere = not M.visible(session) and not splits.has_room(config.get().ui.position)
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
    set_up_chat(win)
  end
end

---Closes chat and prompt in the current tab page; the session continues.
function M.close(session)
  if command_line_window.refuses() then
    return
  end
  local before = vim.fn.win_getid(vim.fn.winnr("#"))
  if before == 0 or own.is_set_up(before) then
    before = code_windows.other() or before
  end
  edge.closing(function()
    for _, part in ipairs({ "prompt_bufnr", "bufnr" }) do
      local win = stack.showing(session[part])
      if win then
        own.close(win, false, before)
      end
    end
  end)
  fit.soon()
end

fit.watch()
require("acp_nvim.windows.restored").close() -- of a session that was loaded before the plugin

return M
