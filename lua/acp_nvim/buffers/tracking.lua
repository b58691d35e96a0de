-- The buffers of files that agents may change: what happens to these on disk is told to the host, and asks nobody.
local gone = require("acp_nvim.buffers.gone")
local host = require("acp_nvim.host")
local lookup = require("acp_nvim.buffers.lookup")
local saved = require("acp_nvim.buffers.saved")
local stamp = require("acp_nvim.buffers.stamp")

local M = { enabled = false } -- whether any agent works

local api = vim.api
local CHANGED = api.nvim_create_augroup("acp_nvim.tracking.changed", {})

---@class acp.Tracked
---@field is_new boolean there was no file when the buffer came to be
---@field stamp? string of the file when the buffer read or wrote it
---@field is_gone? boolean the host knows that there is no file any more
---@field is_leaving? boolean no agent works on it any more
---@field writing? string the stamp when |:write| began
---@field stale? string why the buffer is behind its file, in the words of |v:fcs_reason|, or "created"

---@type table<integer, acp.Tracked>
local tracked = {}
---@type table<string, true> real paths that the host is to be told about
local news = {}
---@type table<integer, integer> buffers, and how often we are at them
local busy = {}

local function tell()
  local paths = vim.tbl_keys(news)
  news = {}
  if #paths > 0 and host.channel() then
    host.send("disk_changed", { paths = paths })
  end
end

---@param bufnr integer
---@param reason string
function M.mark_stale(bufnr, reason)
  if not tracked[bufnr] then
    return -- nobody works on it any more
  end
  tracked[bufnr].stale = reason
  lookup.forget(bufnr) -- the name may lead elsewhere now
  if next(news) == nil then
    vim.schedule(tell)
  end
  news[lookup.real_path(bufnr)] = true
end

---Neovim has seen that the file is another one. It asks and reads nothing: the host finds out what has become of it.
---@param bufnr integer
local function on_changed(bufnr)
  local reason = vim.v.fcs_reason
  if not host.channel() then
    vim.v.fcs_choice = "ask"
  elseif reason == "time" then
    vim.v.fcs_choice = "ask" -- which asks nothing when the text is the same
  else
    vim.v.fcs_choice = ""
    local is_known = reason == "mode" or (reason == "deleted" and tracked[bufnr].is_gone)
    if not is_known then
      M.mark_stale(bufnr, reason)
    end
  end
end

---Neovim tells of a file that comes to be under a new buffer only by asking, so that we look first.
---@param bufnr integer
local function check_created(bufnr)
  local one = tracked[bufnr]
  if one.is_new and vim.uv.fs_stat(api.nvim_buf_get_name(bufnr)) then
    one.is_new = false
    stamp.settle(bufnr)
    M.mark_stale(bufnr, "created")
  end
end

---Neovim looks at the time of the last change alone, and not everywhere.
---@param bufnr integer
local function check_stamp(bufnr)
  local one = tracked[bufnr]
  if not one or one.stale or one.is_new then
    return
  end
  local now = stamp.of(api.nvim_buf_get_name(bufnr))
  local before = not one.is_gone and one.stamp or nil
  if now ~= before then
    M.mark_stale(bufnr, now and "changed" or "deleted")
  end
end

---Else Neovim reads the file again without a word, and marks are lost. The user's own value stays with the buffer, which
---may outlive these modules.
---@param bufnr integer
function M.take_autoread(bufnr)
  if not vim.b[bufnr].acp_nvim_autoread then
    local own = api.nvim_get_option_value("autoread", { buf = bufnr, scope = "local" })
    vim.b[bufnr].acp_nvim_autoread = tostring(own)
  end
  vim.bo[bufnr].autoread = false
end

---@param bufnr integer
local function give_autoread_back(bufnr)
  local values = { ["true"] = true, ["false"] = false }
  local own = vim.b[bufnr].acp_nvim_autoread
  if own then
    api.nvim_set_option_value("autoread", values[own], { buf = bufnr, scope = "local" })
    vim.b[bufnr].acp_nvim_autoread = nil
  end
end

---@param bufnr integer
function M.track(bufnr)
  if tracked[bufnr] then
    return
  end
  local now = stamp.of(api.nvim_buf_get_name(bufnr))
  tracked[bufnr] = { is_new = not now, stamp = now }
  M.take_autoread(bufnr)
  api.nvim_create_autocmd("FileChangedShell", {
    group = CHANGED,
    buffer = bufnr,
    callback = function()
      on_changed(bufnr)
    end,
  })
  local stale = M.check(bufnr)
  if not stale and (vim.bo[bufnr].modified or not vim.bo[bufnr].eol) then
    saved.keep_file(bufnr)
  elseif not vim.bo[bufnr].modified then
    saved.keep_read(bufnr)
  end
end

---@param bufnr integer
local function forget(bufnr)
  tracked[bufnr] = nil
  saved.forget(bufnr)
  pcall(api.nvim_clear_autocmds, { group = CHANGED, buffer = bufnr })
end

---@param bufnr integer
function M.untrack(bufnr)
  forget(bufnr)
  if api.nvim_buf_is_valid(bufnr) then
    give_autoread_back(bufnr)
  end
end

---Untracks the buffer, or does so when it was brought up to its file.
---@param bufnr integer
function M.leave(bufnr)
  if tracked[bufnr].stale then
    tracked[bufnr].is_leaving = true
  else
    M.untrack(bufnr)
  end
end

---@param bufnr integer
---@return string? reason the buffer is behind its file
---@return string? stamp of the file that it stands for
function M.check(bufnr)
  if not tracked[bufnr] and not M.enabled then
    return nil, stamp.of(api.nvim_buf_get_name(bufnr))
  end
  M.track(bufnr)
  check_created(bufnr)
  if not tracked[bufnr].is_new then
    stamp.with_autocommands(function()
      vim.cmd(("silent! checktime %d"):format(bufnr))
    end)
    check_stamp(bufnr)
  end
  local one = tracked[bufnr] or {}
  return one.stale, one.stamp
end

---Whatever changed on disk by now is told to the host, also what was told before: it may not have got at it.
function M.check_all()
  for bufnr, one in pairs(tracked) do
    if lookup.is_file(bufnr) then
      check_created(bufnr)
      check_stamp(bufnr)
      if one.stale then
        M.mark_stale(bufnr, one.stale)
      end
    end
  end
end

---@return string[] paths of the buffers that are behind their files by now
function M.stale()
  M.check_all()
  local paths = {}
  for bufnr, one in pairs(tracked) do
    if one.stale and lookup.is_file(bufnr) then
      paths[#paths + 1] = lookup.real_path(bufnr)
    end
  end
  return paths
end

---The host knows all about the file.
---@param bufnr integer
---@param is_gone? boolean
function M.settled(bufnr, is_gone)
  local one = tracked[bufnr]
  if one then
    one.stale, one.is_new, one.is_gone = nil, false, is_gone
    gone.show(bufnr, is_gone == true)
    one.stamp = stamp.of(api.nvim_buf_get_name(bufnr))
    if one.is_leaving then
      M.untrack(bufnr)
    end
  end
end

---@param bufnr integer
---@return acp.Tracked?
function M.get(bufnr)
  return tracked[bufnr]
end

---@return integer[]
function M.all()
  return vim.tbl_keys(tracked)
end

---@param bufnr integer
---@return boolean what happens to it is our own doing
function M.is_ours(bufnr)
  return busy[bufnr] ~= nil
end

---What `run` makes of the buffer and its file is our own doing.
---@param bufnr integer
---@param run fun(): any, any
---@return any ...
function M.ours(bufnr, run)
  busy[bufnr] = (busy[bufnr] or 0) + 1
  local ok, first, second = pcall(run)
  busy[bufnr] = busy[bufnr] > 1 and busy[bufnr] - 1 or nil
  if not ok then
    error(first, 0)
  end
  return first, second
end

return M
