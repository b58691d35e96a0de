-- Counts messages that arrive while their chat is not visible.
local sessions = require("acp_nvim.host.sessions")
local winbar = require("acp_nvim.chat.winbar")
local windows = require("acp_nvim.chat.windows")

local M = {}

local has_focus = true -- until the terminal reports otherwise; some terminals never report focus

---@return boolean its chat is in the current tab page, and the terminal has the focus
function M.is_seen(session)
  return has_focus and windows.visible(session)
end

function M.has_focus()
  return has_focus
end

local function set(session, count)
  if (session.unread or 0) ~= count then
    session.unread = count > 0 and count or nil
    winbar.update_all() -- the bars of other chats count unread chats
  end
end

---Counts a new message of the agent if its chat is not visible.
---@param id integer of its block
function M.message(session, id, kind)
  if kind ~= "agent" or id <= (session.heard or 0) then
    return
  end
  session.heard = id
  if not M.is_seen(session) then
    set(session, (session.unread or 0) + 1)
  end
end

---Counts a turn that ended without a message as one message.
function M.turn_ended(session)
  if not M.is_seen(session) then
    set(session, math.max(session.unread or 0, 1))
  end
end

---Marks visible chats as read.
local function mark_read()
  for _, session in ipairs(sessions.all()) do
    if session.unread and M.is_seen(session) then
      set(session, 0)
    end
  end
  winbar.turn()
end

---Starts watching focus and windows.
function M.watch()
  vim.api.nvim_create_autocmd({ "FocusLost", "FocusGained", "BufWinEnter", "WinEnter" }, {
    group = vim.api.nvim_create_augroup("acp_nvim.unread", {}),
    callback = function(event)
      if vim.startswith(event.event, "Focus") then
        has_focus = event.event == "FocusGained"
      end
      mark_read() -- changing the tab page enters a window, too
    end,
  })
end

return M
