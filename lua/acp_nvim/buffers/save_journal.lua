-- Records the user's saves: for this Neovim's host, and in a journal for the hosts of other Neovims, so that they do
-- not attribute these changes to their agents. The hosts create the directory of the journal and remove old files.
local state_files = require("acp_nvim.kernel.state_files")

local M = {}

-- Largest journal line: a single write up to this size is not interleaved with those of other Neovims
local SAVE_BYTES = 4096

local uv, api = vim.uv, vim.api

---@class acp.BegunSave
---@field path string real path
---@field stamp acp.Stamp|false of the file before the save; false: there was none
---@field is_noted boolean the journal has an entry for its start

---@type table<string, acp.BegunSave> by file name, as in the autocommand
local begun = {}
---@type table<integer, acp.Stamp> buffer -> file after the user's last save
local last = {}

---@param time { sec: integer, nsec: integer }
local function nanoseconds(time)
  return ("%d%09d"):format(time.sec, time.nsec)
end

---@return acp.Stamp? stamp nil when there is no regular file
local function stamp_of(path)
  local stat = uv.fs_stat(path)
  if not stat or stat.type ~= "file" then
    return nil
  end
  return { size = stat.size, mtime = nanoseconds(stat.mtime), ctime = nanoseconds(stat.ctime), ino = stat.ino }
end

---@return string the path in printable ASCII: other bytes and percent signs become %XX
local function encoded(path)
  return (path:gsub("[^ -$&-~]", function(byte)
    return ("%%%02X"):format(byte:byte())
  end))
end

---@param stamp acp.Stamp
---@return string JSON, formatted by hand since vim.json.encode keeps only 14 digits of a number
local function fields_of(stamp)
  local was = stamp.was and ('"%s"'):format(stamp.was) or "null"
  local form = '"size":%.0f,"mtime":"%s","ctime":"%s","ino":%.0f,"was":%s'
  return form:format(stamp.size, stamp.mtime, stamp.ctime, stamp.ino, was)
end

---@param path string real path
---@param fields? string JSON; nil: the save failed
local function note(path, fields)
  local directory = vim.fs.joinpath(state_files.root(), "saves")
  local name = vim.json.encode(encoded(path))
  local line = ('{"path":%s,%s"pid":%d}\n'):format(name, fields and fields .. "," or "", uv.os_getpid())
  if #line <= SAVE_BYTES and vim.fn.isdirectory(directory) == 1 then
    -- without an entry the author of the change is unknown, and the user is asked
    state_files.append(vim.fs.joinpath(directory, os.date("!%Y-%m-%d") .. ".jsonl"), line)
  end
end

---@return boolean the plugin itself saves the buffer
local function is_ours(bufnr)
  local tracking = package.loaded["acp_nvim.buffers.tracking"]
  return tracking ~= nil and tracking.is_ours(bufnr)
end

---Records that the buffer's text is based on the present file.
function M.based(bufnr)
  local stamp = stamp_of(api.nvim_buf_get_name(bufnr))
  vim.b[bufnr].acp_nvim_ctime = stamp and stamp.ctime
end

---Ends the saves that did not finish: Neovim is idle, so they failed.
local function give_up()
  for name, save in pairs(begun) do
    begun[name] = nil
    if save.is_noted then
      note(save.path)
    end
  end
end

---Notes the start of a save, too: the file has the text before BufWritePost, since Neovim waits for the disk.
---@param event vim.api.keyset.create_autocmd.callback_args of BufWritePre, FileWritePre or FileAppendPre
function M.writing(event)
  local directory = uv.fs_realpath(vim.fs.dirname(event.match))
  local path = uv.fs_realpath(event.match) or directory and vim.fs.joinpath(directory, vim.fs.basename(event.match))
  if not path then
    return
  end
  local save = { path = path, stamp = stamp_of(event.match) or false, is_noted = not is_ours(event.buf) }
  begun[event.match] = save
  if save.is_noted then
    note(path, ('"began":"%s"'):format(nanoseconds(assert(uv.clock_gettime("realtime")))))
  end
  api.nvim_create_autocmd("SafeState", {
    group = api.nvim_create_augroup("acp_nvim.begun_saves", {}),
    once = true,
    callback = give_up,
  })
end

---@param event vim.api.keyset.create_autocmd.callback_args of BufWritePost, FileWritePost or FileAppendPost
function M.written(event)
  local bufnr, save = event.buf, begun[event.match]
  local path, stamp = uv.fs_realpath(event.match), stamp_of(event.match)
  -- BufWritePost also comes when the user has refused to overwrite a changed file
  local is_written = save ~= nil and not vim.deep_equal(stamp or false, save.stamp)
  if not path or not stamp or not is_written then
    return
  end
  begun[event.match] = nil
  local is_whole = event.event == "BufWritePost" and uv.fs_realpath(api.nvim_buf_get_name(bufnr)) == path
  if is_whole then
    stamp.was = vim.b[bufnr].acp_nvim_ctime
    vim.b[bufnr].acp_nvim_ctime = stamp.ctime
  end
  if not is_ours(bufnr) then
    last[bufnr] = is_whole and stamp or nil
    note(path, fields_of(stamp))
  end
end

---@return acp.Stamp? of the user's save that has just ended; a second call returns nil
function M.take(bufnr)
  local stamp = last[bufnr]
  last[bufnr] = nil
  return stamp
end

return M
