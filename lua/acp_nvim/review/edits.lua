-- Tells the host what the user changes in the buffers under review: the agent's changes, and ours, are none of it.
local host = require("acp_nvim.host")
local limits = require("acp_nvim.limits")
local text = require("acp_nvim.buffers.text")

local M = {}

local api = vim.api
local EDIT_STEPS = 500 -- changes of a buffer by which rows are found again: more than come before the host's answer

---@class acp.Step either a state that the buffer was in, or a change that followed
---@field state? string
---@field first? integer
---@field count? integer lines after the first ones that were replaced
---@field added? integer lines that took their place

---@class acp.Attached
---@field path string
---@field state string up to which the host has been told
---@field is_void boolean nothing at all was in it then
---@field changed? { first: integer, last: integer, old_last: integer } lines that are others since: from, up to, up to before
---@field due integer when it is time to tell, in milliseconds of the loop
---@field timer uv.uv_timer_t
---@field steps acp.Step[] the last ones, ours too, by which rows of earlier states are found again
---@field ours integer how often we are at it
---@field on_pause fun(bufnr: integer) called when the user has paused
---@field on_loss fun(bufnr: integer) called when the buffer has been loaded anew, or is gone

---@type table<integer, acp.Attached>
local attached = {}

---@param one acp.Attached
---@param new acp.Step
local function step(one, new)
  if #one.steps == EDIT_STEPS then
    one.steps = {} -- what was told of earlier states is asked for again
  end
  one.steps[#one.steps + 1] = new
end

---@param bufnr integer
---@param one acp.Attached
local function sync(bufnr, one)
  one.state, one.is_void, one.changed = text.state(bufnr), text.is_void(bufnr), nil
  step(one, { state = one.state })
end

---@param bufnr integer
---@param first integer
---@param last integer
---@return string[] as the host has them
local function lines_of(bufnr, first, last)
  local lines = api.nvim_buf_get_lines(bufnr, first, last, false)
  if vim.bo[bufnr].fileformat == "mac" then
    for index, line in ipairs(lines) do
      lines[index] = line:gsub("\r", "\n")
    end
  end
  return lines
end

---@param bufnr integer
---@param one acp.Attached
---@return { path: string, from: string, state: string, first: integer, count: integer, lines: string[] }
local function edit_of(bufnr, one)
  local changed = one.changed or { first = 0, last = 0, old_last = 0 }
  if one.changed and one.is_void then -- a line of the buffer, none of the text
    changed = { first = 0, last = -1, old_last = 0 }
  end
  return {
    path = one.path,
    from = one.state,
    state = text.state(bufnr),
    first = changed.first,
    count = changed.old_last - changed.first,
    lines = text.is_void(bufnr) and {} or lines_of(bufnr, changed.first, changed.last),
  }
end

---Tells the host now what has not been told.
---@param bufnr integer
function M.flush(bufnr)
  local one = attached[bufnr]
  if not one or one.ours > 0 or not api.nvim_buf_is_loaded(bufnr) or text.state(bufnr) == one.state then
    return
  end
  local edit = edit_of(bufnr, one)
  sync(bufnr, one)
  if host.channel() then
    host.send("edited", edit)
  end
end

local start

---@param bufnr integer
local function on_timer(bufnr)
  local one = attached[bufnr]
  if not one then
    return
  end
  local left = one.due - vim.uv.now()
  if left > 0 then
    return start(bufnr, one, left)
  end
  M.flush(bufnr)
  one.on_pause(bufnr)
end

---@param bufnr integer
---@param one acp.Attached
---@param ms integer
function start(bufnr, one, ms)
  one.timer:start(
    ms,
    0,
    vim.schedule_wrap(function()
      on_timer(bufnr)
    end)
  )
end

---@param bufnr integer
---@param one acp.Attached
local function wait(bufnr, one)
  one.due = vim.uv.now() + limits.edit_pause_ms
  if not one.timer:is_active() then
    start(bufnr, one, limits.edit_pause_ms)
  end
end

---@param one acp.Attached
---@param first integer
---@param old_last integer
---@param last integer
local function widen(one, first, old_last, last)
  local changed = one.changed
  if not changed then
    one.changed = { first = first, last = last, old_last = old_last }
    return
  end
  local reach = math.max(changed.last, old_last)
  changed.old_last = changed.old_last + reach - changed.last
  changed.last = reach + last - old_last
  changed.first = math.min(changed.first, first)
end

---@param bufnr integer
---@return vim.api.keyset.buf_attach
local function listeners(bufnr)
  local mine = attached[bufnr]
  local function lose()
    if attached[bufnr] == mine then
      mine.on_loss(bufnr)
    end
  end
  return {
    on_lines = function(_, _, _, first, old_last, last)
      if attached[bufnr] ~= mine then
        return true
      end
      step(mine, { first = first, count = old_last - first, added = last - first })
      widen(mine, first, old_last, last)
      wait(bufnr, mine)
    end,
    on_changedtick = function()
      if attached[bufnr] == mine and mine.ours == 0 then
        wait(bufnr, mine)
      end
    end,
    on_reload = lose,
    on_detach = lose,
  }
end

---@param bufnr integer loaded
---@param path string
---@param on_pause fun(bufnr: integer) called when the user has paused in the buffer
---@param on_loss fun(bufnr: integer) called when the buffer was loaded anew, or is unloaded
function M.attach(bufnr, path, on_pause, on_loss)
  if attached[bufnr] then
    attached[bufnr].path = path
    return
  end
  local timer = assert(vim.uv.new_timer())
  local one = { path = path, state = "", is_void = false, due = 0, timer = timer, steps = {}, ours = 0 }
  one.on_pause, one.on_loss = on_pause, on_loss
  attached[bufnr] = one
  sync(bufnr, one)
  api.nvim_buf_attach(bufnr, false, listeners(bufnr))
end

---@param bufnr integer
function M.detach(bufnr)
  local one = attached[bufnr]
  attached[bufnr] = nil
  if one then
    one.timer:stop()
    one.timer:close()
  end
end

---What `run` makes of the buffer is not the user's doing, and the host knows of it.
---@generic T
---@param bufnr integer
---@param run fun(): T
---@return T
function M.ours(bufnr, run)
  M.flush(bufnr)
  local one = attached[bufnr]
  if not one then
    return run()
  end
  one.ours = one.ours + 1
  local ok, result = pcall(run)
  one.ours = one.ours - 1
  if one.ours == 0 and api.nvim_buf_is_loaded(bufnr) then
    sync(bufnr, one)
  end
  if not ok then
    error(result, 0)
  end
  return result
end

---@param steps acp.Step[]
---@param after integer index
---@param row integer
---@return integer
local function moved(steps, after, row)
  for index = after + 1, #steps do
    local one = steps[index]
    if one.first and row >= one.first + one.count then
      row = row + one.added - one.count
    elseif one.first and row > one.first then
      row = math.min(row, one.first + one.added)
    end
  end
  return row
end

---Where rows of an earlier state are now.
---@param bufnr integer
---@param state string
---@return (fun(row: integer): integer)? nil when that state is not known
function M.rows_since(bufnr, state)
  M.flush(bufnr)
  local steps = attached[bufnr] and attached[bufnr].steps or {}
  for index = #steps, 1, -1 do
    if steps[index].state == state then
      return function(row)
        return moved(steps, index, row)
      end
    end
  end
end

return M
