-- Asks for the environment variables that an agent signs in with; what is entered goes to the host, and nowhere else.
local Lines = require("acp_nvim.chat.blocks.lines")
local message = require("acp_nvim.message")

local M = {}

local GIVEN_UP = "\1" -- no key types it

---@param variable acp.SignInVariable
---@return string
local function prompt_of(variable)
  local label = Lines.one_line(variable.label or "")
  local words = label ~= "" and label ~= variable.name and (" (%s)"):format(label) or ""
  local empty = variable.is_set and ", empty: as it is set" or variable.optional and ", empty: none" or ""
  return ("%s%s%s: "):format(Lines.one_line(variable.name), words, empty)
end

---@param variable acp.SignInVariable
---@return string? nil when it was given up
local function value_of(variable)
  local read = variable.secret and vim.fn.inputsecret or vim.fn.input
  local ok, value = pcall(read, { prompt = prompt_of(variable), cancelreturn = GIVEN_UP })
  return ok and value ~= GIVEN_UP and value or nil
end

---@param method acp.SignInMethod
---@return table<string, string>? nil when it was given up
local function entered(method)
  local values = {}
  for _, variable in ipairs(method.variables or {}) do
    local value = value_of(variable)
    if not value then
      return nil
    end
    values[variable.name] = value ~= "" and value or nil
  end
  return values
end

---@param agent string
---@param method acp.SignInMethod
local function explain(agent, method)
  local example = {}
  for _, variable in ipairs(method.variables or {}) do
    example[#example + 1] = ('%s = "..."'):format(variable.name)
  end
  local where = method.link and (" (you get it at %s)"):format(method.link) or ""
  message.info(
    ("in the shell that starts Neovim, or in your configuration%s:\nagents[%q].env = { %s }"):format(
      where,
      agent,
      table.concat(example, ", ")
    )
  )
end

---@param method acp.SignInMethod
---@param use fun(values: table<string, string>)
local function enter(method, use)
  local values = entered(method)
  vim.cmd.redraw()
  vim.api.nvim_echo({ { "" } }, false, {}) -- the last question does not stay on the command line
  if values then
    use(values)
  end
end

---@param agent string
---@param method acp.SignInMethod
---@param use fun(values: table<string, string>) names and values of what the user has entered
function M.ask(agent, method, use)
  if method.kind ~= "env_var" then
    return enter(method, use)
  end
  local now, for_good = "Enter now: kept in memory only, until Neovim ends", "How to set it for good"
  vim.ui.select({ now, for_good }, {
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
