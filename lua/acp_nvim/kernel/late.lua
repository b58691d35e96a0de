-- Opens what the user has asked for once the host or the agent has answered. What opens takes the keys: if the user has
-- typed something else meanwhile, a message is shown instead. What nobody has asked for waits until the user pauses.
local command_line = require("acp_nvim.kernel.command_line")
local lazy = require("acp_nvim.lazy")
local message = lazy("acp_nvim.kernel.message")

local M = {}

local api = vim.api
local PAUSE_MS = 300

---@return boolean a key that neither types nor goes anywhere: the user may still be waiting
local function is_idle(key)
  local name = vim.fn.keytrans(key)
  if api.nvim_get_mode().mode == "r" then -- the hit-enter prompt
    return name == "<CR>" or name == "<Space>"
  end
  return name:find("MouseMove") ~= nil or name:find("ScrollWheel") ~= nil
end

---@return fun(): boolean ends the watch, and tells whether the user has typed since it began
local function watch_typing()
  local namespace, has_typed = api.nvim_create_namespace(""), false
  vim.on_key(function(_, typed)
    if typed ~= "" and not is_idle(typed) then
      has_typed = true
      vim.on_key(nil, namespace)
    end
  end, namespace)
  return function()
    vim.on_key(nil, namespace)
    return has_typed
  end
end

---@alias acp.OnAnswer fun(open: fun(), words: string)

---Begins to wait for an answer. When it is there, call what is returned: `open` opens the window or the list; `words`,
---shown if the user has typed meanwhile, say what is ready and which command shows it.
---@return acp.OnAnswer
function M.wait()
  local has_typed = watch_typing()
  return function(open, words)
    if has_typed() then
      message.news(words, vim.log.levels.INFO)
    else
      open()
    end
  end
end

---@return boolean what opens now interrupts nothing: Normal mode, or a prompt that is still empty
local function is_free()
  local now = api.nvim_get_mode()
  if now.blocking or command_line.has_focus() or vim.fn.state("m") ~= "" then -- "m": half of a mapping is typed
    return false
  end
  local is_empty = api.nvim_buf_line_count(0) == 1 and api.nvim_get_current_line() == ""
  return now.mode == "n" or now.mode == "i" and vim.bo.filetype == "acp_prompt" and is_empty
end

---Calls `open`, which asks what the user does not expect to be asked, once they have typed nothing for a moment.
---@param words? string shown if that is not at once
---@param is_wanted? fun(): boolean called after each pause; once it is false, nothing is opened any more
function M.when_idle(open, words, is_wanted)
  local has_typed = watch_typing()
  vim.defer_fn(function()
    local is_idle = not has_typed() and is_free()
    if is_wanted and not is_wanted() then
      return
    elseif is_idle then
      return open()
    elseif words then
      message.news(words, vim.log.levels.INFO)
    end
    M.when_idle(open, nil, is_wanted)
  end, PAUSE_MS)
end

return M
