-- Knows the files below a directory, for completion: listed in the background, and again when that was a while ago.
local git_files = require("acp_nvim.prompt.complete.git_files")
local limits = require("acp_nvim.limits")
local walk = require("acp_nvim.prompt.complete.walk")

local M = {}

---@class acp.FileList
---@field paths string[] relative, directories with a / at their end
---@field lower string[] the same in lower case
---@field whole boolean they are all there
---@field listed_at integer milliseconds
---@field took integer milliseconds
---@field number integer of the listing that made it

---@type table<string, acp.FileList> by directory
local lists = {}
---@type table<string, fun()[]> by directory, while it is listed for the first time
local waiting = {}
---@type table<string, true> directories that are listed right now
local running = {}
local number = 0

---@return acp.FileList
local function empty()
  number = number + 1
  return { paths = {}, lower = {}, whole = false, listed_at = vim.uv.now(), took = 0, number = number }
end

---@param list acp.FileList
---@param seen table<string, true> directories that are in it
---@param path string
local function add(list, seen, path)
  local directory = path:match("^(.*/)")
  while directory and not seen[directory] do
    seen[directory] = true
    list.paths[#list.paths + 1] = directory
    list.lower[#list.lower + 1] = directory:lower()
    directory = directory:sub(1, -2):match("^(.*/)")
  end
  list.paths[#list.paths + 1] = path
  list.lower[#list.lower + 1] = path:lower()
end

---@param cwd string
---@param list acp.FileList
local function finish(cwd, list)
  list.whole, list.took = true, vim.uv.now() - list.listed_at
  lists[cwd] = list
  running[cwd] = nil
  local heard = waiting[cwd] or {}
  waiting[cwd] = nil
  for _, tell in ipairs(heard) do
    tell()
  end
end

---@param cwd string
local function start(cwd)
  local list, seen = empty(), {}
  running[cwd] = true
  lists[cwd] = lists[cwd] or list -- the first listing is used while it grows
  local function found(paths)
    for _, path in ipairs(paths) do
      add(list, seen, path)
    end
  end
  local function done()
    vim.schedule(function()
      finish(cwd, list)
    end)
  end
  git_files.start(cwd, found, function(ok)
    if ok then
      done()
    else
      walk.start(cwd, found, done)
    end
  end)
end

---@param list acp.FileList
---@return boolean
local function is_old(list)
  local rest = math.max(limits.files_rest_ms, list.took * limits.files_rest)
  return vim.uv.now() - list.listed_at > rest
end

---@param cwd string
---@return acp.FileList as it is known now; an old one is renewed in the background
function M.get(cwd)
  local list = lists[cwd]
  if not running[cwd] and (not list or is_old(list)) then
    start(cwd)
  end
  return lists[cwd]
end

---@param cwd string
---@param tell fun() called when the first list is whole, or after a while
function M.when_listed(cwd, tell)
  if M.get(cwd).whole then
    return tell()
  end
  local told = false
  local function once()
    if not told then
      told = true
      tell()
    end
  end
  waiting[cwd] = waiting[cwd] or {}
  table.insert(waiting[cwd], once)
  vim.defer_fn(once, limits.files_wait_ms)
end

return M
