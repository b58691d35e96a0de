-- The user's file buffers, as the host reads and writes them. Nothing here waits, and nothing here asks.
local disk = require("acp_nvim.buffers.disk")
local gone = require("acp_nvim.buffers.gone")
local hunks = require("acp_nvim.buffers.hunks")
local lookup = require("acp_nvim.buffers.lookup")
local pending = require("acp_nvim.buffers.pending")
local saved = require("acp_nvim.buffers.saved")
local stamp = require("acp_nvim.buffers.stamp")
local swap = require("acp_nvim.buffers.swap")
local text = require("acp_nvim.buffers.text")
local tracking = require("acp_nvim.buffers.tracking")

local M = {}

local api = vim.api

---@class acp.TextChange either the whole text, or the lines that take the place of some (of text in Neovim's lines)
---@field text? string
---@field first? integer lines before the changed ones
---@field count? integer lines that are replaced
---@field lines? string[] what takes their place

---@class acp.BufferText
---@field state string
---@field encoding string
---@field modified boolean
---@field on_disk boolean there is a file
---@field text? string nil when the state is the known one
---@field stale? string the file was changed since the buffer read or wrote it
---@field stamp? string of the file then

---@param path string
---@param known string the state whose text the host has
---@return acp.BufferText? nil when no loaded buffer has that file
function M.read(path, known)
  local bufnr = lookup.find(path)
  if not bufnr then
    return nil
  end
  local stale, was = tracking.check(bufnr)
  local state = text.state(bufnr)
  return {
    state = state,
    encoding = text.encoding(bufnr),
    modified = vim.bo[bufnr].modified,
    on_disk = vim.uv.fs_stat(path) ~= nil,
    text = state ~= known and text.of_buffer(bufnr) or nil,
    stale = stale,
    stamp = was,
  }
end

---@param path string
---@return string? text that its file had when the buffer last read or wrote it, when that is known
function M.saved_text(path)
  local bufnr = lookup.find(path)
  return bufnr and saved.text(bufnr)
end

---@param path string of a file that no buffer has
---@return string? problem why it should not be written
function M.obstacle(path)
  if lookup.find_terminal(path) then
    return "a terminal goes by that name"
  end
  return swap.foreign(lookup.real(path))
end

---@param bufnr integer
---@param change acp.TextChange
---@param is_read? boolean the file has the text already
local function apply(bufnr, change, is_read)
  pending.with_selection(bufnr, function()
    if change.lines then
      return hunks.apply_range(bufnr, change.first, change.count, change.lines)
    end
    local lines, shape = text.take_apart(bufnr, change.text)
    hunks.apply(bufnr, lines)
    text.set_shape(bufnr, shape, is_read)
  end)
end

---@param bufnr integer
---@param lines string[] that it has
---@return fun() undo makes lines and options what they are now
local function remember(bufnr, lines)
  local shape, modified = text.shape(bufnr), vim.bo[bufnr].modified
  return function()
    if api.nvim_buf_is_loaded(bufnr) then
      hunks.apply(bufnr, lines)
      text.set_shape(bufnr, shape)
      vim.bo[bufnr].modified = modified
    end
  end
end

---@param bufnr integer
---@param save boolean
---@return string? problem
local function locked(bufnr, save)
  if not vim.bo[bufnr].modifiable then
    return "the buffer is not modifiable"
  elseif vim.bo[bufnr].readonly then
    return "the buffer is read-only"
  end
  return save and disk.obstacle(bufnr) or nil
end

---@param bufnr integer
---@return boolean the file has this text already
local function is_saved(bufnr)
  local eol = vim.bo[bufnr].eol
  return not vim.bo[bufnr].modified
    and eol == text.shape(bufnr).eol
    and vim.uv.fs_stat(api.nvim_buf_get_name(bufnr)) ~= nil
end

---@class acp.BufferWrite
---@field state? string of the buffer after it
---@field text? string what it has then, when that is not what was asked for
---@field stale? boolean somebody has changed the file when it was saved, a formatter for example
---@field torn? boolean the file is half written, and the host is to mend it
---@field changed? boolean the buffer or the file was in another state, and nothing was done
---@field busy? boolean the user is in the middle of a command, and nothing was done
---@field error? string why nothing was done

---@param err any why a buffer could not be changed
---@return acp.BufferWrite
local function refusal(err)
  local is_text_lock = tostring(err):find("E565", 1, true) ~= nil -- it passes by itself
  return { busy = is_text_lock, error = not is_text_lock and ("the buffer takes no text: " .. tostring(err)) or nil }
end

---@param bufnr integer
---@param change acp.TextChange
---@param undo fun()
---@return acp.BufferWrite
local function try(bufnr, change, undo)
  local ok, err = pcall(apply, bufnr, change)
  if ok then
    return { state = text.state(bufnr) }
  end
  undo()
  return refusal(err)
end

---@param bufnr integer
---@param before string[] its lines, before the change
---@param change acp.TextChange
---@param undo fun()
---@return acp.BufferWrite
local function save(bufnr, before, change, undo)
  local problem, formatted = disk.save(bufnr)
  if problem then
    undo()
    return { error = problem, torn = formatted }
  elseif formatted then
    saved.keep_written(bufnr)
  else
    saved.keep_changed(bufnr, before, change)
  end
  tracking.settled(bufnr)
  return {
    state = text.state(bufnr),
    text = formatted and text.of_buffer(bufnr) or nil,
    stale = tracking.check(bufnr) ~= nil,
  }
end

---@param path string
---@param change acp.TextChange
---@param state string that the change is for
---@param to_disk boolean save it, too
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
  local before = saved.lines(bufnr)
  local undo = remember(bufnr, before)
  local done = try(bufnr, change, undo)
  if not done.state or not to_disk or is_saved(bufnr) then
    return done
  end
  return save(bufnr, before, change, undo)
end

---@class acp.DiskText what the host has found in a file
---@field stamp string
---@field encoding string
---@field change? acp.TextChange to be made in the buffer
---@field text? string of the file, when the buffer has another one then

---@param bufnr integer
---@param run fun()
local function unlocked(bufnr, run)
  local modifiable, readonly = vim.bo[bufnr].modifiable, vim.bo[bufnr].readonly
  vim.bo[bufnr].modifiable, vim.bo[bufnr].readonly = true, false
  local ok, err = pcall(run)
  vim.bo[bufnr].modifiable, vim.bo[bufnr].readonly = modifiable, readonly
  if not ok then
    error(err, 0)
  end
end

---@param bufnr integer
---@param found acp.DiskText
---@return boolean ok
---@return any err and everything is as it was
local function bring(bufnr, found)
  local modified, encoding = vim.bo[bufnr].modified, vim.bo[bufnr].fileencoding
  local ok, err = pcall(unlocked, bufnr, function()
    if found.change then
      vim.bo[bufnr].modified = true -- what undo then comes back to is not what is in the file
      apply(bufnr, found.change, not found.text)
    end
    local stays = found.text and not found.change
    if not stays and found.encoding ~= text.encoding(bufnr) and not vim.bo[bufnr].binary then
      vim.bo[bufnr].fileencoding = found.encoding
    end
    vim.bo[bufnr].modified = found.text ~= nil
  end)
  if not ok then
    vim.bo[bufnr].fileencoding, vim.bo[bufnr].modified = encoding, modified
  end
  return ok, err
end

---The buffer follows its file.
---@param path string
---@param state string that the host has seen
---@param found acp.DiskText
---@return acp.BufferWrite?
function M.follow_disk(path, state, found)
  local bufnr = lookup.find(path)
  if not bufnr then
    return nil
  elseif text.state(bufnr) ~= state or stamp.of(path) ~= found.stamp then
    return { changed = true }
  elseif pending.is_in_the_way(bufnr, found.change) then
    return { busy = true }
  end
  local ok, err = bring(bufnr, found)
  if not ok then
    return refusal(err)
  end
  if found.text then
    saved.keep_text(bufnr, found.text)
  else
    saved.keep_read(bufnr)
  end
  stamp.settle(bufnr)
  tracking.settled(bufnr)
  if stamp.of(path) ~= found.stamp then
    tracking.mark_stale(bufnr, "changed")
  end
  return { state = text.state(bufnr) }
end

---The file is no more; the buffer stays.
---@param path string
---@return boolean gone not when it is back
function M.file_gone(path)
  local bufnr = lookup.find(path)
  if not bufnr or vim.uv.fs_stat(path) then
    return false
  end
  tracking.settled(bufnr, true)
  return true
end

---The file goes by another name now, and so does its buffer.
---@param path string
---@param new string
---@return boolean moved not when a buffer has the new name already, or the file is back
function M.file_moved(path, new)
  local bufnr = lookup.find(path)
  if not bufnr or lookup.find(new) or vim.uv.fs_stat(path) then
    return false
  end
  local moved = tracking.ours(function()
    return gone.rename(bufnr, new)
  end)
  if moved then
    tracking.settled(bufnr)
  end
  return moved
end

M.refresh = tracking.check_all
M.set_roots = tracking.set_roots

return M
