-- Chooses the window that shows where the agent is, and makes it look so.
local windows = require("acp_nvim.windows.open")

local M = {}

local api = vim.api
local GROUP = api.nvim_create_augroup("acp_nvim.follow.window", {})
-- Behind what the user has there. Nothing that takes room: a bar that comes and goes would move the text.
local LOOK = "StatusLine:AcpFollowWindow,StatusLineNC:AcpFollowWindow,WinBar:AcpFollowWindow,WinBarNC:AcpFollowWindow"

---@type integer? the window that the user chose
local chosen
---@type integer? the one that shows where the agent is
local shown
---@type string how it is with that window, for |w:acp_nvim_follow|
local state = "on"

---@param win integer? of those that the user sees
---@return boolean
local function is_seen(win)
  return win ~= nil and api.nvim_win_is_valid(win) and vim.list_contains(api.nvim_tabpage_list_wins(0), win)
end

---@param bufnr? integer that is to be shown, if it is loaded already
---@return integer? win never the current one
function M.find(bufnr)
  local current = api.nvim_get_current_win()
  if M.chosen() then
    local fits = chosen ~= current and windows.is_file_window(chosen) and windows.can_show_unasked(chosen, bufnr)
    return fits and chosen or nil
  end
  if is_seen(shown) and shown ~= current and windows.is_code(shown) and windows.can_show_unasked(shown, bufnr) then
    return shown -- also when another one was used meanwhile
  end
  return windows.other(function(win)
    return windows.can_show_unasked(win, bufnr)
  end)
end

---@param win integer
local function undress(win)
  local own = vim.wo[win].winhighlight
  local from, to = own:find(LOOK, 1, true)
  if from then
    local left = own:sub(1, from - 1):gsub(",$", "") .. own:sub(to + 1)
    vim.wo[win].winhighlight = left:gsub("^,", "")
  end
end

---@param win integer
local function dress(win)
  local own = vim.wo[win].winhighlight
  if not own:find(LOOK, 1, true) then
    vim.wo[win].winhighlight = own == "" and LOOK or own .. "," .. LOOK
  end
end

---Splits, and buffers that are shown elsewhere, take the looks of a window along.
local function update()
  local marked = M.chosen() or shown
  for _, win in ipairs(api.nvim_list_wins()) do
    if win == marked then
      dress(win)
      vim.w[win].acp_nvim_follow = state
    else
      undress(win)
      vim.w[win].acp_nvim_follow = nil
    end
  end
end

---@return integer? win that the user chose
function M.chosen()
  if chosen and not api.nvim_win_is_valid(chosen) then
    chosen = nil
  end
  return chosen
end

local function watch()
  api.nvim_create_autocmd({ "WinEnter", "BufWinEnter" }, { group = GROUP, callback = update })
end

---@param win integer? nil: none
---@return string? problem
function M.choose(win)
  if win and not windows.is_file_window(win) then
    return "no file can be shown in this window"
  end
  chosen, shown = win, nil
  watch()
  update()
end

---@param win integer? that shows the agent's place from now on; nil: none does
---@param words? "on"|"paused"
function M.show(win, words)
  words = words or "on"
  if win ~= shown or words ~= state or (win and not vim.wo[win].winhighlight:find(LOOK, 1, true)) then
    shown, state = win, words
    watch()
    update()
  end
end

return M
