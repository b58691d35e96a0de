-- Opens windows along an edge of the screen. What they take is shared by the others in proportion, and leaves each of
-- these readable: where that is not possible, there is no room.
local own = require("acp_nvim.windows.own")
local size = require("acp_nvim.windows.size")
local switch = require("acp_nvim.windows.switch")

local M = {}

local api = vim.api
local READABLE = { width = 20, height = 5 } -- cells of a window in which code can be read
local FIXED = { width = "winfixwidth", height = "winfixheight" }
local ENTERED = { width = "winwidth", height = "winheight" }
local SIZE = { width = api.nvim_win_get_width, height = api.nvim_win_get_height }
local KIND = { width = "row", height = "col" } -- of a node whose children share these cells

---@alias acp.Axis "width"|"height"
---@alias acp.LayoutNode { [1]: "leaf"|"row"|"col", [2]: integer|acp.LayoutNode[] }

---@class acp.LayoutPart a window, or several that share a part of the screen
---@field win? integer nil: it has parts
---@field is_along? boolean its parts are one beside the other on the axis, with a line between them
---@field parts? acp.LayoutPart[]
---@field cells integer that it has
---@field least integer cells that it has to keep
---@field is_fixed boolean its cells should not change

---@param axis acp.Axis
---@return integer cells with which code can be read; on a small screen a third
function M.readable(axis)
  local all = axis == "width" and vim.o.columns or vim.o.lines
  return math.max(1, math.min(READABLE[axis], math.floor(all / 3) - 1))
end

---@param node acp.LayoutNode
---@param axis acp.Axis
---@param frees_ours boolean the size of the plugin's own windows is not fixed
---@param had? table<integer, integer> cells of windows, in place of those that they have now
---@return acp.LayoutPart
local function measured(node, axis, frees_ours, had)
  if node[1] == "leaf" then
    local win = node[2] --[[@as integer]]
    local cells = had and had[win] or SIZE[axis](win)
    local is_fixed = vim.wo[win][FIXED[axis]] and not (frees_ours and own.is_set_up(win))
    local wanted = math.max(cells, vim.o[ENTERED[axis]]) -- Neovim gives it so many when it gets the focus
    local least = math.min(wanted, M.readable(axis)) -- a fixed size is kept only where another one can change
    return { win = win, cells = cells, least = least, is_fixed = is_fixed }
  end
  local is_along = node[1] == KIND[axis]
  local out = { is_along = is_along, parts = {}, cells = 0, least = 0, is_fixed = is_along }
  local fixed = 0 -- cells over those that the fixed parts have to keep
  for index, child in
    ipairs(node[2] --[[@as acp.LayoutNode[] ]])
  do
    local part = measured(child, axis, frees_ours, had)
    out.parts[index] = part
    if is_along then
      local line = index > 1 and 1 or 0
      out.cells, out.least = out.cells + part.cells + line, out.least + part.least + line
      out.is_fixed = out.is_fixed and part.is_fixed
      fixed = fixed + (part.is_fixed and part.cells - part.least or 0)
    else
      out.cells, out.least = math.max(out.cells, part.cells), math.max(out.least, part.least)
      out.is_fixed = out.is_fixed or part.is_fixed
    end
  end
  out.least = out.least + (out.is_fixed and 0 or fixed)
  return out
end

---@param parts acp.LayoutPart[]
---@param given integer[] what they get; changed so that each gets what it has to keep, from those that have the most over
---@param free integer[] those that may give
local function keep_readable(parts, given, free)
  local function richest()
    local found, most
    for _, index in ipairs(free) do
      local over = given[index] - parts[index].least
      if over > 0 and (not most or over > most) then
        found, most = index, over
      end
    end
    return found
  end
  for index, part in ipairs(parts) do
    local from = given[index] < part.least and richest() or nil
    while from do
      given[index], given[from] = given[index] + 1, given[from] - 1
      from = given[index] < part.least and richest() or nil
    end
  end
end

---Shares cells among parts that are not fixed, in proportion to what they have.
---@param parts acp.LayoutPart[]
---@param cells integer
---@return integer[]
local function shares(parts, cells)
  local given, free, all = {}, {}, 0
  local is_any_free = vim.iter(parts):any(function(part)
    return not part.is_fixed
  end)
  for index, part in ipairs(parts) do
    given[index] = part.cells
    if not (is_any_free and part.is_fixed) then
      free[#free + 1], all = index, all + part.cells
    else
      cells = cells - part.cells
    end
  end
  local before, at = 0, 0
  for _, index in ipairs(free) do
    at = at + parts[index].cells
    local upto = math.floor(cells * at / math.max(all, 1) + 0.5) -- rounded so that the sum is exact
    given[index], before = upto - before, upto
  end
  keep_readable(parts, given, free)
  return given
end

---@param part acp.LayoutPart
---@param cells integer that it gets
---@param sizes [integer, integer][] windows and their cells are added here
local function share_out(part, cells, sizes)
  if part.win then
    sizes[#sizes + 1] = { part.win, cells }
  elseif part.is_along then
    local given = shares(part.parts, cells - #part.parts + 1)
    for index, child in ipairs(part.parts) do
      share_out(child, given[index], sizes)
    end
  else
    for _, child in ipairs(part.parts) do
      share_out(child, cells, sizes)
    end
  end
end

---@param axis acp.Axis
---@param sizes [integer, integer][]
local function set_sizes(axis, sizes)
  local set = axis == "width" and size.set_width or size.set_height
  for _ = 1, 2 do -- as winrestcmd() does: a window takes from those behind it, which are set after it
    for _, one in ipairs(sizes) do
      if api.nvim_win_is_valid(one[1]) then
        pcall(set, one[1], one[2])
      end
    end
  end
end

---@class acp.Edge
---@field axis acp.Axis that the window takes cells of
---@field cells integer that it should get
---@field least integer cells with fewer of which it is of no use

---@param edge acp.Edge
---@return acp.LayoutPart? whole nil when there is no room
---@return integer room cells that a new window can get
local function room_for(edge)
  for _, frees_ours in ipairs({ false, true }) do
    local whole = measured(vim.fn.winlayout(), edge.axis, frees_ours)
    local room = whole.cells - 1 - whole.least
    if room >= edge.least then
      return whole, room
    end
  end
  return nil, 0
end

---@param edge acp.Edge
---@return boolean
function M.has_room(edge)
  return room_for(edge) ~= nil
end

---Calls `open` for a window along an edge, unless there is no room.
---@param edge acp.Edge
---@param open fun(cells: integer): integer?
---@return integer? win what `open` has returned
function M.open(edge, open)
  local whole, room = room_for(edge)
  if not whole then
    return nil
  end
  local cells, win = math.min(edge.cells, room), nil
  own.keep_sizes(function()
    win = open(cells)
    if win and api.nvim_win_is_valid(win) then
      local sizes = {}
      share_out(whole, whole.cells - 1 - cells, sizes)
      sizes[#sizes + 1] = { win, cells }
      set_sizes(edge.axis, sizes)
    end
  end)
  return win
end

---Runs what closes windows. The others share in proportion what they have left.
---@param run fun()
function M.closing(run)
  local tab, had = api.nvim_get_current_tabpage(), { width = {}, height = {} }
  for axis, size in pairs(SIZE) do
    for _, win in ipairs(api.nvim_tabpage_list_wins(tab)) do
      had[axis][win] = size(win)
    end
  end
  run()
  for axis in pairs(api.nvim_get_current_tabpage() == tab and SIZE or {}) do
    local layout, sizes = vim.fn.winlayout(), {}
    share_out(measured(layout, axis, false, had[axis]), measured(layout, axis, false).cells, sizes)
    set_sizes(axis, sizes)
  end
end

---Shows a buffer in a new window below all others, and enters it: in a tab page of its own if there is no room.
---@param bufnr integer
---@param lines integer that it should have
---@param least? integer lines that it has at least
function M.below(bufnr, lines, least)
  least = least or READABLE.height
  local win = M.open({ axis = "height", cells = math.max(lines, least), least = least }, function(cells)
    switch.split(bufnr, { split = "below", win = -1, height = cells })
    return api.nvim_get_current_win()
  end)
  if not win then
    switch.open(bufnr, true)
  end
end

return M
