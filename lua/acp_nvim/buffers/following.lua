-- Updates buffers whose files were changed, deleted or renamed by other programs.
local change_of = require("acp_nvim.buffers.change")
local companions = require("acp_nvim.buffers.companions")
local edits = require("acp_nvim.buffers.edits")
local gone = require("acp_nvim.buffers.gone")
local lookup = require("acp_nvim.buffers.lookup")
local names = require("acp_nvim.names")
local pending = require("acp_nvim.buffers.pending")
local saved_text = require("acp_nvim.buffers.saved_text")
local save_journal = require("acp_nvim.buffers.save_journal")
local stamp = require("acp_nvim.buffers.stamp")
local text = require("acp_nvim.buffers.text")
local tracking = require("acp_nvim.buffers.tracking")

local M = {}

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

---@param found acp.FoundOnDisk
---@return boolean ok
---@return any err the buffer is unchanged then
local function bring(bufnr, found)
  local modified, encoding = vim.bo[bufnr].modified, vim.bo[bufnr].fileencoding
  local ok, err = pcall(unlocked, bufnr, function()
    local stays = found.text and not found.change
    if not stays and found.encoding ~= text.encoding(bufnr) and not vim.bo[bufnr].binary then
      vim.bo[bufnr].fileencoding = found.encoding -- first: whether a BOM is part of the text depends on it
    end
    if found.change then
      vim.bo[bufnr].modified = true -- undoing the change must not make the buffer unmodified
      change_of.apply(bufnr, found.change, not found.text)
    end
    vim.bo[bufnr].modified = found.text ~= nil
  end)
  if not ok then
    vim.bo[bufnr].fileencoding, vim.bo[bufnr].modified = encoding, modified
  end
  return ok, err
end

---Writes the undo file, which Neovim would not use any more for a file with another text.
local function keep_undo(bufnr, path)
  for _, file in ipairs(vim.bo[bufnr].undofile and companions.undo(path) or {}) do
    local directory, stat = vim.uv.fs_stat(vim.fs.dirname(file)), vim.uv.fs_stat(file)
    if directory and directory.type == "directory" then -- the first one is where Neovim writes it, too
      if not stat or stat.type == "file" then -- it would wait for a FIFO
        names.write_undo(bufnr, file)
      end
      return
    end
  end
end

---@param found acp.FoundOnDisk
---@return acp.BufferWrite
local function follow(bufnr, path, found)
  local ok, err = bring(bufnr, found)
  if not ok then
    return change_of.refusal(err)
  end
  if found.text then
    saved_text.keep_text(bufnr, found.text)
  else
    saved_text.keep_read(bufnr)
  end
  if found.is_ours then
    keep_undo(bufnr, path)
  end
  stamp.settle(bufnr)
  save_journal.based(bufnr)
  tracking.settled(bufnr)
  if stamp.of(path) ~= found.stamp then
    tracking.mark_stale(bufnr, "changed")
  end
  return { state = text.state(bufnr) }
end

---Updates a buffer to its file, unless either has changed since the host read them.
---@param state string of the buffer when the host read it
---@param found acp.FoundOnDisk
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

---Handles a deleted file: the buffer stays.
---@return boolean gone false when the file exists again
function M.file_gone(path)
  local bufnr = lookup.find(path)
  if not bufnr or vim.uv.fs_stat(path) then
    return false
  end
  tracking.settled(bufnr, true)
  return true
end

---Handles a file that the user let the plugin delete: its buffer is empty and needs no saving.
function M.file_removed(path)
  local bufnr = lookup.find(path)
  if bufnr and M.file_gone(path) then
    gone.show(bufnr, false)
    vim.bo[bufnr].modified = false
  end
end

---Renames the buffers of the files in a renamed directory.
---@param path string ends with a slash, as `new`
---@return boolean moved one of them
local function directory_moved(path, new)
  local moved = false
  for file in pairs(lookup.by_path()) do
    if vim.startswith(file, path) then
      moved = M.file_moved(file, new .. file:sub(#path + 1)) or moved
    end
  end
  return moved
end

---Renames the buffer of a renamed file, or those in a renamed directory. If it was edited, too, its buffer follows later.
---@param path string ends with a slash if it is a directory
---@param new string
---@return boolean moved false when another buffer has the new name or the old file exists again
function M.file_moved(path, new)
  if vim.endswith(path, "/") then
    return directory_moved(path, new)
  end
  local bufnr = lookup.find(path)
  if not bufnr or lookup.find(new) or vim.uv.fs_stat(path) then
    return false
  end
  local entry = tracking.get(bufnr)
  local was = entry and entry.stamp
  local moved = tracking.ours(bufnr, function()
    return gone.rename(bufnr, new)
  end)
  if moved then
    tracking.track(bufnr)
    tracking.settled(bufnr)
    if was ~= stamp.of(new) then -- it was edited, too, or that is not known
      tracking.based_on(bufnr, was)
    end
  end
  return moved
end

return M
