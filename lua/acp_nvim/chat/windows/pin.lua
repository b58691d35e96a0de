-- Shows the plans of the running turn in a few lines of a window above the prompt, which never keeps the focus.
local Lines = require("acp_nvim.render.lines")
local decoration = require("acp_nvim.render.decoration")
local plans = require("acp_nvim.transcript.plans")
local named = require("acp_nvim.buffers.named")
local own = require("acp_nvim.windows.own")
local stack = require("acp_nvim.chat.windows.stack")

local M = {}

local api = vim.api
local BUFFER_OPTIONS = { bufhidden = "wipe", buftype = "nofile", swapfile = false, undolevels = -1 }
local WINDOW_OPTIONS = {
  fillchars = "eob: ",
  linebreak = false,
  list = true,
  listchars = "extends:…", -- a line is longer than the window
  statusline = " ", -- a title there would be below the plan; the steps say what they are
  winbar = "",
  winfixheight = true,
  wrap = false,
}

---@class acp.PinnedLine
---@field text string
---@field group? string

local function line(text, group)
  return { text = text, group = group }
end

---@return acp.PinnedLine[] all lines of the plan
---@return integer index of the current entry
local function body(plan)
  local lines, active = {}, nil
  for index, entry in ipairs(plan.entries) do
    local words, group = plans.entry(entry)
    lines[index] = line(words, group)
    active = active or (entry.status == "in_progress" and index or nil)
  end
  if not active then
    local open = vim.iter(ipairs(plan.entries)):find(function(_, entry)
      return entry.status ~= "completed" and entry.status ~= "cancelled"
    end)
    active = open or #lines
  end
  if plan.uri then
    lines[#lines + 1] = line(Lines.one_line((plan.uri:gsub("^file://", ""))), "AcpLink")
  end
  for _, text in ipairs(vim.split(vim.trim(plan.text or ""), "\n", { plain = true })) do
    if text:find("%S") then
      lines[#lines + 1] = line(Lines.one_line(text))
    end
  end
  return lines, math.max(active, 1)
end

---@param active integer index of a line to include, with the one before it
---@param room integer lines, at least 1
---@return acp.PinnedLine[] at most `room`
local function excerpt(lines, active, room)
  if #lines <= room then
    return lines
  elseif room == 1 then
    local words = ("%s  … %d more"):format(lines[active].text, #lines - 1)
    return { line(words, lines[active].group) }
  end
  local shown = room - 1 -- the last line counts the rest
  local first = math.min(math.max(active - (shown > 1 and 1 or 0), 1), #lines - shown + 1)
  local out = vim.list_slice(lines, first, first + shown - 1)
  local above, below = first - 1, #lines - first - shown + 1
  local counts = {}
  counts[#counts + 1] = above > 0 and ("%d above"):format(above) or nil
  counts[#counts + 1] = below > 0 and ("%d below"):format(below) or nil
  out[room] = line("… " .. table.concat(counts, ", "), "AcpToolDetail")
  return out
end

---Returns the `count` plans that changed last, in their order; `room`: lines they get.
local function choose(active, count)
  local by_change = vim.list_slice(active)
  table.sort(by_change, function(a, b)
    return a.change > b.change
  end)
  local least = by_change[count].change
  local out = {}
  for _, one in ipairs(active) do
    if one.change >= least then
      local lines, current = body(one.plan)
      table.insert(out, { source = one, lines = lines, active = current, room = 0 })
    end
  end
  return out
end

---Gives each plan a line in turn, until there is no room or all lines are shown.
---@param room integer lines
---@param head integer lines of a title
local function distribute(shown, room, head)
  local is_changed = true
  while is_changed do
    is_changed = false
    for _, one in ipairs(shown) do
      local needs_more = one.room < #one.lines + head
      -- a title without a line below it is of no use
      local step = one.room == 0 and math.min(head + 1, #one.lines + head) or 1
      if needs_more and room >= step then
        one.room, room, is_changed = one.room + step, room - step, true
      end
    end
  end
end

---Returns an excerpt of the plans around their current entries.
---@param active acp.ActivePlan[] in their order, at least one
---@param room integer lines, at least 1
---@param named boolean show their titles
---@return acp.PinnedLine[] at most `room`
function M.lines(active, room, named)
  local head = named and room > 1 and 1 or 0
  local count = math.max(1, math.min(#active, math.floor(room / (head + 1))))
  if count < #active and room > head + 1 then
    count = math.max(1, math.min(count, math.floor((room - 1) / (head + 1)))) -- one line counts the rest
  end
  local shown, hidden = choose(active, count), #active - count
  local has_count = hidden > 0 and room > head + 1
  distribute(shown, room - (has_count and 1 or 0), head)
  local out = {}
  for _, one in ipairs(shown) do
    if head > 0 and one.room > 0 then
      table.insert(out, line(plans.header(one.source.plan, true), "AcpAgentHeader"))
    end
    if one.room > head then
      vim.list_extend(out, excerpt(one.lines, one.active, one.room - head))
    end
  end
  if has_count then
    table.insert(out, line(("… %d more plan%s"):format(hidden, hidden == 1 and "" or "s"), "AcpToolDetail"))
  end
  return out
end

---Moves the focus on to the next window of the chat.
local function skip_window()
  local now = stack.current()
  local before = vim.fn.win_getid(vim.fn.winnr("#"))
  local to = now and (before == now.prompt and now.chat or now.prompt or now.chat)
  if to and to ~= api.nvim_get_current_win() then
    api.nvim_set_current_win(to)
  end
end

---@param session acp.Session
---@param config table for nvim_open_win
---@return integer win
function M.open(session, config)
  local bufnr = named.new(named.name(("%s plan %d"):format(session.agent or "agent", session.key)))
  for option, value in pairs(BUFFER_OPTIONS) do
    vim.bo[bufnr][option] = value
  end
  api.nvim_create_autocmd("WinEnter", { buffer = bufnr, nested = true, callback = skip_window })
  config.noautocmd = true
  local win = api.nvim_open_win(bufnr, false, config)
  stack.mark(win, "pin")
  own.set_options(win, WINDOW_OPTIONS)
  own.set_filetype(win, "acp_plan")
  return win
end

---@param lines acp.PinnedLine[]
function M.draw(win, lines)
  local bufnr = api.nvim_win_get_buf(win)
  local texts = vim.tbl_map(function(line)
    return " " .. line.text
  end, lines)
  if vim.deep_equal(api.nvim_buf_get_lines(bufnr, 0, -1, true), texts) then
    return
  end
  local highlights = {}
  for index, one in ipairs(lines) do
    highlights[#highlights + 1] = one.group and { row = index - 1, from = 0, to = -1, group = one.group } or nil
  end
  decoration.fill(bufnr, texts, highlights)
  api.nvim_win_call(win, function()
    vim.fn.winrestview({ topline = 1, leftcol = 0, lnum = 1, col = 0 })
  end)
end

return M
