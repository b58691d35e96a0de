-- Keeps windows at the end of the chat, where the user had left their cursor there.
local M = {}

local api = vim.api
local HELD = api.nvim_create_namespace("acp_nvim.held")
local GROUP = api.nvim_create_augroup("acp_nvim.following", { clear = true })

---@param win integer
---@return boolean
local function may_move(win)
  return win ~= api.nvim_get_current_win() or api.nvim_get_mode().mode == "n"
end

---@param transcript acp.Transcript
---@param win integer
---@param last integer the last line
---@return boolean
local function rests(transcript, win, last)
  local line, column = unpack(api.nvim_win_get_cursor(win))
  local left = transcript.resting[win]
  if left and left[1] == line and left[2] <= column then
    return true
  elseif line < last then
    return false
  end
  -- anywhere in the last line, unless it is too long for the window
  local length = #api.nvim_buf_get_lines(transcript.bufnr, last - 1, last, true)[1]
  local room = api.nvim_win_get_width(win) * api.nvim_win_get_height(win)
  -- the last character has four bytes at the most, with what belongs to it some more
  return column >= length - 32 or length < room / 2
end

---Neovim takes a cursor in an empty line along with the text that comes into it; the user's is to stay while they select,
---or type a command.
---@param transcript acp.Transcript
---@param win integer
local function hold(transcript, win)
  local line, column = unpack(api.nvim_win_get_cursor(win))
  local mark = { right_gravity = false, strict = false }
  transcript.held = { win, api.nvim_buf_set_extmark(transcript.bufnr, HELD, line - 1, column, mark) }
end

---@param transcript acp.Transcript
local function put_back(transcript)
  local win, mark = unpack(transcript.held)
  transcript.held = nil
  local row, column = unpack(api.nvim_buf_get_extmark_by_id(transcript.bufnr, HELD, mark, {}))
  api.nvim_buf_del_extmark(transcript.bufnr, HELD, mark)
  if api.nvim_win_is_valid(win) and row then
    local now = api.nvim_win_get_cursor(win)
    if now[1] ~= row + 1 or now[2] ~= column then
      pcall(api.nvim_win_set_cursor, win, { row + 1, column })
    end
  end
end

---@param transcript acp.Transcript
---@return integer[] windows whose cursor rests at the end
function M.at_end(transcript)
  local last = api.nvim_buf_line_count(transcript.bufnr)
  return vim.tbl_filter(function(win)
    if not may_move(win) then
      hold(transcript, win)
    end
    return rests(transcript, win, last)
  end, vim.fn.win_findbuf(transcript.bufnr))
end

---Goes on later where the user is selecting or typing a command now.
---@param transcript acp.Transcript
local function catch_up(transcript)
  api.nvim_create_autocmd("ModeChanged", {
    group = GROUP,
    pattern = "*:n",
    once = true,
    callback = vim.schedule_wrap(function()
      if api.nvim_buf_is_loaded(transcript.bufnr) then
        M.to_end(transcript, M.at_end(transcript))
      end
    end),
  })
end

---@param transcript acp.Transcript
---@param windows integer[] that were at the end before the text grew
function M.to_end(transcript, windows)
  local last = api.nvim_buf_line_count(transcript.bufnr)
  local resting, waits = {}, false
  if transcript.held then
    put_back(transcript)
  end
  for _, win in ipairs(windows) do
    if api.nvim_win_is_valid(win) then
      if may_move(win) then
        pcall(api.nvim_win_set_cursor, win, { last, vim.v.maxcol })
      else
        waits = true
      end
      resting[win] = api.nvim_win_get_cursor(win)
    end
  end
  transcript.resting = resting
  if waits and not transcript.waits then
    catch_up(transcript)
  end
  transcript.waits = waits
end

---While a command is typed Neovim draws nothing by itself.
function M.draw_under_command_line()
  if api.nvim_get_mode().mode:sub(1, 1) == "c" then
    pcall(vim.cmd.redraw)
  end
end

return M
