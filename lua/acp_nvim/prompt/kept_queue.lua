-- Keeps the prompts that wait when their host ends, and hands them to the next one.
local drafts = require("acp_nvim.prompt.drafts")
local host = require("acp_nvim.host")
local queue = require("acp_nvim.prompt.queue")

local M = {}

---@class acp.KeptPrompt
---@field id integer of a prompt that no host knows: below zero
---@field text string
---@field context_names string[]
---@field context? acp.ContextItem[]

---@param session acp.Session
---@return acp.KeptPrompt[]
local function waiting(session)
  local kept = {}
  for index, prompt in ipairs(session.queue and session.queue.prompts or {}) do
    local context = session.sent_context[prompt.text]
    local names = prompt.context_names or {}
    table.insert(kept, { id = -index, text = prompt.text, context_names = names, context = context })
  end
  return kept
end

---The user changes what waits: what comes along with it is the same.
---@param session acp.Session
---@param wanted { id?: integer, text: string, context?: acp.ContextItem[] }[]
function M.changed(session, wanted)
  local before = {}
  for _, one in ipairs(session.queue and session.queue.prompts or {}) do
    before[one.id] = session.sent_context[one.text]
  end
  for _, one in ipairs(wanted) do
    session.sent_context[one.text] = vim.list_extend(vim.list_slice(before[one.id] or {}), one.context or {})
  end
end

---The host has ended: they wait until the user sends another one.
---@param session acp.Session
---@return integer count
function M.keep(session)
  local kept = waiting(session)
  session.queue = #kept > 0 and { held = true, prompts = kept } or nil
  session.keeps_queue = #kept > 0
  queue.show(session)
  return #kept
end

---What the user makes of them while there is no host.
---@param session acp.Session
---@param wanted { id?: integer, text: string, context?: acp.ContextItem[] }[]
---@return boolean done false when it is not for us to say
function M.set(session, wanted)
  if not session.keeps_queue then
    return false
  end
  local before, now = {}, {}
  for _, one in ipairs(session.queue.prompts) do
    before[one.id] = one
  end
  for index, one in ipairs(wanted) do
    local was = one.id and before[one.id] or {}
    local context = one.context or was.context
    table.insert(now, { id = -index, text = one.text, context_names = was.context_names or {}, context = context })
  end
  session.queue = { held = true, prompts = now }
  queue.show(session)
  drafts.changed(session)
  return true
end

---Another host knows nothing of them yet.
---@param session acp.Session with a new status
function M.status(session)
  if session.keeps_queue then
    session.status.queue = #session.queue.prompts
  end
end

---Another host knows the session now, and the user sends something.
---@param session acp.Session
function M.hand_over(session)
  if not session.keeps_queue then
    return
  end
  session.keeps_queue = nil
  local prompts = {}
  for _, one in ipairs(session.queue.prompts) do
    table.insert(prompts, { text = one.text, context = one.context })
  end
  host.send("queue_set", { session = session.key, prompts = prompts, known = {} })
end

return M
