-- Files in the state directory that have one owner, a Neovim: it writes them soon after a change, since it may be killed
-- at any time, and a later Neovim claims those whose owner is gone. The name of a file identifies its owner.
local lazy = require("acp_nvim.lazy")
local message = lazy("acp_nvim.kernel.message")
local state_files = require("acp_nvim.kernel.state_files")

local M = {}

local ELSEWHERE_S = 30 * 24 * 3600 -- age after which a file of another machine with the same home is an orphan

local uv = vim.uv

---@class acp.OwnedFile
---@field path string
---@field content fun(): string? nil: there is nothing to keep, and the file is deleted
---@field complaint string the beginning of a message, when the file cannot be written
---@field timer uv.uv_timer_t
---@field delay? integer milliseconds, while the timer is running
---@field writes? boolean a write is in progress
---@field exists boolean the file exists
---@field written? string the content of the file; nil: unknown

---@type acp.OwnedFile[]
local files = {}
---@type table<string, true> complaints that were made: one of each is enough
local complaints = {}

---@param number integer unique among the files of this Neovim in the directory, even after the modules were reloaded
---@return string path
function M.path(directory, number)
  return vim.fs.joinpath(directory, ("%s-%d.json"):format(state_files.instance(), number))
end

---@param path string see `M.path`
---@param content fun(): string?
---@param complaint string
---@return acp.OwnedFile
function M.new(path, content, complaint)
  local file = { path = path, content = content, complaint = complaint, timer = assert(uv.new_timer()) }
  file.exists = uv.fs_stat(path) ~= nil -- written before the modules were reloaded
  files[#files + 1] = file
  return file
end

---@param path string
---@return string? instance the Neovim whose file it is; nil: it is no owned file
local function owner_of(path)
  return vim.fs.basename(path):match("^([%w_]+%-%d+%-%d*)%-%d+%.json$")
end

---@param path string
---@return boolean its name is that of an owned file
function M.is_owned(path)
  return owner_of(path) ~= nil
end

---@param path string
---@return boolean its owner is gone
function M.is_orphan(path)
  local instance = owner_of(path)
  local is_alive = instance and state_files.is_alive(instance)
  if is_alive ~= nil then
    return not is_alive
  end
  local status = instance and uv.fs_stat(path)
  return status ~= nil and os.time() - status.mtime.sec > ELSEWHERE_S
end

---Makes an orphan this Neovim's own by renaming it, which succeeds for only one Neovim.
---@param path string
---@param own string its new path
---@return boolean
function M.claim(path, own)
  return uv.fs_rename(path, own) ~= nil
end

---@param file acp.OwnedFile
---@param content? string
---@param problem? string
local function written(file, content, problem)
  file.writes = false
  file.written = not problem and content or nil
  if problem and not complaints[file.complaint] then
    complaints[file.complaint] = true
    vim.schedule(function()
      message.warn(("%s: %s: %s"):format(file.complaint, file.path, problem))
    end)
  end
end

---@param file acp.OwnedFile
---@param content string
local function write(file, content)
  local has_directory, err = state_files.make_directory(vim.fs.dirname(file.path))
  if not has_directory then
    return written(file, content, err)
  end
  file.exists, file.writes = true, true
  state_files.replace_soon(file.path, content, function(problem)
    written(file, content, problem)
  end)
end

---@param file acp.OwnedFile
local function save(file)
  local delay = file.delay --[[@as integer]]
  file.delay = nil
  if file.writes then
    return M.changed(file, delay) -- tries again after the write
  end
  local content = file.content()
  if content and content ~= file.written then
    write(file, content)
  elseif not content and file.exists then
    file.exists, file.writes = false, true
    uv.fs_unlink(file.path, function()
      written(file)
    end)
  end
end

---Schedules a write, after the content has changed. A write that is scheduled already is only postponed, if its delay is
---shorter.
---@param file acp.OwnedFile
---@param delay integer milliseconds
function M.changed(file, delay)
  if file.delay and file.delay >= delay then
    return
  end
  file.delay = delay
  file.timer:start(delay, 0, function()
    vim.schedule(function()
      save(file)
    end)
  end)
end

---Writes all files now, when Neovim exits.
local function flush()
  for _, file in ipairs(files) do
    file.timer:stop()
    if file.writes then
      state_files.abandon(file.path) -- it has an older content
    end
    local ok, content = pcall(file.content) -- the other files are to be written in any case
    if content and ok and (file.writes or content ~= file.written) then
      state_files.replace(file.path, content)
    elseif not content and file.exists then
      uv.fs_unlink(file.path)
    end
  end
end

vim.api.nvim_create_autocmd("VimLeavePre", {
  group = vim.api.nvim_create_augroup("acp_nvim.owned_files", {}),
  callback = flush,
})

return M
