-- Knows where the hunks of previews are in the buffers; their places are extmarks, and move with the text.
local M = {}

local api = vim.api
local ROWS = api.nvim_create_namespace("acp_nvim.preview")
M.ROWS = ROWS

---@alias acp.Chunks [string, string][]

---@class acp.DrawnHunk
---@field id integer of its extmarks
---@field hunk acp.PreviewHunk
---@field dress acp.Dress
---@field is_dressed? boolean
---@field above integer how many virtual lines stand above its first row
---@field words integer[] extmarks

---@class acp.DrawnPreview
---@field preview acp.Preview
---@field group string of the rows
---@field hint acp.Chunks
---@field hunks acp.DrawnHunk[]

---@class acp.PreviewPlace
---@field preview acp.Preview
---@field hunk acp.DrawnHunk
---@field row integer where it is now
---@field count integer

---@type table<integer, acp.DrawnPreview[]> by buffer, in the order of their requests
M.drawn = {}
---@type table<integer, table<integer, { one: acp.DrawnPreview, hunk: acp.DrawnHunk }>> by buffer and extmark
M.by_id = {}
local drawn, by_id = M.drawn, M.by_id

---@param bufnr integer
---@param preview acp.Preview
---@return acp.DrawnPreview?
---@return integer? index
function M.find(bufnr, preview)
  for index, one in ipairs(drawn[bufnr] or {}) do
    if one.preview.request == preview.request and one.preview.path == preview.path then
      return one, index
    end
  end
end

---@param bufnr integer
---@param mark [integer, integer, integer, vim.api.keyset.extmark_details]
---@return acp.PreviewPlace?
local function place_of(bufnr, mark)
  local known = by_id[bufnr] and by_id[bufnr][mark[1]]
  local count = math.max((mark[4].end_row or mark[2]) - mark[2], 0)
  return known and { preview = known.one.preview, hunk = known.hunk, row = mark[2], count = count }
end

---@param bufnr integer
---@param hunk acp.DrawnHunk
---@return acp.PreviewPlace?
function M.now(bufnr, hunk)
  local mark = api.nvim_buf_get_extmark_by_id(bufnr, ROWS, hunk.id, { details = true })
  return mark[1] and place_of(bufnr, { hunk.id, mark[1], mark[2], mark[3] })
end

---@param bufnr integer
---@param from integer|integer[] as nvim_buf_get_extmarks() takes it
---@param to integer|integer[]
---@param options vim.api.keyset.get_extmarks
---@return acp.PreviewPlace[]
local function places(bufnr, from, to, options)
  if not drawn[bufnr] then
    return {}
  end
  options.details = true
  local found = {}
  for _, mark in ipairs(api.nvim_buf_get_extmarks(bufnr, ROWS, from, to, options)) do
    found[#found + 1] = place_of(bufnr, mark)
  end
  return found
end

---@param bufnr integer
---@param first? integer row
---@param last? integer row
---@return acp.PreviewPlace[] sorted by row, also those that only reach into these rows
function M.places(bufnr, first, last)
  local is_end = not last or last >= api.nvim_buf_line_count(bufnr) - 1
  return places(bufnr, { first or 0, 0 }, is_end and -1 or { last, -1 }, { overlap = true })
end

---@param bufnr integer
---@param row integer
---@param backwards boolean
---@return acp.PreviewPlace? the next one that begins after the row, or before it
function M.next(bufnr, row, backwards)
  if backwards then
    return row > 0 and places(bufnr, { row - 1, -1 }, 0, { limit = 1 })[1] or nil
  end
  return places(bufnr, { row + 1, 0 }, -1, { limit = 1 })[1]
end

---@param bufnr integer
---@return acp.Preview[] that are seen there, oldest requests first
function M.previews(bufnr)
  return vim.tbl_map(function(one)
    return one.preview
  end, drawn[bufnr] or {})
end

---@param bufnr integer
---@param preview acp.Preview
---@return boolean it is this very one that is seen there
function M.is_drawn(bufnr, preview)
  local one = M.find(bufnr, preview)
  return one ~= nil and one.preview == preview
end

---@return integer[] buffers with previews
function M.buffers()
  return vim.tbl_keys(drawn)
end

return M
