-- Says above each window of a file under review how much there is to review, behind the user's own 'winbar'.
local config = require("acp_nvim.config")
local files = require("acp_nvim.review.files")
local entry = require("acp_nvim.review.entry")
local view = require("acp_nvim.review.view")

local M = {}

local api = vim.api

-- Which of the two stands there tells what to put back, also in a window that was split off.
local TEXT = "%%{%%v:lua.require'acp_nvim.review.winbar'.text(%d)%%}"
local OVER_GLOBAL, OVER_LOCAL = TEXT:format(0), TEXT:format(1)

---Only for 'winbar'.
---@param _ integer
---@return string
function M.text(_)
  local win, bufnr = api.nvim_get_current_win(), api.nvim_get_current_buf() -- those that the bar is of
  local review = files.of_buffer(bufnr)
  if not review then
    return ""
  end
  local count = view:count(bufnr)
  local place = count > 0 and view:at(bufnr, api.nvim_win_get_cursor(win)[1] - 1)
  local hunks = count > 0 and ("%d hunk%s  "):format(count, count == 1 and "" or "s") or ""
  local whose = entry.WHOSE[review.by]
  return (" acp: %s%s%%#AcpDiffAdded#+%d%%* %%#AcpDiffRemoved#−%d%%*%s"):format(
    place and place.mark.index .. " of " or "",
    hunks,
    review.added or 0,
    review.removed or 0,
    whose and ("  %%<%%#AcpReviewUnknown#%s%%*"):format(whose) or ""
  )
end

---@param value string
---@return string? own value of the window; nil when it has none
---@return boolean is_ours
local function own(value)
  if vim.endswith(value, OVER_GLOBAL) then
    return nil, true
  elseif vim.endswith(value, OVER_LOCAL) then
    return value:sub(1, -#OVER_LOCAL - 1), true
  end
  return value ~= "" and value or nil, false
end

---@param win integer
---@return string
local function get(win)
  return api.nvim_get_option_value("winbar", { win = win, scope = "local" })
end

---@param win integer
---@param value string
local function set(win, value)
  if get(win) ~= value then
    api.nvim_win_call(win, function()
      local view = vim.fn.winsaveview()
      pcall(api.nvim_set_option_value, "winbar", value, { win = win, scope = "local" }) -- the window may be too low
      vim.fn.winrestview(view) -- a window of another height scrolls: what is looked at stays where it is
    end)
  end
end

---@param win integer
---@return boolean it says something of ours now
local function update(win)
  if not api.nvim_win_is_valid(win) or api.nvim_win_get_config(win).relative ~= "" then
    return false
  end
  local value, is_ours = own(get(win))
  if config.get().review.winbar and files.of_buffer(api.nvim_win_get_buf(win)) then
    set(win, value and value .. OVER_LOCAL or vim.go.winbar .. OVER_GLOBAL)
    return true
  elseif is_ours then
    set(win, value or "")
  end
  return false
end

---Makes all windows say what is so now.
function M.update()
  local is_seen = false
  for _, win in ipairs(api.nvim_list_wins()) do
    is_seen = update(win) or is_seen
  end
  if is_seen then
    vim.cmd("redrawstatus!") -- the counts may be others, the option is the same
  end
end

return M
