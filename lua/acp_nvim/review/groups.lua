-- Sorts changed files by who changed them, and has the words for that.
local M = {}

---@type acp.By[] as they are shown
M.ORDER = { "agent", "unknown", "state", "user" }

---@type table<acp.By, string> what the files of a group are, above them
M.TITLES = {
  agent = "By the agent",
  unknown = "Not sure who",
  state = "The agent's own records",
  user = "By you",
}

---@type table<string, string?> what is said beside a hunk or a file that is not proven to be the agent's
M.WORDS = { unknown = "not sure who", state = "agent's own record", user = "by you" }

---@generic T
---@param files T[] each with `by`
---@return table<acp.By, T[]> all four groups, some of them empty; the order in each stays
function M.of(files)
  local groups = {}
  for _, by in ipairs(M.ORDER) do
    groups[by] = {}
  end
  for _, file in ipairs(files) do
    table.insert(groups[file.by] or groups.agent, file)
  end
  return groups
end

return M
