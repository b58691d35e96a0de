-- Lets the user choose a method to sign in, and asks for the variables that it needs. Shows one list at a time, and none
-- while the user types. Values of variables go to the host only.
local Lines = require("acp_nvim.render.lines")
local command_line = require("acp_nvim.kernel.command_line")
local dialog = require("acp_nvim.kernel.dialog")
local message = require("acp_nvim.kernel.message")
local sessions = require("acp_nvim.host.sessions")

local M = {}

local api = vim.api
local is_open = false

---@return string? what the method does; nil when the agent does all
local function effect(method)
  if method.kind == "terminal" then
    return "runs " .. Lines.one_line(method.command or "the agent") .. " in a terminal"
  elseif method.kind == "env_var" then
    local words = vim.tbl_map(function(one)
      local state = one.is_set and " (is set)" or one.optional and " (optional)" or ""
      return Lines.one_line(one.name) .. state
    end, method.variables or {})
    return "sets " .. table.concat(words, ", ")
  elseif method.kind == "api_key" then
    return "asks for a key"
  elseif method.kind ~= "agent" then
    return "of the unknown type " .. Lines.one_line(method.kind)
  end
end

---@return boolean the user is asked for the values of variables
function M.asks(method)
  return method.kind == "env_var" or method.kind == "api_key"
end

---@return boolean a list may be opened: Neovim is in Normal mode and waits for no more keys
local function is_possible()
  local now = api.nvim_get_mode()
  return now.mode == "n" and not now.blocking and not command_line.has_focus()
end

---@return boolean the user is in its chat, or in its empty prompt
function M.is_welcome(session)
  local bufnr = api.nvim_get_current_buf()
  local is_prompt = bufnr == session.prompt_bufnr
  local is_empty = api.nvim_buf_line_count(bufnr) == 1 and api.nvim_buf_get_lines(bufnr, 0, 1, true)[1] == ""
  if sessions.of_buffer(bufnr) ~= session or (is_prompt and not is_empty) then
    return false
  end
  local now = api.nvim_get_mode()
  local has_just_sent = is_prompt and now.mode == "i" and not now.blocking
  return has_just_sent or is_possible()
end

---@param use fun(method: acp.SignInMethod)
function M.open(need, use)
  if is_open then
    return
  end
  is_open = true
  local account = need.account and (" (now: %s)"):format(Lines.one_line(need.account)) or ""
  dialog.select(need.methods, {
    prompt = ("Sign in to %s%s:"):format(need.agent, account),
    kind = "acp_sign_in",
    format_item = function(method)
      local words, description = Lines.one_line(method.name), Lines.one_line(method.description or "")
      if description ~= "" and description ~= words then
        words = words .. ": " .. description
      end
      local what = effect(method)
      return words .. (what and (" (%s)"):format(what) or "")
    end,
  }, function(method)
    is_open = false
    vim.cmd.redraw() -- a message below the list would ask for a key
    if method then
      use(method)
    end
  end)
end

---Asks for all variables of a method.
---@param use fun(values: table<string, string>) called unless the user cancels
local function enter(method, use)
  local values = {}
  for _, variable in ipairs(method.variables or {}) do
    local label = Lines.one_line(variable.label or "")
    label = label ~= "" and label ~= variable.name and (" (%s)"):format(label) or ""
    local empty = variable.is_set and ", empty: as it is set" or variable.optional and ", empty: none" or ""
    local prompt = ("%s%s%s: "):format(Lines.one_line(variable.name), label, empty)
    local value = dialog.read(prompt, variable.secret)
    if not value then
      values = nil
      break
    end
    values[variable.name] = value ~= "" and value or nil
  end
  vim.cmd.redraw()
  vim.api.nvim_echo({ { "" } }, false, {}) -- clears the last question from the command line
  if values then
    use(values)
  end
end

local function explain(agent, method)
  local example = {}
  for _, variable in ipairs(method.variables or {}) do
    example[#example + 1] = ('%s = "..."'):format(variable.name)
  end
  local where = method.link and (" (you get it at %s)"):format(method.link) or ""
  local words = "in the shell that starts Neovim, or in your configuration%s:\nagents[%q].env = { %s }"
  message.info(words:format(where, agent, table.concat(example, ", ")))
end

---Asks for the variables, or explains how to set them permanently.
---@param use fun(values: table<string, string>) called with names and values
function M.variables(agent, method, use)
  if method.kind ~= "env_var" then
    return enter(method, use)
  end
  local now, for_good = "Enter now: kept in memory only, until Neovim ends", "How to set it for good"
  dialog.select({ now, for_good }, {
    prompt = ("%s%s"):format(Lines.one_line(method.name), method.link and " <" .. method.link .. ">" or ""),
    kind = "acp_sign_in_variables",
  }, function(way)
    vim.cmd.redraw()
    if way == for_good then
      explain(agent, method)
    elseif way == now then
      enter(method, use)
    end
  end)
end

return M
