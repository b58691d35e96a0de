-- Draws what only hunks in sight need: changed words, syntax colours of virtual lines, a hint behind a line.
local limits = require("acp_nvim.limits")
local syntax = require("acp_nvim.hunks.syntax")
local words = require("acp_nvim.hunks.words")

local M = {}

local api = vim.api
local DRESS_NS = 2e6 -- that words and colours may take before the editor has its turn again

---@type acp.HunkPlace[] of the window that is being drawn
local seen = {}
---@type table<acp.HunkView, table<integer, table<integer, true>>> view -> buffer -> ids of hunks that want a dress
local wanted = {}
local is_due = false

---@alias acp.LineHint fun(win: integer, bufnr: integer, row: integer): string? text behind that line

---@param view acp.HunkView
---@param bufnr integer
---@param place acp.HunkPlace
local function dress(view, bufnr, place)
  local mark, look = place.mark, place.mark.look --[[@as acp.HunkLook]]
  local lines = vim.list_slice(look.lines, 1, limits.deleted_lines)
  mark.dress.syntax = #lines > 0 and syntax.of(bufnr, place.start, place.count, lines) or nil
  if look.words and #lines > 0 and place.count > 0 then
    mark.rows = api.nvim_buf_get_lines(bufnr, place.row, place.row + place.count, false)
    mark.words = words.of(look.lines, mark.rows)
    mark.dress.words = mark.words and mark.words.old
  end
  mark.is_dressed = true
  if next(mark.dress) then
    view:draw(bufnr, mark, place.start, place.count)
  end
end

local dress_soon

---Some at once, the others when the editor has had its turn.
local function dress_wanted()
  is_due = false
  local started = vim.uv.hrtime()
  for view, buffers in pairs(wanted) do
    for bufnr, ids in pairs(buffers) do
      for id in pairs(ids) do
        local place = api.nvim_buf_is_loaded(bufnr) and view:get(bufnr, id)
        ids[id] = nil
        if place and not place.mark.is_dressed then
          dress(view, bufnr, place)
        end
        if vim.uv.hrtime() - started > DRESS_NS then
          return dress_soon()
        end
      end
      buffers[bufnr] = nil
    end
  end
end

function dress_soon()
  if not is_due then
    is_due = true
    vim.schedule(dress_wanted)
  end
end

---@param view acp.HunkView
---@param win integer
---@param bufnr integer
---@param first integer row
---@param last integer row
---@return boolean there is something to draw
local function on_win(view, win, bufnr, first, last)
  if not view.buffers[bufnr] or (vim.wo[win].diff and not view.source.in_diff) then
    return false
  end
  seen = view:within(bufnr, first, last)
  for _, place in ipairs(seen) do
    if not place.mark.is_dressed then
      wanted[view] = wanted[view] or {}
      wanted[view][bufnr] = wanted[view][bufnr] or {}
      wanted[view][bufnr][place.mark.id] = true
      dress_soon()
    end
  end
  return #seen > 0
end

---@param bufnr integer
---@param namespace integer
---@param place acp.HunkPlace
---@param row integer
local function draw_words(bufnr, namespace, place, row)
  local mark, look = place.mark, place.mark.look --[[@as acp.HunkLook]]
  local index = row - place.row + 1
  local line = mark.words and look.words and api.nvim_buf_get_lines(bufnr, row, row + 1, false)[1]
  if not line or mark.rows[index] ~= line then
    return -- the user is at it
  end
  ---@param from integer
  ---@param to_row integer
  ---@param to integer
  ---@param group string
  local function colour(from, to_row, to, group)
    api.nvim_buf_set_extmark(bufnr, namespace, row, from, {
      end_row = to_row,
      end_col = to,
      hl_group = group,
      hl_eol = to_row > row,
      ephemeral = true,
      priority = look.priority + 1,
      strict = false,
    })
  end
  local spans = mark.words.new[index]
  if not spans and look.words.line_group then
    colour(0, row + 1, 0, look.words.line_group)
  end
  for _, span in ipairs(spans or {}) do
    colour(span[1], row, span[2], look.words.group)
  end
end

---@param view acp.HunkView
---@param hint? acp.LineHint
function M.watch(view, hint)
  local namespace = api.nvim_create_namespace(("acp_nvim.%s.sight"):format(view.source.name))
  api.nvim_set_decoration_provider(namespace, {
    on_win = function(_, win, bufnr, first, last)
      return on_win(view, win, bufnr, first, last)
    end,
    on_line = function(_, win, bufnr, row)
      for _, place in ipairs(seen) do
        if row >= place.row and row < place.row + place.count then
          draw_words(bufnr, namespace, place, row)
        end
      end
      local text = hint and hint(win, bufnr, row)
      if text then
        local look = { virt_text = { { text, "AcpReviewHint" } }, virt_text_pos = "eol", ephemeral = true }
        api.nvim_buf_set_extmark(bufnr, namespace, row, 0, look)
      end
    end,
  })
end

---@param view acp.HunkView
function M.unwatch(view)
  local namespace = api.nvim_create_namespace(("acp_nvim.%s.sight"):format(view.source.name))
  api.nvim_set_decoration_provider(namespace, {})
  wanted[view] = nil
end

return M
