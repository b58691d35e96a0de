-- Keeps windows at the end of the chat, where the user had left their cursor there.
local M = {}

---@param win integer
---@return boolean
local function may_move(win)
  return win ~= vim.api.nvim_get_current_win() or vim.api.nvim_get_mode().mode == "n"
end

---@param transcript acp.Transcript
---@return integer[] windows whose cursor rests on the last line
function M.at_end(transcript)
  local last = vim.api.nvim_buf_line_count(transcript.bufnr)
  return vim.tbl_filter(function(win)
    local line = vim.api.nvim_win_get_cursor(win)[1]
    return line == last or line == transcript.resting[win]
  end, vim.fn.win_findbuf(transcript.bufnr))
end

---@param transcript acp.Transcript
---@param windows integer[] that were at the end before the text grew
function M.to_end(transcript, windows)
  local last = vim.api.nvim_buf_line_count(transcript.bufnr)
  local resting = {}
  for _, win in ipairs(windows) do
    if may_move(win) then
      pcall(vim.api.nvim_win_set_cursor, win, { last, vim.v.maxcol })
    elseif vim.api.nvim_win_is_valid(win) then
      -- the user is selecting or typing a command there: go on later, unless they move
      resting[win] = vim.api.nvim_win_get_cursor(win)[1]
    end
  end
  transcript.resting = resting
end

---While a command is typed Neovim draws nothing by itself.
function M.draw_under_command_line()
  if vim.api.nvim_get_mode().mode:sub(1, 1) == "c" then
    pcall(vim.cmd.redraw)
  end
end

return M
