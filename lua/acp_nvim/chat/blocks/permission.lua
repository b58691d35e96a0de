-- Draws a permission request: what is asked with all that belongs to it, and the options or what became of them.
local Lines = require("acp_nvim.chat.blocks.lines")
local config = require("acp_nvim.config")
local content = require("acp_nvim.chat.blocks.content")
local limits = require("acp_nvim.limits")

local M = {}

local OURS = "  (kept by acp_nvim)"

---@class acp.RequestLook
---@field letters? table<string, string> option_id -> letter; nil: no key answers where it is seen
---@field outcome? string words for what became of it; nil while it waits
---@field above? table<string, true> lines that are to be read right above it
---@field cwd? string
---@field files? integer that have a preview

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
    local name = Lines.one_line(option.name)
    rows[#out.lines] = option.option_id
    if letters then
      local letter = letters[option.option_id]
      out:add({
        "  [",
        { tostring(index), "AcpPermissionKey" },
        "] " .. (" "):rep(width - #tostring(index)),
        { letter or " ", "AcpPermissionKey" },
        "  " .. name,
        { remark(option, letter), "AcpToolDetail" },
      })
    else
      out:add({ "  · " .. name, { option.ours and OURS or "", "AcpToolDetail" } })
    end
  end
  return rows
end

---@param out acp.Lines
---@param files integer that have a preview
local function add_preview(out, files)
  local key = config.keys("preview")[1]
  if key and files > 0 then
    local where = files == 1 and "in the file" or ("in %d files, one after the other"):format(files)
    out:add({ "      ", { key, "AcpPermissionKey" }, { "  preview " .. where, "AcpToolDetail" } })
  end
end

---@param lines string[]
---@param above table<string, true>
---@return boolean
local function all_above(lines, above)
  return vim.iter(lines):all(function(line)
    return above[line] == true
  end)
end

---The whole command, even where it can be read right above: that may change while the request waits.
---@param out acp.Lines
---@param request acp.Request
local function add_whole_command(out, request)
  if request.command then
    local cwd = request.cwd and "\nin " .. request.cwd or ""
    content.add_text(out, "$ " .. request.command .. cwd, limits.request_lines)
  end
end

---What belongs to the request, but for what is to be read right above it.
---@param out acp.Lines
---@param request acp.Request
---@param look acp.RequestLook
local function add_content(out, request, look)
  local above = look.above
  if not above then
    content.add_locations(out, request, Lines.one_line(request.title), look.cwd)
    return content.add(out, request.content, look.cwd, limits.request_lines)
  end
  local news = vim.tbl_filter(function(item)
    local alone = Lines.new(limits.request_line_bytes)
    content.add(alone, { item }, look.cwd, limits.request_lines)
    return not all_above(alone.lines, above)
  end, request.content or {})
  content.add(out, news, look.cwd, limits.request_lines)
end

---@param out acp.Lines
---@param request acp.Request
---@param outcome? string
local function add_title(out, request, outcome)
  local kind = Lines.one_line(request.kind)
  out:add({
    { outcome and "Permission" or "Permission needed", outcome and "AcpToolDetail" or "AcpPermission" },
    "  ",
    { kind, "AcpToolKind" },
    kind ~= "" and "  " or "",
    { Lines.one_line(request.title), outcome and "AcpToolDetail" or "AcpToolTitle" },
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

---@param request acp.Request
---@param look acp.RequestLook
---@return acp.Rendered
function M.render(request, look)
  local out = Lines.new(limits.request_line_bytes)
  add_title(out, request, look.outcome)
  local rows
  if look.outcome then -- the tool call itself goes on to show what it was about
    out:add({ "  ", { look.outcome, "AcpToolDetail" } })
    add_command(out, request, Lines.one_line(request.title))
  else
    content.add_title_rest(out, request.title, math.huge)
    content.add_text(out, request.description, limits.request_lines)
    add_whole_command(out, request)
    add_content(out, request, look)
    rows = add_options(out, request, look.letters)
    add_preview(out, look.letters and look.files or 0)
  end
  local rendered = out:rendered()
  rendered.option_rows = rows
  rendered.tool_call_id = request.tool_call_id
  return rendered
end

---A request that a rule has answered: nobody was asked.
---@param event { request: acp.Request, rule: string, source: string }
---@param outcome string words for the answer
---@return acp.Rendered
function M.automatic(event, outcome)
  local out = Lines.new()
  add_title(out, event.request, outcome)
  local from = event.source == "stored" and "an earlier answer" or "your rule"
  out:add({ "  ", { ("%s  by %s: %s"):format(outcome, from, Lines.one_line(event.rule)), "AcpToolDetail" } })
  add_command(out, event.request, Lines.one_line(event.request.title) .. "\n" .. Lines.one_line(event.rule))
  return out:rendered()
end

return M
