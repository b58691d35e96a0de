-- Tracks the buffers of files that agents may change, and reports changes of these files to the host without prompting.
local file_check = require("acp_nvim.buffers.file_check")
local lazy = require("acp_nvim.lazy")
local gone = lazy("acp_nvim.buffers.gone")
local host = require("acp_nvim.host")
local lookup = require("acp_nvim.buffers.lookup")
local saved_text = lazy("acp_nvim.buffers.saved_text")
local stamp = require("acp_nvim.buffers.stamp")

local M = { enabled = false } -- an agent is active

local api = vim.api
local MAX_UNTRACKED = 200
local CHANGED = api.nvim_create_augroup("acp_nvim.tracking.changed", {})

---@class acp.Tracked
---@field is_new boolean the file did not exist when the buffer was created
---@field stamp? string of the file when the buffer last read or wrote it
---@field is_gone? boolean the host knows that the file is deleted
---@field is_leaving? boolean untrack once the buffer is up to date: no agent works on it any more
---@field writing? string stamp of the file when |:write| started
---@field stale? string why the buffer is out of date: a value of |v:fcs_reason|, or "created"

---@type table<integer, acp.Tracked>
local tracked = {}
---@type table<string, true> real paths to report to the host
local changed_paths = {}
---@type table<integer, integer> buffer -> number of nested `ours` calls
local own_changes = {}

local function report_changes()
  local paths = vim.tbl_keys(changed_paths)
  changed_paths = {}
  if #paths > 0 and host.channel() then
    host.send("disk_changed", { paths = paths })
  end
end

---@param reason string
function M.mark_stale(bufnr, reason)
  if not tracked[bufnr] then
    return -- no agent works on it any more
  end
  tracked[bufnr].stale = reason
  lookup.forget(bufnr) -- the name may lead to another file now
  if next(changed_paths) == nil then
    vim.schedule(report_changes)
  end
  changed_paths[lookup.real_path(bufnr)] = true
end

---Handles FileChangedShell: suppresses the prompt and the reload, and leaves the update to the host.
local function on_changed(bufnr)
  local reason = vim.v.fcs_reason
  if not host.channel() then
    vim.v.fcs_choice = "ask"
  elseif reason == "time" then
    vim.v.fcs_choice = "ask" -- which asks nothing: the text is the same
  else
    vim.v.fcs_choice = ""
    local is_known = reason == "mode" or (reason == "deleted" and tracked[bufnr].is_gone)
    if not is_known then
      M.mark_stale(bufnr, reason)
    end
  end
end

---Looks for a file that now exists for a new buffer, before Neovim prompts about it.
local function check_created(bufnr)
  local entry = tracked[bufnr]
  if entry.is_new and vim.uv.fs_stat(api.nvim_buf_get_name(bufnr)) then
    entry.is_new = false
    stamp.settle(bufnr)
    M.mark_stale(bufnr, "created")
  end
end

---Compares stamps: Neovim checks only the modification time, and not in every situation.
local function check_stamp(bufnr)
  local entry = tracked[bufnr]
  if not entry or entry.stale or entry.is_new then
    return
  end
  local now = stamp.of(api.nvim_buf_get_name(bufnr))
  local before = not entry.is_gone and entry.stamp or nil
  if now ~= before then
    M.mark_stale(bufnr, now and "changed" or "deleted")
  end
end

---Clears 'autoread', with which Neovim would reload the file and lose marks. A buffer variable keeps the user's value,
---since the buffer may outlive these modules.
function M.take_autoread(bufnr)
  if not vim.b[bufnr].acp_nvim_autoread then
    local own = api.nvim_get_option_value("autoread", { buf = bufnr, scope = "local" })
    vim.b[bufnr].acp_nvim_autoread = tostring(own)
  end
  vim.bo[bufnr].autoread = false
end

local function give_autoread_back(bufnr)
  local values = { ["true"] = true, ["false"] = false }
  local own = vim.b[bufnr].acp_nvim_autoread
  if own then
    api.nvim_set_option_value("autoread", values[own], { buf = bufnr, scope = "local" })
    vim.b[bufnr].acp_nvim_autoread = nil
  end
end

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
  api.nvim_create_autocmd("BufUnload", {
    group = CHANGED,
    buffer = bufnr,
    callback = function()
      M.untrack(bufnr)
    end,
  })
  if not tracked[bufnr].is_new and not file_check.compare(bufnr) then
    M.mark_stale(bufnr, "changed") -- perhaps: the host compares the texts
  end
  local stale = M.check(bufnr)
  if not stale and (vim.bo[bufnr].modified or not vim.bo[bufnr].eol) then
    saved_text.keep_file(bufnr)
  elseif not vim.bo[bufnr].modified then
    saved_text.keep_read(bufnr)
  end
end

function M.untrack(bufnr)
  tracked[bufnr] = nil
  saved_text.forget(bufnr)
  pcall(api.nvim_clear_autocmds, { group = CHANGED, buffer = bufnr })
  if api.nvim_buf_is_valid(bufnr) then
    give_autoread_back(bufnr)
  end
end

---Untracks the buffer, at once or when it is up to date.
function M.leave(bufnr)
  if tracked[bufnr].stale then
    tracked[bufnr].is_leaving = true
  else
    M.untrack(bufnr)
  end
end

---@return string? reason why the buffer is out of date
---@return string? stamp of the file that the buffer is based on
function M.check(bufnr)
  if not tracked[bufnr] and not M.enabled then
    return nil, stamp.of(api.nvim_buf_get_name(bufnr))
  end
  M.track(bufnr)
  check_created(bufnr)
  if not tracked[bufnr].is_new then
    file_check.compare(bufnr)
    check_stamp(bufnr)
  end
  local entry = tracked[bufnr] or {}
  return entry.stale, entry.stamp
end

---Reports all changes on disk to the host, even those reported before, which the host may have been unable to handle.
function M.check_all()
  for bufnr, entry in pairs(tracked) do
    if lookup.is_file(bufnr) then
      check_created(bufnr)
      check_stamp(bufnr)
      if entry.stale then
        M.mark_stale(bufnr, entry.stale)
      end
    end
  end
end

---@return string[] paths of the buffers that are out of date
function M.stale()
  M.check_all()
  local paths = {}
  for bufnr, entry in pairs(tracked) do
    if entry.stale and lookup.is_file(bufnr) then
      paths[#paths + 1] = lookup.real_path(bufnr)
    end
  end
  return paths
end

---@return string[] paths of the loaded buffers of other files, as many as a person has open
function M.untracked()
  local paths = {}
  for _, bufnr in ipairs(lookup.file_buffers()) do
    if not tracked[bufnr] and #paths < MAX_UNTRACKED then
      paths[#paths + 1] = lookup.real_path(bufnr)
    end
  end
  return paths
end

---Records that the host has processed the present file.
---@param is_gone? boolean
function M.settled(bufnr, is_gone)
  local entry = tracked[bufnr]
  if entry then
    entry.stale, entry.is_new, entry.is_gone = nil, false, is_gone
    gone.show(bufnr, is_gone == true)
    entry.stamp = stamp.of(api.nvim_buf_get_name(bufnr))
    if entry.is_leaving then
      M.untrack(bufnr)
    end
  end
end

---Records that the buffer is based on another state of its file than the present one.
---@param was? string stamp of that state
function M.based_on(bufnr, was)
  if tracked[bufnr] then
    tracked[bufnr].stamp = was
    M.mark_stale(bufnr, "changed")
  end
end

---@return acp.Tracked?
function M.get(bufnr)
  return tracked[bufnr]
end

---@return boolean the host is told when the buffer's file changes, and updates the buffer
function M.is_handled(bufnr)
  return tracked[bufnr] ~= nil and host.channel() ~= nil
end

function M.all()
  return vim.tbl_keys(tracked)
end

---@return boolean the plugin itself is changing or saving the buffer
function M.is_ours(bufnr)
  return own_changes[bufnr] ~= nil
end

---Marks the changes that `run` makes to the buffer and its file as our own.
---@param run fun(): any, any
---@return any ...
function M.ours(bufnr, run)
  own_changes[bufnr] = (own_changes[bufnr] or 0) + 1
  local ok, first, second = pcall(run)
  own_changes[bufnr] = own_changes[bufnr] > 1 and own_changes[bufnr] - 1 or nil
  if not ok then
    error(first, 0)
  end
  return first, second
end

return M
