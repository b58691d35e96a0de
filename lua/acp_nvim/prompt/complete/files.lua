-- Knows the files below a directory, for completion: listed by git, else by reading directories, in the background, and
-- again when that was a while ago.
local git = require("acp_nvim.git")
local limits = require("acp_nvim.limits")
local slices = require("acp_nvim.prompt.complete.slices")

local M = {}

---@class acp.GitListing
---@field chunks table<integer, string> that are to be read
---@field next integer of the chunk that is read next
---@field last integer of the last one
---@field rest string the beginning of a path
---@field count integer
---@field reading boolean
---@field over? boolean git has ended
---@field process? vim.SystemObj

---@param listing acp.GitListing
---@return string[] paths of the next chunk
local function next_paths(listing)
  local text, paths = listing.rest .. listing.chunks[listing.next], {}
  listing.chunks[listing.next] = nil
  listing.next = listing.next + 1
  local whole = text:match("^.*()%z") or 0
  listing.rest = text:sub(whole + 1)
  for path in text:sub(1, whole):gmatch("[^%z]+") do
    if not path:find("%c") then
      paths[#paths + 1] = path
    end
  end
  listing.count = listing.count + #paths
  return paths
end

---@param listing acp.GitListing
---@param found fun(paths: string[])
---@param done fun(ok: boolean)
local function read_git(listing, found, done)
  if listing.reading then
    return
  end
  listing.reading = true
  slices.run(function()
    if listing.chunks[listing.next] and listing.count < limits.files then
      found(next_paths(listing))
      return false
    end
    listing.reading = false
    if listing.over then
      done(listing.count > 0) -- all of it may be ignored, by a repository of the whole home
    end
    return true
  end)
end

---@param cwd string
---@param found fun(paths: string[]) relative to it; maybe called in fast events
---@param done fun(ok: boolean) false: it is in no repository, all of it is ignored, or there is no git; called once, maybe in a fast event
local function list_git(cwd, found, done)
  local listing = { chunks = {}, next = 1, last = 0, rest = "", count = 0, reading = false }
  local function read(_, chunk)
    if chunk and listing.count < limits.files then
      listing.last = listing.last + 1
      listing.chunks[listing.last] = chunk
      read_git(listing, found, done)
    elseif chunk and listing.process then
      listing.process:kill("sigterm")
    end
  end
  local function ended()
    listing.over = true
    read_git(listing, found, done)
  end
  listing.process = git.run(cwd, { "ls-files", "--cached", "--others", "--exclude-standard", "-z" }, read, ended)
end

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

local walk_on

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
    walk_on(walk)
    return true
  end)
end

---@param walk acp.Walk
walk_on = function(walk)
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
local function list_directory(cwd, found, done)
  walk_on({
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

local FILES_WAIT_MS = 1000 -- that a completion waits for the first listing of a directory

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
  list_git(cwd, found, function(ok)
    if ok then
      done()
    else
      list_directory(cwd, found, done)
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
  vim.defer_fn(once, FILES_WAIT_MS)
end

return M
