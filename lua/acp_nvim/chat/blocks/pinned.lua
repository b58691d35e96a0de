-- Draws the plans of a running turn in a few lines: what is done and what is to come gives way to what is being done.
local Lines = require("acp_nvim.chat.blocks.lines")
local plan_block = require("acp_nvim.chat.blocks.plan")

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
    local words, group = plan_block.entry(entry)
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
---@param plans acp.PinnedPlan[]
---@param room integer lines
---@param head integer lines of a title
local function share(plans, room, head)
  local given = true
  while given do
    given = false
    for _, one in ipairs(plans) do
      local wants = one.room < #one.lines + head
      -- a title without a line below it says nothing
      local step = one.room == 0 and math.min(head + 1, #one.lines + head) or 1
      if wants and room >= step then
        one.room, room, given = one.room + step, room - step, true
      end
    end
  end
end

---@param living acp.LivingPlan[] in their order, at least one
---@param room integer lines, at least 1
---@param named boolean they have their titles
---@return acp.PinnedLine[] at most `room`
return function(living, room, named)
  local head = named and room > 1 and 1 or 0
  local count = math.max(1, math.min(#living, math.floor(room / (head + 1))))
  if count < #living and room > head + 1 then
    count = math.max(1, math.min(count, math.floor((room - 1) / (head + 1)))) -- a line says how many more
  end
  local plans, hidden = chosen(living, count), #living - count
  local says = hidden > 0 and room > head + 1
  share(plans, room - (says and 1 or 0), head)
  local out = {}
  for _, one in ipairs(plans) do
    if head > 0 and one.room > 0 then
      table.insert(out, line(plan_block.header(one.living.plan, true), "AcpAgentHeader"))
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
