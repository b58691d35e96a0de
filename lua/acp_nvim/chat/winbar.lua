-- Says above the chat who is there, what it does, and what waits.
local M = {}

local STATES = {
  starting = { "◌", "AcpStatusPending" },
  idle = { "●", "AcpStatusCompleted" },
  running = { "◐", "AcpStatusInProgress" },
  waiting = { "?", "AcpPermission" },
  stopped = { "■", "AcpStatusPending" },
  failed = { "✗", "AcpStatusFailed" },
}

---@param text string
---@return string
local function literal(text)
  return (text:gsub("[%c]", " "):gsub("%%", "%%%%"))
end

---@param value any a word, or a table with a name
---@return string?
local function word(value)
  if type(value) == "table" then
    value = value.name or value.id
  end
  return type(value) == "string" and value ~= "" and value or nil
end

---@param number integer
---@return string
local function short(number)
  return number >= 1000 and ("%dk"):format(math.floor(number / 1000 + 0.5)) or tostring(number)
end

---@param usage any
---@return string?
local function usage_words(usage)
  if type(usage) ~= "table" or type(usage.used) ~= "number" then
    return nil
  end
  return short(usage.used) .. (type(usage.size) == "number" and "/" .. short(usage.size) or "")
end

---@param count integer?
---@param words string
---@return string?
local function counted(count, words)
  return count and count > 0 and ("%d %s"):format(count, words) or nil
end

---@param entries acp.PlanEntry[]?
---@return string?
local function plan_words(entries)
  if type(entries) ~= "table" or #entries == 0 then
    return nil
  end
  local done = 0
  for _, entry in ipairs(entries) do
    done = done + (entry.status == "completed" and 1 or 0)
  end
  return ("plan %d/%d"):format(done, #entries)
end

---@param status acp.Status
---@return string
function M.text(status)
  local state = STATES[status.state] or STATES.starting
  local parts = {
    plan_words(status.plan) or false,
    counted(status.pending_permissions, "to allow") or false,
    counted(status.queue, "queued") or false,
    counted(status.review and status.review.files, "to review") or false,
    word(status.mode) or false,
    word(status.model) or false,
    usage_words(status.usage) or false,
  }
  local text = (" %%#%s#%s%%* %s %s"):format(
    state[2],
    state[1],
    literal(status.agent or "agent"),
    literal(tostring(status.state))
  )
  for _, part in ipairs(parts) do
    if part then
      text = text .. " · " .. literal(part)
    end
  end
  return text .. " %<"
end

---@param session acp.Session
---@return string
function M.prompt_text(session)
  local text = " Prompt"
  for _, item in ipairs(session.context) do
    text = text .. " + " .. literal(item.name)
  end
  return text .. " %<"
end

---@param bufnr? integer
---@param text string
local function show(bufnr, text)
  for _, win in ipairs(bufnr and vim.fn.win_findbuf(bufnr) or {}) do
    local room = vim.wo[win].winbar ~= "" or vim.api.nvim_win_get_height(win) > 1
    if room and vim.wo[win].winbar ~= text then
      vim.wo[win][0].winbar = text
    end
  end
end

---@param session acp.Session
function M.update(session)
  show(session.bufnr, M.text(session.status))
  show(session.prompt_bufnr, M.prompt_text(session))
end

return M
