-- Finds the windows of a chat in the current tab page: chat, plans and prompt.
local own = require("acp_nvim.windows.own")
local sessions = require("acp_nvim.host.sessions")

local M = {}

local api = vim.api

---@class acp.Stack
---@field session acp.Session
---@field chat integer window
---@field prompt? integer window
---@field pin? integer window with the plans

---@return integer? win of the current tab page with the buffer
function M.showing(bufnr)
  local win = bufnr and vim.fn.bufwinid(bufnr) or -1
  return win ~= -1 and win or nil
end

---Opens a window, whose autocommands may fail after it was opened.
---@param bufnr integer that the window shows
---@param open fun()
---@return integer? win of the current tab page; nil when there was no room
function M.opened(bufnr, open)
  local ok, err = pcall(open)
  local win = M.showing(bufnr)
  if not ok and win then
    own.report(err)
  end
  return win
end

---Marks a window whose buffer belongs to no session.
---@param part "pin"|"frame"
function M.mark(win, part)
  vim.w[win].acp_nvim_part = part
end

---@param part "pin"|"frame"
---@return integer? win of the current tab page
function M.part(part)
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    if vim.w[win].acp_nvim_part == part then
      return win
    end
  end
end

---Returns the windows of all chats, or of all prompts, in the current tab page.
---@param part "bufnr"|"prompt_bufnr"
---@return integer[]
function M.all(part)
  return vim.tbl_filter(function(win)
    local session = sessions.of_buffer(api.nvim_win_get_buf(win))
    return session ~= nil and api.nvim_win_get_buf(win) == session[part]
  end, api.nvim_tabpage_list_wins(0))
end

---Whether the prompt is below the chat as opened by the plugin, or both are floating windows.
local function belong(chat, prompt)
  if M.floats(chat) or M.floats(prompt) then
    return M.floats(chat) and M.floats(prompt)
  end
  local above, below = api.nvim_win_get_position(chat), api.nvim_win_get_position(prompt)
  local same = above[2] == below[2] and api.nvim_win_get_width(chat) == api.nvim_win_get_width(prompt)
  return same and above[1] < below[1]
end

---@return acp.Stack? nil when no chat is visible in the current tab page
function M.current()
  local chats = M.all("bufnr")
  local chat, prompt = chats[1], nil
  for _, below in ipairs(M.all("prompt_bufnr")) do
    for _, above in ipairs(chats) do
      if belong(above, below) then -- the last one is the nearest
        chat, prompt = above, below
      end
    end
  end
  if chat then
    local session = sessions.of_buffer(api.nvim_win_get_buf(chat)) --[[@as acp.Session]]
    return { session = session, chat = chat, prompt = prompt, pin = M.part("pin") }
  end
end

function M.floats(win)
  return api.nvim_win_get_config(win).relative ~= ""
end

return M
