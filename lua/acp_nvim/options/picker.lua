-- Lets the user choose what to switch in a session, and to what.
local cells = require("acp_nvim.chat.cells")
local message = require("acp_nvim.message")
local session_config = require("acp_nvim.options")

local M = {}

local FORGET = {}

---@param option acp.ConfigOption
---@return boolean
local function is_settable(option)
  return option.kind == "select" or option.kind == "boolean"
end

---@param option acp.ConfigOption
---@return string "Mode: Plan", with what it is about to be
local function line_of(option)
  local line = ("%s: %s"):format(cells.plain(option.name), session_config.name_of(option, option.current))
  if option.changing ~= nil then
    line = ("%s → %s …"):format(line, session_config.name_of(option, option.changing))
  elseif not is_settable(option) then
    line = ("%s (of the type %q: it cannot be set here)"):format(line, cells.plain(option.kind))
  end
  return line
end

---@param option acp.ConfigOption
---@param one acp.ConfigValue
---@return string "● Group: Name - what it does"
local function value_line(option, one)
  local mark = one.value == option.current and "● " or one.value == option.changing and "◌ " or "  "
  local group = one.group and cells.plain(one.group) .. ": " or ""
  local about = one.description and cells.plain(one.description) or ""
  return mark .. group .. cells.plain(one.name) .. (about ~= "" and " - " .. about or "")
end

---@param option acp.ConfigOption
---@return string
local function title(option)
  local about = option.description and cells.plain(option.description) or ""
  return cells.plain(option.name) .. (about ~= "" and " (" .. about .. ")" or "")
end

---Opens the values of an option; what is on or off is the other now.
---@param session acp.Session
---@param option acp.ConfigOption
---@param keep? boolean
local function choose(session, option, keep)
  if option.kind == "boolean" then
    session_config.next(session, option.id, keep)
    return
  elseif not is_settable(option) then
    message.info(("%s cannot be set: acp_nvim does not know options of the type %q"):format(option.name, option.kind))
    return
  elseif #(option.values or {}) == 0 then
    message.info(("%s has no values to choose from"):format(option.name))
    return
  end
  vim.ui.select(option.values, {
    prompt = title(option) .. (keep and ", also for new sessions" or ""),
    kind = "acp_config_value",
    format_item = function(one)
      return value_line(option, one)
    end,
  }, function(one)
    vim.cmd.redraw()
    if one then
      session_config.set(session, option.id, one.value, keep)
    end
  end)
end

---@param session acp.Session
---@param what string
---@param keep? boolean
function M.option(session, what, keep)
  session_config.with_options(session, function(options)
    local option = session_config.find(options, what)
    if option then
      return choose(session, option, keep)
    end
    local known = table.concat(
      vim.tbl_map(function(one)
        return one.id
      end, options),
      ", "
    )
    local hint = known ~= "" and (" (there is %s)"):format(known) or ""
    message.info(("%s offers no %s to choose%s"):format(cells.plain(session.agent or "the agent"), what, hint))
  end)
end

---@param session acp.Session
---@param keep? boolean what is chosen is for new sessions, too
function M.all(session, keep)
  session_config.with_options(session, function(options)
    local who = cells.plain(session.agent or "the agent")
    if #options == 0 and not keep then
      return message.info(("%s offers nothing to set"):format(who))
    end
    local list = vim.list_slice(options)
    if keep then
      table.insert(list, FORGET)
    end
    vim.ui.select(list, {
      prompt = keep and ("What is set for this session and new ones of %s"):format(who)
        or ("Settings of %s"):format(who),
      kind = "acp_config",
      format_item = function(one)
        return one == FORGET and "Forget what is kept for new sessions" or line_of(one)
      end,
    }, function(one)
      vim.cmd.redraw()
      if one == FORGET then
        session_config.forget(session)
      elseif one then
        choose(session, session_config.find(session.options, one.id) or one, keep)
      end
    end)
  end)
end

return M
