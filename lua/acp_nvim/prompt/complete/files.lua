-- Lists the files below a directory in the background, by git or else by reading directories, and caches the list.
local git = require("acp_nvim.kernel.git")
local limits = require("acp_nvim.limits")
local slices = require("acp_nvim.kernel.slices")

local M = {}

---@param found fun(paths: string[]) called with relative paths, maybe in fast events
---@param done fun(ok: boolean) called once, maybe in a fast event; false: no repository, all ignored, or no git
local function list_git(cwd, found, done)
  local chunks, first, last, rest, count = {}, 1, 0, "", 0 -- rest: incomplete path at the end of the last read chunk
  local is_reading, has_ended, process = false, false, nil

  local function read_chunk()
    local text, paths = rest .. chunks[first], {}
    chunks[first] = nil
    first = first + 1
    local whole = text:match("^.*()%z") or 0
    rest = text:sub(whole + 1)
    for path in text:sub(1, whole):gmatch("[^%z]+") do
      if not path:find("%c") then
        paths[#paths + 1] = path
      end
    end
    count = count + #paths
    found(paths)
  end

  local function read()
    if is_reading then
      return
    end
    is_reading = true
    slices.run(function()
      if chunks[first] and count < limits.files then
        read_chunk()
        return false
      end
      is_reading = false
      if has_ended then
        done(count > 0) -- 0: all may be ignored, for example by a repository of the whole home
      end
      return true
    end)
  end

  process = git.run(cwd, { "ls-files", "--cached", "--others", "--exclude-standard", "-z" }, function(_, chunk)
    if chunk and count < limits.files then
      last = last + 1
      chunks[last] = chunk
      read()
    elseif chunk and process then
      process:kill("sigterm")
    end
  end, function()
    has_ended = true
    read()
  end)
end

local AT_ONCE = 4 -- directories: libuv has as many threads
local STEP = 100 -- entries that are read without a pause: 0.1 ms

---@param found fun(paths: string[]) called with relative paths, maybe in fast events
---@param done fun(ok: boolean) called once, maybe in a fast event
local function list_directory(cwd, found, done)
  local waiting, opening, handles, count, is_reading = { "" }, 0, {}, 0, false
  local open_more

  ---@return boolean nothing more can be read now
  local function read_some()
    local opened = handles[#handles]
    if not opened or count >= limits.files then
      return true
    end
    local paths = {}
    for _ = 1, STEP do
      local name, kind = vim.uv.fs_scandir_next(opened.handle)
      if not name then
        table.remove(handles)
        break
      elseif name:sub(1, 1) ~= "." and not name:find("%c") then -- hidden files, .git, .hg and .svn are left out
        local path = opened.directory == "" and name or opened.directory .. "/" .. name
        table.insert(kind == "directory" and waiting or paths, path)
      end
    end
    count = count + #paths
    found(paths)
    return false
  end

  local function read()
    if is_reading then
      return
    end
    is_reading = true
    slices.run(function()
      if not read_some() then
        return false
      end
      is_reading = false
      open_more()
      return true
    end)
  end

  function open_more()
    while opening < AT_ONCE and #waiting > 0 and count < limits.files do
      local directory = table.remove(waiting)
      opening = opening + 1
      vim.uv.fs_scandir(cwd .. "/" .. directory, function(_, handle)
        opening = opening - 1
        if handle then
          table.insert(handles, 1, { directory = directory, handle = handle })
        end
        read()
      end)
    end
    if opening == 0 and not is_reading then
      done(true)
    end
  end
  open_more()
end

local FILES_WAIT_MS = 1000 -- that a completion waits for the first listing of a directory

---@class acp.FileList
---@field paths string[] relative; directories end with /
---@field lower string[] `paths` in lower case
---@field whole boolean the listing is complete
---@field listed_at integer start of the listing, in milliseconds
---@field took integer duration of the listing, in milliseconds
---@field number integer unique number of the listing

---@type table<string, acp.FileList> by directory
local lists = {}
---@type table<string, fun()[]> by directory, until its first listing is complete
local waiting = {}
---@type table<string, true> directories being listed
local running = {}
local number = 0

---@param list acp.FileList
---@param seen table<string, true> directories already in the list
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

---@param list acp.FileList
local function finish(cwd, list)
  list.whole, list.took = true, vim.uv.now() - list.listed_at
  lists[cwd] = list
  running[cwd] = nil
  local callbacks = waiting[cwd] or {}
  waiting[cwd] = nil
  for _, callback in ipairs(callbacks) do
    callback()
  end
end

local function start(cwd)
  number = number + 1
  local list = { paths = {}, lower = {}, whole = false, listed_at = vim.uv.now(), took = 0, number = number }
  local seen = {}
  running[cwd] = true
  lists[cwd] = lists[cwd] or list -- the first list is used while it grows
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
local function is_old(list)
  local rest = math.max(limits.files_rest_ms, list.took * limits.files_rest)
  return vim.uv.now() - list.listed_at > rest
end

---@return acp.FileList the cached list; an old one is renewed in the background
function M.get(cwd)
  local list = lists[cwd]
  if not running[cwd] and (not list or is_old(list)) then
    start(cwd)
  end
  return lists[cwd]
end

---@param done fun() called once, when the first list is complete, or after FILES_WAIT_MS
function M.when_listed(cwd, done)
  if M.get(cwd).whole then
    return done()
  end
  local called = false
  local function once()
    if not called then
      called = true
      done()
    end
  end
  waiting[cwd] = waiting[cwd] or {}
  table.insert(waiting[cwd], once)
  vim.defer_fn(once, FILES_WAIT_MS)
end

return M
