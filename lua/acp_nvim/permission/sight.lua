-- Knows which rows of a waiting request have been on the screen since it came, in the chat, the float and the reader.
--
-- Rows are looked at when Neovim has drawn its windows, and count once no key is waiting to be worked off: what is
-- typed ahead, a mapping or a macro draws the screen, but nobody has seen it.
local limits = require("acp_nvim.limits")
local visible_rows = require("acp_nvim.permission.visible_rows")

local M = {}

local api = vim.api
local NS = api.nvim_create_namespace("acp_nvim.permission.sight")

---@alias acp.Surface "chat"|"float"|"reader" where the text of a request can be read

---@class acp.Body a line of a request that tells of a change in a file
---@field path string of the file
---@field is_change boolean a line of the change itself, not the one that names the file: it need not have been seen

---@class acp.Sight of one request in one place
---@field id integer of the request
---@field text string all of its lines
---@field count integer of its lines
---@field needed integer of its lines that have to be seen
---@field bodies table<integer, acp.Body> lines that tell of changes in files, counted from 1
---@field seen table<integer, true>
---@field since table<integer, integer> lines that are on the screen, and since when, in nanoseconds
---@field whole boolean all of it has been on the screen

---@alias acp.AddRow fun(id: integer, surface: acp.Surface, row: integer, index: integer)

---@class acp.Locator finds the rows of requests in a buffer
---@field has fun(bufnr: integer): boolean
---@field each fun(bufnr: integer, first: integer, last: integer, add: acp.AddRow)
---@field on_seen? fun() called when rows of any request have come on the screen

---@type table<integer, table<acp.Surface, acp.Sight>> by request
local requests = {}
---@type table<integer, true> requests that have not been seen whole
local unseen = {}
---@type acp.SeenRows what was on the screen when it was drawn last
local drawn = {}
---@type table<acp.Sight, true> with lines on the screen
local current = {}
---@type acp.Locator[]
local locators = {}
local is_due = false
local is_pressed = false -- a key of ours has changed what is to be seen, and that was not drawn yet

---@param locator acp.Locator
function M.locate_with(locator)
  locators[#locators + 1] = locator
end

---Options count with their names, not with the keys beside them, which are not the same everywhere.
---@param lines string[] they are added here
---@param bodies table<integer, acp.Body> here as well: those that tell of changes in files, counted from 1
---@param rendered acp.Rendered with its lines
---@param is_named? fun(path: string): boolean the title names that file, so that the line below need not have been seen
function M.add_lines(lines, bodies, rendered, is_named)
  local shift, last = #lines, 0
  for row in pairs(rendered.option_rows or {}) do
    last = math.max(last, row + 1)
  end
  for index = 1, last > 0 and last or #rendered.lines do -- below the options is only what they can be read with
    local option = (rendered.option_rows or {})[index - 1]
    lines[shift + index] = option and "option " .. option or rendered.lines[index]
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

---Says what a request looks like somewhere. When that has changed nothing of it has been seen there.
---@param id integer of the request
---@param surface acp.Surface
---@param lines string[]
---@param bodies? table<integer, acp.Body> lines that tell of changes in files
function M.show(id, surface, lines, bodies)
  local text = table.concat(lines, "\n")
  local sights = requests[id] or {}
  requests[id] = sights
  local known = sights[surface]
  if not known or known.text ~= text then
    local changes = vim.iter(pairs(bodies or {})):filter(function(_, body)
      return body.is_change
    end)
    sights[surface] = {
      id = id,
      text = text,
      count = #lines,
      needed = #lines - #changes:totable(),
      bodies = bodies or {},
      seen = {},
      since = {},
      whole = false,
    }
    if not M.is_whole(id) then
      unseen[id] = true
    end
  end
end

---@param id integer of a request that is over, or another one now
function M.forget(id)
  requests[id], unseen[id] = nil, nil
end

---@param sight acp.Sight
---@param index integer
---@return boolean
local function is_needed(sight, index)
  local body = sight.bodies[index]
  return not (body and body.is_change)
end

---@param sight acp.Sight
---@param index integer
---@return boolean it was seen, or need not be
local function has_seen(sight, index)
  if not is_needed(sight, index) then
    return true
  end
  local since = sight.since[index]
  return sight.seen[index] or since ~= nil and vim.uv.hrtime() - since >= limits.seen_ms * 1e6
end

---@param id integer
---@param surface acp.Surface
---@return integer? line the first that was not on the screen
function M.first_missing(id, surface)
  local sight = requests[id] and requests[id][surface]
  for index = 1, sight and not sight.whole and sight.count or 0 do
    if not has_seen(sight, index) then
      return index
    end
  end
end

---@param sight acp.Sight
---@param read table<string, true> files whose changes are read elsewhere
---@return boolean
local function is_whole(sight, read)
  if not is_pressed and drawn[sight] and vim.tbl_count(drawn[sight]) == sight.needed then
    return true -- as it was drawn last
  end
  for index = 1, sight.whole and 0 or sight.count do
    local body = sight.bodies[index]
    if not (body and read[body.path]) and not has_seen(sight, index) then
      return false
    end
  end
  return true
end

---@param id integer
---@param read? table<string, true> files whose changes are read elsewhere
---@return boolean all of the request has been on the screen since it came, in one of its places
function M.is_whole(id, read)
  for _, sight in pairs(requests[id] or {}) do
    if is_whole(sight, read or {}) then
      return true
    end
  end
  return false
end

---A key has answered nothing, but made something else to be seen.
function M.pressed()
  is_pressed = true
  vim.schedule(function() -- when no key waits any more, and what has changed is drawn
    is_pressed = false
  end)
end

---@return boolean a key was pressed that nobody has seen the effect of: the next one was typed ahead
function M.is_ahead()
  return is_pressed
end

---What has gone from the screen was seen if it was there for long enough.
---@param sight acp.Sight
---@param rows table<integer, true>
---@param now integer
local function leave(sight, rows, now)
  for index, since in pairs(sight.since) do
    if not rows[index] then
      sight.seen[index] = sight.seen[index] or now - since >= limits.seen_ms * 1e6 or nil
      sight.since[index] = nil
    end
  end
end

---@alias acp.SeenRows table<acp.Sight, table<integer, true>>

---@param win integer
---@param bufnr integer
---@param locator acp.Locator
---@param found acp.SeenRows
local function look_at(win, bufnr, locator, found)
  local rows = visible_rows(win)
  locator.each(bufnr, rows.first, rows.last, function(id, surface, row, index)
    local sight = requests[id] and requests[id][surface]
    if sight and index <= sight.count and is_needed(sight, index) and rows.is_seen(row) then
      found[sight] = found[sight] or {}
      found[sight][index] = true
    end
  end)
end

---@return acp.SeenRows
local function look()
  local found = {}
  local is_below_message = api.nvim_get_mode().mode:sub(1, 1) == "r"
  for _, win in ipairs(is_below_message and {} or api.nvim_tabpage_list_wins(0)) do
    local bufnr = api.nvim_win_get_buf(win)
    for _, locator in ipairs(locators) do
      if locator.has(bufnr) then
        look_at(win, bufnr, locator, found)
      end
    end
  end
  return found
end

---@param before acp.SeenRows
---@param now acp.SeenRows
---@return acp.SeenRows
local function in_both(before, now)
  local both = {}
  for sight, rows in pairs(before) do
    for index in pairs(now[sight] and rows or {}) do
      if now[sight][index] then
        both[sight] = both[sight] or {}
        both[sight][index] = true
      end
    end
  end
  return both
end

---Neovim has nothing to do but to wait for a key: what it has drawn can be seen.
local function settle()
  is_due = false
  drawn = in_both(drawn, look()) -- while a window is drawn it is not known yet where new floats are
  local now = vim.uv.hrtime()
  local before = current
  current = {}
  for sight in pairs(before) do
    leave(sight, drawn[sight] or {}, now)
    unseen[sight.id] = unseen[sight.id] and not M.is_whole(sight.id) or nil
  end
  for sight, rows in pairs(drawn) do
    current[sight] = true
    for index in pairs(rows) do
      sight.since[index] = sight.since[index] or now
    end
    sight.whole = sight.whole or vim.tbl_count(rows) == sight.needed
    unseen[sight.id] = not sight.whole and unseen[sight.id] or nil
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
  on_end = function()
    drawn = look()
    if not is_due then
      is_due = true
      vim.schedule(settle) -- runs when all keys that were typed are worked off
    end
  end,
})

return M
