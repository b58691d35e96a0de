-- Builds the parts of a session's status line, ordered by importance.
local cells = require("acp_nvim.render.cells")
local progress = require("acp_nvim.progress.review")
local sessions = require("acp_nvim.host.sessions")
local spinner = require("acp_nvim.chat.winbar.spinner")
local states = require("acp_nvim.host.states")

local M = {}

local FULL_CONTEXT = 0.8 -- share of the context that is shown as a warning: agents compact it soon after

---@class acp.StatusPart
---@field name string
---@field long string
---@field short? string
---@field group? string
---@field cut? boolean it may be cut anywhere

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
local CHECKS = { running = "checking", found = "problems" }
local CURRENCIES = { USD = "$", EUR = "€", GBP = "£", JPY = "¥", CNY = "¥" }

---@param turns? boolean animate the symbol of a running turn
---@return string symbol
---@return string group
function M.symbol(status, turns)
  local state = STATES[status.state] or STATES.starting
  return turns and states.is_working(status.state) and spinner.frame() or state[1], state[2]
end

---@return string description of what the agent does
function M.activity(status)
  if status.sign_in then
    return status.sign_in == "running" and "signing in" or "sign in: :AcpLogin"
  elseif status.state == "waiting" then
    return "waiting for you"
  elseif not states.is_working(status.state) then
    return cells.plain(status.state == "starting" and status.activity or tostring(status.state))
  end
  local words = cells.plain(status.activity)
  words = words ~= "" and words or "working"
  return status.state == "background" and ("%s (background)"):format(words) or words
end

local function duration(seconds)
  local whole = math.max(0, math.floor(seconds))
  if whole < 60 then
    return whole .. "s"
  elseif whole < 3600 then
    return ("%dm%02ds"):format(math.floor(whole / 60), whole % 60)
  end
  return ("%dh%02dm"):format(math.floor(whole / 3600), math.floor(whole / 60) % 60)
end

---@return string? duration of the running turn
function M.elapsed(status)
  return type(status.turn_started) == "number" and duration(os.time() - status.turn_started) or nil
end

local function short(number)
  if number >= 999500 then
    return ("%.1fM"):format(number / 1e6)
  end
  return number >= 1000 and ("%dk"):format(math.floor(number / 1000 + 0.5)) or ("%d"):format(number)
end

---@return integer done
---@return integer total of the active plans
function M.plan(session)
  local done, total = 0, 0
  for _, plan in pairs(session.plans.active or {}) do
    done, total = done + plan.done, total + plan.total
  end
  return done, total
end

local Parts = {}
Parts.__index = Parts

---@param long string|false|nil nothing is added if empty
---@param more? { short?: string, group?: string, cut?: boolean }
function Parts:add(name, long, more)
  if long and long ~= "" then
    table.insert(self.list, vim.tbl_extend("error", { name = name, long = long }, more or {}))
  end
end

---@param short string format of the count where there is little room
function Parts:count(name, count, words, short, group)
  if type(count) == "number" and count > 0 then
    self:add(name, ("%d %s"):format(count, words), { short = short:format(count), group = group })
  end
end

function Parts:context(usage)
  if type(usage.used) ~= "number" then
    return
  elseif type(usage.size) ~= "number" or usage.size <= 0 then
    return self:add("context", short(usage.used))
  end
  if usage.doubtful then
    local long = ("%s/%s (?)"):format(short(usage.used), short(usage.size))
    return self:add("context", long, { short = short(usage.used) .. "?" })
  end
  local share = usage.used / usage.size
  local percent = ("%d%%"):format(math.floor(share * 100 + 0.5))
  local group = share >= FULL_CONTEXT and "AcpContextFull" or nil
  local long = ("%s/%s (%s)"):format(short(usage.used), short(usage.size), percent)
  self:add("context", long, { short = percent, group = group })
end

function Parts:cost(usage)
  if type(usage.cost) == "number" then
    local currency = cells.plain(usage.currency)
    local sign = CURRENCIES[currency]
    local amount = (usage.cost ~= 0 and math.abs(usage.cost) < 0.1 and "%.3f" or "%.2f"):format(usage.cost)
    self:add("cost", sign and sign .. amount or vim.trim(amount .. " " .. currency))
  end
end

---@param tokens? acp.Tokens
function Parts:tokens(tokens)
  if type(tokens) == "table" then
    self:add("tokens", ("%s in, %s out"):format(short(tokens.input), short(tokens.output)))
  end
end

---@param to any requested value, which is not set yet
function Parts:switched(name, now, to)
  local words = type(to) == "string" and ("%s → %s …"):format(cells.plain(now), cells.plain(to)) or now
  self:add(name, cells.plain(words), { cut = true })
end

---@return acp.StatusPart[] the most important first
function M.list(session)
  local status, parts = session.status, setmetatable({ list = {} }, Parts)
  local usage = type(status.usage) == "table" and status.usage or {}
  local is_waiting = status.state == "waiting"
  local done, total = M.plan(session)
  local others = 0
  for _, other in ipairs(sessions.all()) do
    others = others + (other ~= session and (other.unread or 0) > 0 and 1 or 0)
  end
  parts:add("activity", M.activity(status), { short = is_waiting and "waiting" or nil, cut = not is_waiting })
  parts:count("permissions", status.pending_permissions, "to allow", "?%d", "AcpPermission")
  parts:count("questions", status.pending_elicitations, "to answer", "?%d", "AcpPermission")
  parts:add("elapsed", not is_waiting and M.elapsed(status)) -- nothing updates it then
  parts:add("progress", progress.words(progress.of(session.key)), { group = "AcpStatusInProgress" })
  parts:add("plan", total > 0 and ("plan %d/%d"):format(done, total), { short = done .. "/" .. total })
  parts:add("checks", CHECKS[status.checks])
  parts:count("queue", status.queue, "queued", "+%d")
  parts:count("review", status.review and status.review.files, "to review", "±%d")
  parts:context(usage)
  local news = others == 1 and { "other chat has news", "%d chat has news" }
    or { "other chats have news", "%d chats have news" }
  parts:count("others", others, news[1], news[2], "AcpUnread")
  parts:switched("mode", status.mode_name or status.mode, status.mode_next)
  parts:switched("model", status.model_name or status.model, status.model_next)
  parts:cost(usage)
  parts:tokens(status.tokens)
  parts:add("worktree", status.worktree and cells.plain("⎇ " .. vim.fs.basename(status.worktree)), { cut = true })
  parts:add("title", cells.plain(status.title), { cut = true })
  return parts.list
end

return M
