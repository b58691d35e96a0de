-- Draws a permission request: what is asked, its content, and its options or outcome.
local Lines = require("acp_nvim.render.lines")
local config = require("acp_nvim.config")
local content = require("acp_nvim.transcript.blocks.content")
local limits = require("acp_nvim.limits")
local options = require("acp_nvim.permission.options")
local reveal = require("acp_nvim.render.reveal")

local M = {}

local NEAR_ROWS = 12 -- of the tool call above a request that a small screen has room for
local REQUEST_ROWS = 6 -- that a request takes without its title, and the line above it
local REQUEST_LINE_BYTES = 256 * 1024 -- of one line of a request: twice the longest argument that Linux accepts

---@class acp.RequestDisplay
---@field letters table<string, string> option_id -> key
---@field has_no_keys? boolean no key answers where it is shown
---@field outcome? string description of the outcome; nil while it waits
---@field above? string[] lines of the tool call right above it
---@field whole? boolean leave nothing out, however long it is
---@field cwd? string
---@field files? integer number of files with a preview
---@field width? integer columns of the window that shows it
---@field height? integer its rows

---@return number limit of lines shown of a text or a command
local function line_limit(display)
  return display.whole and math.huge or limits.request_lines
end

local function new_lines(display)
  local out = Lines.new(display.whole and math.huge or REQUEST_LINE_BYTES)
  out.reveals = true
  return out
end

---@return integer? first index where all of them stand in succession; nil for a command of several lines, which must
---be shown with its line breaks
local function find_run(lines, above)
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

---Calls `add`, unless the tool call above shows the same lines.
---@param runs acp.AboveRun[] gets the lines found above
---@return boolean is_above
local function add_unless_above(out, display, runs, add)
  local alone = new_lines(display)
  add(alone)
  local first = display.above and find_run(alone.lines, display.above)
  if first then
    runs[#runs + 1] = { first, first + #alone.lines - 1, alone:rendered() }
  elseif #alone.lines > 0 then
    add(out)
  end
  return first ~= nil
end

---Marks all lines from `first` on as written by the host; no text of an agent contains this mark.
---@param first integer index
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

---Explains why a request can only be rejected.
---@param request acp.Request with `left_out`
function M.rejects_only(request)
  return ("Not all of it can be shown, so it can only be rejected. What is missing: %s."):format(request.left_out)
end

---Adds what the host says: the whole command (also if the tool call above shows it, since that may change while the
---request waits), its directory and environment, what else the request says, and what cannot be shown.
local function add_host_lines(out, request, display)
  local first, most = #out.lines + 1, line_limit(display)
  if request.command then
    out:add_revealed("$ " .. request.command, "", most, true)
    if request.cwd then
      out:add({ "in ", { request.cwd, "AcpToolDetail" } })
    end
    for _, variable in ipairs(request.env or {}) do
      out:add_revealed("with " .. variable, "", most, true)
    end
  end
  for _, line in ipairs(request.remarks or {}) do
    out:add_revealed(line, "", most, true)
  end
  if request.left_out then
    out:add({ { M.rejects_only(request), "AcpPermission" } })
  end
  mark_host(out, first)
end

---Adds the content of a request, except for lines that the tool call above shows.
---@param runs acp.AboveRun[] gets the lines above that belong to the request
local function add_content(out, request, display, runs)
  local items = request.content or {}
  local most = line_limit(display)
  add_unless_above(out, display, runs, function(to)
    content.add_locations(to, request, Lines.one_line(request.title), display.cwd, most)
  end)
  -- all items together, or all but the command that the host adds; else item by item
  for from = 1, display.above and math.min(#items, 2) or 0 do
    local rest, tried = vim.list_slice(items, from), Lines.new()
    local found = add_unless_above(tried, display, runs, function(to)
      content.add(to, rest, display.cwd, most)
    end)
    if found then
      return content.add(out, vim.list_slice(items, 1, from - 1), display.cwd, most)
    end
  end
  local news = vim.tbl_filter(function(item)
    return not add_unless_above(Lines.new(), display, runs, function(to)
      content.add(to, { item }, display.cwd, most)
    end)
  end, items)
  content.add(out, news, display.cwd, most)
end

---Adds what the input of the tool call says beside all else that the request shows: a line for each member, or several for
---a text of several lines.
local function add_input(out, request, display)
  local most = line_limit(display)
  for _, member in ipairs(request.input or {}) do
    local is_short = not member.tail and not member.text:find("\n", 1, true)
    out:add({ "  ", { member.name .. ":", "AcpToolDetail" }, is_short and " " .. member.text or "" })
    if not is_short then
      out:add_revealed(member.text, "    ", most)
    end
    if member.tail then
      local lines = member.lines > 1 and (", %d lines"):format(member.lines) or ""
      out:add_inserted(("… %d characters%s in all …"):format(member.chars, lines), "    ")
      out:add_revealed(member.tail, "    ", most)
    end
  end
end

---@param title string of one line
local function add_title(out, request, outcome, title)
  local kind = Lines.one_line(request.kind)
  out:add({
    { outcome and "Permission" or "Permission needed", outcome and "AcpToolDetail" or "AcpPermission" },
    "  ",
    { kind, "AcpToolKind" },
    kind ~= "" and title ~= "" and "  " or "",
    { title, outcome and "AcpToolDetail" or "AcpToolTitle" },
  })
end

---Adds the command of a request, to show later what was answered, unless the text before contains it.
local function add_command(out, request, shown)
  local line = request.command and Lines.one_line(request.command)
  if line and not shown:find(line, 1, true) then
    out:add({ "  ", { "$ " .. line, "AcpToolDetail" } })
  end
end

---@param title string
---@return boolean is_command it says no more than the command, all of which the host shows
local function is_command(title, request)
  local said = title:gsub("^Run ", ""):gsub("^`(.*)`$", "%1")
  local beginning = said:match("^(.+) …$")
  return request.command ~= nil
    and (said == request.command or beginning ~= nil and vim.startswith(request.command, beginning))
end

---Says behind the title which key previews the changes.
---@return string? words that are no part of the request: they come later
local function add_preview(out, display)
  local key, files = config.keys("preview")[1], not display.has_no_keys and display.files or 0
  if not key or files == 0 then
    return nil
  end
  local where = files > 1 and (" in %d files"):format(files) or ""
  local words, at = ("  %s preview%s"):format(key, where), #out.lines[1]
  out.lines[1] = out.lines[1] .. words
  table.insert(out.highlights, { row = 0, from = at + 2, to = at + 2 + #key, group = "AcpPermissionKey" })
  table.insert(out.highlights, { row = 0, from = at + 2 + #key, to = at + #words, group = "AcpToolDetail" })
  return words
end

---@return boolean the whole tool call above can be seen together with the request
local function is_near(display)
  local rows = 0
  for _, line in ipairs(display.above or {}) do
    rows = rows + math.max(1, math.ceil(vim.fn.strdisplaywidth(line) / (display.width or math.huge)))
  end
  return rows > 0 and rows <= math.max((display.height or 0) - REQUEST_ROWS, NEAR_ROWS)
end

---Adds all lines of the title, which may be a command, unless the tool call above begins with it and is short.
---@param runs acp.AboveRun[] gets the line of the title above
local function add_whole_title(out, request, display, runs)
  local title = tostring(request.title or ""):gsub("^[\r\n]+", "")
  title = title:gsub("%s+$", "")
  if is_command(title, request) then
    return add_title(out, request, nil, "")
  end
  if is_near(display) and display.above[1] == out:visible(title) then
    runs[1] = { 1, 1, {} }
    return add_title(out, request, nil, "")
  end
  add_title(out, request, nil, title:match("^[^\n]*"))
  if title:find("\n", 1, true) then
    out:mark_break(0)
    out:add_revealed(title, "  ", line_limit(display), true, 2)
  end
end

---@param display acp.RequestDisplay
---@return acp.Rendered
function M.render(request, display)
  local out = display.outcome and Lines.new(REQUEST_LINE_BYTES) or new_lines(display)
  local places, preview, runs = nil, nil, {}
  if display.outcome then -- the tool call above still shows the content
    add_title(out, request, display.outcome, Lines.one_line(request.title))
    out:add({ "  ", { display.outcome, "AcpToolDetail" } })
    add_command(out, request, Lines.one_line(request.title))
  else
    add_whole_title(out, request, display, runs)
    content.add_text(out, request.description, line_limit(display))
    add_host_lines(out, request, display)
    add_content(out, request, display, runs)
    add_input(out, request, display)
    places = options.add(out, request.options or {}, display)
    preview = add_preview(out, display)
  end
  local rendered = out:rendered()
  rendered.options = places
  rendered.preview = preview
  rendered.above_runs = runs
  return rendered
end

---@param title string of the tool call right above
---@param title_lines integer lines of it
---@param display acp.RequestDisplay with the lines of the call
---@return boolean the request can say all that the call does: its command, which the host shows in any case, and the rest
function M.covers(request, title, title_lines, display)
  if not is_command(title, request) then
    return false
  end
  local said = {}
  for _, run in ipairs(#display.above > title_lines and M.render(request, display).above_runs or {}) do
    for line = run[1], run[2] do
      said[line] = true
    end
  end
  for line = title_lines + 1, #display.above do
    if not said[line] then
      return false
    end
  end
  return true
end

---Draws a request that a rule has answered.
---@param event { request: acp.Request, rule: string, source: string }
---@param outcome string description of the answer
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
