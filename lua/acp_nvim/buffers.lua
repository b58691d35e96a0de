-- The user's file buffers, as the host reads and writes them.
local disk = require("acp_nvim.buffers.disk")
local hunks = require("acp_nvim.buffers.hunks")
local lookup = require("acp_nvim.buffers.lookup")
local text_of = require("acp_nvim.buffers.text")

local M = {}

---@param bufnr integer
---@return integer
local function tick_of(bufnr)
  return vim.api.nvim_buf_get_changedtick(bufnr)
end

---@param path string
---@return { text: string, tick: integer, modified: boolean }? nil when no loaded buffer has that file
function M.read(path)
  local bufnr = lookup.find(path)
  if not bufnr then
    return nil
  end
  return { text = text_of.of_buffer(bufnr), tick = tick_of(bufnr), modified = vim.bo[bufnr].modified }
end

---@param bufnr integer
---@return string? problem
local function locked(bufnr)
  if not vim.bo[bufnr].modifiable then
    return "the buffer is not modifiable"
  elseif vim.bo[bufnr].readonly then
    return "the buffer is read-only"
  end
end

---@param bufnr integer
---@param text string
local function change(bufnr, text)
  if text == text_of.of_buffer(bufnr) then
    return
  end
  local lines, eol = text_of.to_lines(bufnr, text)
  hunks.apply(bufnr, lines)
  if text ~= "" and (text_of.ends_with_eol(bufnr) ~= eol) then
    vim.bo[bufnr].eol = eol
    vim.bo[bufnr].fixeol = eol and vim.bo[bufnr].fixeol
    vim.bo[bufnr].modified = true
  end
end

---@param bufnr integer
---@return boolean the file has this text already
local function is_saved(bufnr)
  return not vim.bo[bufnr].modified
    and vim.bo[bufnr].eol == text_of.ends_with_eol(bufnr)
    and vim.uv.fs_stat(vim.api.nvim_buf_get_name(bufnr)) ~= nil
end

---@param path string
---@param text string
---@param tick integer changedtick of the text that was read
---@param save boolean
---@return { tick?: integer, saved?: boolean, error?: string, changed?: boolean }?
function M.write(path, text, tick, save)
  local bufnr = lookup.find(path)
  if not bufnr then
    return nil
  end
  local problem = locked(bufnr)
  if problem then
    return { error = problem }
  end
  if save then
    disk.check(bufnr) -- may read a newer text in
  end
  if tick_of(bufnr) ~= tick then
    return { error = "the buffer was changed meanwhile", changed = true }
  end
  local ok, err = pcall(change, bufnr, text)
  if not ok then
    return { error = "the buffer could not be changed: " .. tostring(err) }
  elseif not save then
    return { tick = tick_of(bufnr), saved = false }
  elseif is_saved(bufnr) then
    return { tick = tick_of(bufnr), saved = true }
  end
  local saved, why = disk.save(bufnr)
  return { tick = vim.api.nvim_buf_is_valid(bufnr) and tick_of(bufnr) or tick, saved = saved, error = why }
end

---Buffers without changes of their own follow what is on disk below a directory.
---@param cwd string
function M.refresh(cwd)
  local root = vim.uv.fs_realpath(cwd) or cwd
  for _, bufnr in ipairs(lookup.file_buffers()) do
    if vim.startswith(lookup.real_path(bufnr), root .. "/") then
      disk.reload_if_changed(bufnr)
    end
  end
end

return M
