-- The keys of hunks, in the buffers in which they mean something.
local config = require("acp_nvim.config")
local schema = require("acp_nvim.config.schema")
local temporary_keymaps = require("acp_nvim.temporary_keymaps")

local M = {}

---@class acp.HunkKey
---@field action string of the configuration
---@field modes string[]
---@field run fun()

---@type table<integer, { preview?: acp.HunkKey[], review?: acp.HunkKey[] }> by buffer
local wanted = {}
---@type table<integer, acp.HunkKey[]> by buffer
local mapped = {}

---@param bufnr integer
---@param keys acp.HunkKey[]
local function map(bufnr, keys)
  for _, one in ipairs(keys) do
    local desc = "acp: " .. one.action:gsub("_", " ")
    for _, key in ipairs(config.keys(one.action)) do
      for _, mode in ipairs(one.modes) do
        temporary_keymaps.map(bufnr, mode, key, one.run, desc)
      end
    end
  end
end

---Gives a buffer its keys. As long as it has those of a preview it has none of a review.
---@param bufnr integer
---@param of "preview"|"review"
---@param keys? acp.HunkKey[] nil: they are wanted no more
function M.give(bufnr, of, keys)
  local all = wanted[bufnr] or {}
  all[of] = keys
  wanted[bufnr] = next(all) and all or nil
  local now = all.preview or all.review
  if mapped[bufnr] == now and (not now or temporary_keymaps.covers(bufnr)) then
    return
  end
  temporary_keymaps.unmap(bufnr)
  mapped[bufnr] = now
  if now then
    map(bufnr, now)
  end
end

---Lists keys with what they are for.
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
  vim.api.nvim_echo(chunks, false, {})
end

return M
