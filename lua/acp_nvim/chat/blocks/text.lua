-- Draws a text as it is: split at newlines and nothing else; and says who speaks.
local M = {}

---@param text string
---@return string[]
function M.lines(text)
  return vim.split(text, "\n", { plain = true })
end

---@param kind string user, agent, thought
---@param agent? string
---@return string words
---@return string group
function M.header(kind, agent)
  if kind == "user" then
    return "You", "AcpUserHeader"
  elseif kind == "thought" then
    return "Thought", "AcpThoughtHeader"
  end
  return agent or "Agent", "AcpAgentHeader"
end

return M
