-- Maps keys in a buffer for as long as they mean something there, and puts back what the user had below them.
local M = {}

local api = vim.api

---@class acp.CoveringKey
---@field mode string
---@field key string
---@field run fun()
---@field old? table what the user has mapped in this buffer, as maparg() gives it

---@type table<integer, table<string, acp.CoveringKey>> buffer -> mode and key
local covering = {}

---@param bufnr integer
---@param mode string
---@param key string
---@return table? of the buffer's own maps
local function mapped(bufnr, mode, key)
  local map = api.nvim_buf_call(bufnr, function()
    return vim.fn.maparg(key, mode, false, true)
  end)
  return map.buffer == 1 and map or nil
end

---@param mode string
---@param key string
---@return string
local function id_of(mode, key)
  return mode .. vim.keycode(key)
end

---@param bufnr integer
---@param mode string
---@param key string
---@param run fun()
---@param desc string
---@param waits? boolean for the rest of a longer key that begins with this one
function M.map(bufnr, mode, key, run, desc, waits)
  covering[bufnr] = covering[bufnr] or {}
  local known = covering[bufnr][id_of(mode, key)]
  local old = mapped(bufnr, mode, key)
  if known and old and old.callback == known.run then
    old = known.old -- two actions may have one key: what the user had there is below both
  end
  covering[bufnr][id_of(mode, key)] = { mode = mode, key = key, run = run, old = old }
  vim.keymap.set(mode, key, run, { buffer = bufnr, nowait = not waits, desc = desc })
end

---@param bufnr integer
---@param one acp.CoveringKey
local function uncover(bufnr, one)
  local now = mapped(bufnr, one.mode, one.key)
  if not now or now.callback ~= one.run then
    return -- the user has another one there by now
  end
  vim.keymap.del(one.mode, one.key, { buffer = bufnr })
  if one.old then
    api.nvim_buf_call(bufnr, function()
      vim.fn.mapset(one.mode, false, one.old)
    end)
  end
end

---@param bufnr integer
function M.unmap(bufnr)
  for _, one in pairs(api.nvim_buf_is_valid(bufnr) and covering[bufnr] or {}) do
    uncover(bufnr, one)
  end
  covering[bufnr] = nil
end

---@param bufnr integer
---@return boolean some keys are mapped there
function M.covers(bufnr)
  return covering[bufnr] ~= nil
end

---Does what a key would do if it were not covered.
---@param bufnr integer the current one
---@param mode string
---@param key string
function M.below(bufnr, mode, key)
  local one = (covering[bufnr] or {})[id_of(mode, key)]
  local old = one and one.old
  if old and old.callback and old.expr == 0 then
    old.callback()
  elseif old and old.rhs and old.expr == 0 then
    api.nvim_feedkeys(vim.keycode(old.rhs), old.noremap == 1 and "n" or "m", false)
  else
    api.nvim_feedkeys(vim.keycode(key), "n", false)
  end
end

-- Neovim forgets the maps of a buffer that is deleted, the user's too
api.nvim_create_autocmd({ "BufDelete", "BufWipeout" }, {
  group = api.nvim_create_augroup("acp_nvim.temporary_keymaps", {}),
  callback = function(event)
    covering[event.buf] = nil
  end,
})

return M
