-- Maps keys in a buffer for a limited time, and restores the user's own mappings afterwards.
local typed_ahead = require("acp_nvim.keys.typed_ahead")

local M = {}

local api = vim.api

---@class acp.TemporaryKeymap
---@field mode string
---@field key string
---@field run fun()
---@field old? table the user's mapping in this buffer, in the form of maparg()

---@type table<integer, table<string, acp.TemporaryKeymap>> buffer -> mode and key
local mappings = {}

---@return table? nil when the buffer has no mapping of its own
local function mapped(bufnr, mode, key)
  local map = api.nvim_buf_call(bufnr, function()
    return vim.fn.maparg(key, mode, false, true)
  end)
  return map.buffer == 1 and map.desc ~= typed_ahead.SHIELD and map or nil
end

local function id_of(mode, key)
  return mode .. vim.keycode(key)
end

---@param mode string
---@param act fun()
---@param desc string
---@param waits? boolean wait for the rest of a longer mapping that starts with this key
function M.map(bufnr, mode, key, act, desc, waits)
  local function run()
    typed_ahead.run(key, act)
  end
  mappings[bufnr] = mappings[bufnr] or {}
  local known = mappings[bufnr][id_of(mode, key)]
  local old = mapped(bufnr, mode, key)
  if known and old and old.callback == known.run then
    old = known.old -- two actions may share a key: both replace the user's mapping
  end
  mappings[bufnr][id_of(mode, key)] = { mode = mode, key = key, run = run, old = old }
  vim.keymap.set(mode, key, run, { buffer = bufnr, nowait = not waits, desc = desc })
end

---@param mapping acp.TemporaryKeymap
local function restore(bufnr, mapping)
  local now = mapped(bufnr, mapping.mode, mapping.key)
  if not now or now.callback ~= mapping.run then
    return -- the user has mapped the key anew
  end
  vim.keymap.del(mapping.mode, mapping.key, { buffer = bufnr })
  if mapping.old then
    api.nvim_buf_call(bufnr, function()
      vim.fn.mapset(mapping.mode, false, mapping.old)
    end)
  end
end

function M.unmap(bufnr)
  for _, mapping in pairs(api.nvim_buf_is_valid(bufnr) and mappings[bufnr] or {}) do
    restore(bufnr, mapping)
  end
  mappings[bufnr] = nil
end

---@return boolean the buffer has temporary mappings
function M.covers(bufnr)
  return mappings[bufnr] ~= nil
end

---Does what a key would do without its temporary mapping.
---@param bufnr integer the current buffer
---@param mode string
function M.below(bufnr, mode, key)
  local mapping = (mappings[bufnr] or {})[id_of(mode, key)]
  local old = mapping and mapping.old
  if old and old.callback and old.expr == 0 then
    old.callback()
  elseif old and old.rhs and old.expr == 0 then
    api.nvim_feedkeys(vim.keycode(old.rhs), old.noremap == 1 and "n" or "m", false)
  else
    api.nvim_feedkeys(vim.keycode(key), "n", false)
  end
end

-- Neovim deletes the mappings of a deleted buffer, the user's too
api.nvim_create_autocmd({ "BufDelete", "BufWipeout" }, {
  group = api.nvim_create_augroup("acp_nvim.temporary_keymaps", {}),
  callback = function(event)
    mappings[event.buf] = nil
  end,
})

return M
