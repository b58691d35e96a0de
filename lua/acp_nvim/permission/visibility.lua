-- Tracks which lines of a waiting request have been on the screen since it came, in the chat, the float and the reader.
--
-- Windows are examined when Neovim has drawn them. A line counts once no key is waiting to be processed: what is typed
-- ahead, a mapping or a macro draws the screen too, but the user has not seen it.
local limits = require("acp_nvim.limits")
local visible_rows = require("acp_nvim.permission.visible_rows")

local M = {}

local api = vim.api
local LOOK_AGAIN_MS = 20 -- a screen that has to be drawn is drawn by then, and looked at
local NS = api.nvim_create_namespace("acp_nvim.permission.visibility")

---@alias acp.Surface "chat"|"float"|"reader" where the text of a request can be read

---@class acp.Body a line of a request that belongs to a change of a file
---@field path string of the file
---@field is_change boolean a line of the change itself, not the one that names the file: it need not have been seen

---@class acp.Visibility of one request on one surface
---@field id integer of the request
---@field text string all of its lines
---@field count integer of its lines
---@field needed integer of its lines that have to be seen
---@field bodies table<integer, acp.Body> lines that belong to changes of files, counted from 1
---@field seen table<integer, true>
---@field since table<integer, integer> lines that are on the screen, and since when, in nanoseconds
---@field whole boolean all of it has been on the screen

---@alias acp.VisibleLines table<acp.Visibility, table<integer, true>>

---@class acp.Locator finds the rows of requests in a buffer
---@field has fun(bufnr: integer): boolean
---@field each fun(bufnr: integer, first: integer, last: integer, add: fun(id: integer, surface: acp.Surface, row: integer, index: integer))
---@field on_seen? fun() called when rows of any request have come on the screen

---@type table<integer, table<acp.Surface, acp.Visibility>> by request
local requests = {}
---@type table<integer, true> requests that have not been seen whole
local unseen = {}
---@type acp.VisibleLines on the screen when it was drawn last
local drawn = {}
---@type table<acp.Visibility, true> with lines on the screen
local current = {}
---@type acp.Locator[]
local locators = {}
local looks = 0 -- of those while windows are drawn
local is_due = false
local is_redraw_expected = false

---@param locator acp.Locator
function M.locate_with(locator)
  locators[#locators + 1] = locator
end

---Adds the lines of a rendered request. Options count with their ids, since the keys beside them differ between surfaces.
---Words about the preview do not belong to the request.
---@param lines string[] they are added here
---@param bodies table<integer, acp.Body> lines that belong to changes of files are added here, counted from 1
---@param rendered acp.Rendered with its lines
---@param is_named? fun(path: string): boolean the title names that file, so the file's line need not be seen
function M.add_lines(lines, bodies, rendered, is_named)
  local shift = #lines
  vim.list_extend(lines, rendered.lines)
  if rendered.preview then
    lines[shift + 1] = lines[shift + 1]:sub(1, -#rendered.preview - 1)
  end
  local options = {}
  for _, place in ipairs(rendered.options or {}) do
    options[place.row] = ("%s option %s"):format(options[place.row] or "", place.option_id)
    lines[shift + place.row + 1] = options[place.row]
  end
  M.add_bodies(bodies, shift, rendered, is_named)
end

---@param bodies table<integer, acp.Body> they are added here, with the lines that name the files
---@param shift integer lines before
---@param rendered { target_ranges?: acp.TargetRange[], target_rows?: table<integer, acp.Target> }
---@param is_named? fun(path: string): boolean
function M.add_bodies(bodies, shift, rendered, is_named)
  for _, range in ipairs(rendered.target_ranges or {}) do
    local header = (rendered.target_rows or {})[range[1] - 1]
    local has_header = header ~= nil and header.path == range[3].path
    for row = has_header and range[1] - 1 or range[1], range[3].diff and range[2] or -1 do
      bodies[shift + row + 1] =
        { path = range[3].path, is_change = row >= range[1] or is_named ~= nil and is_named(range[3].path) }
    end
  end
end

---Sets the text of a request on a surface. A text that has changed was not seen there yet.
---@param id integer of the request
---@param surface acp.Surface
---@param lines string[]
---@param bodies table<integer, acp.Body> lines that belong to changes of files
function M.show(id, surface, lines, bodies)
  local text = table.concat(lines, "\n")
  requests[id] = requests[id] or {}
  local known = requests[id][surface]
  if known and known.text == text then
    return
  end
  local needed = #lines
  for _, body in pairs(bodies) do
    needed = needed - (body.is_change and 1 or 0)
  end
  requests[id][surface] =
    { id = id, text = text, count = #lines, needed = needed, bodies = bodies, seen = {}, since = {}, whole = false }
  if not M.is_whole(id) then
    unseen[id] = true
  end
end

---@param id integer of a request that is closed, or was replaced by another one
function M.forget(id)
  requests[id], unseen[id] = nil, nil
end

---@param one acp.Visibility
local function is_needed(one, index)
  local body = one.bodies[index]
  return not (body and body.is_change)
end

---@param one acp.Visibility
---@return boolean the line was seen, or need not be
local function has_seen(one, index)
  local since = one.since[index]
  return not is_needed(one, index)
    or one.seen[index]
    or since ~= nil and vim.uv.hrtime() - since >= limits.seen_ms * 1e6
end

---@param surface acp.Surface
---@return integer? line the first that was not on the screen
function M.first_missing(id, surface)
  local one = requests[id] and requests[id][surface]
  for index = 1, one and not one.whole and one.count or 0 do
    if not has_seen(one, index) then
      return index
    end
  end
end

---@param one acp.Visibility
---@param read table<string, true>
local function is_whole(one, read)
  if not is_redraw_expected and drawn[one] and vim.tbl_count(drawn[one]) == one.needed then
    return true
  end
  for index = 1, one.whole and 0 or one.count do
    local body = one.bodies[index]
    if not (body and read[body.path]) and not has_seen(one, index) then
      return false
    end
  end
  return true
end

---@param read? table<string, true> files whose changes are read elsewhere
---@return boolean all of the request has been on the screen since it came, on one of the surfaces
function M.is_whole(id, read)
  for _, one in pairs(requests[id] or {}) do
    if is_whole(one, read or {}) then
      return true
    end
  end
  return false
end

---Notes that a key has changed the screen instead of answering: until that is drawn, further keys are typed ahead.
function M.expect_redraw()
  is_redraw_expected = true
  vim.schedule(function() -- runs when all keys are processed and the change is drawn
    is_redraw_expected = false
  end)
end

---@return boolean a key has changed the screen, and the user has not seen the change
function M.is_redraw_expected()
  return is_redraw_expected
end

---@return acp.VisibleLines
local function visible_lines()
  local found = {}
  local is_below_message = api.nvim_get_mode().mode:sub(1, 1) == "r"
  for _, win in ipairs(is_below_message and {} or api.nvim_tabpage_list_wins(0)) do
    local bufnr = api.nvim_win_get_buf(win)
    for _, locator in ipairs(locators) do
      local rows = locator.has(bufnr) and visible_rows(win)
      if rows then
        locator.each(bufnr, rows.first, rows.last, function(id, surface, row, index)
          local one = requests[id] and requests[id][surface]
          if one and index <= one.count and is_needed(one, index) and rows.is_seen(row) then
            found[one] = found[one] or {}
            found[one][index] = true
          end
        end)
      end
    end
  end
  return found
end

---@param lines acp.VisibleLines
---@param others acp.VisibleLines
local function has_more(lines, others)
  for one, rows in pairs(lines) do
    if vim.tbl_count(rows) > vim.tbl_count(others[one] or {}) then
      return true
    end
  end
  return false
end

---Records what is on the screen. Runs when Neovim waits for a key, so the user can see what was drawn.
local function settle()
  is_due = false
  -- Lines count that were found twice, since the positions of new floats are unknown while windows are drawn. What is
  -- found only now is looked at again: if nothing changes, nothing is drawn any more.
  local both, visible = {}, visible_lines()
  for one, rows in pairs(drawn) do
    for index in pairs(visible[one] and rows or {}) do
      if visible[one][index] then
        both[one] = both[one] or {}
        both[one][index] = true
      end
    end
  end
  drawn = both
  if next(unseen) and has_more(visible, both) then
    local mine = looks
    vim.defer_fn(function()
      if looks == mine and next(unseen) then
        drawn = visible
        settle()
      end
    end, LOOK_AGAIN_MS)
  end
  local now = vim.uv.hrtime()
  local before = current
  current = {}
  for one in pairs(before) do
    for index, since in pairs(one.since) do
      if not (drawn[one] and drawn[one][index]) then -- a line that has left the screen counts if it stayed long enough
        one.seen[index] = one.seen[index] or now - since >= limits.seen_ms * 1e6 or nil
        one.since[index] = nil
      end
    end
    unseen[one.id] = unseen[one.id] and not M.is_whole(one.id) or nil
  end
  for one, rows in pairs(drawn) do
    current[one] = true
    for index in pairs(rows) do
      one.since[index] = one.since[index] or now
    end
    one.whole = one.whole or vim.tbl_count(rows) == one.needed
    unseen[one.id] = not one.whole and unseen[one.id] or nil
  end
  for _, locator in ipairs(locators) do
    if locator.on_seen then
      locator.on_seen()
    end
  end
end

api.nvim_set_decoration_provider(NS, {
  on_start = function()
    return next(unseen) ~= nil
  end,
  on_end = function() -- also called when `on_start` has returned false
    local is_waiting = next(unseen) ~= nil
    if not is_waiting and not next(drawn) and not next(current) then
      return
    end
    drawn, looks = is_waiting and visible_lines() or {}, looks + 1
    if not is_due then
      is_due = true
      vim.schedule(settle) -- runs when all typed keys are processed
    end
  end,
})

return M
