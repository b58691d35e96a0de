-- Maps the keys that act on hunks in the buffers that have hunks.
local config = require("acp_nvim.config")
local schema = require("acp_nvim.config.schema")
local temporary_keymaps = require("acp_nvim.keys.temporary")
local typed_ahead = require("acp_nvim.keys.typed_ahead")

local M = {}

local api = vim.api
local GROUP = api.nvim_create_augroup("acp_nvim.hunks.keys", {})

---@class acp.HunkKey
---@field action string of the configuration
---@field modes string[]
---@field run fun()

---@type table<integer, { preview?: acp.HunkKey[], review?: acp.HunkKey[] }> by buffer
local wanted = {}
---@type table<integer, acp.HunkKey[]> by buffer
local mapped = {}

---@param index integer of the key among those of its action
---@return boolean the key is an alternative, and the user has mapped it: gitsigns.nvim is often given `]h`
local function is_users(bufnr, mode, key, index)
  return index > 1
    and api.nvim_buf_call(bufnr, function()
      local map = vim.fn.maparg(key, mode, false, true)
      return next(map) ~= nil and map.desc ~= typed_ahead.SHIELD
    end)
end

---@param now? acp.HunkKey[]
local function map(bufnr, now)
  temporary_keymaps.unmap(bufnr)
  mapped[bufnr] = now
  for _, action in ipairs(now or {}) do
    local desc = "acp: " .. action.action:gsub("_", " ")
    for index, key in ipairs(config.keys(action.action)) do
      for _, mode in ipairs(action.modes) do
        if not is_users(bufnr, mode, key, index) then
          temporary_keymaps.map(bufnr, mode, key, action.run, desc)
        end
      end
    end
  end
end

---Removes the keys once the user leaves the buffer, unless they are wanted again.
local function unmap_later(bufnr)
  api.nvim_clear_autocmds({ group = GROUP, buffer = bufnr })
  api.nvim_create_autocmd("BufLeave", {
    group = GROUP,
    buffer = bufnr,
    once = true,
    callback = function()
      if not wanted[bufnr] then
        map(bufnr, nil)
      end
    end,
  })
end

---Sets the keys of one kind in a buffer. Keys of a preview take the place of those of a review. In the current buffer the
---last keys stay until the user leaves it: without its mapping, a `ghk` that they type next replaces a character by "k".
---@param kind "preview"|"review"
---@param keys? acp.HunkKey[] nil: remove them
function M.give(bufnr, kind, keys)
  local all = wanted[bufnr] or {}
  all[kind] = keys
  wanted[bufnr] = next(all) and all or nil
  local now = all.preview or all.review
  if mapped[bufnr] == now and (not now or temporary_keymaps.covers(bufnr)) then
    return
  elseif not now and bufnr == api.nvim_get_current_buf() then
    return unmap_later(bufnr)
  end
  map(bufnr, now)
end

---Lists keys with their descriptions.
---@param prefix string of their names in the configuration
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

return M
