-- Keeps the plans of a session: each has its block in the chat, and those of the turn that runs are told to who listens.
local block = require("acp_nvim.chat.blocks.plan")
local transcript = require("acp_nvim.chat.transcript")

local M = {}

---@type fun(session: acp.Session)[]
local listeners = {}
local changes = 0

---@param listener fun(session: acp.Session) called when the living plans are others
function M.on_change(listener)
  table.insert(listeners, listener)
end

---@param session acp.Session
local function tell(session)
  for _, listener in ipairs(listeners) do
    listener(session)
  end
end

---@param session acp.Session
---@param plan acp.Plan
local function draw(session, plan)
  transcript.draw(session, plan.block, "plan", block.draw(plan, session.plans.several, session.cwd))
end

---The turn is over: its plans stay in the chat.
---@param session acp.Session
function M.over(session)
  if next(session.plans.living) then
    session.plans.living = {}
    tell(session)
  end
end

---@param session acp.Session
function M.forget(session)
  M.over(session)
  session.plans = { shown = {}, living = {}, several = false }
end

---@param session acp.Session
---@param plan acp.Plan
local function live(session, plan)
  local is_empty = #plan.entries == 0 and not (plan.text or ""):find("%S") and not plan.uri
  local living = session.plans.living
  if plan.removed or plan.over or is_empty then
    if not living[plan.block] then
      return
    end
    living[plan.block] = nil
  else
    local done, total = block.count(plan)
    changes = changes + 1
    living[plan.block] = { plan = plan, done = done, total = total, change = changes }
  end
  tell(session)
end

---@param session acp.Session
---@param event acp.Plan
function M.show(session, event)
  event.entries = event.entries or {}
  local plans = session.plans
  plans.title = plans.title or event.title
  plans.shown[event.block] = event
  if plans.several or event.title == nil or event.title == plans.title then
    draw(session, event)
  else
    plans.several = true
    for _, plan in pairs(plans.shown) do
      draw(session, plan)
    end
  end
  live(session, event)
end

---@param session acp.Session
---@return acp.LivingPlan[] in their order
function M.living(session)
  local list = vim.tbl_values(session.plans.living)
  table.sort(list, function(a, b)
    return a.plan.block < b.plan.block
  end)
  return list
end

return M
