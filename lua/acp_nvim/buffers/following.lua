-- Brings buffers up to their files, when others have changed these.
local change_of = require("acp_nvim.buffers.change")
local edits = require("acp_nvim.review.edits")
local gone = require("acp_nvim.buffers.gone")
local lookup = require("acp_nvim.buffers.lookup")
local pending = require("acp_nvim.buffers.pending")
local saved = require("acp_nvim.buffers.saved")
local saves = require("acp_nvim.buffers.saves")
local stamp = require("acp_nvim.buffers.stamp")
local text = require("acp_nvim.buffers.text")
local tracking = require("acp_nvim.buffers.tracking")

local M = {}

---@class acp.DiskText what the host has found in a file
---@field stamp string
---@field encoding string
---@field change? acp.TextChange to be made in the buffer
---@field text? string of the file, when the buffer has another one then

---@param bufnr integer
---@param run fun()
local function unlocked(bufnr, run)
  local bo = vim.bo[bufnr]
  local modifiable, readonly = bo.modifiable, bo.readonly
  if readonly or not modifiable then
    bo.modifiable, bo.readonly = true, false
  end
  local ok, err = pcall(run)
  if readonly or not modifiable then
    bo.modifiable, bo.readonly = modifiable, readonly
  end
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
    local stays = found.text and not found.change
    if not stays and found.encoding ~= text.encoding(bufnr) and not vim.bo[bufnr].binary then
      vim.bo[bufnr].fileencoding = found.encoding -- first: what is a BOM depends on it
    end
    if found.change then
      vim.bo[bufnr].modified = true -- what undo then comes back to is not what is in the file
      change_of.apply(bufnr, found.change, not found.text)
    end
    vim.bo[bufnr].modified = found.text ~= nil
  end)
  if not ok then
    vim.bo[bufnr].fileencoding, vim.bo[bufnr].modified = encoding, modified
  end
  return ok, err
end

---@param bufnr integer
---@param path string
---@param found acp.DiskText
---@return acp.BufferWrite
local function follow(bufnr, path, found)
  local ok, err = bring(bufnr, found)
  if not ok then
    return change_of.refusal(err)
  end
  if found.text then
    saved.keep_text(bufnr, found.text)
  else
    saved.keep_read(bufnr)
  end
  stamp.settle(bufnr)
  saves.based(bufnr)
  tracking.settled(bufnr)
  if stamp.of(path) ~= found.stamp then
    tracking.mark_stale(bufnr, "changed")
  end
  return { state = text.state(bufnr) }
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
  return edits.ours(bufnr, function()
    return follow(bufnr, path, found)
  end)
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

---The file is no more, as the user wanted: its buffer was emptied, and there is nothing to save.
---@param path string
function M.file_removed(path)
  local bufnr = lookup.find(path)
  if bufnr and M.file_gone(path) then
    gone.show(bufnr, false)
    vim.bo[bufnr].modified = false
  end
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
  local moved = tracking.ours(bufnr, function()
    return gone.rename(bufnr, new)
  end)
  if moved then
    tracking.settled(bufnr)
  end
  return moved
end

return M
