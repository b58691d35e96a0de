-- Reports to the host what the user changes in the buffers under review, but not what the agent and the plugin change.
local host = require("acp_nvim.host")
local limits = require("acp_nvim.limits")
local text = require("acp_nvim.buffers.text")

local M = {}

local api = vim.api
local EDIT_STEPS = 500 -- changes of a buffer that are kept to map rows: more than come before the host's answer

---@class acp.Step either a state of the buffer, or a change that followed
---@field state? string
---@field first? integer
---@field count? integer lines from `first` that were replaced
---@field added? integer lines that replaced them

---@class acp.Attached
---@field path string
---@field state string that the host knows
---@field is_void boolean the buffer had no text at all in that state
---@field changed? { first: integer, last: integer, old_last: integer } changed lines since: first, end, end before
---@field due integer when to report, in milliseconds of the loop
---@field timer uv.uv_timer_t
---@field steps acp.Step[] the latest ones, ours too, by which rows of earlier states are mapped
---@field ours integer nested calls of `ours`
---@field on_pause fun(bufnr: integer) called when the user has paused
---@field on_loss fun(bufnr: integer) called when the buffer was read again or unloaded

---@type table<integer, acp.Attached>
local attached = {}

---@param one acp.Attached
---@param step acp.Step
local function add_step(one, step)
  if #one.steps == EDIT_STEPS then
    one.steps = {} -- hunks of earlier states are requested again
  end
  one.steps[#one.steps + 1] = step
end

---@param one acp.Attached
local function sync(bufnr, one)
  one.state, one.is_void, one.changed = text.state(bufnr), text.is_void(bufnr), nil
  add_step(one, { state = one.state })
end

---Reports the changes since the last report now.
function M.flush(bufnr)
  local one = attached[bufnr]
  if not one or one.ours > 0 or not api.nvim_buf_is_loaded(bufnr) or text.state(bufnr) == one.state then
    return
  end
  local changed = one.changed or { first = 0, last = 0, old_last = 0 }
  if one.changed and one.is_void then -- the empty line of such a buffer is no line of its text
    changed = { first = 0, last = -1, old_last = 0 }
  end
  local lines = text.is_void(bufnr) and {} or api.nvim_buf_get_lines(bufnr, changed.first, changed.last, false)
  for index, line in ipairs(vim.bo[bufnr].fileformat == "mac" and lines or {}) do
    lines[index] = line:gsub("\r", "\n") -- as in the file
  end
  local edit = {
    path = one.path,
    from = one.state,
    state = text.state(bufnr),
    first = changed.first,
    count = changed.old_last - changed.first,
    lines = lines,
  }
  sync(bufnr, one)
  if host.channel() then
    host.send("edited", edit)
  end
end

---@param one acp.Attached
---@param ms integer
local function start(bufnr, one, ms)
  local function on_timer()
    if attached[bufnr] ~= one then
      return
    end
    local left = one.due - vim.uv.now()
    if left > 0 then
      return start(bufnr, one, left)
    end
    M.flush(bufnr)
    one.on_pause(bufnr)
  end
  one.timer:start(ms, 0, vim.schedule_wrap(on_timer))
end

---@param one acp.Attached
local function wait(bufnr, one)
  one.due = vim.uv.now() + limits.edit_pause_ms
  if not one.timer:is_active() then
    start(bufnr, one, limits.edit_pause_ms)
  end
end

---Adds a change to the range of changed lines.
---@param one acp.Attached
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
      add_step(mine, { first = first, count = old_last - first, added = last - first })
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
---@param on_pause fun(bufnr: integer) called when the user has paused in the buffer
---@param on_loss fun(bufnr: integer) called when the buffer was read again or unloaded
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

function M.detach(bufnr)
  local one = attached[bufnr]
  attached[bufnr] = nil
  if one then
    one.timer:stop()
    one.timer:close()
  end
end

---Calls `run`, which makes changes that the host knows of: they are not reported.
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

---Maps rows of an earlier state of the buffer to rows of the present one.
---@return (fun(row: integer): integer)? nil when that state is not known
function M.rows_since(bufnr, state)
  M.flush(bufnr)
  local steps = attached[bufnr] and attached[bufnr].steps or {}
  for index = #steps, 1, -1 do
    if steps[index].state == state then
      return function(row)
        for later = index + 1, #steps do
          local step = steps[later]
          if step.first and row >= step.first + step.count then
            row = row + step.added - step.count
          elseif step.first and row > step.first then
            row = math.min(row, step.first + step.added)
          end
        end
        return row
      end
    end
  end
end

return M
