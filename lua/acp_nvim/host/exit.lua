-- What becomes of the sessions when their host has ended: all that was seen stays, and the next prompt goes on.
local autocmds = require("acp_nvim.autocmds")
local calls = require("acp_nvim.chat.calls")
local float = require("acp_nvim.permission.float")
local follow = require("acp_nvim.follow")
local host = require("acp_nvim.host")
local message = require("acp_nvim.message")
local permission = require("acp_nvim.permission")
local plans = require("acp_nvim.chat.plans")
local prompt = require("acp_nvim.prompt.buffer")
local queue = require("acp_nvim.prompt.queue")
local requests = require("acp_nvim.host.requests")
local sessions = require("acp_nvim.sessions")
local transcript = require("acp_nvim.chat.transcript")
local winbar = require("acp_nvim.chat.winbar")

local M = {}

---@param session acp.Session
---@param words string
---@param last string[]
local function session_lost(session, words, last)
  for _, one in ipairs(permission.abandon(session)) do
    autocmds.fire("AcpPermissionDone", { session = session.key, id = one.request.id, outcome = "cancelled" })
  end
  local text = words
  local back, count = queue.lose_host(session), #queue.prompts(session)
  if #back > 0 then
    prompt.restore(session, back)
    text = text .. "\nWhat the agent had not seen yet is back in the prompt."
  end
  if count > 0 then
    text = text .. "\nWhat is queued is kept, and goes out with your next prompt."
  end
  calls.over(session)
  requests.note(session, "error", text .. (#last > 0 and "\n" .. table.concat(last, "\n") or ""))
  local status = vim.tbl_extend("force", session.status, { state = "failed", pending_permissions = 0, queue = count })
  status.activity, status.turn_started = nil, nil
  session.status = status
  plans.over(session)
  winbar.update(session)
end

---@param words string
---@param code integer
---@param last string[]
local function host_lost(words, code, last)
  message.news(words)
  permission.forget()
  float.forget()
  follow.lost()
  for _, session in ipairs(sessions.all()) do
    local is_concerned = session.status.state ~= "stopped" or #queue.unsent(session) > 0
    if session.host and not session.kept and is_concerned then
      session_lost(session, words, last)
    end
  end
  transcript.flush()
  autocmds.fire("AcpError", { text = words, code = code })
end

---Listens for the end of the host.
function M.watch()
  host.on_exit(host_lost)
end

return M
