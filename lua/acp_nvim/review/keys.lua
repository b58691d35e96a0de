-- The keys of the review: in buffers under review as long as there is something to review, in the list, in deleted files.
local actions = require("acp_nvim.review.actions")
local config = require("acp_nvim.config")
local covering_keys = require("acp_nvim.covering_keys")
local files = require("acp_nvim.review.files")
local jump = require("acp_nvim.review.jump")
local lookup = require("acp_nvim.buffers.lookup")
local schema = require("acp_nvim.config.schema")
local targets = require("acp_nvim.review.targets")

local M = {}

local api = vim.api

---@type table<string, true> paths whose buffers are still to be looked at
local changed = {}

---@return integer first row of the selection, or of the cursor
---@return integer last row
local function rows()
  local here, there = vim.fn.line("."), vim.fn.line("v")
  if vim.fn.mode():match("^[vV\22]") then
    vim.cmd("normal! \27")
  end
  return math.min(here, there) - 1, math.max(here, there) - 1
end

---@param action acp.ReviewAction
---@return fun()
local function on_lines(action)
  return function()
    actions.lines(action, rows())
  end
end

---@param prefix string of their names in the configuration
---@param title string
function M.help(prefix, title)
  local chunks = { { title .. "\n", "Title" } }
  for _, option in ipairs(schema) do
    local action = option.name:match("^keymaps%.(.+)$")
    local keys = action and vim.startswith(action, prefix) and table.concat(config.keys(action), " ") or ""
    if keys ~= "" then
      table.insert(chunks, { ("%-8s"):format(keys), "Special" })
      table.insert(chunks, { option.doc .. "\n" })
    end
  end
  api.nvim_echo(chunks, false, {})
end

---@class acp.ReviewKey
---@field action string of the configuration
---@field modes string[]
---@field run fun()

---@type acp.ReviewKey[]
local ANYWHERE = {
  { action = "review_keep", modes = { "n", "x" }, run = on_lines("keep") },
  { action = "review_reject", modes = { "n", "x" }, run = on_lines("reject") },
  -- stylua: ignore
  { action = "review_keep_all", modes = { "n" }, run = function() actions.file("keep") end },
  -- stylua: ignore
  { action = "review_reject_all", modes = { "n" }, run = function() actions.file("reject") end },
  -- stylua: ignore
  { action = "review_help", modes = { "n" }, run = function() M.help("review_", "Keys of the review") end },
}

---@type acp.ReviewKey[]
local IN_FILES = {
  -- stylua: ignore
  { action = "review_next", modes = { "n", "x" }, run = function() jump.jump(false) end },
  -- stylua: ignore
  { action = "review_previous", modes = { "n", "x" }, run = function() jump.jump(true) end },
  { action = "review_mine", modes = { "n", "x" }, run = on_lines("mine") },
  { action = "review_theirs", modes = { "n", "x" }, run = on_lines("theirs") },
  { action = "review_both", modes = { "n", "x" }, run = on_lines("both") },
}

---@type table<integer, acp.ReviewKey[]> buffers in which something else has the keys for a while
local claimed = {}

---@param bufnr integer
---@param list acp.ReviewKey[]
local function map(bufnr, list)
  for _, one in ipairs(list) do
    local desc = "acp: " .. one.action:gsub("_", " ")
    for _, key in ipairs(config.keys(one.action)) do
      for _, mode in ipairs(one.modes) do
        covering_keys.map(bufnr, mode, key, one.run, desc)
      end
    end
  end
end

---@param bufnr integer of a file
local function refresh(bufnr)
  if claimed[bufnr] then
    return
  end
  local wanted = files.of_buffer(bufnr) ~= nil
  if wanted and not covering_keys.covers(bufnr) then
    map(bufnr, ANYWHERE)
    map(bufnr, IN_FILES)
  elseif not wanted then
    covering_keys.unmap(bufnr)
  end
end

---Gives a buffer other keys than those of the review.
---@param bufnr integer
---@param list? acp.ReviewKey[] nil: they are wanted no more
function M.claim(bufnr, list)
  if claimed[bufnr] == list then
    return
  end
  claimed[bufnr] = list
  covering_keys.unmap(bufnr)
  if list then
    map(bufnr, list)
  elseif api.nvim_buf_is_valid(bufnr) then
    refresh(bufnr)
  end
end

---Makes the keys fit what has changed: once for a batch, however many files and buffers there are.
function M.refresh()
  local paths = changed
  changed = {}
  if next(paths) == nil then
    return
  end
  for _, bufnr in ipairs(lookup.file_buffers()) do
    if paths[lookup.real_path(bufnr)] then
      refresh(bufnr)
    end
  end
end

---Keeps the keys where they mean something from now on.
function M.watch()
  files.on_change(function(path)
    if next(changed) == nil then
      vim.schedule(M.refresh) -- for what changes outside of batches
    end
    changed[path] = true
  end)
  targets.on_set(function(bufnr)
    map(bufnr, ANYWHERE)
  end)
end

return M
