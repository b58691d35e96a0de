-- Chooses and highlights the window that shows where the agent works.
local windows = require("acp_nvim.windows.open")

local M = {}

local api = vim.api
local GROUP = api.nvim_create_augroup("acp_nvim.follow.window", {})
-- Appended to the window's own value. A winbar that comes and goes would move the text.
local HIGHLIGHT =
  "StatusLine:AcpFollowWindow,StatusLineNC:AcpFollowWindow,WinBar:AcpFollowWindow,WinBarNC:AcpFollowWindow"

---@type integer? window that the user chose
local chosen
---@type integer? window that shows the agent's location
local shown
---@type string value of |w:acp_nvim_follow| in that window
local state = "on"

---@param win integer? true when it is in the current tab page
local function is_seen(win)
  return win ~= nil and api.nvim_win_is_valid(win) and vim.list_contains(api.nvim_tabpage_list_wins(0), win)
end

---@param bufnr? integer buffer to show, if it is loaded
---@return integer? win never the current one
function M.find(bufnr)
  local current = api.nvim_get_current_win()
  if M.chosen() then
    local fits = chosen ~= current and windows.is_file_window(chosen) and windows.can_show_unasked(chosen, bufnr)
    return fits and chosen or nil
  end
  if is_seen(shown) and shown ~= current and windows.is_code(shown) and windows.can_show_unasked(shown, bufnr) then
    return shown -- even if another code window was used since
  end
  return windows.other(function(win)
    return windows.can_show_unasked(win, bufnr)
  end)
end

local function remove_highlight(win)
  local own = vim.wo[win].winhighlight
  local from, to = own:find(HIGHLIGHT, 1, true)
  if from then
    local left = own:sub(1, from - 1):gsub(",$", "") .. own:sub(to + 1)
    vim.wo[win].winhighlight = left:gsub("^,", "")
  end
end

local function add_highlight(win)
  local own = vim.wo[win].winhighlight
  if not own:find(HIGHLIGHT, 1, true) then
    vim.wo[win].winhighlight = own == "" and HIGHLIGHT or own .. "," .. HIGHLIGHT
  end
end

---Highlights the follow window only: splits copy the options of their window.
local function update()
  local marked = M.chosen() or shown
  for _, win in ipairs(api.nvim_list_wins()) do
    if win == marked then
      add_highlight(win)
      vim.w[win].acp_nvim_follow = state
    else
      remove_highlight(win)
      vim.w[win].acp_nvim_follow = nil
    end
  end
end

---@return integer? win that the user chose, while it is valid
function M.chosen()
  if chosen and not api.nvim_win_is_valid(chosen) then
    chosen = nil
  end
  return chosen
end

local function watch()
  api.nvim_create_autocmd({ "WinEnter", "BufWinEnter" }, { group = GROUP, callback = update })
end

---@param win integer? nil: let the plugin choose
---@return string? problem
function M.choose(win)
  if win and not windows.is_file_window(win) then
    return "this window cannot show a file"
  end
  chosen, shown = win, nil
  watch()
  update()
end

---@param win integer? window that shows the agent's location from now on; nil: none
---@param words? "on"|"paused" nil: "on"
function M.show(win, words)
  words = words or "on"
  if win ~= shown or words ~= state or (win and not vim.wo[win].winhighlight:find(HIGHLIGHT, 1, true)) then
    shown, state = win, words
    watch()
    update()
  end
end

return M
