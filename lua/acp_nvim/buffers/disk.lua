-- Saves buffers, and is never caught in a question that Neovim would ask about it.
local lookup = require("acp_nvim.buffers.lookup")
local message = require("acp_nvim.message")
local stamp = require("acp_nvim.buffers.stamp")
local swap = require("acp_nvim.buffers.swap")
local text = require("acp_nvim.buffers.text")
local tracking = require("acp_nvim.buffers.tracking")

local M = {}

local api = vim.api

---Neovim writes "?" for a character that the file's encoding lacks.
---@param bufnr integer
---@return boolean
local function can_be_encoded(bufnr)
  local encoding = text.encoding(bufnr)
  if encoding == "utf-8" then
    return true
  end
  local content = table.concat(api.nvim_buf_get_lines(bufnr, 0, -1, true), "\n")
  local there = vim.iconv(content, "utf-8", encoding)
  return there == nil or vim.iconv(there, encoding, "utf-8") == content
end

---What is known to keep the buffer from being saved, before anything is tried.
---@param bufnr integer
---@return string? problem
function M.obstacle(bufnr)
  local path = lookup.real_path(bufnr)
  local own = vim.bo[bufnr].swapfile and vim.fn.swapname(bufnr) or ""
  if vim.uv.fs_stat(path) and not vim.uv.fs_access(path, "W") then
    return "the file may not be written"
  elseif own:sub(-4) ~= ".swp" then -- with that one, there was no other when the buffer was loaded
    return swap.foreign(path, own ~= "" and own or nil)
  end
end

---@param err any
---@return string without where in our code it came up
local function reason(err)
  local words = tostring(err):match("^[^\n]*"):gsub('^.*Autocommands for ".-": ', "")
  return (words:gsub("^.-(E%d+:)", "%1"))
end

---@param bufnr integer
---@return boolean ok
---@return string words of what went wrong
local function write(bufnr)
  vim.v.errmsg = ""
  local ok, err = pcall(api.nvim_buf_call, bufnr, function()
    vim.cmd("silent keepalt lockmarks write! ++p") -- with ! Neovim asks nothing
  end)
  return ok, ok and vim.v.errmsg or reason(err)
end

---@param bufnr integer
---@return boolean changed lines of the buffer are others since, of autocommands for example
---@return boolean ok
---@return string words
local function watched_write(bufnr)
  local changed, done = false, false
  api.nvim_buf_attach(bufnr, false, {
    on_lines = function()
      changed = changed or not done
      return done
    end,
  })
  local ok, words = tracking.ours(function()
    return write(bufnr)
  end)
  done = true
  return changed, ok, words
end

---@param bufnr integer
---@return string? problem nil when the file was written
---@return boolean? changed autocommands have made another text of the buffer
function M.save(bufnr)
  if not can_be_encoded(bufnr) then
    return "the file's encoding lacks some of the characters"
  end
  local path, was_modified = lookup.real_path(bufnr), vim.bo[bufnr].modified
  local before = stamp.of(path)
  local changed, ok, words = watched_write(bufnr)
  if not api.nvim_buf_is_loaded(bufnr) then
    return "an autocommand removed the buffer"
  elseif stamp.of(path) == before and (vim.bo[bufnr].modified or not (ok or was_modified)) then
    return words ~= "" and words or "it could not be written"
  elseif not ok then
    message.news("the file was written, but an autocommand failed: " .. words)
  end
  return nil, changed
end

return M
