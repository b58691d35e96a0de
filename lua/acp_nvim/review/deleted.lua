-- Shows the text of a file that the agent has deleted, read-only; the keys of the review work on it as a whole.
local file_buffer = require("acp_nvim.file_buffer")
local files = require("acp_nvim.review.files")
local named = require("acp_nvim.buffers.named")
local requests = require("acp_nvim.review.requests")
local targets = require("acp_nvim.review.targets")

local M = {}

local api = vim.api

---@type table<string, integer> path -> buffer
local shown = {}

---@param path string
---@return string[]? lines nil while they are not told
local function old_lines(path)
  local review = files.get(path)
  if not review or not review.hunks then
    return nil
  end
  local lines = {}
  for _, hunk in ipairs(review.hunks) do
    vim.list_extend(lines, hunk.old)
  end
  return lines
end

---@param bufnr integer
---@param lines string[]
local function fill(bufnr, lines)
  vim.bo[bufnr].modifiable = true
  api.nvim_buf_set_lines(bufnr, 0, -1, true, lines)
  vim.bo[bufnr].modifiable = false
end

---@param bufnr integer
---@param path string
local function colour(bufnr, path)
  local filetype = vim.filetype.match({ filename = path })
  local language = filetype and vim.treesitter.language.get_lang(filetype)
  if not language or not pcall(vim.treesitter.start, bufnr, language) then
    vim.bo[bufnr].syntax = filetype or "" -- not the filetype: nobody should work on what is no file
  end
end

---@param path string
---@return integer bufnr
local function make(path)
  local bufnr = named.get("acp://deleted" .. path)
  vim.bo[bufnr].buftype = "nofile"
  vim.bo[bufnr].bufhidden = "wipe"
  vim.bo[bufnr].swapfile = false
  vim.bo[bufnr].undolevels = -1
  vim.bo[bufnr].modifiable = false
  shown[path] = bufnr
  targets.set(bufnr, function()
    return { path }
  end)
  colour(bufnr, path)
  return bufnr
end

---@param path string of a deleted file under review
---@return integer bufnr
function M.buffer(path)
  local bufnr = shown[path]
  if not bufnr or not api.nvim_buf_is_valid(bufnr) then
    bufnr = make(path)
  end
  local lines = old_lines(path)
  if lines then
    fill(bufnr, lines)
  else
    requests.review_open(path)
  end
  return bufnr
end

---What is shown instead, now that the file is there again, or gone for good.
---@param bufnr integer
---@param path string
local function leave(bufnr, path)
  local found = vim.uv.fs_stat(path) and file_buffer.get(path)
  for _, win in ipairs(vim.fn.win_findbuf(bufnr)) do
    local other = api.nvim_win_call(win, function()
      return vim.fn.bufnr("#")
    end)
    if found then
      api.nvim_win_set_buf(win, found)
    elseif other > 0 and other ~= bufnr and api.nvim_buf_is_loaded(other) then
      api.nvim_win_set_buf(win, other)
    else
      api.nvim_win_call(win, vim.cmd.enew)
    end
  end
end

---@param path string
local function told(path)
  local bufnr = shown[path]
  if not bufnr or not api.nvim_buf_is_valid(bufnr) then
    shown[path] = nil
    return
  end
  local review = files.get(path)
  if not review or review.operation ~= "delete" then
    shown[path] = nil
    leave(bufnr, path)
    return
  end
  local lines = old_lines(path)
  if lines then
    fill(bufnr, lines)
  end
end

files.on_change(told)

return M
