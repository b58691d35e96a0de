-- Opens files under review at their hunks, and jumps from file to file. The text of a deleted file is shown read-only.
local lazy = require("acp_nvim.lazy")
local actions = require("acp_nvim.review.files.actions")
local chat_windows = lazy("acp_nvim.chat.windows")
local entry = require("acp_nvim.render.file_changes")
local file_buffer = require("acp_nvim.buffers.file_buffer")
local files = require("acp_nvim.review.files")
local host = require("acp_nvim.host")
local jump = require("acp_nvim.review.hunks.jump")
local lookup = require("acp_nvim.buffers.lookup")
local message = require("acp_nvim.kernel.message")
local named = require("acp_nvim.buffers.named")
local names = require("acp_nvim.names")
local sessions = require("acp_nvim.host.sessions")
local shadow = require("acp_nvim.windows.shadow")
local typed_ahead = require("acp_nvim.keys.typed_ahead")
local view = require("acp_nvim.review.files.view")
local windows = require("acp_nvim.windows.open")

local M = {}

local api = vim.api

---@type table<string, integer> path of a deleted file -> buffer with its text
local deleted = {}

---Fills the buffer of a deleted file, or requests its lines.
local function fill_deleted(review, bufnr)
  if not review.hunks then
    return host.send("review_open", { path = review.path })
  end
  local lines = {}
  for _, hunk in ipairs(review.hunks) do
    vim.list_extend(lines, hunk.old)
  end
  named.fill(bufnr, lines)
end

---Opens a changed file at its first hunk, in a window that shows code.
---@param path string real
function M.file(path)
  local review = files.get(path)
  jump.forget()
  if review and review.operation == "delete" then
    local bufnr = deleted[path]
    if not bufnr or not api.nvim_buf_is_valid(bufnr) then
      bufnr = shadow.make("acp://deleted", path)
      deleted[path] = bufnr
      actions.represent(bufnr, function()
        return { path }
      end)
    end
    fill_deleted(review, bufnr)
    windows.show(bufnr)
  elseif review and entry.is_directory(review) then
    local words = "%s: a directory, renamed. What was changed in its files is listed below it"
    message.info(words:format(entry.short(review)))
  elseif review and review.operation == "binary" then
    message.info(("%s: %s"):format(vim.fs.basename(path), review.note or "a binary file"))
  else
    local bufnr = file_buffer.get(path)
    if bufnr then
      windows.show(bufnr)
      jump.enter(view, false, true)
    end
  end
end

---@return acp.Review[] in the order in which they are gone through: first those of the chat in sight
function M.in_order()
  local seen, first, others = chat_windows.seen(), {}, {}
  local owner = sessions.owner(seen)
  for _, review in ipairs(files.to_review()) do
    local is_its = owner ~= nil
      and vim.iter(review.sessions or {}):any(function(key)
        return sessions.owner(sessions.get(key)) == owner
      end)
    table.insert(is_its and first or others, review)
  end
  return vim.list_extend(first, others)
end

---@return string? path of the next file that has or may have hunks, in a circle
---@return boolean wraps
local function file_after(path, backwards)
  local all = M.in_order()
  local at = -1
  for index, review in ipairs(all) do
    at = review.path == path and index - 1 or at
  end
  for step = 1, at < 0 and #all or #all - 1 do
    local index = at + (backwards and -step or step)
    local other = all[index % #all + 1]
    local bufnr = lookup.find(other.path)
    local has_hunks = bufnr and view:count(bufnr) > 0
    if not bufnr and other.operation ~= "delete" and other.operation ~= "binary" then
      has_hunks = not entry.is_directory(other) and vim.uv.fs_stat(other.path) ~= nil
    end
    if has_hunks then
      return other.path, index < 0 or index >= #all
    end
  end
  return nil, true
end

---Jumps to the next file, from a buffer without further hunks.
---@return boolean done
local function open_next(bufnr, backwards)
  local review = files.of_buffer(bufnr)
  local path, wraps = file_after(review and review.path or "", backwards)
  local has_any = view:count(bufnr) > 0
  if wraps and (path or has_any) then
    jump.notify_wrapped("hunk", backwards)
  end
  local other = path and file_buffer.get(path)
  if path and not other or not path and not has_any then
    return false
  end
  local ok, err = pcall(windows.show_here, other or bufnr)
  if not ok then
    local name, why = names.short(path), tostring(err):gsub("^.-E", "E")
    message.error(("the next hunk is in %s: %s"):format(name, why))
    return false
  end
  jump.enter(view, backwards)
  return true
end

---Jumps by as many hunks as the count says, also into other files.
function M.step(backwards)
  jump.step(view, backwards, open_next)
  if not jump.is_waiting() and not view:at(api.nvim_get_current_buf(), api.nvim_win_get_cursor(0)[1] - 1) then
    message.info("there is no hunk to review")
  end
end

files.on_change(function(path)
  local bufnr, review = deleted[path], files.get(path)
  if not bufnr or not api.nvim_buf_is_valid(bufnr) then
    deleted[path] = nil
  elseif not review or review.operation ~= "delete" then -- restored, or accepted
    deleted[path] = nil
    typed_ahead.closing(function()
      shadow.leave(bufnr, vim.uv.fs_stat(path) and file_buffer.get(path) or nil, false)
    end)
  elseif review.hunks then
    fill_deleted(review, bufnr)
  end
  jump.hunks_changed(view)
end)

return M
