-- Watches the buffers of files that agents may change: which exist, and when the user reads or writes their files. These
-- are the files below the directories of the agents' sessions, and others that the agents' tool calls have named.
local lazy = require("acp_nvim.lazy")
local edits = lazy("acp_nvim.buffers.edits")
local host = require("acp_nvim.host")
local lookup = require("acp_nvim.buffers.lookup")
local modified_event = require("acp_nvim.buffers.modified_event")
local saved_text = lazy("acp_nvim.buffers.saved_text")
local save_journal = lazy("acp_nvim.buffers.save_journal")
local stamp = require("acp_nvim.buffers.stamp")
local tracking = require("acp_nvim.buffers.tracking")

local M = {}

local api = vim.api
local GROUP = api.nvim_create_augroup("acp_nvim.watching", {})

---@class acp.WatchedFiles
---@field directories string[] real paths
---@field files string[] real paths of other files

---@type table<integer, acp.WatchedFiles> by session
local roots = {}

local function is_watched(bufnr)
  local path = lookup.real_path(bufnr)
  for _, watched in pairs(roots) do
    if vim.list_contains(watched.files, path) then
      return true
    end
    for _, directory in ipairs(watched.directories) do
      if vim.startswith(path, directory == "/" and directory or directory .. "/") then
        return true
      end
    end
  end
  return false
end

local function track_watched(bufnr)
  if lookup.is_file(bufnr) and is_watched(bufnr) then
    tracking.track(bufnr)
    tracking.get(bufnr).is_leaving = nil
  end
end

---@param was_written boolean false: it was read
local function keep_saved(bufnr, was_written)
  if vim.bo[bufnr].modified then
    saved_text.forget(bufnr)
  elseif was_written then
    saved_text.keep_written(bufnr)
  else
    saved_text.keep_read(bufnr)
  end
end

---@return boolean neither our own doing nor a copy under another name
local function is_of_its_file(event)
  local is_copy = event.event:match("^BufWrite") and lookup.real(event.match) ~= lookup.real_path(event.buf)
  return not tracking.is_ours(event.buf) and not is_copy
end

local function on_write(event)
  if tracking.get(event.buf) and is_of_its_file(event) then
    tracking.get(event.buf).writing = stamp.of(api.nvim_buf_get_name(event.buf))
  end
end

---BufWritePost also comes when the user has refused to overwrite a changed file.
---@param entry acp.Tracked
local function was_written(event, entry)
  return entry.writing == entry.stamp or stamp.of(api.nvim_buf_get_name(event.buf)) ~= entry.writing
end

local function report_save(bufnr)
  edits.flush(bufnr)
  if host.channel() then
    host.send("saved", { path = lookup.real_path(bufnr), stamp = save_journal.take(bufnr) })
  end
end

local function on_written(event)
  local entry = tracking.get(event.buf)
  if not entry then
    track_watched(event.buf)
  elseif is_of_its_file(event) and was_written(event, entry) then
    tracking.settled(event.buf)
    if tracking.get(event.buf) then
      keep_saved(event.buf, true)
    end
    report_save(event.buf)
  end
end

local function on_read(event)
  local entry = tracking.get(event.buf)
  if not entry then
    track_watched(event.buf)
  elseif is_of_its_file(event) then
    lookup.forget(event.buf)
    tracking.settled(event.buf)
    if not tracking.get(event.buf) then
      return -- no agent works on it any more
    end
    entry.is_new = not entry.stamp
    tracking.take_autoread(event.buf)
    keep_saved(event.buf, false)
    if event.event == "BufFilePost" and entry.stamp then
      saved_text.forget(event.buf) -- the file of the new name was never read
      tracking.mark_stale(event.buf, "created")
    end
  end
end

---Marks a buffer as modified if undo has made it unmodified with a text that is no longer in the file. After a write
---without autocommands the file differs as well, and the host finds equal texts.
local function on_modified_set(bufnr)
  if tracking.get(bufnr) and not vim.bo[bufnr].modified and saved_text.is_another(bufnr) then
    vim.bo[bufnr].modified = true
    tracking.check(bufnr)
  end
end

local function watch()
  api.nvim_clear_autocmds({ group = GROUP })
  ---@param nested? boolean so that checking the file fires FileChangedShell
  local function on(events, run, nested)
    api.nvim_create_autocmd(events, { group = GROUP, callback = run, nested = nested })
  end
  on({ "BufReadPost", "BufNewFile", "BufFilePost" }, on_read, true)
  on("BufWritePre", on_write)
  on("BufWritePost", on_written, true)
  modified_event.on_change(GROUP, on_modified_set, { nested = true })
  on("FocusGained", tracking.check_all, true) -- Neovim does not always check the files then
end

---Sets the directories of a session's agent; an empty list means that the agent has ended.
---@param directories string[] real paths
---@param files? string[] real paths of other files that the agent may change
function M.set_roots(session, directories, files)
  local watched = #directories > 0 and { directories = directories, files = files or {} } or nil
  if vim.deep_equal(roots[session], watched) then
    return
  end
  tracking.check_all() -- the ending agent may still have changed files
  roots[session] = watched
  tracking.enabled = next(roots) ~= nil
  if tracking.enabled then
    watch()
  else
    api.nvim_clear_autocmds({ group = GROUP })
  end
  for _, bufnr in ipairs(tracking.all()) do
    if not is_watched(bufnr) then
      tracking.leave(bufnr)
    end
  end
  for _, bufnr in ipairs(lookup.file_buffers()) do
    track_watched(bufnr)
  end
end

host.on_exit(function()
  for session in pairs(roots) do
    M.set_roots(session, {})
  end
  for _, bufnr in ipairs(tracking.all()) do
    tracking.untrack(bufnr) -- nothing would update it any more
  end
end)

return M
