-- What there is to say of a session on one line, part by part, with what may be left out first at the end.
local cells = require("acp_nvim.chat.cells")
local limits = require("acp_nvim.limits")
local sessions = require("acp_nvim.sessions")
local spinner = require("acp_nvim.chat.spinner")
local states = require("acp_nvim.states")

local M = {}

---@class acp.StatusPart
---@field name string
---@field long string
---@field short? string
---@field group? string
---@field cut? boolean it may be cut where it does not fit

---@type table<string, { [1]: string, [2]: string }>
local STATES = {
  starting = { "◌", "AcpStatusPending" },
  idle = { "●", "AcpStatusCompleted" },
  running = { "◐", "AcpStatusInProgress" },
  background = { "◑", "AcpStatusInProgress" },
  waiting = { "?", "AcpPermission" },
  stopped = { "■", "AcpStatusPending" },
  failed = { "✗", "AcpStatusFailed" },
}
local CURRENCIES = { USD = "$", EUR = "€", GBP = "£", JPY = "¥", CNY = "¥" }

---@param status acp.Status
---@param turns? boolean the symbol of a running turn moves
---@return string symbol
---@return string group
function M.symbol(status, turns)
  local state = STATES[status.state] or STATES.starting
  return turns and states.is_working(status.state) and spinner.frame() or state[1], state[2]
end

---@param status acp.Status
---@return string what goes on, in words
function M.activity(status)
  if status.sign_in then
    return status.sign_in == "running" and "signing in" or "sign in: :AcpLogin"
  elseif status.state == "waiting" then
    return "waiting for you"
  elseif not states.is_working(status.state) then
    return cells.plain(tostring(status.state))
  end
  local words = cells.plain(status.activity)
  words = words ~= "" and words or "working"
  return status.state == "background" and ("%s (background)"):format(words) or words
end

---@param seconds number
---@return string
local function duration(seconds)
  local whole = math.max(0, math.floor(seconds))
  if whole < 60 then
    return whole .. "s"
  elseif whole < 3600 then
    return ("%dm%02ds"):format(math.floor(whole / 60), whole % 60)
  end
  return ("%dh%02dm"):format(math.floor(whole / 3600), math.floor(whole / 60) % 60)
end

---@param status acp.Status
---@return string? how long the turn has taken until now
function M.elapsed(status)
  return type(status.turn_started) == "number" and duration(os.time() - status.turn_started) or nil
end

---@param number number
---@return string
local function short(number)
  if number >= 999500 then
    return ("%.1fM"):format(number / 1e6)
  end
  return number >= 1000 and ("%dk"):format(math.floor(number / 1000 + 0.5)) or ("%d"):format(number)
end

---@param usage any
---@return acp.StatusPart?
local function context(usage)
  if type(usage) ~= "table" or type(usage.used) ~= "number" then
    return nil
  elseif type(usage.size) ~= "number" or usage.size <= 0 then
    return { name = "context", long = short(usage.used) }
  end
  local share = usage.used / usage.size
  local percent = ("%d%%"):format(math.floor(share * 100 + 0.5))
  return {
    name = "context",
    long = ("%s/%s (%s)"):format(short(usage.used), short(usage.size), percent),
    short = percent,
    group = share >= limits.full_context and "AcpContextFull" or nil,
  }
end

---@param usage any
---@return acp.StatusPart?
local function cost(usage)
  if type(usage) ~= "table" or type(usage.cost) ~= "number" then
    return nil
  end
  local currency = cells.plain(usage.currency)
  local sign = CURRENCIES[currency]
  local amount = (usage.cost ~= 0 and math.abs(usage.cost) < 0.1 and "%.3f" or "%.2f"):format(usage.cost)
  return { name = "cost", long = sign and sign .. amount or vim.trim(amount .. " " .. currency) }
end

---@param name string
---@param count any
---@param words string
---@param sign string
---@param group? string
---@return acp.StatusPart?
local function counted(name, count, words, sign, group)
  if type(count) ~= "number" or count <= 0 then
    return nil
  end
  return { name = name, long = ("%d %s"):format(count, words), short = sign .. ("%d"):format(count), group = group }
end

---@param session acp.Session
---@return acp.StatusPart?
local function others(session)
  local count = 0
  for _, other in ipairs(sessions.all()) do
    count = count + (other ~= session and (other.unread or 0) > 0 and 1 or 0)
  end
  return counted("others", count, count == 1 and "other chat has news" or "other chats have news", "✉", "AcpUnread")
end

---@param session acp.Session
---@return integer done
---@return integer total of the plans that live
function M.plan(session)
  local done, total = 0, 0
  for _, plan in pairs(session.plans.living or {}) do
    done, total = done + plan.done, total + plan.total
  end
  return done, total
end

---@param session acp.Session
---@return acp.StatusPart?
local function plan(session)
  local done, total = M.plan(session)
  return total > 0 and { name = "plan", long = ("plan %d/%d"):format(done, total), short = done .. "/" .. total } or nil
end

---@param name string
---@param ... any the first that is a text
---@return acp.StatusPart?
local function word(name, ...)
  for index = 1, select("#", ...) do
    local text = cells.plain((select(index, ...)))
    if text ~= "" then
      return { name = name, long = text, cut = true }
    end
  end
end

---@param status acp.Status
---@return acp.StatusPart
local function activity(status)
  local words = M.activity(status)
  local is_waiting = status.state == "waiting"
  return { name = "activity", long = words, short = is_waiting and "waiting" or nil, cut = not is_waiting }
end

---@param now any
---@param to any what was asked for
---@return any
local function switched(now, to)
  return type(to) == "string" and ("%s → %s …"):format(cells.plain(now), cells.plain(to)) or now
end

---@param session acp.Session
---@return acp.StatusPart[] the most important first
function M.list(session)
  local status = session.status
  local elapsed = status.state ~= "waiting" and M.elapsed(status) -- nothing turns then: it would stand still
  local found = {
    activity(status),
    counted("permissions", status.pending_permissions, "to allow", "?", "AcpPermission") or false,
    counted("questions", status.pending_elicitations, "to answer", "?", "AcpPermission") or false,
    elapsed and { name = "elapsed", long = elapsed } or false,
    plan(session) or false,
    counted("queue", status.queue, "queued", "+") or false,
    counted("review", status.review and status.review.files, "to review", "±") or false,
    context(status.usage) or false,
    others(session) or false,
    word("mode", switched(status.mode_name or status.mode, status.mode_next)) or false,
    word("model", switched(status.model_name or status.model, status.model_next)) or false,
    cost(status.usage) or false,
    word("worktree", status.worktree and "⎇ " .. vim.fs.basename(status.worktree)) or false,
    word("title", status.title) or false,
  }
  return vim.tbl_filter(function(part)
    return part ~= false
  end, found)
end

return M
