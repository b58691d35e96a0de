---Returns a path as the agent is told of it: relative to its working directory if it is below that.
---@param path string absolute
---@param cwd string
---@return string
return function(path, cwd)
  local top = cwd:gsub("/$", "") .. "/"
  return vim.startswith(path, top) and path:sub(#top + 1) or path
end
