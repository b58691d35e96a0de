-- Draws the options of a permission request in as few rows as they fit in, and finds the option at a place in these.
local Lines = require("acp_nvim.render.lines")

local M = {}

local LONG = 40 -- columns of an option that comes after the shorter ones: it may need several rows
local BETWEEN = " · "
local KEPT = " (kept by acp_nvim)"
local MARKS = { allow_once = "✓ ", allow_always = "✓ ", reject_once = "✗ ", reject_always = "✗ " }
local RESERVED = { "·", "✓", "✗" } -- in the name of an option these would look like the beginning of another one

---@class acp.OptionPlace where an option is in a block
---@field row integer 0-based
---@field from integer first byte
---@field to integer byte after the last
---@field option_id string

---@class acp.OptionItem
---@field pieces (string|string[])[] for `acp.Lines:add`
---@field text string all of it, as it is shown
---@field columns integer
---@field index? integer among the long ones
---@field option_id string

local function name_of(option)
  local name = vim.trim(tostring(option.name or ""))
  for _, mark in ipairs(RESERVED) do
    name = name:gsub(mark, ("<%04x>"):format(vim.fn.char2nr(mark)))
  end
  return name
end

---@param letter? string
---@return string
local function remark(option, letter)
  local kind = Lines.one_line(option.kind)
  return option.ours and KEPT or not letter and kind ~= "" and (" (%s)"):format(kind) or ""
end

---@param out acp.Lines
---@param pieces (string|string[])[]
---@return acp.OptionItem
local function item_of(out, pieces, option_id)
  local text = {}
  for index, piece in ipairs(pieces) do
    text[index] = out:visible(type(piece) == "table" and piece[1] or piece --[[@as string]])
  end
  local whole = table.concat(text)
  return { pieces = pieces, text = whole, columns = vim.api.nvim_strwidth(whole), option_id = option_id }
end

---@param display acp.RequestDisplay
---@return acp.OptionItem[] the short ones as the agent orders them, then the long ones, the longest last
local function items_of(out, options, display)
  local short, long = {}, {}
  for index, option in ipairs(options) do
    local letter = display.letters[option.option_id]
    local key = letter or tostring(index)
    local item = item_of(out, {
      { MARKS[option.kind] or "? ", "AcpPermission" },
      { display.has_no_keys and "" or key .. " ", "AcpPermissionKey" },
      name_of(option),
      { remark(option, letter), "AcpToolDetail" },
    }, option.option_id)
    if display.has_no_keys then -- the rows are the same with keys
      item.columns = item.columns + vim.api.nvim_strwidth(key) + 1
    end
    table.insert(item.columns > LONG and long or short, item)
  end
  for index, item in ipairs(long) do
    item.index = index
  end
  table.sort(long, function(a, b)
    return a.columns < b.columns or a.columns == b.columns and a.index < b.index
  end)
  return vim.list_extend(short, long)
end

---@param width? integer columns of the window; nil: one row for all
---@return acp.OptionItem[][] rows
local function rows_of(items, width)
  local rows, used = {}, 0
  for _, item in ipairs(items) do
    local needed = used + vim.api.nvim_strwidth(BETWEEN) + item.columns
    if #rows == 0 or width and needed > width then
      rows[#rows + 1], used = { item }, item.columns
    else
      table.insert(rows[#rows], item)
      used = needed
    end
  end
  return rows
end

---Adds the options, side by side where there is room.
---@param out acp.Lines
---@param options acp.Option[]
---@param display acp.RequestDisplay
---@return acp.OptionPlace[]
function M.add(out, options, display)
  local places = {}
  for _, row in ipairs(rows_of(items_of(out, options, display), display.width)) do
    local pieces, at = {}, 0
    for index, item in ipairs(row) do
      if index > 1 then
        pieces[#pieces + 1], at = { BETWEEN, "AcpToolDetail" }, at + #BETWEEN
      end
      vim.list_extend(pieces, item.pieces)
      places[#places + 1] = { row = #out.lines, from = at, to = at + #item.text, option_id = item.option_id }
      at = at + #item.text
    end
    out:add(pieces)
  end
  return places
end

---@param places? acp.OptionPlace[]
---@param column integer byte
---@return string? option_id
function M.at(places, row, column)
  for _, place in ipairs(places or {}) do
    if place.row == row and column >= place.from and column < place.to then
      return place.option_id
    end
  end
end

return M
