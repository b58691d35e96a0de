-- Draws the plan: how much of it is done, and each entry with its mark.
local Lines = require("acp_nvim.chat.blocks.lines")

---@type table<string, { mark: string, group?: string }>
local MARKS = {
  completed = { mark = "✓", group = "AcpPlanDone" },
  in_progress = { mark = "▸", group = "AcpPlanActive" },
  pending = { mark = "○" },
}

---@param entries acp.PlanEntry[]
---@return acp.Rendered
return function(entries)
  local done = 0
  for _, entry in ipairs(entries) do
    done = done + (entry.status == "completed" and 1 or 0)
  end
  local out = Lines.new()
  out:add({ { ("Plan (%d/%d)"):format(done, #entries), "AcpAgentHeader" } })
  for _, entry in ipairs(entries) do
    local known = MARKS[entry.status]
    local note = known and "" or (" [%s]"):format(Lines.one_line(entry.status))
    local mark = known and known.mark or "○"
    out:add({ "  ", { mark .. " " .. Lines.one_line(entry.content) .. note, known and known.group } })
  end
  return out:rendered()
end
