-- Shows buffers in windows, and deletes buffers that windows may show: the only module that does, since Neovim then
-- compares a buffer with its file, and would ask about a change while the user types.
local file_check = require("acp_nvim.buffers.file_check")
local lazy = require("acp_nvim.lazy")
local message = lazy("acp_nvim.kernel.message")
local names = require("acp_nvim.names")
local tracking = lazy("acp_nvim.buffers.tracking")

local M = {}

local api = vim.api

local CHANGED = {
  deleted = "%s was deleted on disk: :write creates it",
  conflict = "%s was changed on disk, too: :write asks first",
  mode = "%s has other permissions on disk",
}
local CHANGED_OTHERWISE = "%s was changed on disk: :edit reads it"

---Shows what Neovim would have asked, unless the host takes care of it.
---@param suppressed table<integer, string> reasons by buffer
local function report(suppressed)
  for bufnr, reason in pairs(suppressed) do
    if not tracking.is_handled(bufnr) then
      local name = names.short(api.nvim_buf_get_name(bufnr))
      message.warn((CHANGED[reason] or CHANGED_OTHERWISE):format(name))
    end
  end
end

---Runs a function that makes windows show buffers of files, without questions about these.
---@param run fun()
---@param bufnr? integer the buffer that is shown; nil: any may be
function M.unasked(run, bufnr)
  report((file_check.unasked(run, bufnr)))
end

---Shows a buffer in a window, with autocommands: the user enters it, or may.
function M.show(win, bufnr)
  M.unasked(function()
    api.nvim_win_set_buf(win, bufnr)
  end, bufnr)
end

---Shows a buffer that the user did not ask for, without autocommands, which are for windows the user enters.
function M.show_unasked(win, bufnr)
  file_check.without({ bufnr }, function()
    vim.cmd(("silent noautocmd keepalt keepjumps call nvim_win_set_buf(%d, %d)"):format(win, bufnr))
  end)
end

---Shows a buffer in a new window, and enters it: in a tab page of its own if there is no room for a split.
---@param shape table for nvim_open_win
---@return boolean split
function M.split(bufnr, shape)
  local is_split
  M.unasked(function()
    is_split = pcall(api.nvim_open_win, bufnr, true, shape)
    if not is_split then
      vim.cmd(("tab sbuffer %d"):format(bufnr))
    end
  end, bufnr)
  return is_split
end

---Shows a buffer in a new window, and enters it; raises an error if there is no room.
---@param in_tab? boolean in a new tab page
function M.open(bufnr, in_tab)
  M.unasked(function()
    vim.cmd(("keepalt %s sbuffer %d"):format(in_tab and "tab" or "", bufnr))
  end, bufnr)
end

---@return integer? bufnr loaded and listed, used last before this one
local function used_before(bufnr)
  local alternate = names.alternate_buffer()
  local found
  for _, info in ipairs(vim.fn.getbufinfo({ buflisted = 1, bufloaded = 1 })) do
    if info.bufnr == alternate and alternate ~= bufnr then
      return alternate
    elseif info.bufnr ~= bufnr and (not found or info.lastused > found.lastused) then
      found = info
    end
  end
  return found and found.bufnr
end

---@return boolean other windows stay when those with the buffer close
local function is_beside_others(bufnr)
  return vim.iter(api.nvim_list_wins()):any(function(win)
    return api.nvim_win_get_config(win).relative == "" and api.nvim_win_get_buf(win) ~= bufnr
  end)
end

---Gives the windows of a buffer another one, which Neovim would otherwise choose, read and ask about.
local function replace(bufnr)
  local other = used_before(bufnr)
  for _, win in ipairs(vim.fn.win_findbuf(bufnr)) do
    vim.wo[win].winfixbuf = false
    if other then
      M.show(win, other)
    else
      api.nvim_win_call(win, vim.cmd.enew)
    end
  end
end

---Deletes a buffer, if it exists. The last window gets the buffer that was used before.
---@param opts? table for nvim_buf_delete; nil: force
function M.delete(bufnr, opts)
  if api.nvim_buf_is_valid(bufnr) then
    if #vim.fn.win_findbuf(bufnr) > 0 and not is_beside_others(bufnr) then
      pcall(replace, bufnr)
    end
    if api.nvim_buf_is_valid(bufnr) then -- it may have 'bufhidden' "wipe"
      pcall(api.nvim_buf_delete, bufnr, opts or { force = true })
    end
  end
end

return M
