-- Lets the user choose a config option of a session, and a value for it.
local cells = require("acp_nvim.render.cells")
local dialog = require("acp_nvim.kernel.dialog")
local message = require("acp_nvim.kernel.message")
local session_config = require("acp_nvim.options")

local M = {}

local FORGET = {} -- an entry of the list

local function is_settable(option)
  return option.kind == "select" or option.kind == "boolean"
end

---@return string "Mode: Plan", and the value that is being set
local function line_of(option)
  local line = ("%s: %s"):format(cells.plain(option.name), session_config.name_of(option, option.current))
  if option.changing ~= nil then
    line = ("%s → %s …"):format(line, session_config.name_of(option, option.changing))
  elseif not is_settable(option) then
    line = ("%s (of the type %q: it cannot be set here)"):format(line, cells.plain(option.kind))
  end
  return line
end

---Lets the user choose a value, or toggles a boolean.
---@param keep? boolean
local function choose(session, option, keep)
  if option.kind == "boolean" then
    return session_config.next(session, option.id, keep)
  elseif not is_settable(option) then
    local words = "%s cannot be set: acp_nvim does not know options of the type %q"
    return message.info(words:format(option.name, option.kind))
  elseif #(option.values or {}) == 0 then
    return message.info(("%s has no values to choose from"):format(option.name))
  end
  local about = option.description and cells.plain(option.description) or ""
  local title = cells.plain(option.name) .. (about ~= "" and " (" .. about .. ")" or "")
  dialog.select(option.values, {
    prompt = title .. (keep and ", also for new sessions" or ""),
    kind = "acp_config_value",
    format_item = function(one) -- "● Group: Name - description"
      local mark = one.value == option.current and "● " or one.value == option.changing and "◌ " or "  "
      local group = one.group and cells.plain(one.group) .. ": " or ""
      local detail = one.description and cells.plain(one.description) or ""
      return mark .. group .. cells.plain(one.name) .. (detail ~= "" and " - " .. detail or "")
    end,
  }, function(one)
    vim.cmd.redraw()
    if one then
      session_config.set(session, option.id, one.value, keep)
    end
  end)
end

---Lets the user choose a value of one option.
---@param what string id, category or name of the option
---@param keep? boolean
function M.option(session, what, keep)
  session_config.with_options(session, function(options)
    local option = session_config.find(options, what)
    if option then
      return choose(session, option, keep)
    end
    local ids = vim.tbl_map(function(one)
      return one.id
    end, options)
    local hint = #ids > 0 and (" (there is %s)"):format(table.concat(ids, ", ")) or ""
    message.info(("%s offers no %s to choose%s"):format(cells.plain(session.agent or "the agent"), what, hint))
  end)
end

---Lets the user choose an option and a value.
---@param keep? boolean also for new sessions
function M.all(session, keep)
  session_config.with_options(session, function(options)
    local who = cells.plain(session.agent or "the agent")
    if #options == 0 and not keep then
      return message.info(("%s has no options"):format(who))
    end
    local list = vim.list_slice(options)
    if keep then
      table.insert(list, FORGET)
    end
    dialog.select(list, {
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
