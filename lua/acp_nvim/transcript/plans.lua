-- Keeps the plans of a session and draws each as a block of the chat: its progress, and its entries, text or file. Calls
-- listeners when the plans of the running turn change.
local lazy = require("acp_nvim.lazy")
local Lines = lazy("acp_nvim.render.lines")
local config = require("acp_nvim.config")
local content = lazy("acp_nvim.transcript.blocks.content")
local paths = lazy("acp_nvim.render.paths")
local transcript = require("acp_nvim.transcript")

local M = {}

local PLAN_LINES = 200 -- of a plan that is a text: users read plans whole, and longer texts are no plans
---@type table<string, { mark: string, group?: string }>
local MARKS = {
  completed = { mark = "✓", group = "AcpPlanDone" },
  in_progress = { mark = "▸", group = "AcpPlanActive" },
  pending = { mark = "○" },
  cancelled = { mark = "–", group = "AcpPlanDone" },
}

---@type fun(session: acp.Session)[]
local listeners = {}
local changes = 0

---@param listener fun(session: acp.Session) called when the plans of the running turn change
function M.on_change(listener)
  table.insert(listeners, listener)
end

local function notify(session)
  for _, listener in ipairs(listeners) do
    listener(session)
  end
end

---@return integer done
---@return integer total entries, or boxes of a markdown task list; 0: unknown
local function count(plan)
  local done, total = 0, #plan.entries + (plan.left or 0)
  for _, entry in ipairs(plan.entries) do
    done = done + (entry.status == "completed" and 1 or 0)
  end
  if total == 0 then
    for box in ("\n" .. (plan.text or "")):gmatch("\n%s*[-*+]%s+%[([ xX])%]%s") do
      done, total = done + (box ~= " " and 1 or 0), total + 1
    end
  end
  return done, total
end

---@return boolean steps are left open, and nobody works on them any more
local function is_unfinished(plan)
  local done, total = count(plan)
  for _, entry in ipairs(plan.entries) do
    done = done + (entry.status == "cancelled" and 1 or 0)
  end
  return plan.over == true and not plan.removed and done < total - (plan.left or 0)
end

function M.header(plan, named)
  local title = named and Lines.one_line(plan.title) or ""
  local words = title ~= "" and "Plan " .. title or "Plan"
  local done, total = count(plan)
  if total > 0 or not (plan.text or plan.uri) then
    words = ("%s (%d/%d)"):format(words, done, total)
  end
  return plan.removed and words .. " [removed]" or is_unfinished(plan) and words .. " [not finished]" or words
end

---@param entry acp.PlanEntry
---@param over? boolean the turn of its plan has ended
---@return string
---@return string? group
function M.entry(entry, over)
  local known = MARKS[over and entry.status == "in_progress" and "pending" or entry.status]
  local note = known and "" or (" [%s]"):format(Lines.one_line(entry.status))
  return (known and known.mark or "○") .. " " .. Lines.one_line(entry.content) .. note, known and known.group
end

local function add_body(out, session, plan)
  for _, entry in ipairs(plan.entries) do
    local words, group = M.entry(entry, plan.over)
    out:add({ "  ", { words, group } })
  end
  if (plan.left or 0) > 0 then
    out:add_more(plan.left, "  ")
  end
  if plan.uri then
    out.targets[#out.lines] = { uri = plan.uri }
    out:add({ "  ", { paths.short((plan.uri:gsub("^file://", "")), session.cwd), "AcpLink" } })
  end
  content.add_text(out, plan.text, PLAN_LINES)
end

local function draw(session, plan)
  local out = Lines.new()
  out:add({ { M.header(plan, session.plans.several), "AcpAgentHeader" } })
  if config.get().ui.plan then
    add_body(out, session, plan)
  end
  transcript.draw(session, plan.block, "plan", out:rendered())
end

---Deactivates the plans of a turn; their blocks stay in the chat, and tell what is left open.
function M.end_turn(session)
  local active = session.plans.active
  if next(active) then
    session.plans.active = {}
    for _, one in pairs(active) do
      one.plan.over = true
      draw(session, one.plan)
    end
    notify(session)
  end
end

---Shows the plans in the chat only: what manages windows moves them away from it.
function M.set_apart(session)
  session.plans.is_apart = true
  for _, one in pairs(session.plans.active) do
    draw(session, one.plan)
  end
  transcript.flush()
end

---Forgets all plans of a chat that is emptied.
function M.reset(session)
  local was_active = next(session.plans.active) ~= nil
  session.plans = { shown = {}, active = {}, several = false }
  if was_active then
    notify(session)
  end
end

local function activate(session, plan)
  local is_empty = #plan.entries == 0 and not (plan.text or ""):find("%S") and not plan.uri
  local active = session.plans.active
  if plan.removed or plan.over or is_empty then
    if not active[plan.block] then
      return
    end
    active[plan.block] = nil
  else
    local done, total = count(plan)
    changes = changes + 1
    active[plan.block] = { plan = plan, done = done, total = total, change = changes }
  end
  notify(session)
end

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
  activate(session, event)
end

---@return boolean the plans of the running turn are shown above the prompt
function M.is_pinned(session)
  return config.get().ui.plan == "pinned" and not session.plans.is_apart
end

---@return acp.ActivePlan[] in the order of their blocks
function M.active(session)
  local list = vim.tbl_values(session.plans.active)
  table.sort(list, function(a, b)
    return a.plan.block < b.plan.block
  end)
  return list
end

return M
