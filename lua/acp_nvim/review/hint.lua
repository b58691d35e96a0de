-- Says beside the hunk under the cursor which one it is, and which keys it has.
local config = require("acp_nvim.config")
local files = require("acp_nvim.review.files")
local entry = require("acp_nvim.review.entry")
local limits = require("acp_nvim.limits")
local view = require("acp_nvim.review.view")

local M = {}

local api = vim.api
local NS = api.nvim_create_namespace("acp_nvim.review.hint")

---@class acp.Hint
---@field win integer
---@field bufnr integer
---@field row integer
---@field texts string[] the longest that the window has room for is shown

---@type acp.Hint?
local shown

local KEYS = {
  agent = { { "review_keep", "keep" }, { "review_reject", "reject" }, { "review_next", "next" } },
  conflict = { { "review_mine", "mine" }, { "review_theirs", "theirs" }, { "review_both", "both" } },
}

---@param bufnr integer
---@param place acp.HunkPlace
---@return string[] the longest first
local function words(bufnr, place)
  local number = ("  hunk %d/%d"):format(place.mark.index, view:count(bufnr))
  local review = files.of_buffer(bufnr)
  local whose = review and entry.WHOSE[review.by]
  local named = whose and ("%s · %s"):format(number, whose) or number
  local parts = { named }
  for _, one in ipairs(KEYS[place.mark.hunk.by] or KEYS.agent) do
    local key = config.keys(one[1])[1]
    if key then
      parts[#parts + 1] = key .. " " .. one[2]
    end
  end
  return { table.concat(parts, " · "), named, number }
end

---@param win integer
---@param row integer
---@param texts string[]
---@return string the first that the window has room for, else the last
local function fitting(win, row, texts)
  local info = vim.fn.getwininfo(win)[1]
  local line = api.nvim_buf_get_lines(info.bufnr, row, row + 1, false)[1] or ""
  local width, used = info.width - info.textoff, vim.fn.strdisplaywidth(line:sub(1, limits.line_bytes))
  local room = width - (vim.wo[win].wrap and used > 0 and (used - 1) % width + 1 or used)
  return vim.iter(texts):find(function(text)
    return vim.fn.strdisplaywidth(text) <= room
  end) or texts[#texts]
end

---A mark of no look moves along: Neovim draws the lines again that it leaves and comes to.
---@param bufnr integer
---@param row integer
local function touch(bufnr, row)
  if api.nvim_buf_is_loaded(bufnr) then
    local last = api.nvim_buf_line_count(bufnr) - 1
    local id = api.nvim_buf_set_extmark(bufnr, NS, math.min(row, last), 0, { virt_text = { { "" } } })
    api.nvim_buf_del_extmark(bufnr, NS, id)
  end
end

---@return acp.Hint?
local function wanted()
  local win, bufnr = api.nvim_get_current_win(), api.nvim_get_current_buf()
  local is_typing = api.nvim_get_mode().mode:match("^[iRt]") ~= nil
  if not view.buffers[bufnr] or is_typing or vim.wo[win].diff or not config.get().review.hint then
    return nil
  end
  local place = view:at(bufnr, api.nvim_win_get_cursor(win)[1] - 1)
  return place and { win = win, bufnr = bufnr, row = place.row, texts = words(bufnr, place) }
end

---The cursor is elsewhere, or the hunks are.
function M.update()
  local now = wanted()
  local before = shown
  if vim.deep_equal(now, before) then
    return
  end
  shown = now
  for _, one in pairs({ before or nil, now or nil }) do
    touch(one.bufnr, one.row)
  end
end

---@param win integer that is drawn
---@param bufnr integer
---@param row integer
---@return string? nil when the line has no hint there
function M.text(win, bufnr, row)
  if shown and shown.win == win and shown.bufnr == bufnr and shown.row == row then
    return fitting(win, row, shown.texts)
  end
end

return M
