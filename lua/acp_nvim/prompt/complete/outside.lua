-- Lists the files in the directory that a typed path names, for paths that begin with /, ~/ or ../.
local limits = require("acp_nvim.limits")
local places = require("acp_nvim.prompt.mentions.places")

local M = {}

---@param typed string
---@return boolean
function M.is(typed)
  return typed:match("^~?/") ~= nil or typed:match("^%.%./") ~= nil
end

---@param typed string with a slash
---@param cwd string
---@param done fun(paths: string[], all: boolean) as they are typed on; not in a fast event, called once
function M.list(typed, cwd, done)
  local directory, begin = typed:match("^(.*/)(.*)$")
  vim.uv.fs_scandir(places.absolute(directory, cwd), function(_, handle)
    local out, all = {}, true
    while handle do
      local name, kind = vim.uv.fs_scandir_next(handle)
      if not name then
        break
      elseif vim.startswith(name:lower(), begin:lower()) and (begin ~= "" or name:sub(1, 1) ~= ".") then
        all = #out < limits.completions
        if not all then
          break
        elseif not name:find("%c") then
          table.insert(out, directory .. name .. (kind == "directory" and "/" or ""))
        end
      end
    end
    vim.schedule(function()
      table.sort(out)
      done(out, all)
    end)
  end)
end

return M
