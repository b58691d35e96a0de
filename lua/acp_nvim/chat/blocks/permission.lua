-- Draws a permission request: what is asked with all that belongs to it, and the options or what became of them.
local Lines = require("acp_nvim.chat.blocks.lines")
local config = require("acp_nvim.config")
local content = require("acp_nvim.chat.blocks.content")
local limits = require("acp_nvim.limits")
local reveal = require("acp_nvim.chat.blocks.reveal")

local M = {}

local REQUEST_LINE_BYTES = 256 * 1024 -- of one line of a request: Linux takes no longer argument than half of that
local OURS = "  (kept by acp_nvim)"
local MARKS = { allow_once = "✓ ", allow_always = "✓ ", reject_once = "✗ ", reject_always = "✗ " }

---@class acp.RequestLook
---@field letters? table<string, string> option_id -> letter; nil: no key answers where it is seen
---@field outcome? string words for what became of it; nil while it waits
---@field above? string[] lines of the tool call right above it
---@field whole? boolean nothing is left out, however long it is
---@field cwd? string
---@field files? integer that have a preview

---@param look acp.RequestLook
---@return number lines of a text or a command that are shown
local function most_of(look)
  return look.whole and math.huge or limits.request_lines
end

---@param look acp.RequestLook
---@return acp.Lines
local function revealing(look)
  local out = Lines.new(look.whole and math.huge or REQUEST_LINE_BYTES)
  out.reveals = true
  return out
end

---@param option acp.Option
---@param letter? string
---@return string what else is to be known of an option
local function remark(option, letter)
  if option.ours then
    return OURS
  elseif not letter and Lines.one_line(option.kind) ~= "" then
    return ("  (%s)"):format(Lines.one_line(option.kind))
  end
  return ""
end

---@param out acp.Lines
---@param request acp.Request
---@param letters? table<string, string> option_id -> letter; nil: no key answers here
---@return table<integer, string> rows of the options
local function add_options(out, request, letters)
  local rows = {}
  local width = #tostring(#(request.options or {}))
  for index, option in ipairs(request.options or {}) do
    local name, mark = vim.trim(tostring(option.name or "")), MARKS[option.kind] or "? "
    rows[#out.lines] = option.option_id
    if letters then
      local letter = letters[option.option_id]
      out:add({
        { mark, "AcpPermission" },
        "[",
        { tostring(index), "AcpPermissionKey" },
        "] " .. (" "):rep(width - #tostring(index)),
        { letter or " ", "AcpPermissionKey" },
        "  " .. name,
        { remark(option, letter), "AcpToolDetail" },
      })
    else
      out:add({ { mark, "AcpPermission" }, "· " .. name, { option.ours and OURS or "", "AcpToolDetail" } })
    end
  end
  return rows
end

---@param lines string[]
---@param above string[]
---@return integer? first where all of them stand one after the other; a command in several lines counts only where it
---is shown with its line breaks
local function run_in(lines, above)
  local has_command = vim.iter(lines):any(function(line)
    return vim.startswith(line, "  $ ")
  end)
  if has_command and #lines > 1 then
    return nil
  end
  for first = 1, #lines > 0 and #above - #lines + 1 or 0 do
    local index = 1
    while index <= #lines and above[first + index - 1] == lines[index] do
      index = index + 1
    end
    if index > #lines then
      return first
    end
  end
end

---Adds what `add` adds, unless it is to be read above.
---@param out acp.Lines
---@param look acp.RequestLook
---@param runs acp.AboveRun[]
---@param add fun(out: acp.Lines)
---@return boolean above
local function add_unless_above(out, look, runs, add)
  local alone = revealing(look)
  add(alone)
  local first = look.above and run_in(alone.lines, look.above)
  if first then
    runs[#runs + 1] = { first, first + #alone.lines - 1, alone:rendered() }
  elseif #alone.lines > 0 then
    add(out)
  end
  return first ~= nil
end

---Marks lines as those that the agent has not written: no text of its has this mark.
---@param out acp.Lines
---@param first integer index of the first of them; the others are behind it
local function mark_host(out, first)
  local mark = reveal.HOST
  for _, highlight in ipairs(out.highlights) do
    if highlight.row >= first - 1 and highlight.to ~= -1 then
      highlight.from, highlight.to = highlight.from + #mark, highlight.to + #mark
    end
  end
  for index = first, #out.lines do
    out.lines[index] = mark .. out.lines[index]
    table.insert(out.highlights, { row = index - 1, from = 0, to = #mark, group = "AcpPermission" })
  end
end

---@param request acp.Request with `left_out`
---@return string why it cannot be allowed
function M.rejects_only(request)
  return ("Not all of it can be shown, so it can only be rejected. What is missing: %s."):format(request.left_out)
end

---What the host says: the whole command, even where it can be read right above, for that may change while the request
---waits; its surroundings; and what cannot be shown.
---@param out acp.Lines
---@param request acp.Request
---@param look acp.RequestLook
local function add_host_lines(out, request, look)
  local first, most = #out.lines + 1, most_of(look)
  if request.command then
    out:add_revealed("$ " .. request.command, "", most, true)
    if request.cwd then
      out:add({ "in ", { request.cwd, "AcpToolDetail" } })
    end
    for _, variable in ipairs(request.env or {}) do
      out:add_revealed("with " .. variable, "", most, true)
    end
  end
  if request.left_out then
    out:add({ { M.rejects_only(request), "AcpPermission" } })
  end
  mark_host(out, first)
end

---What belongs to the request, but for what is to be read right above it.
---@param out acp.Lines
---@param request acp.Request
---@param look acp.RequestLook
---@return acp.AboveRun[] runs what of the lines above belongs to it
local function add_content(out, request, look)
  local runs, items = {}, request.content or {}
  local most = most_of(look)
  add_unless_above(out, look, runs, function(to)
    content.add_locations(to, request, Lines.one_line(request.title), look.cwd, most)
  end)
  -- all that the tool call shows, or all but the command that the host puts before it; else piece by piece
  for from = 1, look.above and math.min(#items, 2) or 0 do
    local rest, tried = vim.list_slice(items, from), Lines.new()
    local found = add_unless_above(tried, look, runs, function(to)
      content.add(to, rest, look.cwd, most)
    end)
    if found then
      content.add(out, vim.list_slice(items, 1, from - 1), look.cwd, most)
      return runs
    end
  end
  local news = vim.tbl_filter(function(item)
    return not add_unless_above(Lines.new(), look, runs, function(to)
      content.add(to, { item }, look.cwd, most)
    end)
  end, items)
  content.add(out, news, look.cwd, most)
  return runs
end

---@param out acp.Lines
---@param request acp.Request
---@param outcome? string
---@param title string of one line
local function add_title(out, request, outcome, title)
  local kind = Lines.one_line(request.kind)
  out:add({
    { outcome and "Permission" or "Permission needed", outcome and "AcpToolDetail" or "AcpPermission" },
    "  ",
    { kind, "AcpToolKind" },
    kind ~= "" and "  " or "",
    { title, outcome and "AcpToolDetail" or "AcpToolTitle" },
  })
end

---The command of a request, when nothing else says it: what was answered is to be seen later, too.
---@param out acp.Lines
---@param request acp.Request
---@param said string
local function add_command(out, request, said)
  local line = request.command and Lines.one_line(request.command)
  if line and not said:find(line, 1, true) then
    out:add({ "  ", { "$ " .. line, "AcpToolDetail" } })
  end
end

---All lines of the title: it may be a command, which must be seen before it is allowed.
---@param out acp.Lines
---@param request acp.Request
---@param look acp.RequestLook
local function add_whole_title(out, request, look)
  local title = tostring(request.title or ""):gsub("^[\r\n]+", "")
  title = title:gsub("%s+$", "")
  add_title(out, request, nil, title:match("^[^\n]*"))
  if title:find("\n", 1, true) then
    out:mark_break(0)
    out:add_revealed(title, "  ", most_of(look), true, 2)
  end
end

---@param request acp.Request
---@param look acp.RequestLook
---@return acp.Rendered `above_runs`: what of the lines above belongs to it
function M.render(request, look)
  local out = look.outcome and Lines.new(REQUEST_LINE_BYTES) or revealing(look)
  local rows, runs
  if look.outcome then -- the tool call itself goes on to show what it was about
    add_title(out, request, look.outcome, Lines.one_line(request.title))
    out:add({ "  ", { look.outcome, "AcpToolDetail" } })
    add_command(out, request, Lines.one_line(request.title))
  else
    add_whole_title(out, request, look)
    content.add_text(out, request.description, most_of(look))
    add_host_lines(out, request, look)
    runs = add_content(out, request, look)
    rows = add_options(out, request, look.letters)
    local key, files = config.keys("preview")[1], look.letters and look.files or 0
    if key and files > 0 then
      local where = files == 1 and "in the file" or ("in %d files, one after the other"):format(files)
      out:add({ "      ", { key, "AcpPermissionKey" }, { "  preview " .. where, "AcpToolDetail" } })
    end
  end
  local rendered = out:rendered()
  rendered.option_rows = rows
  rendered.above_runs = runs
  rendered.tool_call_id = request.tool_call_id
  return rendered
end

---A request that a rule has answered: nobody was asked.
---@param event { request: acp.Request, rule: string, source: string }
---@param outcome string words for the answer
---@return acp.Rendered
function M.automatic(event, outcome)
  local out = Lines.new()
  add_title(out, event.request, outcome, Lines.one_line(event.request.title))
  local from = event.source == "stored" and "an earlier answer" or "your rule"
  out:add({ "  ", { ("%s  by %s: %s"):format(outcome, from, Lines.one_line(event.rule)), "AcpToolDetail" } })
  add_command(out, event.request, Lines.one_line(event.request.title) .. "\n" .. Lines.one_line(event.rule))
  return out:rendered()
end

return M
