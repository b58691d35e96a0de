-- Opens what the user has asked for once the host or the agent has answered. What opens takes the keys: if the user has
-- typed something else meanwhile, a message is shown instead.
local lazy = require("acp_nvim.lazy")
local message = lazy("acp_nvim.message")

local M = {}

local api = vim.api

---@return boolean a key that neither types nor goes anywhere: the user may still be waiting
local function is_idle(key)
  local name = vim.fn.keytrans(key)
  if api.nvim_get_mode().mode == "r" then -- the hit-enter prompt
    return name == "<CR>" or name == "<Space>"
  end
  return name:find("MouseMove") ~= nil or name:find("ScrollWheel") ~= nil
end

---Begins to wait for an answer. When it is there, call what is returned: `open` opens the window or the list; `words`,
---shown if the user has typed meanwhile, say what is ready and which command shows it.
---@return fun(open: fun(), words: string)
function M.wait()
  local namespace, has_typed = api.nvim_create_namespace(""), false
  vim.on_key(function(_, typed)
    if typed ~= "" and not is_idle(typed) then
      has_typed = true
      vim.on_key(nil, namespace)
    end
  end, namespace)
  return function(open, words)
    vim.on_key(nil, namespace)
    if has_typed then
      message.news(words, vim.log.levels.INFO)
    else
      open()
    end
  end
end

return M
