-- What became of a permission request, in words.
local Lines = require("acp_nvim.chat.blocks.lines")

---@param options acp.Option[]
---@param option_id? string
---@return string mark for what the option means; a kind that nobody here knows means neither yes nor no
local function mark_of(options, option_id)
  for _, option in ipairs(options) do
    if option.option_id == option_id then
      local kind = tostring(option.kind)
      return vim.startswith(kind, "reject") and "✗ " or vim.startswith(kind, "allow") and "✓ " or "→ "
    end
  end
  return "→ "
end

local WHY =
  { withdrawn = "withdrawn by the agent", cancelled = "cancelled", agent_gone = "cancelled: the agent is gone" }

---@param options acp.Option[]
---@param event { outcome: string, name?: string, option_id?: string, why?: string }
---@return string
return function(options, event)
  if event.outcome ~= "selected" then
    return "– " .. (WHY[event.why] or tostring(event.outcome))
  end
  local words = Lines.one_line(event.name or event.option_id or "answered")
  return mark_of(options, event.option_id) .. words
end
