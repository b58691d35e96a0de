-- The window above the prompt with the plans of the turn that runs, in a few lines; it takes no focus.
local Lines = require("acp_nvim.chat.blocks.lines")
local named = require("acp_nvim.buffers.named")
local plans = require("acp_nvim.chat.plans")
local stack = require("acp_nvim.chat.windows.stack")

local M = {}

local api = vim.api
local LOOKS = api.nvim_create_namespace("acp_nvim.pin")
local OPTIONS = { bufhidden = "wipe", buftype = "nofile", swapfile = false, undolevels = -1, filetype = "acp_plan" }
local LOOK = vim.tbl_extend("error", stack.PLAIN, {
  fillchars = "eob: ",
  foldenable = false,
  linebreak = false,
  statusline = " Plan",
  winbar = "",
  winfixbuf = true,
  winfixheight = true,
  wrap = false,
})

---@class acp.PinnedLine
---@field text string
---@field group? string

---@param text string
---@param group? string
---@return acp.PinnedLine
local function line(text, group)
  return { text = text, group = group }
end

---@param plan acp.Plan
---@return acp.PinnedLine[] all of it
---@return integer place of what is being done
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

---@param lines acp.PinnedLine[]
---@param active integer stays in it, with the one before it
---@param room integer lines, at least 1
---@return acp.PinnedLine[] as many of them
local function part(lines, active, room)
  if #lines <= room then
    return lines
  elseif room == 1 then
    local words = ("%s  … %d more"):format(lines[active].text, #lines - 1)
    return { line(words, lines[active].group) }
  end
  local shown = room - 1 -- the last line counts the others
  local first = math.min(math.max(active - (shown > 1 and 1 or 0), 1), #lines - shown + 1)
  local out = vim.list_slice(lines, first, first + shown - 1)
  local above, below = first - 1, #lines - first - shown + 1
  local counts = {}
  counts[#counts + 1] = above > 0 and ("%d above"):format(above) or nil
  counts[#counts + 1] = below > 0 and ("%d below"):format(below) or nil
  out[room] = line("… " .. table.concat(counts, ", "), "AcpToolDetail")
  return out
end

---@class acp.PinnedPlan
---@field living acp.LivingPlan
---@field lines acp.PinnedLine[]
---@field active integer
---@field room integer lines that it gets

---@param living acp.LivingPlan[]
---@param count integer
---@return acp.PinnedPlan[] so many of them, those that changed last, in their order
local function chosen(living, count)
  local by_change = vim.list_slice(living)
  table.sort(by_change, function(a, b)
    return a.change > b.change
  end)
  local least = by_change[count].change
  local out = {}
  for _, one in ipairs(living) do
    if one.change >= least then
      local lines, active = body(one.plan)
      table.insert(out, { living = one, lines = lines, active = active, room = 0 })
    end
  end
  return out
end

---Gives each plan a line in turn, until there is no room or nobody wants more.
---@param shown acp.PinnedPlan[]
---@param room integer lines
---@param head integer lines of a title
local function share(shown, room, head)
  local given = true
  while given do
    given = false
    for _, one in ipairs(shown) do
      local wants = one.room < #one.lines + head
      -- a title without a line below it says nothing
      local step = one.room == 0 and math.min(head + 1, #one.lines + head) or 1
      if wants and room >= step then
        one.room, room, given = one.room + step, room - step, true
      end
    end
  end
end

---What is shown of plans in a few lines: what is done and what is to come gives way to what is being done.
---@param living acp.LivingPlan[] in their order, at least one
---@param room integer lines, at least 1
---@param named boolean they have their titles
---@return acp.PinnedLine[] at most `room`
function M.lines(living, room, named)
  local head = named and room > 1 and 1 or 0
  local count = math.max(1, math.min(#living, math.floor(room / (head + 1))))
  if count < #living and room > head + 1 then
    count = math.max(1, math.min(count, math.floor((room - 1) / (head + 1)))) -- a line says how many more
  end
  local shown, hidden = chosen(living, count), #living - count
  local says = hidden > 0 and room > head + 1
  share(shown, room - (says and 1 or 0), head)
  local out = {}
  for _, one in ipairs(shown) do
    if head > 0 and one.room > 0 then
      table.insert(out, line(plans.header(one.living.plan, true), "AcpAgentHeader"))
    end
    if one.room > head then
      vim.list_extend(out, part(one.lines, one.active, one.room - head))
    end
  end
  if says then
    table.insert(out, line(("… %d more plan%s"):format(hidden, hidden == 1 and "" or "s"), "AcpToolDetail"))
  end
  return out
end

---Whoever comes here on the way from one window to the next goes on.
local function pass_on()
  local now = stack.current()
  local before = vim.fn.win_getid(vim.fn.winnr("#"))
  local to = now and (before == now.prompt and now.chat or now.prompt or now.chat)
  if to and to ~= api.nvim_get_current_win() then
    api.nvim_set_current_win(to)
  end
end

---@param config table for nvim_open_win
---@return integer win
function M.open(config)
  local bufnr = api.nvim_create_buf(false, true)
  for option, value in pairs(OPTIONS) do
    vim.bo[bufnr][option] = value
  end
  api.nvim_create_autocmd("WinEnter", { buffer = bufnr, nested = true, callback = pass_on })
  config.noautocmd = true
  local win = api.nvim_open_win(bufnr, false, config)
  stack.mark(win, "pin")
  for option, value in pairs(LOOK) do
    vim.wo[win][0][option] = value
  end
  return win
end

---@param win integer
---@param lines acp.PinnedLine[]
function M.draw(win, lines)
  local bufnr = api.nvim_win_get_buf(win)
  local texts = vim.tbl_map(function(line)
    return " " .. line.text
  end, lines)
  if vim.deep_equal(api.nvim_buf_get_lines(bufnr, 0, -1, true), texts) then
    return
  end
  named.fill(bufnr, texts)
  api.nvim_buf_clear_namespace(bufnr, LOOKS, 0, -1)
  for row, line in ipairs(lines) do
    if line.group then
      api.nvim_buf_set_extmark(bufnr, LOOKS, row - 1, 0, { line_hl_group = line.group })
    end
  end
  api.nvim_win_call(win, function()
    vim.fn.winrestview({ topline = 1, leftcol = 0, lnum = 1, col = 0 })
  end)
end

---Closes it; no other window becomes another one's equal, whatever 'equalalways' says.
---@param win integer
function M.close(win)
  local equal = vim.o.equalalways
  vim.cmd("noautocmd set noequalalways")
  local ok, err = pcall(api.nvim_win_close, win, true)
  if equal then
    local sizes = vim.fn.winrestcmd() -- to switch it on makes all windows equal at once
    vim.cmd("noautocmd set equalalways")
    vim.cmd(sizes)
  end
  if not ok then
    error(err, 0)
  end
end

return M
