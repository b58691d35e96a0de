-- Shows the number and the keys of the hunk under the cursor beside its first line.
local config = require("acp_nvim.config")
local entry = require("acp_nvim.render.file_changes")
local files = require("acp_nvim.review.files")
local limits = require("acp_nvim.limits")
local view = require("acp_nvim.review.files.view")

local M = {}

local api = vim.api
local NS = api.nvim_create_namespace("acp_nvim.review.hint")

---@type { win: integer, bufnr: integer, row: integer, texts: string[] }? with texts from the longest to the shortest
local shown

local KEYS = {
  agent = { { "review_keep", "keep" }, { "review_reject", "reject" }, { "review_next", "next" } },
  conflict = { { "review_mine", "mine" }, { "review_theirs", "theirs" }, { "review_both", "both" } },
}

---@return string[] from the longest to the shortest
local function texts_of(bufnr, place)
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

---Updates the hint after the cursor or the hunks have moved.
function M.update()
  local win, bufnr = api.nvim_get_current_win(), api.nvim_get_current_buf()
  local is_typing = api.nvim_get_mode().mode:match("^[iRt]") ~= nil
  local before = shown
  shown = nil
  if view.buffers[bufnr] and not is_typing and not vim.wo[win].diff and config.get().review.hint then
    local place = view:at(bufnr, api.nvim_win_get_cursor(win)[1] - 1)
    shown = place and { win = win, bufnr = bufnr, row = place.row, texts = texts_of(bufnr, place) }
  end
  if vim.deep_equal(shown, before) then
    return
  end
  for _, one in pairs({ before or nil, shown or nil }) do
    if api.nvim_buf_is_loaded(one.bufnr) then -- an extmark without a look makes Neovim draw the line again
      local row = math.min(one.row, api.nvim_buf_line_count(one.bufnr) - 1)
      local id = api.nvim_buf_set_extmark(one.bufnr, NS, row, 0, { virt_text = { { "" } } })
      api.nvim_buf_del_extmark(one.bufnr, NS, id)
    end
  end
end

---@param win integer that is drawn
---@return string? text the longest that fits behind the line, or the shortest; nil when the line has no hint
function M.text(win, bufnr, row)
  if not (shown and shown.win == win and shown.bufnr == bufnr and shown.row == row) then
    return nil
  end
  local info = vim.fn.getwininfo(win)[1]
  local line = api.nvim_buf_get_lines(info.bufnr, row, row + 1, false)[1] or ""
  local width, used = info.width - info.textoff, vim.fn.strdisplaywidth(line:sub(1, limits.line_bytes))
  local room = width - (vim.wo[win].wrap and used > 0 and (used - 1) % width + 1 or used)
  return vim.iter(shown.texts):find(function(text)
    return vim.fn.strdisplaywidth(text) <= room
  end) or shown.texts[#shown.texts]
end

return M
