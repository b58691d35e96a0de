-- Draws the hunks of one source in buffers and tracks their positions with extmarks while the text changes.
local limits = require("acp_nvim.limits")
local virtual_lines = require("acp_nvim.review.hunks.virtual_lines")

local M = {}

local api = vim.api

---@class acp.HunkStyle
---@field group? string of its rows
---@field priority integer of that highlight
---@field sign? { [1]: string, [2]: string } text and group
---@field header? acp.Chunks a line above the hunk
---@field lines string[] to show as virtual lines
---@field lines_group string of the virtual lines; changed words in them have this group with the suffix "Text"
---@field noun string for virtual lines left out: "… 3 more <noun> lines"
---@field is_below boolean the virtual lines are below the rows, else above
---@field words? { group: string, line_group?: string } groups of changed words in the rows, and of rows without a counterpart

---A hunk in a buffer. Sources may add fields.
---@class acp.Mark
---@field hunk acp.ReviewHunk|acp.PreviewHunk
---@field index integer order among the hunks that begin in one row
---@field id? integer of its extmarks; nil: not drawn yet
---@field style? acp.HunkStyle that it was drawn with last
---@field highlights acp.LineHighlights
---@field is_highlighted? boolean `highlights` is complete
---@field above integer number of virtual lines above its first row
---@field words? acp.Words
---@field rows? string[] text of the rows when `words` was computed
---@field preview? acp.Preview
---@field header? acp.Chunks

---@class acp.HunkSource
---@field name string of its namespaces and its autocommand group, after the prefix "acp_nvim."
---@field style fun(mark: acp.Mark, row: integer, count: integer, last: integer): acp.HunkStyle `last`: last row of the buffer
---@field in_diff boolean show highlights and virtual lines in windows in diff mode, too

---The current position of a hunk.
---@class acp.HunkPlace
---@field mark acp.Mark
---@field row integer of its first line; of a deletion: the row after it, at most the last row
---@field count integer
---@field start integer the row; one after the last row for a deletion at the end

---@class acp.HunkView
---@field source acp.HunkSource
---@field namespaces { rows: integer, signs: integer, lines: integer } a hunk's extmark has the same id in all three
---@field buffers table<integer, table<integer, acp.Mark>> buffer -> id -> mark
local View = {}
View.__index = View

---@type acp.HunkView[]
M.all = {}

---@param source acp.HunkSource
---@return acp.HunkView
function M.new(source)
  local name = "acp_nvim." .. source.name
  local namespaces = {
    rows = api.nvim_create_namespace(name),
    signs = api.nvim_create_namespace(name .. ".signs"),
    lines = api.nvim_create_namespace(name .. ".lines"),
  }
  local view = setmetatable({ source = source, namespaces = namespaces, buffers = {} }, View)
  table.insert(M.all, view)
  return view
end

---@param mark vim.api.keyset.get_extmark_item with details
---@return acp.HunkPlace?
function View:place_of(bufnr, mark)
  local known = self.buffers[bufnr][mark[1]]
  local last = api.nvim_buf_line_count(bufnr) - 1
  local count = math.max((mark[4].end_row or mark[2]) - mark[2], 0)
  return known and { mark = known, row = math.min(mark[2], last), count = count, start = mark[2] }
end

---@return acp.HunkPlace[] sorted; includes hunks that overlap the rows; without rows: all hunks of the buffer
function View:within(bufnr, first, last)
  if not self.buffers[bufnr] then
    return {}
  end
  first = first or 0
  local to = last and last < api.nvim_buf_line_count(bufnr) - 1 and { last, -1 } or -1
  local options = { overlap = true, details = true }
  local places = {}
  for _, mark in ipairs(api.nvim_buf_get_extmarks(bufnr, self.namespaces.rows, { first, 0 }, to, options)) do
    local place = self:place_of(bufnr, mark)
    if place and (place.row >= first or place.row + place.count > first) then
      places[#places + 1] = place
    end
  end
  table.sort(places, function(a, b)
    return a.row < b.row or (a.row == b.row and a.mark.index < b.mark.index)
  end)
  return places
end

---@return acp.HunkPlace? hunk that contains the row or touches it
function View:at(bufnr, row)
  return self:within(bufnr, row, row)[1]
end

---@return acp.HunkPlace? the next hunk that begins after the row, or before it
function View:next(bufnr, row, backwards)
  if not self.buffers[bufnr] or (backwards and row == 0) then
    return nil
  end
  local from, to = { row + 1, 0 }, -1
  if backwards then
    from, to = { row - 1, -1 }, 0
  end
  local options = { limit = 1, details = true }
  local mark = api.nvim_buf_get_extmarks(bufnr, self.namespaces.rows, from, to, options)[1]
  local place = mark and self:place_of(bufnr, mark)
  return place and place.row ~= row and place or nil
end

---@param id integer of the hunk's extmarks
---@return acp.HunkPlace?
function View:get(bufnr, id)
  local rows = self.namespaces.rows
  local mark = self.buffers[bufnr] and api.nvim_buf_get_extmark_by_id(bufnr, rows, id, { details = true })
  return mark and mark[1] and self:place_of(bufnr, { id, mark[1], mark[2], mark[3] }) or nil
end

---@return integer number of hunks
function View:count(bufnr)
  return vim.tbl_count(self.buffers[bufnr] or {})
end

---Whether a window shows the buffer in diff mode, where virtual lines would break the alignment.
function View:is_hidden(bufnr)
  return not self.source.in_diff
    and vim.iter(vim.fn.win_findbuf(bufnr)):any(function(win)
      return vim.wo[win].diff
    end)
end

---Returns how many virtual lines fit above the first line: Neovim cannot scroll further than a window's height.
local function most_at_top(bufnr)
  local most = limits.deleted_lines
  for _, win in ipairs(vim.fn.win_findbuf(bufnr)) do
    most = math.min(most, math.max(api.nvim_win_get_height(win) - 2, 1))
  end
  return most
end

function View:draw_rows(bufnr, mark, row, count, is_hidden)
  local style = mark.style --[[@as acp.HunkStyle]]
  mark.id = api.nvim_buf_set_extmark(bufnr, self.namespaces.rows, row, 0, {
    id = mark.id,
    end_row = row + count,
    end_col = 0,
    end_right_gravity = false,
    hl_group = not is_hidden and style.group or nil,
    hl_eol = true,
    priority = style.priority,
    strict = false,
  })
  local header = count > 0 and style.header or nil
  if style.sign or header then
    api.nvim_buf_set_extmark(bufnr, self.namespaces.signs, math.min(row, api.nvim_buf_line_count(bufnr) - 1), 0, {
      id = mark.id,
      end_row = count > 1 and row + count - 1 or nil, -- inclusive for signs
      sign_text = style.sign and style.sign[1],
      sign_hl_group = style.sign and style.sign[2],
      priority = 8,
      virt_lines = header and { header },
      virt_lines_above = true,
      strict = false,
    })
  end
  mark.above = header and 1 or 0
end

function View:draw_lines(bufnr, mark, row, count, is_hidden)
  local style = mark.style --[[@as acp.HunkStyle]]
  local header = count == 0 and style.header or nil
  if is_hidden or (#style.lines == 0 and not header) then
    api.nvim_buf_del_extmark(bufnr, self.namespaces.lines, mark.id)
    return
  end
  local is_at_top = row == 0 and not style.is_below
  local most = is_at_top and most_at_top(bufnr) - (header and 1 or 0) or limits.deleted_lines
  local virtual = virtual_lines.of(bufnr, style, math.max(most, 1), mark.highlights)
  if header then
    table.insert(virtual, 1, header)
  end
  mark.above = mark.above + (style.is_below and 0 or #virtual)
  local beside = style.is_below and row + count - 1 or row
  api.nvim_buf_set_extmark(bufnr, self.namespaces.lines, math.min(beside, api.nvim_buf_line_count(bufnr) - 1), 0, {
    id = mark.id,
    virt_lines = virtual,
    virt_lines_above = not style.is_below,
    virt_lines_overflow = "scroll",
  })
end

---Draws a hunk, or redraws it.
---@param row integer of its first line; one after the last row for a deletion at the end
function View:draw(bufnr, mark, row, count)
  local all = api.nvim_buf_line_count(bufnr)
  local is_hidden = self:is_hidden(bufnr)
  row = math.min(row, all)
  count = math.min(count, all - row)
  mark.style = self.source.style(mark, row, count, all - 1)
  self:draw_rows(bufnr, mark, row, count, is_hidden)
  self:draw_lines(bufnr, mark, row, count, is_hidden)
  self.buffers[bufnr] = self.buffers[bufnr] or {}
  self.buffers[bufnr][mark.id] = mark
end

---Draws all hunks of a buffer again.
---@param restyle? boolean recompute their syntax highlighting, too
function View:refresh(bufnr, restyle)
  for _, place in ipairs(self:within(bufnr)) do
    if restyle then
      place.mark.highlights, place.mark.is_highlighted = {}, nil
    end
    self:draw(bufnr, place.mark, place.start, place.count)
  end
end

---Moves deletions at the end of a buffer below its new last line after the user has deleted lines there.
function View:settle(bufnr)
  local last = api.nvim_buf_line_count(bufnr)
  for _, found in ipairs(api.nvim_buf_get_extmarks(bufnr, self.namespaces.lines, { last, 0 }, -1, {})) do
    local mark = (self.buffers[bufnr] or {})[found[1]]
    if mark then
      mark.style = self.source.style(mark, last, 0, last - 1)
      self:draw_lines(bufnr, mark, last, 0, self:is_hidden(bufnr))
    end
  end
end

---@param id integer of the hunk's extmarks
function View:remove(bufnr, id)
  for _, namespace in pairs(self.namespaces) do
    api.nvim_buf_del_extmark(bufnr, namespace, id)
  end
  self.buffers[bufnr][id] = nil
end

---Removes all hunks of a buffer, which may be invalid already.
function View:clear(bufnr)
  self.buffers[bufnr] = nil
  for _, namespace in pairs(api.nvim_buf_is_valid(bufnr) and self.namespaces or {}) do
    api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
  end
end

return M
