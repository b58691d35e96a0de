-- Shows kept conversations: chats without an agent and a prompt.
local chat_buffer = require("acp_nvim.chat.buffer")
local highlights = require("acp_nvim.kernel.highlights")
local message = require("acp_nvim.kernel.message")
local read_only = require("acp_nvim.actions.read_only")
local requests = require("acp_nvim.host.requests")
local sessions = require("acp_nvim.host.sessions")
local windows = require("acp_nvim.chat.windows")
local winbar = require("acp_nvim.chat.winbar")

local M = {}

local function set_up(session, bufnr)
  read_only.attach(session, bufnr, "continue it", "<Plug>(AcpSessionActions)", function()
    requests.redraw(session)
  end)
end

local function go_to_text(session)
  local query, win = session.kept_query, session.bufnr and vim.fn.bufwinid(session.bufnr) or -1
  session.kept_query = nil
  if query and query ~= "" and win ~= -1 then
    vim.api.nvim_win_call(win, function()
      vim.api.nvim_win_set_cursor(win, { 1, 0 })
      vim.fn.search("\\c\\V" .. query:gsub("\\", "\\\\"), "cW")
    end)
  end
end

---Opens a kept conversation, at the text that was searched for.
---@param found acp.FoundSession
---@param query string
function M.show(found, query)
  local session = vim.iter(sessions.all()):find(function(one)
    return one.kept == found.id
  end)
  if not session then
    session = sessions.new(found.agent, found.cwd)
    session.kept = found.id
    local since = os.date("%Y-%m-%d %H:%M", math.floor(found.started))
    session.status = {
      agent = found.agent,
      agent_title = found.agent,
      title = ("%skept since %s"):format(found.title and found.title .. ", " or "", since),
      state = "stopped",
      pending_permissions = 0,
      queue = 0,
    }
  end
  session.kept_query = query
  highlights.define()
  if chat_buffer.ensure(session) then
    set_up(session, session.bufnr)
    requests.redraw(session)
    windows.focus_chat(session)
  else
    windows.focus_chat(session)
    go_to_text(session)
  end
  winbar.update(session)
end

---Moves the cursor to the text, when the whole conversation was received.
---@param event acp.Event of type transcript_shown
function M.received(session, event)
  if event.problem then
    message.error(("this conversation cannot be shown: %s"):format(event.problem))
  end
  vim.schedule(function() -- after the batch, in which windows stay at the end
    go_to_text(session)
  end)
end

return M
