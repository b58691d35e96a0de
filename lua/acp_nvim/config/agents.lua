-- Finds agents: which are installed, and which one to start when none is named. Starts none.
local config = require("acp_nvim.config")
local hint = require("acp_nvim.kernel.hint")
local lazy = require("acp_nvim.lazy")
local from_home = require("acp_nvim.names").from_home
local dialog = lazy("acp_nvim.kernel.dialog")

local M = {}

---@type string? chosen by the user when several were installed and none was named
local chosen

---@return table<string, acp.BuiltinAgent>
local function catalogue()
  return require("acp_nvim.config.catalogue") -- loaded late: few commands need it
end

---@param agents table<string, any>
local function sorted_names(agents)
  local names = vim.tbl_keys(agents)
  table.sort(names)
  return names
end

---@return string? address of a configured agent that others have started
function M.address(name)
  return (config.get().agents[name] or {}).address
end

---@param command string[]
local function is_installed(command)
  return vim.fn.executable(from_home(command[1])) == 1
end

---@return string[]? command the first whose program is installed
function M.command_here(name)
  if M.address(name) then
    return nil
  end
  local configured, bundled = config.get().agents[name] or {}, catalogue()[name]
  local own = configured.prefix and configured.prefix[1] and configured.prefix or configured.command
  return vim.iter(own and { own } or bundled and bundled.commands or {}):find(is_installed)
end

---@return string[] names of the bundled agents that are installed, sorted
function M.found()
  return vim.tbl_filter(function(name)
    return vim.iter(catalogue()[name].commands):any(is_installed)
  end, sorted_names(catalogue()))
end

---@return string[] names of all agents: first those that can be started, configured ones before others, then the rest
function M.names()
  local names, here, elsewhere = sorted_names(config.get().agents), {}, {}
  for _, name in ipairs(sorted_names(catalogue())) do
    if not config.get().agents[name] then
      names[#names + 1] = name
    end
  end
  for _, name in ipairs(names) do
    table.insert((name == "demo" or M.address(name) or M.command_here(name)) and here or elsewhere, name)
  end
  if not vim.list_contains(here, "demo") then
    here[#here + 1] = "demo"
  end
  return vim.list_extend(here, elsewhere)
end

local function is_unconfigured()
  return config.get().default_agent == nil and next(config.get().agents) == nil
end

---@return boolean the demo agent is what starts, because no other one is installed, configured or chosen
function M.is_last_resort()
  return is_unconfigured() and not chosen and #M.found() == 0
end

---@return string name of the agent to start when none is named
function M.default()
  if not is_unconfigured() then
    return config.get().default_agent or sorted_names(config.get().agents)[1]
  end
  return chosen or M.found()[1] or "demo"
end

---Calls back with the agent to start when none is named. Lets the user choose once, when several are installed.
---@param use fun(name: string?) nil: the default agent
function M.choose(use)
  local found = (is_unconfigured() and not chosen and #vim.api.nvim_list_uis() > 0) and M.found() or {}
  if #found < 2 then
    return use(nil)
  end
  local function in_words(name)
    local bundled = catalogue()[name]
    if not bundled then
      return "the demo agent, which has no model"
    end
    return ("%s (%s)"):format(bundled.title, table.concat(M.command_here(name) or bundled.commands[1], " "))
  end
  dialog.select(vim.list_extend(found, { "demo" }), { prompt = "Agent:", format_item = in_words }, function(name)
    if name then
      chosen = name
      use(name)
    end
  end)
end

---@return string? problem why the agent cannot be started, as far as known before a try
function M.problem(name)
  if config.get().agents[name] then
    return nil
  end
  local bundled = catalogue()[name]
  if bundled and not M.command_here(name) then
    local words = "%s is not on this machine. To install it, type:\n  %s\n(%s)"
    return words:format(bundled.title, bundled.install, bundled.url)
  elseif bundled or name == "demo" then
    return nil
  end
  local known = M.names()
  return ("no agent is called %q%s (known agents: %s)"):format(name, hint(name, known), table.concat(known, ", "))
end

return M
