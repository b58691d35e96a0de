-- Starts the host and the default agent while Neovim is idle, before the first command (option `prewarm`).
local M = {}

local IDLE_MS = 1000 -- after Neovim has started: by then the other plugins have done their work
local is_scheduled = false

---@return string? agent that the first chat starts; nil if the user would have to choose, or it cannot be started
local function wanted()
  local config = require("acp_nvim.config").get()
  local agents = require("acp_nvim.config.agents")
  local is_chosen = config.default_agent or next(config.agents) or #agents.found() == 1
  local name = is_chosen and agents.default() or "demo"
  return name ~= "demo" and not agents.problem(name) and name or nil
end

local function start()
  local sessions = package.loaded["acp_nvim.host.sessions"]
  local is_used = sessions and sessions.current() ~= nil
  if is_used or not require("acp_nvim.config").get().prewarm or #vim.api.nvim_list_uis() == 0 then
    return
  end
  local agent, host = wanted(), require("acp_nvim.host")
  if not agent then
    return
  end
  require("acp_nvim.early").start()
  if host.channel() then -- else the first command reports why there is none
    host.send("prewarm", { agent = agent, cwd = require("acp_nvim.sessions.root").directory() })
  end
end

---Starts them, once, when Neovim has been idle for a moment.
function M.schedule()
  if is_scheduled then
    return
  end
  is_scheduled = true
  local function wait()
    vim.defer_fn(start, IDLE_MS)
  end
  if vim.v.vim_did_enter == 1 then
    wait()
  else
    vim.api.nvim_create_autocmd("VimEnter", { once = true, callback = wait })
  end
end

return M
