-- Draws a permission request: what is asked, its content, and its options or outcome.
local Lines = require("acp_nvim.chat.blocks.lines")
local config = require("acp_nvim.config")
local content = require("acp_nvim.chat.blocks.content")
local limits = require("acp_nvim.limits")
local reveal = require("acp_nvim.chat.blocks.reveal")

local M = {}

local REQUEST_LINE_BYTES = 256 * 1024 -- of one line of a request: twice the longest argument that Linux accepts
local KEPT = "  (kept by acp_nvim)"
local MARKS = { allow_once = "✓ ", allow_always = "✓ ", reject_once = "✗ ", reject_always = "✗ " }

---@class acp.RequestDisplay
---@field letters? table<string, string> option_id -> key; nil: no key answers where it is shown
---@field outcome? string description of the outcome; nil while it waits
---@field above? string[] lines of the tool call right above it
---@field whole? boolean leave nothing out, however long it is
---@field cwd? string
---@field files? integer number of files with a preview

---@return number limit of lines shown of a text or a command
local function line_limit(display)
  return display.whole and math.huge or limits.request_lines
end

local function new_lines(display)
  local out = Lines.new(display.whole and math.huge or REQUEST_LINE_BYTES)
  out.reveals = true
  return out
end

local function remark(option, letter)
  if option.ours then
    return KEPT
  elseif not letter and Lines.one_line(option.kind) ~= "" then
    return ("  (%s)"):format(Lines.one_line(option.kind))
  end
  return ""
end

---@param letters? table<string, string> option_id -> key; nil: no key answers here
---@return table<integer, string> rows row -> option_id
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
      out:add({ { mark, "AcpPermission" }, "· " .. name, { option.ours and KEPT or "", "AcpToolDetail" } })
    end
  end
  return rows
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
---@return acp.AboveRun[] runs lines above that belong to the request
local function add_content(out, request, display)
  local runs, items = {}, request.content or {}
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
      content.add(out, vim.list_slice(items, 1, from - 1), display.cwd, most)
      return runs
    end
  end
  local news = vim.tbl_filter(function(item)
    return not add_unless_above(Lines.new(), display, runs, function(to)
      content.add(to, { item }, display.cwd, most)
    end)
  end, items)
  content.add(out, news, display.cwd, most)
  return runs
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

---Adds all lines of the title, which may be a command.
local function add_whole_title(out, request, display)
  local title = tostring(request.title or ""):gsub("^[\r\n]+", "")
  title = title:gsub("%s+$", "")
  if is_command(title, request) then
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
  local rows, runs
  if display.outcome then -- the tool call above still shows the content
    add_title(out, request, display.outcome, Lines.one_line(request.title))
    out:add({ "  ", { display.outcome, "AcpToolDetail" } })
    add_command(out, request, Lines.one_line(request.title))
  else
    add_whole_title(out, request, display)
    content.add_text(out, request.description, line_limit(display))
    add_host_lines(out, request, display)
    runs = add_content(out, request, display)
    add_input(out, request, display)
    rows = add_options(out, request, display.letters)
    local key, files = config.keys("preview")[1], display.letters and display.files or 0
    if key and files > 0 then
      local where = files == 1 and "in the file" or ("in %d files, one after the other"):format(files)
      out:add({ "      ", { key, "AcpPermissionKey" }, { "  preview " .. where, "AcpToolDetail" } })
    end
  end
  local rendered = out:rendered()
  rendered.option_rows = rows
  rendered.above_runs = runs
  return rendered
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
