-- Opens files under review at their hunks, and goes from file to file. Of a deleted file its text is shown, read-only.
local actions = require("acp_nvim.review.actions")
local file_buffer = require("acp_nvim.windows.file_buffer")
local files = require("acp_nvim.review.files")
local host = require("acp_nvim.host")
local jump = require("acp_nvim.hunks.jump")
local lookup = require("acp_nvim.buffers.lookup")
local message = require("acp_nvim.message")
local named = require("acp_nvim.buffers.named")
local shadow = require("acp_nvim.hunks.shadow")
local view = require("acp_nvim.review.view")
local windows = require("acp_nvim.windows.open")

local M = {}

local api = vim.api

---@type table<string, integer> path of a deleted file -> buffer with its text
local deleted = {}

---Fills the buffer of a deleted file; its lines are asked for when they are not told.
---@param review acp.Review
---@param bufnr integer
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

---@param review acp.Review
---@return integer bufnr
local function deleted_buffer(review)
  local path = review.path
  local bufnr = deleted[path]
  if not bufnr or not api.nvim_buf_is_valid(bufnr) then
    bufnr = shadow.make("acp://deleted", path)
    deleted[path] = bufnr
    actions.stand_for(bufnr, function()
      return { path }
    end)
  end
  fill_deleted(review, bufnr)
  return bufnr
end

---@param path string of a file of which more is known
local function refresh_deleted(path)
  local bufnr, review = deleted[path], files.get(path)
  if not bufnr or not api.nvim_buf_is_valid(bufnr) then
    deleted[path] = nil
  elseif not review or review.operation ~= "delete" then -- it is there again, or gone for good
    deleted[path] = nil
    shadow.leave(bufnr, vim.uv.fs_stat(path) and file_buffer.get(path) or nil, false)
  elseif review.hunks then
    fill_deleted(review, bufnr)
  end
end

---Opens a changed file at its first hunk, in a window that shows code.
---@param path string real
function M.file(path)
  local review = files.get(path)
  jump.forget()
  if review and review.operation == "delete" then
    windows.show(deleted_buffer(review))
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

---@param path string
---@return boolean its buffer has hunks, or may have them
local function has_hunks(path)
  local bufnr = lookup.find(path)
  if bufnr then
    return view:count(bufnr) > 0
  end
  local review = files.get(path) or {}
  return review.operation ~= "delete" and review.operation ~= "binary" and vim.uv.fs_stat(path) ~= nil
end

---@param path string
---@param backwards boolean
---@return string? path of the file after it, all around
---@return boolean wraps
local function file_after(path, backwards)
  local paths = vim.tbl_map(function(review)
    return review.path
  end, files.to_review())
  local at = vim.fn.index(paths, path)
  for step = 1, at < 0 and #paths or #paths - 1 do
    local index = at + (backwards and -step or step)
    local other = paths[index % #paths + 1]
    if has_hunks(other) then
      return other, index < 0 or index >= #paths
    end
  end
  return nil, true
end

---@param bufnr integer that has no further hunk
---@param backwards boolean
---@return boolean done
local function go_on(bufnr, backwards)
  local review = files.of_buffer(bufnr)
  local path, wraps = file_after(review and review.path or "", backwards)
  local has_any = view:count(bufnr) > 0
  if wraps and (path or has_any) then
    jump.say_wrapped("hunk", backwards)
  end
  local other = path and file_buffer.get(path)
  if path and not other or not path and not has_any then
    return false
  end
  local ok, err = pcall(api.nvim_win_set_buf, 0, other or bufnr)
  if not ok then
    local name, why = vim.fn.fnamemodify(path, ":~:."), tostring(err):gsub("^.-E", "E")
    message.error(("the next hunk is in %s: %s"):format(name, why))
    return false
  end
  jump.enter(view, backwards)
  return true
end

---Goes to the next hunk, or as many on as the count says; also into the next file.
---@param backwards boolean
function M.step(backwards)
  jump.step(view, backwards, go_on)
  if not jump.is_waiting() and not view:at(api.nvim_get_current_buf(), api.nvim_win_get_cursor(0)[1] - 1) then
    message.info("there is no hunk to review")
  end
end

files.on_change(function(path)
  refresh_deleted(path)
  jump.told(view)
end)

return M
