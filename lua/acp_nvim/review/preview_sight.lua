-- Gives the lines of previews their colours and changed words, when they come in sight.
local limits = require("acp_nvim.limits")
local marks = require("acp_nvim.review.preview_marks")
local places = require("acp_nvim.review.preview_places")
local syntax = require("acp_nvim.review.syntax")
local words = require("acp_nvim.review.words")

local M = {}

local api = vim.api
local NS = api.nvim_create_namespace("acp_nvim.preview.sight")

---@type table<integer, string> window -> what of which buffer was seen there last
local seen = {}

---@param bufnr integer
---@param place acp.PreviewPlace
local function dress(bufnr, place)
  local hunk = place.hunk
  local new = vim.list_slice(hunk.hunk.new, 1, limits.deleted_lines)
  hunk.is_dressed = true
  if #new == 0 then
    return
  end
  hunk.dress.syntax = syntax.of(bufnr, place.row, place.count, new)
  local old = api.nvim_buf_get_lines(bufnr, place.row, place.row + place.count, false)
  local changed = words.of(old, hunk.hunk.new) or {}
  hunk.dress.words = changed.new
  marks.dress(bufnr, place, changed.old or {})
end

---Some at once, the others when the editor has had its turn.
---@param bufnr integer
---@param first integer row
---@param last integer row
local function dress_seen(bufnr, first, last)
  if not api.nvim_buf_is_loaded(bufnr) then
    return
  end
  local started
  for _, place in ipairs(places.places(bufnr, math.max(first - 1, 0), last)) do
    if started and vim.uv.hrtime() - started > limits.dress_ns then
      return vim.schedule(function()
        dress_seen(bufnr, first, last)
      end)
    elseif not place.hunk.is_dressed then
      started = started or vim.uv.hrtime()
      dress(bufnr, place)
    end
  end
end

function M.watch()
  api.nvim_set_decoration_provider(NS, {
    on_win = function(_, win, bufnr, first, last)
      local generation = marks.generation(bufnr)
      local view = generation and ("%d %d %d %d"):format(bufnr, generation, first, last)
      if view and seen[win] ~= view then
        vim.schedule(function()
          dress_seen(bufnr, first, last)
        end)
      end
      seen[win] = view
      return false
    end,
  })
end

function M.unwatch()
  api.nvim_set_decoration_provider(NS, {})
  seen = {}
end

return M
