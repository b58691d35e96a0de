-- Finds the windows of a chat in the current tab page: the chat, its prompt below it, and the plans between them.
local message = require("acp_nvim.message")
local sessions = require("acp_nvim.sessions")

local M = {}

local api = vim.api

---@class acp.Stack
---@field session acp.Session
---@field chat integer window
---@field prompt? integer window
---@field pin? integer window with the plans

---Options of all these windows: nothing beside the text, whatever the user has chosen for code.
M.PLAIN = {
  breakindent = false, -- it takes as long as all else that is measured to place the cursor
  colorcolumn = "",
  concealcursor = "",
  cursorbind = false,
  cursorline = false,
  diff = false,
  foldcolumn = "0",
  list = false,
  number = false,
  relativenumber = false,
  scrollbind = false,
  signcolumn = "no",
  spell = false,
  statuscolumn = "",
  winhighlight = "", -- with groups of a window Neovim finds out what all groups look like, at each redraw
}

---@param bufnr? integer
---@return integer? win of the current tab that shows the buffer
function M.showing(bufnr)
  local win = bufnr and vim.fn.bufwinid(bufnr) or -1
  return win ~= -1 and win or nil
end

---What opens windows runs autocommands of others; when one fails the window may be there all the same.
---@param bufnr integer that should be seen now
---@param open fun()
---@return integer? win of the current tab; nil when there was no room
function M.opened(bufnr, open)
  local ok, err = pcall(open)
  local win = M.showing(bufnr)
  if not ok and win then
    message.warn("an autocommand failed: " .. (tostring(err):gsub("^%S+%.lua:%d+: ", "")))
  end
  return win
end

---Marks a window that shows no session by itself.
---@param win integer
---@param part "pin"|"frame"
function M.mark(win, part)
  vim.w[win].acp_nvim_part = part
end

---@param part "pin"|"frame"
---@return integer? win of the current tab
function M.part(part)
  return vim.iter(api.nvim_tabpage_list_wins(0)):find(function(win)
    return vim.w[win].acp_nvim_part == part
  end)
end

---The windows of all chats, or of all prompts.
---@param part "bufnr"|"prompt_bufnr"
---@return integer[] windows of the current tab
function M.all(part)
  return vim.tbl_filter(function(win)
    local session = sessions.of_buffer(api.nvim_win_get_buf(win))
    return session ~= nil and api.nvim_win_get_buf(win) == session[part]
  end, api.nvim_tabpage_list_wins(0))
end

---@param chat integer
---@param prompt integer
---@return boolean one is below the other, as we have opened them; or they share a frame
local function belong(chat, prompt)
  if M.floats(chat) or M.floats(prompt) then
    return M.floats(chat) and M.floats(prompt)
  end
  local above, below = api.nvim_win_get_position(chat), api.nvim_win_get_position(prompt)
  local same = above[2] == below[2] and api.nvim_win_get_width(chat) == api.nvim_win_get_width(prompt)
  return same and above[1] < below[1]
end

---@return acp.Stack? nil when no chat is seen in the current tab
function M.current()
  local chats = M.all("bufnr")
  local chat, prompt = chats[1], nil
  for _, below in ipairs(M.all("prompt_bufnr")) do
    for _, above in ipairs(prompt and {} or chats) do
      if belong(above, below) then
        chat, prompt = above, below
      end
    end
  end
  if chat then
    local session = sessions.of_buffer(api.nvim_win_get_buf(chat)) --[[@as acp.Session]]
    return { session = session, chat = chat, prompt = prompt, pin = M.part("pin") }
  end
end

---@param win integer
---@return boolean
function M.floats(win)
  return api.nvim_win_get_config(win).relative ~= ""
end

return M
