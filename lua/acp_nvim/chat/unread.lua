-- Counts what the agent says while nobody sees its chat, until somebody does.
local sessions = require("acp_nvim.sessions")
local winbar = require("acp_nvim.chat.winbar")
local windows = require("acp_nvim.chat.windows")

local M = {}

local has_focus = true -- until the terminal says something else; some never do

---@param session acp.Session
---@return boolean somebody sees its chat now, as far as Neovim knows
function M.is_seen(session)
  return has_focus and windows.visible(session)
end

---@return boolean
function M.has_focus()
  return has_focus
end

---@param session acp.Session
---@param count integer
local function set(session, count)
  if (session.unread or 0) ~= count then
    session.unread = count > 0 and count or nil
    winbar.update_all() -- other chats say that there is something
  end
end

---@param session acp.Session
---@param id integer of a block with a message
---@param kind string
function M.message(session, id, kind)
  if kind ~= "agent" or id <= (session.heard or 0) then
    return
  end
  session.heard = id
  if not M.is_seen(session) then
    set(session, (session.unread or 0) + 1)
  end
end

---A turn in which nothing was said is news, too.
---@param session acp.Session
function M.turn_ended(session)
  if not M.is_seen(session) then
    set(session, math.max(session.unread or 0, 1))
  end
end

---What is seen now has been read.
local function look()
  for _, session in ipairs(sessions.all()) do
    if session.unread and M.is_seen(session) then
      set(session, 0)
    end
  end
  winbar.turn()
end

---Notices from now on what is seen.
function M.watch()
  vim.api.nvim_create_autocmd({ "FocusLost", "FocusGained", "BufWinEnter", "WinEnter" }, {
    group = vim.api.nvim_create_augroup("acp_nvim.unread", {}),
    callback = function(event)
      if vim.startswith(event.event, "Focus") then
        has_focus = event.event == "FocusGained"
      end
      look() -- another tab page is another window, too
    end,
  })
end

return M
