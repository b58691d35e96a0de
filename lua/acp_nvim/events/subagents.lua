-- Shows the subagents of an agent: a block in the chat of their parent, which opens a chat of its own.
local autocmds = require("acp_nvim.kernel.autocmds")
local block = require("acp_nvim.transcript.blocks.subagent")
local chat_buffer = require("acp_nvim.chat.buffer")
local follow = require("acp_nvim.follow")
local highlights = require("acp_nvim.kernel.highlights")
local host = require("acp_nvim.host")
local lazy = require("acp_nvim.lazy")
local client = lazy("acp_nvim.sessions.client")
local message = require("acp_nvim.kernel.message")
local read_only = require("acp_nvim.actions.read_only")
local requests = require("acp_nvim.host.requests")
local sessions = require("acp_nvim.host.sessions")
local targets = require("acp_nvim.actions.targets")
local transcript = require("acp_nvim.transcript")
local winbar = require("acp_nvim.chat.winbar")
local windows = require("acp_nvim.chat.windows")

local M = {}

---@type table<integer, acp.Event> the last event of each subagent, by the key of its session
local last = {}

---@param parent acp.Session
---@param event acp.Event of type subagent
function M.changed(parent, event)
  local view = event.subagent
  local child = sessions.add_child(view.session, parent)
  child.status.title, child.status.session_id = view.title, view.session_id -- before its own status comes
  local before, now = last[child.key] and last[child.key].subagent.state, view.state
  last[child.key] = event
  if (before == "running") ~= (now == "running") then
    if now == "running" then
      follow.turn_began(child.key, true)
    else
      follow.turn_ended(child.key)
    end
  end
  if event.block > 0 then
    transcript.draw(parent, event.block, "subagent", block(view))
  end
  if before ~= now then
    autocmds.fire("AcpSubagent", { session = parent.key, subagent = view })
  end
end

local function set_up(session, bufnr)
  read_only.attach(session, bufnr, "to the prompt of its agent", function()
    local owner = sessions.owner(session)
    if owner then
      client.show(owner)
    end
  end, function()
    requests.redraw(session)
  end)
end

---Opens the chat of a subagent.
---@param key integer of its session
function M.open(key)
  local session = sessions.get(key)
  if not session then
    return message.info("the conversation of this subagent was not stored")
  end
  highlights.define()
  if chat_buffer.ensure(session) then
    set_up(session, session.bufnr)
    if not requests.redraw(session) then
      chat_buffer.restore_text(session)
    end
  end
  windows.focus_chat(session)
  winbar.update(session)
end

---Forgets a subagent that the host does not keep any more. Its block stays.
---@param key integer of its session
function M.forgotten(key)
  local session = sessions.get(key)
  if session and session.parent then
    client.forget(session)
    last[key] = nil
  end
end

---Shows the subagents of the host that has ended as over.
local function end_all()
  for _, parent in ipairs(sessions.all()) do
    for _, child in ipairs(sessions.children(parent)) do
      local event = last[child.key]
      if event and event.subagent.state ~= "idle" then
        local view = vim.tbl_extend("force", event.subagent, { state = "stopped" })
        view.activity = nil
        M.changed(parent, vim.tbl_extend("force", event, { subagent = view }))
      end
    end
  end
end

---@return acp.Subagent[] what is known of the subagents that the present host knows, in the order of their creation
function M.of(parent)
  local children = vim.tbl_filter(function(child)
    return child.host == parent.host
  end, sessions.children(parent))
  table.sort(children, function(one, other)
    return one.key < other.key
  end)
  return vim.tbl_map(function(child)
    return last[child.key].subagent
  end, children)
end

targets.set_open_subagent(M.open)
host.on_exit(end_all)

return M
