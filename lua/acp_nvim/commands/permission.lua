-- Implements :AcpPermissions, and the <Plug> maps that answer the request in the float.
local answer_keys = require("acp_nvim.permission.answer_keys")
local block = require("acp_nvim.permission.request")
local command_line_window = require("acp_nvim.kernel.command_line")
local float = require("acp_nvim.permission.float")
local message = require("acp_nvim.kernel.message")
local permission = require("acp_nvim.permission")
local picker = require("acp_nvim.permission.picker")
local rules = require("acp_nvim.permission.rules")

local M = {}

---@return string[]
function M.complete(lead)
  return vim.startswith("rules", lead) and { "rules" } or {}
end

function M.permissions(args)
  if command_line_window.refuses() then
    return
  elseif args.args ~= "" and args.args ~= "rules" then
    return message.error((":AcpPermissions takes nothing, or rules, not %q"):format(args.args))
  end
  local waiting = permission.waiting()
  if args.args == "rules" or #waiting == 0 then
    rules.show()
  else
    picker.choose(waiting)
  end
end

---Answers the request in the float.
---@param kind "allow_once"|"reject_once"
---@param words string for what the kind does
---@return string? problem
local function answer_shown(kind, words)
  local one = float.shown()
  if not one then
    local waits = #permission.waiting() > 0
    return waits and "the float shows no permission: :AcpPermissions lists those that wait"
      or "no permission request is waiting"
  elseif not float.is_settled() then
    return "the float shows another permission now: look at it first"
  elseif vim.startswith(kind, "allow") and one.request.left_out then
    return block.rejects_only(one.request)
  elseif vim.startswith(kind, "allow") and not float.is_whole() then
    return "the float cannot show all of it: <Plug>(AcpPermissionsFocus) goes there, :AcpPermissions asks"
  end
  local option_id = answer_keys.first_of(one.request, kind)
  if not option_id then
    return ("the agent offers no way to %s: :AcpPermissions shows what it offers"):format(words)
  end
  return select(2, permission.press(one.request.id, option_id))
end

---Allows the request in the float once.
function M.allow()
  local problem = answer_shown("allow_once", "allow it once")
  if problem then
    message.news(problem, vim.log.levels.WARN)
  end
end

---Rejects the request in the float once.
function M.reject()
  local problem = answer_shown("reject_once", "reject it once")
  if problem then
    message.news(problem, vim.log.levels.WARN)
  end
end

---Moves the focus into the float.
function M.focus()
  if not command_line_window.refuses() and not float.focus() then
    message.info("there is no float with a permission")
  end
end

return M
