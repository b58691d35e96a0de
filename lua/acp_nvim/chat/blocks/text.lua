-- Draws a text as it is: split at newlines and nothing else; and says who speaks.
local M = {}

---@param text string
---@return string[]
function M.lines(text)
  local lines, count, from = {}, 0, 1
  local at = text:find("\n", 1, true)
  while at do -- `vim.split` takes several times as long
    count = count + 1
    lines[count] = text:sub(from, at - 1)
    from = at + 1
    at = text:find("\n", from, true)
  end
  lines[count + 1] = from > 1 and text:sub(from) or text
  return lines
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
