-- Draws a plan: how much of it is done and each entry with its mark, or its text, or the file that has it.
local Lines = require("acp_nvim.chat.blocks.lines")
local config = require("acp_nvim.config")
local content = require("acp_nvim.chat.blocks.content")
local limits = require("acp_nvim.limits")
local paths = require("acp_nvim.chat.blocks.paths")

local M = {}

---@type table<string, { mark: string, group?: string }>
local MARKS = {
  completed = { mark = "✓", group = "AcpPlanDone" },
  in_progress = { mark = "▸", group = "AcpPlanActive" },
  pending = { mark = "○" },
  cancelled = { mark = "–", group = "AcpPlanDone" },
}

---@param plan acp.Plan
---@return integer done
---@return integer total entries, or boxes of a markdown list; 0: nobody can say
function M.count(plan)
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

---@param plan acp.Plan
---@param named boolean
---@return string
function M.header(plan, named)
  local title = named and Lines.one_line(plan.title) or ""
  local words = title ~= "" and "Plan " .. title or "Plan"
  local done, total = M.count(plan)
  if total > 0 or not (plan.text or plan.uri) then
    words = ("%s (%d/%d)"):format(words, done, total)
  end
  return plan.removed and words .. " [removed]" or words
end

---@param entry acp.PlanEntry
---@return string
---@return string? group
function M.entry(entry)
  local known = MARKS[entry.status]
  local note = known and "" or (" [%s]"):format(Lines.one_line(entry.status))
  return (known and known.mark or "○") .. " " .. Lines.one_line(entry.content) .. note, known and known.group
end

---@param plan acp.Plan
---@param named boolean its title tells it from other plans
---@param cwd string of the session
---@return acp.Rendered
function M.draw(plan, named, cwd)
  local out = Lines.new()
  out:add({ { M.header(plan, named), "AcpAgentHeader" } })
  if not config.get().ui.plan then
    return out:rendered()
  end
  for _, entry in ipairs(plan.entries) do
    local words, group = M.entry(entry)
    out:add({ "  ", { words, group } })
  end
  if (plan.left or 0) > 0 then
    out:add_more(plan.left, "  ")
  end
  if plan.uri then
    out.targets[#out.lines] = { uri = plan.uri }
    out:add({ "  ", { paths.short((plan.uri:gsub("^file://", "")), cwd), "AcpLink" } })
  end
  content.add_text(out, plan.text, limits.plan_lines)
  return out:rendered()
end

return M
