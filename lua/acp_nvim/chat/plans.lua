-- Shows the plans of a session; each has its title once there are several.
local draw_plan = require("acp_nvim.chat.blocks.plan")
local transcript = require("acp_nvim.chat.transcript")

local M = {}

---@param session acp.Session
---@param plan acp.Plan
local function draw(session, plan)
  transcript.draw(session, plan.block, "plan", draw_plan(plan, session.plans.several))
end

---@param session acp.Session
function M.forget(session)
  session.plans = { shown = {}, several = false }
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
    return
  end
  plans.several = true
  for _, plan in pairs(plans.shown) do
    draw(session, plan)
  end
end

return M
