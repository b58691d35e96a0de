-- Shows the rules by which permissions are answered in a project, and forgets stored ones.
local Lines = require("acp_nvim.chat.blocks.lines")
local host = require("acp_nvim.host")
local message = require("acp_nvim.message")
local sessions = require("acp_nvim.sessions")

local M = {}

---The directory whose rules the user wants to see, or has changed; the host's answers to anything else are late.
---@type { cwd: string, forgotten?: string }?
local asked

---@param rule acp.Rule
---@return string
local function line_of(rule)
  local words = Lines.one_line(rule.words)
  if rule.source ~= "stored" then
    return words .. "  (your configuration)"
  end
  local when = rule.time and os.date("%Y-%m-%d %H:%M", math.floor(rule.time)) or ""
  return ("%s  (your answer %s)"):format(words, when)
end

---@param rule acp.Rule
---@return string where a configured rule is to be changed
local function place(rule)
  local number = tostring(rule.id):match("%d+$")
  return "permissions.rules" .. (number and ("[%s]"):format(number) or "")
end

---@param cwd string
---@param rule acp.Rule
local function forget(cwd, rule)
  local yes = "Forget it: requests like that are asked again"
  local prompt = ("Forget %s?"):format(Lines.one_line(rule.words))
  vim.ui.select({ yes, "Cancel" }, { prompt = prompt, kind = "acp_permission_forget" }, function(choice)
    vim.cmd.redraw() -- what comes now does not stand below a list, and asks for no key
    if choice == yes then
      asked = { cwd = cwd, forgotten = rule.id }
      host.send("permission_forget", { cwd = cwd, id = rule.id })
    end
  end)
end

---@param cwd string
---@param rules acp.Rule[]
local function choose(cwd, rules)
  local name = vim.fn.fnamemodify(cwd, ":~")
  if #rules == 0 then
    return message.info(("there are no rules for %s: all permissions are asked"):format(name))
  end
  local prompt = "Rules for " .. name .. ": choose one to forget it"
  vim.ui.select(rules, { prompt = prompt, kind = "acp_permission_rule", format_item = line_of }, function(rule)
    vim.cmd.redraw()
    if rule and rule.source == "stored" then
      forget(cwd, rule)
    elseif rule then
      message.info(("this rule is in your configuration: %s, see :help acp_nvim-rules"):format(place(rule)))
    end
  end)
end

---Asks the host for the rules of the project at hand.
function M.show()
  local session = sessions.current()
  asked = { cwd = session and session.cwd or vim.fn.getcwd() }
  if not host.send("permission_rules", { cwd = asked.cwd }) then
    asked = nil
  end
end

---@param event acp.Event of type permission_rules
function M.told(event)
  local wanted = asked
  if not wanted or wanted.cwd ~= event.cwd then
    return
  end
  asked = nil
  if not wanted.forgotten then
    vim.schedule(function() -- a question must not keep the host waiting
      choose(event.cwd, event.rules)
    end)
    return
  end
  local is_left = vim.iter(event.rules):any(function(rule)
    return rule.id == wanted.forgotten
  end)
  if is_left then
    message.error("the rule could not be forgotten: :AcpLog says why")
  else
    message.info("the rule is forgotten: requests like that are asked again")
  end
end

return M
