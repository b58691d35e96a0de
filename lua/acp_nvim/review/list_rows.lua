-- Makes the lines of the list of files under review: groups by who changed the files, each file with what shows that.
local Lines = require("acp_nvim.chat.blocks.lines")
local cells = require("acp_nvim.chat.cells")
local config = require("acp_nvim.config")
local entry = require("acp_nvim.review.entry")
local groups = require("acp_nvim.review.groups")
local limits = require("acp_nvim.limits")

local M = {}

---What a line of the list stands for; a heading for nothing.
---@class acp.ListRow
---@field path? string
---@field folds? boolean it is the heading of the agent's own records

---@param review acp.Review
---@return acp.Piece[]
local function counted(review)
  local hunks, conflicts = review.hunks and #review.hunks or 0, tonumber(review.conflicts) or 0
  local pieces = {}
  if hunks > 0 then
    table.insert(pieces, { "  " .. entry.plural(hunks, "hunk"), "AcpToolDetail" })
  end
  if conflicts > 0 then
    table.insert(pieces, { "  " .. entry.plural(conflicts, "conflict"), "AcpNoticeWarn" })
  end
  return pieces
end

---@param pieces acp.Piece[]
---@return integer cells
local function width_of(pieces)
  local width = 0
  for _, piece in ipairs(pieces) do
    width = width + vim.api.nvim_strwidth(type(piece) == "table" and piece[1] or piece --[[@as string]])
  end
  return width
end

---Lines and what they stand for, while they are made.
---@class acp.ListRows
---@field out acp.Lines
---@field rows acp.ListRow[]
---@field cwd string
---@field names integer cells for the names of files
---@field width integer cells of the window
local Rows = {}
Rows.__index = Rows

---@param pieces acp.Piece[]
---@param row acp.ListRow
function Rows:add(pieces, row)
  self.out:add(pieces)
  self.rows[#self.out.lines] = row
end

---@param review acp.Review
function Rows:file(review)
  local pieces = entry.pieces(review, self.cwd, self.names)
  vim.list_extend(pieces, counted(review))
  local why = Lines.one_line(review.why)
  local room = self.width - width_of(pieces) - 2
  -- a reason that matters does not lose its end for want of room beside the file
  local is_below = why ~= "" and review.by == "unknown" and vim.api.nvim_strwidth(why) > room
  if why ~= "" and not is_below and room >= limits.why_cells then
    table.insert(pieces, { "  " .. cells.cut(why, room), "AcpToolDetail" })
  end
  self:add(pieces, { path = review.path })
  if is_below then
    self:add({ { "    " .. cells.cut(why, self.width - 4), "AcpToolDetail" } }, { path = review.path })
  end
end

---@param by acp.By
---@param reviews acp.Review[]
---@param unfolded boolean
function Rows:heading(by, reviews, unfolded)
  local title = { groups.TITLES[by], by == "unknown" and "AcpReviewUnknown" or "AcpReviewGroup" }
  if by ~= "state" then
    return self:add({ title }, {})
  end
  local key = config.keys("open")[1]
  local pieces = { title, ": " .. entry.plural(#reviews, "file") }
  local hint = { key and ("  %s opens"):format(key) or "", "AcpToolDetail" }
  if not unfolded and width_of(pieces) + width_of({ hint }) <= self.width then
    table.insert(pieces, hint)
  end
  self:add(pieces, { folds = true })
end

---@param reviews acp.Review[]
---@param width integer cells of the window
---@param unfolded boolean the agent's own records are shown one by one
---@return acp.Rendered
---@return acp.ListRow[] what each of its lines stands for
function M.of(reviews, width, unfolded)
  local cwd = vim.uv.fs_realpath(vim.fn.getcwd()) or vim.fn.getcwd()
  local new = setmetatable({ out = Lines.new(), rows = {}, cwd = cwd, names = 0, width = width }, Rows)
  local by_group = groups.of(reviews)
  for by, all in pairs(by_group) do
    for _, review in ipairs((by ~= "state" or unfolded) and all or {}) do
      new.names = math.max(new.names, vim.fn.strdisplaywidth(entry.name(review, cwd)))
    end
  end
  new.names = math.min(new.names, limits.list_columns)
  for _, by in ipairs(groups.ORDER) do
    local all = by_group[by]
    if #all > 0 and not (by == "agent" and #all == #reviews) then -- who else, when there is nobody else
      new:heading(by, all, unfolded)
    end
    for _, review in ipairs((by ~= "state" or unfolded) and all or {}) do
      new:file(review)
    end
  end
  return new.out:rendered(), new.rows
end

return M
