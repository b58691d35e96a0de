-- Shows the counts of hunks and lines in 'winbar' of windows with a file under review, behind the user's own value.
local config = require("acp_nvim.config")
local files = require("acp_nvim.review.files")
local entry = require("acp_nvim.render.file_changes")
local view = require("acp_nvim.review.files.view")

local M = {}

local api = vim.api

-- Which of the two is set says whether the window had a value of its own, also in a window that was split off.
local TEXT = "%%{%%v:lua.require'acp_nvim.review.files.winbar'.text(%d)%%}"
local OVER_GLOBAL, OVER_LOCAL = TEXT:format(0), TEXT:format(1)

---Returns the text for 'winbar'.
---@return string
function M.text()
  local win, bufnr = api.nvim_get_current_win(), api.nvim_get_current_buf() -- Neovim sets both while it evaluates
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

---@return boolean shown a text of ours is set now
local function update(win)
  if not api.nvim_win_is_valid(win) or api.nvim_win_get_config(win).relative ~= "" then
    return false
  end
  local before = api.nvim_get_option_value("winbar", { win = win, scope = "local" })
  local value, is_ours = before ~= "" and before or nil, true -- the window's own value
  if vim.endswith(before, OVER_GLOBAL) then
    value = nil
  elseif vim.endswith(before, OVER_LOCAL) then
    value = before:sub(1, -#OVER_LOCAL - 1)
  else
    is_ours = false
  end
  local is_shown = config.get().review.winbar and files.of_buffer(api.nvim_win_get_buf(win)) ~= nil
  local after = is_shown and (value and value .. OVER_LOCAL or vim.go.winbar .. OVER_GLOBAL) or value or ""
  if before ~= after and (is_shown or is_ours) then
    api.nvim_win_call(win, function()
      local position = vim.fn.winsaveview()
      pcall(api.nvim_set_option_value, "winbar", after, { win = win, scope = "local" }) -- the window may be too low
      vim.fn.winrestview(position) -- a window whose height changes scrolls
    end)
  end
  return is_shown
end

---Updates all windows.
function M.update()
  local is_shown = false
  for _, win in ipairs(api.nvim_list_wins()) do
    is_shown = update(win) or is_shown
  end
  if is_shown then
    vim.cmd("redrawstatus!") -- the counts may have changed
  end
end

return M
