-- Lists the files below a directory that is in no git repository, a little at a time.
local limits = require("acp_nvim.limits")

local M = {}

local AT_ONCE = 4 -- directories: as many threads as libuv has

---@param cwd string
---@param found fun(paths: string[]) relative to it; called in fast events
---@param done fun(ok: boolean) called once, in a fast event
---@return fun() stop
function M.start(cwd, found, done)
  local waiting, reading, count, stopped = { "" }, 0, 0, false
  local next_one

  local function take(directory, handle)
    local paths = {}
    while true do
      local name, kind = vim.uv.fs_scandir_next(handle)
      if not name then
        break
      elseif name:sub(1, 1) ~= "." and not name:find("%c") then -- hidden, and .git, .hg, .svn
        local path = directory == "" and name or directory .. "/" .. name
        if kind == "directory" then
          table.insert(waiting, path)
        else
          table.insert(paths, path)
        end
      end
    end
    count = count + #paths
    found(paths)
  end

  local function finish()
    if not stopped then
      stopped = true
      done(true)
    end
  end

  next_one = function()
    while not stopped and reading < AT_ONCE and #waiting > 0 and count < limits.files do
      local directory = table.remove(waiting)
      reading = reading + 1
      vim.uv.fs_scandir(cwd .. "/" .. directory, function(_, handle)
        reading = reading - 1
        if not stopped and handle then
          take(directory, handle)
        end
        next_one()
      end)
    end
    if reading == 0 then
      finish()
    end
  end

  next_one()
  return function()
    stopped = true
  end
end

return M
