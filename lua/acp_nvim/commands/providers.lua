-- Lets the user choose the providers of models that an agent uses: their API, their address, and their headers.
local Lines = require("acp_nvim.render.lines")
local agents = require("acp_nvim.config.agents")
local dialog = require("acp_nvim.kernel.dialog")
local host = require("acp_nvim.host")
local late = require("acp_nvim.kernel.late")
local message = require("acp_nvim.kernel.message")
local question = require("acp_nvim.host.question")
local sessions = require("acp_nvim.host.sessions")

local M = {}

local one_line = Lines.one_line

---@param items any[]
---@param words fun(item: any): string
---@param use fun(item: any) called unless the user cancels
local function choose(prompt, items, words, use)
  dialog.select(items, { prompt = prompt, kind = "acp_provider", format_item = words }, function(item)
    if item then
      use(item)
    end
  end)
end

---@param event acp.Event of type session_done
local function report(event)
  if event.problem then
    message.error(event.problem)
  elseif event.words then
    message.info(event.words)
  end
end

---Asks for headers until the name is empty. Their values go to the host only.
---@param use fun(headers: table<string, string>)
local function headers(provider, use, given)
  given = given or {}
  local prompt = "Header for %s, like Authorization (empty: %s): "
  prompt = prompt:format(one_line(provider.id), next(given) and "no more" or "none; those set before are removed")
  dialog.input({ prompt = prompt }, function(name)
    name = name and vim.trim(name)
    if name == "" then
      use(given)
    elseif name then
      local value = dialog.read(name .. ": ", true)
      if value and value ~= "" then
        given[name] = value
        headers(provider, use, given)
      end
    end
  end)
end

---@param target { agent: string, cwd: string }
---@param provider acp.Provider
local function change(target, provider)
  local function with_type(api_type)
    dialog.input({ prompt = "Address of its API: ", default = provider.base_url or "https://" }, function(url)
      url = vim.trim(url or "")
      if url == "" or url == "https://" then
        return
      end
      headers(provider, function(given)
        local params = { provider = provider.id, api_type = api_type, base_url = url }
        params.headers = next(given) and given or nil
        question.ask("provider_set", vim.tbl_extend("error", params, target), report)
      end)
    end)
  end
  if #provider.supported == 1 then
    with_type(provider.supported[1])
  elseif #provider.supported == 0 then
    message.warn(("%s names no API for %s"):format(target.agent, one_line(provider.id)))
  else
    choose(("The API of %s:"):format(one_line(provider.id)), provider.supported, one_line, with_type)
  end
end

local function disable(target, provider)
  question.ask("provider_disable", vim.tbl_extend("error", { provider = provider.id }, target), report)
end

---@param provider acp.Provider
local function words_of(provider)
  local state = "disabled"
  if provider.base_url then
    state = ("%s at %s"):format(one_line(provider.api_type or ""), one_line(provider.base_url))
  end
  return ("%s: %s%s"):format(one_line(provider.id), state, provider.required and " (required)" or "")
end

---@param provider acp.Provider
local function act(target, provider)
  if provider.required or not provider.base_url then
    return change(target, provider)
  end
  local ways = { { words = "change ...", run = change }, { words = "disable", run = disable } }
  choose(words_of(provider), ways, function(way)
    return way.words
  end, function(way)
    way.run(target, provider)
  end)
end

---Implements :AcpProviders.
function M.command(args)
  local session = sessions.current()
  local agent = args.args ~= "" and args.args or (session or {}).agent or agents.default()
  local problem = agents.problem(agent)
  if problem then
    return message.error(problem)
  elseif not host.ensure() then
    return
  end
  local cwd = session and session.agent == agent and session.cwd or vim.fn.getcwd()
  local target = { agent = agent, cwd = cwd }
  local on_answer = late.wait()
  question.ask("providers_list", target, function(event)
    if event.problem then
      message.error(event.problem)
    elseif #event.providers == 0 then
      message.info(("%s has no providers to choose"):format(agent))
    else
      on_answer(function()
        choose(("Providers of %s:"):format(agent), event.providers, words_of, function(provider)
          act(target, provider)
        end)
      end, ("%s has sent its providers: type :AcpProviders again"):format(agent))
    end
  end)
end

return M
