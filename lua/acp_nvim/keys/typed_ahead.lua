-- Keeps keys that were typed for a window of the plugin away from the text in the window that gets the focus after it.
--
-- What is typed before the screen was drawn was typed for what the user saw then. When a key of ours, or the end of what
-- a window was for, moves the focus out of a window of ours, nothing that was typed ahead means anything, except keys of
-- ours in the new buffer: half of what was typed would mean something else. The same key is dropped a little longer, since
-- it may be held down.
local limits = require("acp_nvim.limits")
local own = require("acp_nvim.windows.own")

local M = {}

local api = vim.api
local NS = api.nvim_create_namespace("acp_nvim.typed_ahead")
local AGAIN_MS = 10 -- until it is looked again whether half a command is still being typed

---Description of the mappings that take keys typed ahead: they belong neither to the user nor to an action.
M.SHIELD = "acp_nvim: typed ahead"

local is_dropping = false
---@type table<integer, table<string, integer>> buffer -> key -> how many shields it is part of
local shielded = {}

---@return boolean Neovim waits for the rest of a command or of a mapping
local function is_amid_command()
  return vim.fn.state("m") ~= "" or api.nvim_get_mode().mode:sub(1, 2) == "no"
end

---@return string[] keys that we have mapped in the buffer, in Normal mode, as keytrans() writes them
local function our_keys(bufnr)
  local keys = {}
  for _, map in ipairs(api.nvim_buf_get_keymap(bufnr, "n")) do
    if vim.startswith(map.desc or "", "acp: ") then
      keys[#keys + 1] = map.lhs
    end
  end
  return keys
end

local function stop_dropping()
  is_dropping = false
  vim.on_key(nil, NS)
end

---Drops all keys until the screen is drawn, and then until nothing more has come for a moment. Keys of ours in the current
---buffer work, as long as nothing has been dropped.
local function drop_all()
  if is_dropping then
    return
  end
  is_dropping = true
  local ours, is_passed, dropped_at = our_keys(api.nvim_get_current_buf()), false, nil
  local is_rest -- what comes untyped is of the mapping typed before it, not of a `:normal` in an event or later
  local function follows()
    is_rest = true
    vim.schedule(function()
      is_rest = false
    end)
  end
  follows()
  vim.on_key(function(key, typed)
    if api.nvim_get_mode().blocking then -- a prompt such as hit-enter: nothing scheduled runs until it is answered
      return stop_dropping()
    elseif typed ~= "" then
      follows()
      is_passed = not dropped_at and vim.list_contains(ours, vim.fn.keytrans(typed))
    elseif not is_rest or vim.fn.state("x") ~= "" then
      return
    end
    if not is_passed and key ~= "\27" then -- that cancels what has begun
      dropped_at = typed ~= "" and vim.uv.hrtime() or dropped_at
      return ""
    end
  end, NS)
  local function look()
    local left = dropped_at and dropped_at + limits.seen_ms * 1e6 - vim.uv.hrtime() or 0
    if left > 0 and is_dropping then
      vim.defer_fn(look, math.ceil(left / 1e6))
    else
      stop_dropping()
    end
  end
  vim.schedule(look) -- runs when all keys are processed and the change is drawn
end

---@return vim.api.keyset.get_keymap? nil when the buffer has no such mapping of its own in Normal mode
local function mapping_of(bufnr, key)
  return vim.iter(api.nvim_buf_get_keymap(bufnr, "n")):find(function(map)
    return map.lhs == key
  end)
end

---@param keys string[] as keytrans() writes them; those that the buffer maps are left to it
---@return fun() lift
local function raise(bufnr, keys)
  local counts = shielded[bufnr] or {}
  shielded[bufnr] = counts
  local free = vim.tbl_filter(function(key)
    return counts[key] ~= nil or not mapping_of(bufnr, key)
  end, keys)
  for _, key in ipairs(free) do
    counts[key] = (counts[key] or 0) + 1
    vim.keymap.set("n", key, drop_all, { buffer = bufnr, nowait = true, desc = M.SHIELD })
  end
  return function()
    for _, key in ipairs(free) do
      counts[key] = counts[key] > 1 and counts[key] - 1 or nil
      local map = not counts[key] and api.nvim_buf_is_valid(bufnr) and mapping_of(bufnr, key)
      if map and map.desc == M.SHIELD then
        vim.keymap.del("n", key, { buffer = bufnr })
      end
    end
    shielded[bufnr] = next(counts) and counts or nil
  end
end

---Drops these keys, and all that is typed behind them, in the current buffer.
---@param keys string[]
---@param ms? integer for so long after the screen was drawn
local function shield(keys, ms)
  local lift = raise(api.nvim_get_current_buf(), keys)
  local function lift_later()
    if is_amid_command() then
      vim.defer_fn(lift_later, AGAIN_MS)
    else
      lift()
    end
  end
  vim.schedule(function() -- runs when all keys are processed and the change is drawn
    if ms then
      vim.defer_fn(lift_later, ms)
    else
      lift_later()
    end
  end)
end

---@class acp.Focus where the keys of the user go
---@field win integer
---@field bufnr integer
---@field is_ours boolean nothing of the user's is in it
---@field keys string[] that we have mapped there

---@return acp.Focus
local function focus()
  local win, bufnr = api.nvim_get_current_win(), api.nvim_get_current_buf()
  local is_ours = own.is_set_up(win) or vim.bo[bufnr].buftype == "nofile"
  return { win = win, bufnr = bufnr, is_ours = is_ours, keys = our_keys(bufnr) }
end

---@param before acp.Focus
---@return boolean has_left keys for `before` would reach another text
local function has_left(before)
  local win, bufnr = api.nvim_get_current_win(), api.nvim_get_current_buf()
  if bufnr == before.bufnr then
    return false
  elseif not own.is_set_up(win) then
    return true
  end
  local is_there = api.nvim_win_is_valid(before.win) and api.nvim_win_get_buf(before.win) == before.bufnr
  return not is_there and vim.bo[bufnr].modifiable -- a prompt, below a window that has closed
end

---Runs what a key of ours does.
---@param key string
---@param run fun()
function M.run(key, run)
  local before = focus()
  run()
  if has_left(before) then
    if before.is_ours then
      drop_all()
    end
    shield(before.keys)
    shield({ vim.fn.keytrans((vim.keycode(key))) }, limits.seen_ms)
  end
end

---Runs what may close the window with the focus, which the user has not closed.
---@param run fun()
function M.closing(run)
  local before, is_amid = focus(), is_amid_command()
  run()
  if not has_left(before) then
    return
  elseif is_amid then
    api.nvim_feedkeys("\27", "ni", false)
  end
  drop_all()
  shield(before.keys, limits.seen_ms)
end

return M
