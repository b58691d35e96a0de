-- :checkhealth acp_nvim says how large the state directory is, and how it is cleaned by hand.
local config = require("acp_nvim.config")
local limits = require("acp_nvim.limits")
local state_files = require("acp_nvim.state_files")

local M = {}

local health = vim.health
local uv = vim.uv
local OTHERS = "worktrees" -- files of the user

---@param bytes integer
---@return string
local function megabytes(bytes)
  return ("%.0f MB"):format(bytes / 1e6)
end

---Bytes of all files in it, and below, as far as there is time.
---@param directory string
---@param deadline integer of vim.uv.now()
---@return integer bytes
---@return boolean all
local function size(directory, deadline)
  local bytes, waiting = 0, { directory }
  while #waiting > 0 do
    local path = table.remove(waiting)
    local found = uv.fs_scandir(path)
    while found do
      local name, kind = uv.fs_scandir_next(found)
      if not name then
        break
      end
      local inner = vim.fs.joinpath(path, name)
      if kind == "directory" then
        table.insert(waiting, inner)
      else
        bytes = bytes + (uv.fs_lstat(inner) or { size = 0 }).size
      end
    end
    uv.update_time()
    if uv.now() > deadline then
      return bytes, #waiting == 0
    end
  end
  return bytes, true
end

---@param root string
---@return integer bytes
---@return boolean all
local function size_of_all(root)
  uv.update_time()
  local deadline = uv.now() + limits.health_ms
  local bytes, all = 0, true
  for name, kind in vim.fs.dir(root) do
    local path = vim.fs.joinpath(root, name)
    if kind ~= "directory" then
      bytes = bytes + (uv.fs_lstat(path) or { size = 0 }).size
    elseif name ~= OTHERS then
      local inner, complete = size(path, deadline)
      bytes, all = bytes + inner, all and complete
    end
  end
  return bytes, all
end

function M.check()
  local root = state_files.root()
  local bytes, all = size_of_all(root)
  local limit = config.get().state.megabytes * 1e6
  local words = ("%s%s of at most %s are kept in %s"):format(
    all and "" or "more than ",
    megabytes(bytes),
    megabytes(limit),
    root
  )
  local workspaces = vim.fs.joinpath(root, "workspaces")
  local advice = {
    "What is too much is removed when the next session begins, except what is in use or left to review.",
    ("To clean by hand, quit all Neovims and delete directories in %s: all that can be restored and reviewed of their projects goes with them."):format(
      workspaces
    ),
    "The limit is the option state.megabytes.",
  }
  if bytes > limit then
    health.warn(words, advice)
  else
    health.ok(words .. " (state.megabytes). To clean by hand: |acp_nvim-state|")
  end
end

return M
