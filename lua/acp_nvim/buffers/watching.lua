-- Watches which buffers there are below the directories of agents, and what the user does with their files.
local edits = require("acp_nvim.review.edits")
local host = require("acp_nvim.host")
local lookup = require("acp_nvim.buffers.lookup")
local saved = require("acp_nvim.buffers.saved")
local saves = require("acp_nvim.buffers.saves")
local stamp = require("acp_nvim.buffers.stamp")
local tracking = require("acp_nvim.buffers.tracking")

local M = {}

local api = vim.api
local GROUP = api.nvim_create_augroup("acp_nvim.watching", {})

---@type table<integer, string[]> by session
local roots = {}

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
local function track_below_roots(bufnr)
  if lookup.is_file(bufnr) and is_below_a_root(bufnr) then
    tracking.track(bufnr)
    tracking.get(bufnr).is_leaving = nil
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
  return not tracking.is_ours(event.buf) and not is_copy
end

---@param event vim.api.keyset.create_autocmd.callback_args
local function on_write(event)
  if tracking.get(event.buf) and is_of_its_file(event) then
    tracking.get(event.buf).writing = stamp.of(api.nvim_buf_get_name(event.buf))
  end
end

---Neovim says "written" also when the user has answered that it should not: it asks when the file is another one.
---@param event vim.api.keyset.create_autocmd.callback_args
---@param one acp.Tracked
---@return boolean
local function was_written(event, one)
  return one.writing == one.stamp or stamp.of(api.nvim_buf_get_name(event.buf)) ~= one.writing
end

---@param bufnr integer
local function tell_saved(bufnr)
  edits.flush(bufnr)
  if host.channel() then
    host.send("saved", { path = lookup.real_path(bufnr), stamp = saves.take(bufnr) })
  end
end

---@param event vim.api.keyset.create_autocmd.callback_args
local function on_written(event)
  local one = tracking.get(event.buf)
  if not one then
    track_below_roots(event.buf)
  elseif is_of_its_file(event) and was_written(event, one) then
    tracking.settled(event.buf)
    if tracking.get(event.buf) then
      keep_saved(event.buf, true)
    end
    tell_saved(event.buf)
  end
end

---@param event vim.api.keyset.create_autocmd.callback_args
local function on_read(event)
  local one = tracking.get(event.buf)
  if not one then
    track_below_roots(event.buf)
  elseif is_of_its_file(event) then
    lookup.forget(event.buf)
    tracking.settled(event.buf)
    if not tracking.get(event.buf) then
      return -- no agent works on it any more
    end
    one.is_new = not one.stamp
    tracking.take_autoread(event.buf)
    keep_saved(event.buf, false)
    if event.event == "BufFilePost" and one.stamp then
      saved.forget(event.buf) -- nobody has read the file that the buffer stands for now
      tracking.mark_stale(event.buf, "created")
    end
  end
end

---Unmodified by undo, to a text that the file had once; or by a write without autocommands: then the file is another one, and the
---host finds that it has the same text.
---@param event vim.api.keyset.create_autocmd.callback_args
local function on_modified_set(event)
  local bufnr = event.buf
  if tracking.get(bufnr) and not vim.bo[bufnr].modified and saved.is_another(bufnr) then
    vim.bo[bufnr].modified = true
    tracking.check(bufnr)
  end
end

---@param event vim.api.keyset.create_autocmd.callback_args
local function on_unload(event)
  if tracking.get(event.buf) then
    tracking.untrack(event.buf)
  end
end

local function watch()
  api.nvim_clear_autocmds({ group = GROUP })
  ---@param events string|string[]
  ---@param run fun(event: vim.api.keyset.create_autocmd.callback_args)
  ---@param nested? boolean so that to look at the file fires FileChangedShell
  local function on(events, run, nested)
    api.nvim_create_autocmd(events, { group = GROUP, callback = run, nested = nested })
  end
  on({ "BufReadPost", "BufNewFile", "BufFilePost" }, on_read, true)
  on("BufWritePre", on_write)
  on("BufWritePost", on_written, true)
  on("BufModifiedSet", on_modified_set, true)
  on("BufUnload", on_unload)
  on("FocusGained", tracking.check_all, true) -- before Neovim looks at the files, which it does not always do then
end

---The agent of a session works below these directories from now on; none: it works no more.
---@param session integer
---@param directories string[] real paths
function M.set_roots(session, directories)
  if vim.deep_equal(roots[session] or {}, directories) then
    return
  end
  tracking.check_all() -- what an agent has done last is its doing still
  roots[session] = #directories > 0 and directories or nil
  tracking.enabled = next(roots) ~= nil
  if tracking.enabled then
    watch()
  else
    api.nvim_clear_autocmds({ group = GROUP })
  end
  for _, bufnr in ipairs(tracking.all()) do
    if not is_below_a_root(bufnr) then
      tracking.leave(bufnr)
    end
  end
  for _, bufnr in ipairs(lookup.file_buffers()) do
    track_below_roots(bufnr)
  end
end

host.on_exit(function()
  for session in pairs(roots) do
    M.set_roots(session, {})
  end
  for _, bufnr in ipairs(tracking.all()) do
    tracking.untrack(bufnr) -- there is nobody to bring it up to its file
  end
end)

return M
