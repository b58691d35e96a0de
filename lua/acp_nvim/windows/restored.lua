-- Closes the windows that a session file of :mksession has restored for the plugin's buffers: they would be empty. While
-- the file is read, the plugin's own buffers have other names, since the file gives theirs to the empty ones.
local named = require("acp_nvim.buffers.named")
local own = require("acp_nvim.windows.own")
local switch = require("acp_nvim.windows.switch")

local M = {}

local api = vim.api
local is_due = false
---@type table<integer, string> buffer -> its name, while it has another one
local names = {}

---@return boolean the buffer has the name of one of the plugin's buffers, but is empty, and none of them
local function is_left(bufnr)
  return vim.startswith(api.nvim_buf_get_name(bufnr), "acp://")
    and vim.b[bufnr].acp_nvim_session == nil
    and api.nvim_buf_line_count(bufnr) == 1
    and api.nvim_buf_get_lines(bufnr, 0, 1, false)[1] == ""
end

---@return integer[]
local function windows()
  return vim.tbl_filter(function(win)
    return is_left(api.nvim_win_get_buf(win)) and not own.is_set_up(win)
  end, api.nvim_list_wins())
end

---@param name string
local function rename(bufnr, name)
  local before = api.nvim_buf_get_name(bufnr)
  named.rename(bufnr, name)
  for _, other in ipairs(api.nvim_list_bufs()) do -- Neovim keeps the old name in another buffer
    if other ~= bufnr and api.nvim_buf_get_name(other) == before then
      switch.delete(other)
    end
  end
end

local function set_names_aside()
  for _, bufnr in ipairs(api.nvim_list_bufs()) do
    local name = api.nvim_buf_get_name(bufnr)
    if vim.startswith(name, "acp://") and api.nvim_buf_is_loaded(bufnr) and not names[bufnr] then
      names[bufnr] = name
      rename(bufnr, name .. "#" .. bufnr)
    end
  end
end

local function give_names_back()
  for bufnr, name in pairs(names) do
    if api.nvim_buf_is_valid(bufnr) then
      pcall(rename, bufnr, name)
    end
  end
  names = {}
end

---Closes the windows, and deletes their buffers.
function M.close()
  for _, win in ipairs(windows()) do
    if api.nvim_win_is_valid(win) then
      local bufnr = api.nvim_win_get_buf(win)
      own.keep_sizes(function()
        own.close(win, true)
      end)
      if #vim.fn.win_findbuf(bufnr) == 0 then
        switch.delete(bufnr)
      end
    end
  end
  if vim.g.SessionLoad == nil then
    give_names_back()
  end
end

---Closes them when the session file has been read.
---@param even_none? boolean
function M.close_soon(even_none)
  if not is_due and (even_none or #windows() > 0) then -- SessionLoadPost comes for each buffer
    is_due = true
    if vim.v.errmsg == "" and #windows() > 0 then
      vim.cmd.redraw() -- no hit-enter prompt for the names of these buffers, which the session file has shown
    end
    vim.schedule(function()
      is_due = false
      M.close()
    end)
  end
end

own.on_session(function(is_loading)
  if is_loading then
    set_names_aside()
  else
    M.close_soon(true)
  end
end)

return M
