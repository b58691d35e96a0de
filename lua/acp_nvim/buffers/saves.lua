-- Notes what the user saves: for the host of this Neovim, and in a journal for those of other Neovims, whose agents work
-- in the same files and must not be taken for who changed them. Hosts make the directory of the journal, and clear it.
local limits = require("acp_nvim.limits")
local state_files = require("acp_nvim.state_files")

local M = {}

local uv, api = vim.uv, vim.api

---The state of a file that a save has made. Times are in nanoseconds since 1970, as decimal digits: a Lua number is not
---exact enough.
---@class acp.Stamp
---@field size integer bytes
---@field mtime string
---@field ctime string
---@field ino integer
---@field was? string ctime of the state of the file that the saved text was based on; nil when it is not known

---@type table<string, acp.Stamp|false> path -> stamp when a write of it began, false: there was no file
local before = {}
---@type table<integer, acp.Stamp> buffer -> of the user's last save of its file
local last = {}

---@param time { sec: integer, nsec: integer }
---@return string
local function nanoseconds(time)
  return ("%d%09d"):format(time.sec, time.nsec)
end

---@param path string
---@return acp.Stamp? stamp nil when there is no such file
local function stamp_of(path)
  local stat = uv.fs_stat(path)
  if not stat or stat.type ~= "file" then
    return nil
  end
  return { size = stat.size, mtime = nanoseconds(stat.mtime), ctime = nanoseconds(stat.ctime), ino = stat.ino }
end

---@param path string
---@return string the same in printable ASCII: other bytes, and percent signs, as %XX
local function encoded(path)
  return (path:gsub("[^ -$&-~]", function(byte)
    return ("%%%02X"):format(byte:byte())
  end))
end

---@param path string real
---@param stamp acp.Stamp
---@return string by hand, since vim.json.encode keeps 14 digits of a number
local function line_of(path, stamp)
  local was = stamp.was and ('"%s"'):format(stamp.was) or "null"
  local form = '{"path":%s,"size":%.0f,"mtime":"%s","ctime":"%s","ino":%.0f,"was":%s,"pid":%d}\n'
  return form:format(
    vim.json.encode(encoded(path)),
    stamp.size,
    stamp.mtime,
    stamp.ctime,
    stamp.ino,
    was,
    uv.os_getpid()
  )
end

---@param path string real
---@param stamp acp.Stamp
local function note(path, stamp)
  local directory = vim.fs.joinpath(state_files.root(), "saves")
  local line = line_of(path, stamp)
  if #line <= limits.save_bytes and vim.fn.isdirectory(directory) == 1 then
    -- without the journal the save is one of somebody whom nobody saw: the user is asked, and nothing is lost
    state_files.append(vim.fs.joinpath(directory, os.date("!%Y-%m-%d") .. ".jsonl"), line)
  end
end

---@param bufnr integer
---@return boolean the agent's text is saved, or the review's
local function is_ours(bufnr)
  local tracking = package.loaded["acp_nvim.buffers.tracking"]
  return tracking ~= nil and tracking.is_ours(bufnr)
end

---The text of the buffer is based on its file as it is now.
---@param bufnr integer
function M.based(bufnr)
  local stamp = stamp_of(api.nvim_buf_get_name(bufnr))
  vim.b[bufnr].acp_nvim_ctime = stamp and stamp.ctime
end

---@param event vim.api.keyset.create_autocmd.callback_args of BufWritePre, FileWritePre or FileAppendPre
function M.writing(event)
  before[event.match] = stamp_of(event.match) or false
end

---@param event vim.api.keyset.create_autocmd.callback_args of BufWritePost, FileWritePost or FileAppendPost
function M.written(event)
  local bufnr, began = event.buf, before[event.match]
  before[event.match] = nil
  local path, stamp = uv.fs_realpath(event.match), stamp_of(event.match)
  -- Neovim says "written" also when the user has answered that it should not
  local is_written = began ~= nil and not vim.deep_equal(stamp or false, began)
  if not path or not stamp or not is_written then
    return
  end
  local is_whole = event.event == "BufWritePost" and uv.fs_realpath(api.nvim_buf_get_name(bufnr)) == path
  if is_whole then
    stamp.was = vim.b[bufnr].acp_nvim_ctime
    vim.b[bufnr].acp_nvim_ctime = stamp.ctime
  end
  if not is_ours(bufnr) then
    last[bufnr] = is_whole and stamp or nil
    note(path, stamp)
  end
end

---@param bufnr integer
---@return acp.Stamp? of the user's save that has just ended; once
function M.take(bufnr)
  local stamp = last[bufnr]
  last[bufnr] = nil
  return stamp
end

return M
