---Returns whether a file is in the directories of the session; the text of others is not told unless it was asked for.
---@param path string real path
---@param args { directories: string[] } of a tool
---@return boolean
return function(path, args)
  for _, directory in ipairs(args.directories) do
    if path == directory or vim.startswith(path, (directory:gsub("/$", "")) .. "/") then
      return true
    end
  end
  return false
end
