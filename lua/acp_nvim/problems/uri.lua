-- Finds the file that a URI of a language server names, without a buffer of it.
local M = {}

local BYTES = 3 * 4096 -- of a URI: the longest path that systems know, with each of its bytes encoded

---@param uri any
---@return string? path absolute; nil: it is no URI of a file of this machine
function M.path(uri)
  if type(uri) ~= "string" or #uri > BYTES then
    return nil
  end
  local rest = uri:match("^[Ff][Ii][Ll][Ee]:(.*)$")
  if not rest then
    return nil
  elseif vim.startswith(rest, "//") then
    local host, path = rest:match("^//([^/]*)(/.*)$")
    rest = (host == "" or host == "localhost") and path or ""
  end
  local path = vim.uri_decode(rest:match("^[^#]*")):gsub("^/+", "/")
  return path:sub(1, 1) == "/" and not path:find("%z") and path or nil
end

return M
