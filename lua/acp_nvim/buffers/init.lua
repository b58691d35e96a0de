-- The functions that the host calls to read and write file buffers. None of them blocks or prompts the user.
local change_of = require("acp_nvim.buffers.change")
local disk = require("acp_nvim.buffers.disk")
local edits = require("acp_nvim.buffers.edits")
local following = require("acp_nvim.buffers.following")
local lookup = require("acp_nvim.buffers.lookup")
local pending = require("acp_nvim.buffers.pending")
local saved_text = require("acp_nvim.buffers.saved_text")
local swap = require("acp_nvim.buffers.swap")
local text = require("acp_nvim.buffers.text")
local tracking = require("acp_nvim.buffers.tracking")
local watching = require("acp_nvim.buffers.watching")

local M = {}

local api = vim.api

---@param known string the state whose text the host has
---@return acp.BufferText? nil when no loaded buffer has that file
function M.read(path, known)
  local bufnr = lookup.find(path)
  if not bufnr then
    return nil
  end
  local stale, was = tracking.check(bufnr)
  if not tracking.get(bufnr) then
    saved_text.note_end(bufnr)
  end
  local state = text.state(bufnr)
  return {
    state = state,
    encoding = text.encoding(bufnr),
    fileformat = vim.bo[bufnr].fileformat,
    fixeol = text.shape(bufnr).eol,
    modified = vim.bo[bufnr].modified,
    on_disk = vim.uv.fs_stat(path) ~= nil,
    text = state ~= known and text.of_buffer(bufnr) or nil,
    stale = stale,
    stamp = was,
  }
end

---@return string? text of the file when the buffer last read or wrote it; nil when unknown
function M.saved_text(path)
  local bufnr = lookup.find(path)
  return bufnr and saved_text.text(bufnr)
end

---@param path string of a file without a buffer
---@return acp.UnopenedFile
function M.unopened(path)
  local terminal = lookup.find_terminal(path) and "a terminal goes by that name"
  return {
    obstacle = terminal or swap.foreign(lookup.real(path)),
    fixeol = vim.go.fixendofline,
    mac = vim.tbl_contains(vim.split(vim.go.fileformats, ","), "mac"),
  }
end

---@param lines string[] the present ones
---@return fun() undo restores these lines and the present options
local function remember(bufnr, lines)
  local shape, modified = text.shape(bufnr), vim.bo[bufnr].modified
  return function()
    if api.nvim_buf_is_loaded(bufnr) then
      change_of.take_back(bufnr, lines)
      text.set_shape(bufnr, shape)
      vim.bo[bufnr].modified = modified
    end
  end
end

---@return string? problem
local function locked(bufnr, save)
  if not vim.bo[bufnr].modifiable then
    return "the buffer is not modifiable"
  elseif vim.bo[bufnr].readonly then
    return "the buffer is read-only"
  end
  return save and disk.obstacle(bufnr) or nil
end

---@return boolean the file already has the text of the buffer
local function is_saved(bufnr)
  local eol = vim.bo[bufnr].eol
  return not vim.bo[bufnr].modified
    and eol == text.shape(bufnr).eol
    and vim.uv.fs_stat(api.nvim_buf_get_name(bufnr)) ~= nil
end

---@param before string[] the lines before the change
---@param change acp.TextChange
---@return acp.BufferWrite
local function save(bufnr, before, change, undo)
  local problem, formatted = disk.save(bufnr)
  if problem then
    undo()
    if problem == disk.CHANGED then
      return { changed = true }
    end
    return { error = problem, torn = formatted or nil }
  elseif not api.nvim_buf_is_loaded(bufnr) then -- an autocommand has closed it
    return { state = "" }
  elseif formatted then
    saved_text.keep_written(bufnr)
  else
    saved_text.keep_changed(bufnr, before, change)
  end
  tracking.settled(bufnr)
  return {
    state = text.state(bufnr),
    text = formatted and text.of_buffer(bufnr) or nil,
    stale = tracking.check(bufnr) ~= nil,
  }
end

---@param change acp.TextChange
---@param state string that the change is based on
---@param to_disk boolean save the buffer, too
---@return acp.BufferWrite? nil when no loaded buffer has that file
function M.write(path, change, state, to_disk)
  local bufnr = lookup.find(path)
  if not bufnr then
    return nil
  end
  local problem = locked(bufnr, to_disk)
  if problem then
    return { error = problem }
  elseif tracking.check(bufnr) or text.state(bufnr) ~= state then
    return { changed = true }
  elseif pending.is_in_the_way(bufnr, change) then
    return { busy = true }
  end
  return edits.ours(bufnr, function()
    local before = saved_text.lines(bufnr)
    local undo = remember(bufnr, before)
    local ok, err = pcall(change_of.apply, bufnr, change)
    if not ok then
      undo()
      return change_of.refusal(err)
    elseif not to_disk or is_saved(bufnr) then
      return { state = text.state(bufnr) }
    end
    return save(bufnr, before, change, undo)
  end)
end

M.follow_disk = following.follow_disk
M.file_gone = following.file_gone
M.file_moved = following.file_moved
M.file_removed = following.file_removed
M.stale = tracking.stale
M.untracked = tracking.untracked
M.refresh = tracking.check_all
M.set_roots = watching.set_roots

return M
