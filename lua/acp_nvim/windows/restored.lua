-- Closes the windows that a session file of :mksession has restored for the plugin's buffers: they would be empty.
local own = require("acp_nvim.windows.own")
local switch = require("acp_nvim.windows.switch")

local M = {}

local api = vim.api
local is_due = false

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
end

---Closes them when the session file has been read.
function M.close_soon()
  if not is_due and #windows() > 0 then -- SessionLoadPost comes for each buffer
    is_due = true
    if vim.v.errmsg == "" then
      vim.cmd.redraw() -- no hit-enter prompt for the names of these buffers, which the session file has shown
    end
    vim.schedule(function()
      is_due = false
      M.close()
    end)
  end
end

return M
