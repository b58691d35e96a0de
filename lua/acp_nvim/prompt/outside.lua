-- Tells the user when a prompt has attachments from outside of its session's directories.
local config = require("acp_nvim.config")
local message = require("acp_nvim.kernel.message")
local names = require("acp_nvim.names")
local sessions = require("acp_nvim.host.sessions")

local M = {}

---@param item acp.ContextItem
---@return string? path absolute; nil: it is no file
local function path_of(item)
  if item.path then
    return item.path
  end
  local uri = type(item.uri) == "string" and item.uri:match("^(file:///[^#]*)")
  return uri and vim.uri_to_fname(uri) or nil
end

---@return string[] directories that the session may use
local function directories(session)
  local all = { session.cwd }
  vim.list_extend(all, session.status.directories or {})
  for _, more in ipairs({ session.additional_directories or {}, config.get().additional_directories }) do
    for _, directory in ipairs(more) do
      local path = names.normalized(directory)
      all[#all + 1] = path:sub(1, 1) == "/" and path or vim.fs.joinpath(session.cwd, path)
    end
  end
  return all
end

---Says which attachments lie outside, once for each directory.
---@param items acp.ContextItem[] of a prompt
function M.tell(session, items)
  local own = directories(session)
  session.told_outside = session.told_outside or {}
  for _, item in ipairs(items) do
    local path = path_of(item)
    local directory = path and vim.fs.dirname(path) or ""
    local is_inside = vim.iter(own):any(function(one)
      return path ~= nil and sessions.is_within(path, one)
    end)
    if path and not is_inside and not session.told_outside[directory] then
      session.told_outside[directory] = true
      local words = "%s is outside of %s, where this session works: the agent may not reach it there "
        .. "(:AcpChat! in its directory starts a session for it)"
      message.info(words:format(names.below_home(path), names.below_home(session.cwd)))
    end
  end
end

return M
