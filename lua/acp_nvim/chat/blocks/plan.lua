-- Draws a plan: how much of it is done and each entry with its mark, or its text.
local Lines = require("acp_nvim.chat.blocks.lines")
local content = require("acp_nvim.chat.blocks.content")
local limits = require("acp_nvim.limits")

---@type table<string, { mark: string, group?: string }>
local MARKS = {
  completed = { mark = "✓", group = "AcpPlanDone" },
  in_progress = { mark = "▸", group = "AcpPlanActive" },
  pending = { mark = "○" },
  cancelled = { mark = "–", group = "AcpPlanDone" },
}

---@param plan acp.Plan
---@param named boolean
---@return string
local function header(plan, named)
  local title = named and Lines.one_line(plan.title) or ""
  local words = title ~= "" and "Plan " .. title or "Plan"
  if #plan.entries > 0 or not plan.text then
    local done = vim.iter(plan.entries):fold(0, function(sum, entry)
      return sum + (entry.status == "completed" and 1 or 0)
    end)
    words = ("%s (%d/%d)"):format(words, done, #plan.entries)
  end
  return words
end

---@param out acp.Lines
---@param entry acp.PlanEntry
local function add_entry(out, entry)
  local known = MARKS[entry.status]
  local note = known and "" or (" [%s]"):format(Lines.one_line(entry.status))
  local mark = known and known.mark or "○"
  out:add({ "  ", { mark .. " " .. Lines.one_line(entry.content) .. note, known and known.group } })
end

---@param plan acp.Plan
---@param named boolean its title tells it from other plans
---@return acp.Rendered
return function(plan, named)
  local out = Lines.new()
  out:add({ { header(plan, named), "AcpAgentHeader" } })
  for _, entry in ipairs(plan.entries) do
    add_entry(out, entry)
  end
  content.add_text(out, plan.text, limits.plan_lines)
  return out:rendered()
end
