-- Notes what the user saves: for the host of this Neovim, and in a journal for those of other Neovims, whose agents work
-- in the same files and must not be taken for who changed them. Hosts make the directory of the journal, and clear it.
local state_files = require("acp_nvim.health.state_files")

local M = {}

-- Of a line of the journal of saves: up to here one write is not mixed with those of other Neovims
local SAVE_BYTES = 4096

local uv, api = vim.uv, vim.api

---@class acp.BegunSave
---@field path string real
---@field stamp acp.Stamp|false what the file was when it began; false: there was none
---@field is_noted boolean

---@type table<string, acp.BegunSave> name of the file, as Neovim gives it
local begun = {}
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

---@param stamp acp.Stamp
---@return string by hand, since vim.json.encode keeps 14 digits of a number
local function fields_of(stamp)
  local was = stamp.was and ('"%s"'):format(stamp.was) or "null"
  local form = '"size":%.0f,"mtime":"%s","ctime":"%s","ino":%.0f,"was":%s'
  return form:format(stamp.size, stamp.mtime, stamp.ctime, stamp.ino, was)
end

---@param path string real
---@param fields? string in JSON; nil: the save has come to nothing
local function note(path, fields)
  local directory = vim.fs.joinpath(state_files.root(), "saves")
  local name = vim.json.encode(encoded(path))
  local line = ('{"path":%s,%s"pid":%d}\n'):format(name, fields and fields .. "," or "", uv.os_getpid())
  if #line <= SAVE_BYTES and vim.fn.isdirectory(directory) == 1 then
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

---Neovim is idle: the writes that have not ended never will.
local function give_up()
  for name, save in pairs(begun) do
    begun[name] = nil
    if save.is_noted then
      note(save.path)
    end
  end
end

---The beginning is noted, too: the text is in the file some time before Neovim says so, since it waits for the disk.
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
  -- Neovim says "written" also when the user has answered that it should not
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

---@param bufnr integer
---@return acp.Stamp? of the user's save that has just ended; once
function M.take(bufnr)
  local stamp = last[bufnr]
  last[bufnr] = nil
  return stamp
end

return M
