-- Watches the buffers of files that agents may change: what happens on disk is told to the host, and asks nobody.
local gone = require("acp_nvim.buffers.gone")
local host = require("acp_nvim.host")
local lookup = require("acp_nvim.buffers.lookup")
local saved = require("acp_nvim.buffers.saved")
local stamp = require("acp_nvim.buffers.stamp")

local M = {}

local api = vim.api
local GROUP = api.nvim_create_augroup("acp_nvim.tracking", {})
local CHANGED = api.nvim_create_augroup("acp_nvim.tracking.changed", {})

---@class acp.Tracked
---@field is_new boolean there was no file when the buffer came to be
---@field stamp? string of the file when the buffer read or wrote it
---@field is_gone? boolean the host knows that there is no file any more
---@field writing? string the stamp when |:write| began
---@field stale? string why the buffer is behind its file, in the words of |v:fcs_reason|, or "created"

---@type table<integer, acp.Tracked>
local tracked = {}
---@type table<integer, string[]> by session
local roots = {}
---@type table<string, true> real paths that the host is to be told about
local news = {}
local busy = 0

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
  if not one or one.stale then
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
local function take_autoread(bufnr)
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
  take_autoread(bufnr)
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
local function untrack(bufnr)
  forget(bufnr)
  if api.nvim_buf_is_valid(bufnr) then
    give_autoread_back(bufnr)
  end
end

---@param bufnr integer
---@return boolean
local function is_below_a_root(bufnr)
  local path = lookup.real_path(bufnr)
  for _, directories in pairs(roots) do
    for _, directory in ipairs(directories) do
      if vim.startswith(path, directory == "/" and directory or directory .. "/") then
        return true
      end
    end
  end
  return false
end

---@param bufnr integer
function M.track_below_roots(bufnr)
  if lookup.is_file(bufnr) and is_below_a_root(bufnr) then
    M.track(bufnr)
  end
end

---@param bufnr integer
---@return string? reason the buffer is behind its file
---@return string? stamp of the file that it stands for
function M.check(bufnr)
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

---Whatever changed on disk by now is told to the host.
function M.check_all()
  for bufnr in pairs(tracked) do
    local stale = lookup.is_file(bufnr) and M.check(bufnr)
    if stale then
      M.mark_stale(bufnr, stale) -- once more: the host may not have got at it
    end
  end
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
  end
end

---@param bufnr integer
---@param was_written boolean else it was read
local function keep_saved(bufnr, was_written)
  if vim.bo[bufnr].modified then
    saved.forget(bufnr)
  elseif was_written then
    saved.keep_written(bufnr)
  else
    saved.keep_read(bufnr)
  end
end

---@param event vim.api.keyset.create_autocmd.callback_args
---@return boolean not our own doing, nor a copy under another name
local function is_of_its_file(event)
  local is_copy = event.event:match("^BufWrite") and lookup.real(event.match) ~= lookup.real_path(event.buf)
  return busy == 0 and not is_copy
end

---@param event vim.api.keyset.create_autocmd.callback_args
local function on_write(event)
  if tracked[event.buf] and is_of_its_file(event) then
    tracked[event.buf].writing = stamp.of(api.nvim_buf_get_name(event.buf))
  end
end

---Neovim says "written" also when the user has answered that it should not.
---@param event vim.api.keyset.create_autocmd.callback_args
local function on_written(event)
  local one = tracked[event.buf]
  if not one then
    M.track_below_roots(event.buf)
  elseif is_of_its_file(event) and stamp.of(api.nvim_buf_get_name(event.buf)) ~= one.writing then
    M.settled(event.buf)
    keep_saved(event.buf, true)
  end
end

---@param event vim.api.keyset.create_autocmd.callback_args
local function on_read(event)
  local one = tracked[event.buf]
  if not one then
    M.track_below_roots(event.buf)
  elseif is_of_its_file(event) then
    lookup.forget(event.buf)
    M.settled(event.buf)
    one.is_new = not one.stamp
    take_autoread(event.buf)
    keep_saved(event.buf, false)
  end
end

---What `run` makes of buffers and files is our own doing.
---@param run fun(): any, any
---@return any ...
function M.ours(run)
  busy = busy + 1
  local ok, first, second = pcall(run)
  busy = busy - 1
  if not ok then
    error(first, 0)
  end
  return first, second
end

---By undo, to a text that the file had once; or by a write without autocommands: then the file is another one, and the
---host finds that it has the same text.
---@param bufnr integer
local function on_unmodified(bufnr)
  if saved.is_another(bufnr) then
    vim.bo[bufnr].modified = true
    M.check(bufnr)
  end
end

local function watch()
  api.nvim_clear_autocmds({ group = GROUP })
  local nested = true -- so that to look at the file fires FileChangedShell
  api.nvim_create_autocmd({ "BufReadPost", "BufNewFile", "BufFilePost" }, {
    group = GROUP,
    nested = nested,
    callback = on_read,
  })
  api.nvim_create_autocmd("BufWritePre", { group = GROUP, callback = on_write })
  api.nvim_create_autocmd("BufWritePost", { group = GROUP, nested = nested, callback = on_written })
  api.nvim_create_autocmd("BufModifiedSet", {
    group = GROUP,
    nested = nested,
    callback = function(event)
      if tracked[event.buf] and not vim.bo[event.buf].modified then
        on_unmodified(event.buf)
      end
    end,
  })
  api.nvim_create_autocmd("BufUnload", {
    group = GROUP,
    callback = function(event)
      if tracked[event.buf] then
        untrack(event.buf)
      end
    end,
  })
  api.nvim_create_autocmd("FocusGained", { -- before Neovim looks at the files, which it does not always do then
    group = GROUP,
    nested = nested,
    callback = M.check_all,
  })
end

---The agent of a session works below these directories from now on; none: it works no more.
---@param session integer
---@param directories string[] real paths
function M.set_roots(session, directories)
  if vim.deep_equal(roots[session] or {}, directories) then
    return
  end
  roots[session] = #directories > 0 and directories or nil
  if next(roots) == nil then
    api.nvim_clear_autocmds({ group = GROUP })
  else
    watch()
  end
  for bufnr in pairs(tracked) do
    if next(roots) == nil or not is_below_a_root(bufnr) then
      untrack(bufnr)
    end
  end
  for _, bufnr in ipairs(lookup.file_buffers()) do
    M.track_below_roots(bufnr)
  end
end

host.on_exit(function()
  for session in pairs(roots) do
    M.set_roots(session, {})
  end
end)

return M
