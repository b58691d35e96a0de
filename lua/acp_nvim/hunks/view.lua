-- The hunks of one source in the buffers: draws them, and knows where they are while the text around them changes.
local limits = require("acp_nvim.limits")
local virtual_lines = require("acp_nvim.hunks.virtual_lines")

local M = {}

local api = vim.api

---How a hunk looks now.
---@class acp.HunkLook
---@field group? string of its rows
---@field priority integer of that colour
---@field sign? { [1]: string, [2]: string } text and group
---@field header? acp.Chunks a line above the hunk
---@field lines string[] that are not in the buffer, shown as virtual ones
---@field lines_group string of these; changed words in them have that group with "Text" behind
---@field noun string for virtual lines that are not shown: "… 3 more <noun> lines"
---@field is_below boolean the virtual lines stand below the rows, else above
---@field words? { group: string, line_group?: string } of changed words in the rows, and of rows without a counterpart

---A hunk in a buffer. Sources may keep more in it.
---@class acp.Mark
---@field hunk acp.ReviewHunk|acp.PreviewHunk
---@field index integer orders the hunks that begin in one row
---@field id? integer of its extmarks; nil: not drawn yet
---@field look? acp.HunkLook as it was drawn last
---@field dress acp.Dress
---@field is_dressed? boolean its syntax and changed words are known
---@field above integer how many virtual lines stand above its first row
---@field words? acp.Words
---@field rows? string[] the lines that `words` is of
---@field preview? acp.Preview that it belongs to
---@field header? acp.Chunks

---Where hunks come from.
---@class acp.HunkSource
---@field name string of its namespaces and of its group of autocommands, behind "acp_nvim."
---@field look fun(mark: acp.Mark, row: integer, count: integer, last: integer): acp.HunkLook `last`: row of the buffer
---@field in_diff boolean colours and virtual lines are also shown where a window compares the buffer with another one

---Where a hunk is now.
---@class acp.HunkPlace
---@field mark acp.Mark
---@field row integer of its first line; of a deletion: the row after it, or the last row
---@field count integer
---@field start integer the row, or one behind the last row for a deletion there

---@class acp.HunkView
---@field source acp.HunkSource
---@field namespaces { rows: integer, signs: integer, lines: integer } a hunk has the same id in all three
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

---@param bufnr integer
---@param mark vim.api.keyset.get_extmark_item with details
---@return acp.HunkPlace?
function View:place_of(bufnr, mark)
  local known = self.buffers[bufnr][mark[1]]
  local last = api.nvim_buf_line_count(bufnr) - 1
  local count = math.max((mark[4].end_row or mark[2]) - mark[2], 0)
  return known and { mark = known, row = math.min(mark[2], last), count = count, start = mark[2] }
end

---@param bufnr integer
---@param first? integer row
---@param last? integer row
---@return acp.HunkPlace[] sorted, also those that only reach into these rows; all of the buffer when none are given
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

---@param bufnr integer
---@param row integer
---@return acp.HunkPlace? that the row is in, or beside
function View:at(bufnr, row)
  return self:within(bufnr, row, row)[1]
end

---@param bufnr integer
---@param row integer
---@param backwards? boolean
---@return acp.HunkPlace? the next one that begins after the row, or before it
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

---@param bufnr integer
---@param id integer of the hunk's extmarks
---@return acp.HunkPlace?
function View:get(bufnr, id)
  local rows = self.namespaces.rows
  local mark = self.buffers[bufnr] and api.nvim_buf_get_extmark_by_id(bufnr, rows, id, { details = true })
  return mark and mark[1] and self:place_of(bufnr, { id, mark[1], mark[2], mark[3] }) or nil
end

---@param bufnr integer
---@return integer how many hunks there are
function View:count(bufnr)
  return vim.tbl_count(self.buffers[bufnr] or {})
end

---@param bufnr integer
---@return boolean a window compares it with another one: lines of ours would not fit there
local function is_in_diff(bufnr)
  return vim.iter(vim.fn.win_findbuf(bufnr)):any(function(win)
    return vim.wo[win].diff
  end)
end

---Neovim scrolls no further up than the height of a window above the first line.
---@param bufnr integer
---@return integer
local function most_at_top(bufnr)
  local most = limits.deleted_lines
  for _, win in ipairs(vim.fn.win_findbuf(bufnr)) do
    most = math.min(most, math.max(api.nvim_win_get_height(win) - 2, 1))
  end
  return most
end

---@param bufnr integer
---@param mark acp.Mark
---@param row integer
---@param count integer
---@param is_hidden boolean
function View:draw_rows(bufnr, mark, row, count, is_hidden)
  local look = mark.look --[[@as acp.HunkLook]]
  mark.id = api.nvim_buf_set_extmark(bufnr, self.namespaces.rows, row, 0, {
    id = mark.id,
    end_row = row + count,
    end_col = 0,
    end_right_gravity = false,
    hl_group = not is_hidden and look.group or nil,
    hl_eol = true,
    priority = look.priority,
    strict = false,
  })
  local header = count > 0 and look.header or nil
  if look.sign or header then
    api.nvim_buf_set_extmark(bufnr, self.namespaces.signs, math.min(row, api.nvim_buf_line_count(bufnr) - 1), 0, {
      id = mark.id,
      end_row = count > 1 and row + count - 1 or nil, -- that row has a sign, too
      sign_text = look.sign and look.sign[1],
      sign_hl_group = look.sign and look.sign[2],
      priority = 8,
      virt_lines = header and { header },
      virt_lines_above = true,
      strict = false,
    })
  end
  mark.above = header and 1 or 0
end

---@param bufnr integer
---@param mark acp.Mark
---@param row integer
---@param count integer
---@param is_hidden boolean
function View:draw_lines(bufnr, mark, row, count, is_hidden)
  local look = mark.look --[[@as acp.HunkLook]]
  local header = count == 0 and look.header or nil
  if is_hidden or (#look.lines == 0 and not header) then
    api.nvim_buf_del_extmark(bufnr, self.namespaces.lines, mark.id)
    return
  end
  local is_at_top = row == 0 and not look.is_below
  local most = is_at_top and most_at_top(bufnr) - (header and 1 or 0) or limits.deleted_lines
  local virtual = virtual_lines.of(bufnr, look, math.max(most, 1), mark.dress)
  if header then
    table.insert(virtual, 1, header)
  end
  mark.above = mark.above + (look.is_below and 0 or #virtual)
  local beside = look.is_below and row + count - 1 or row
  api.nvim_buf_set_extmark(bufnr, self.namespaces.lines, math.min(beside, api.nvim_buf_line_count(bufnr) - 1), 0, {
    id = mark.id,
    virt_lines = virtual,
    virt_lines_above = not look.is_below,
    virt_lines_overflow = "scroll",
  })
end

---Draws a hunk, or draws it again.
---@param bufnr integer
---@param mark acp.Mark
---@param row integer of its first line; behind the last row for a deletion there
---@param count integer
function View:draw(bufnr, mark, row, count)
  local all = api.nvim_buf_line_count(bufnr)
  local is_hidden = not self.source.in_diff and is_in_diff(bufnr)
  row = math.min(row, all)
  count = math.min(count, all - row)
  mark.look = self.source.look(mark, row, count, all - 1)
  self:draw_rows(bufnr, mark, row, count, is_hidden)
  self:draw_lines(bufnr, mark, row, count, is_hidden)
  self.buffers[bufnr] = self.buffers[bufnr] or {}
  self.buffers[bufnr][mark.id] = mark
end

---How virtual lines look has changed, or the windows have.
---@param bufnr integer
---@param undress? boolean their syntax, too
function View:refresh(bufnr, undress)
  for _, place in ipairs(self:within(bufnr)) do
    if undress then
      place.mark.dress, place.mark.is_dressed = {}, nil
    end
    self:draw(bufnr, place.mark, place.start, place.count)
  end
end

---Deletions at the end go with lines that the user deletes there: then they are shown below the new last line.
---@param bufnr integer
function View:settle(bufnr)
  local last = api.nvim_buf_line_count(bufnr)
  for _, found in ipairs(api.nvim_buf_get_extmarks(bufnr, self.namespaces.lines, { last, 0 }, -1, {})) do
    local mark = (self.buffers[bufnr] or {})[found[1]]
    if mark then
      mark.look = self.source.look(mark, last, 0, last - 1)
      self:draw_lines(bufnr, mark, last, 0, not self.source.in_diff and is_in_diff(bufnr))
    end
  end
end

---@param bufnr integer
---@param id integer of the hunk's extmarks
function View:remove(bufnr, id)
  for _, namespace in pairs(self.namespaces) do
    api.nvim_buf_del_extmark(bufnr, namespace, id)
  end
  self.buffers[bufnr][id] = nil
end

---@param bufnr integer whose hunks are no more; it may be gone
function View:clear(bufnr)
  self.buffers[bufnr] = nil
  for _, namespace in pairs(api.nvim_buf_is_valid(bufnr) and self.namespaces or {}) do
    api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
  end
end

return M
