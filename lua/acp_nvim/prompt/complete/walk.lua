-- Lists the files below a directory that is in no git repository, a little at a time.
local limits = require("acp_nvim.limits")
local slices = require("acp_nvim.prompt.complete.slices")

local M = {}

local AT_ONCE = 4 -- directories: as many threads as libuv has
local STEP = 100 -- entries that are read without a pause: 0.1 ms

---@class acp.Walk
---@field cwd string
---@field waiting string[] directories
---@field asked integer directories that the disk was asked for
---@field handles { directory: string, handle: uv.uv_fs_t }[] that can be read
---@field reading boolean
---@field count integer
---@field found fun(paths: string[])
---@field done fun(ok: boolean)

---@param walk acp.Walk
---@return boolean all was read that can be read now
local function read_some(walk)
  local one = walk.handles[#walk.handles]
  if not one or walk.count >= limits.files then
    return true
  end
  local paths = {}
  for _ = 1, STEP do
    local name, kind = vim.uv.fs_scandir_next(one.handle)
    if not name then
      table.remove(walk.handles)
      break
    elseif name:sub(1, 1) ~= "." and not name:find("%c") then -- hidden, and .git, .hg, .svn
      local path = one.directory == "" and name or one.directory .. "/" .. name
      table.insert(kind == "directory" and walk.waiting or paths, path)
    end
  end
  walk.count = walk.count + #paths
  walk.found(paths)
  return false
end

local go_on

---@param walk acp.Walk
local function read(walk)
  if walk.reading then
    return
  end
  walk.reading = true
  slices.run(function()
    if not read_some(walk) then
      return false
    end
    walk.reading = false
    go_on(walk)
    return true
  end)
end

---@param walk acp.Walk
go_on = function(walk)
  while walk.asked < AT_ONCE and #walk.waiting > 0 and walk.count < limits.files do
    local directory = table.remove(walk.waiting)
    walk.asked = walk.asked + 1
    vim.uv.fs_scandir(walk.cwd .. "/" .. directory, function(_, handle)
      walk.asked = walk.asked - 1
      if handle then
        table.insert(walk.handles, 1, { directory = directory, handle = handle })
      end
      read(walk)
    end)
  end
  if walk.asked == 0 and not walk.reading then
    walk.done(true)
  end
end

---@param cwd string
---@param found fun(paths: string[]) relative to it; maybe called in fast events
---@param done fun(ok: boolean) called once, maybe in a fast event
function M.start(cwd, found, done)
  go_on({
    cwd = cwd,
    waiting = { "" },
    asked = 0,
    handles = {},
    reading = false,
    count = 0,
    found = found,
    done = done,
  })
end

return M
