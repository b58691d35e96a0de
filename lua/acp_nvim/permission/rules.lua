-- Shows the rules that answer permission requests in a project, and forgets stored ones.
local Lines = require("acp_nvim.render.lines")
local dialog = require("acp_nvim.kernel.dialog")
local host = require("acp_nvim.host")
local late = require("acp_nvim.kernel.late")
local message = require("acp_nvim.kernel.message")
local names = require("acp_nvim.names")
local sessions = require("acp_nvim.host.sessions")

local M = {}

---The directory whose rules the user asked for last, and the rule that was forgotten there; other answers are late.
---@type { cwd: string, forgotten?: string, on_answer?: acp.OnAnswer }?
local asked

local function line_of(rule)
  local words = Lines.one_line(rule.words)
  if rule.source ~= "stored" then
    return words .. "  (your configuration)"
  end
  local when = rule.time and os.date("%Y-%m-%d %H:%M", math.floor(rule.time)) or ""
  return ("%s  (your answer %s)"):format(words, when)
end

---Forgets a stored rule, after a confirmation.
local function forget(cwd, rule)
  local yes = "Forget it: requests like that are asked again"
  local prompt = ("Forget %s?"):format(Lines.one_line(rule.words))
  dialog.confirm({ prompt = prompt, kind = "acp_permission_forget", yes = yes, no = "Cancel" }, function(is_yes)
    vim.cmd.redraw() -- a message below the list would ask for a key
    if is_yes then
      asked = { cwd = cwd, forgotten = rule.id }
      host.send("permission_forget", { cwd = cwd, id = rule.id })
    end
  end)
end

---@param rules acp.Rule[]
local function choose(cwd, rules)
  local name = names.below_home(cwd)
  if #rules == 0 then
    return message.info(("there are no rules for %s: you are asked for every permission"):format(name))
  end
  local prompt = "Rules for " .. name .. ": choose one to remove it"
  dialog.select(rules, { prompt = prompt, kind = "acp_permission_rule", format_item = line_of }, function(rule)
    vim.cmd.redraw()
    if rule and rule.source == "stored" then
      forget(cwd, rule)
    elseif rule then
      local number = tostring(rule.id):match("%d+$")
      local option = "permissions.rules" .. (number and ("[%s]"):format(number) or "")
      message.info(("this rule is in your configuration: %s, see :help acp_nvim-rules"):format(option))
    end
  end)
end

---Asks the host for the rules of the current session's directory, to show them.
function M.show()
  local session = sessions.current()
  asked = { cwd = session and session.cwd or vim.fn.getcwd(), on_answer = late.wait() }
  if not host.send("permission_rules", { cwd = asked.cwd }) then
    asked = nil
  end
end

---@param event acp.Event of type permission_rules
function M.received(event)
  local wanted = asked
  if not wanted or wanted.cwd ~= event.cwd then
    return
  end
  asked = nil
  if not wanted.forgotten then
    return wanted.on_answer(function()
      choose(event.cwd, event.rules)
    end, "the rules are listed: type :AcpPermissions again")
  end
  local is_left = vim.iter(event.rules):any(function(rule)
    return rule.id == wanted.forgotten
  end)
  if is_left then
    message.error("the rule could not be removed: :AcpLog says why")
  else
    message.info("the rule is removed: you are asked about such requests again")
  end
end

return M
