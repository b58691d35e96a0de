-- Draws the content of a tool call or a permission request: texts, diffs, terminals and links.
local Diffs = require("acp_nvim.transcript.blocks.diff")
local Lines = require("acp_nvim.render.lines")
local limits = require("acp_nvim.limits")
local paths = require("acp_nvim.render.paths")
local sessions = require("acp_nvim.host.sessions")

local M = {}

local CALL_LOCATIONS = 10 -- shown of one tool call: a call with more is a search, whose output names them
local INDENT = "  "

---@param size integer bytes
local function format_size(size)
  if size < 1000 then
    return ("%d B"):format(size)
  end
  return size < 1e6 and ("%.0f kB"):format(size / 1000) or ("%.1f MB"):format(size / 1e6)
end

---Adds a text of a plan or of a request.
---@param most integer lines
function M.add_text(out, text, most)
  if (text or ""):find("%S") then
    out:add_text(text, most, INDENT)
  end
end

---Adds a text that the host may have cut: its beginning and its end, or as much of it as a request shows.
---@param item { text?: string, lines?: integer, chars?: integer, tail?: string }
---@param most integer lines of a text in a request
local function add_cut(out, item, most)
  local text, hidden = item.text or "", item.lines or 0
  if not text:find("%S") and not (item.tail or ""):find("%S") then
    return
  end
  local is_one_line = hidden == 1 and (item.chars or 0) > out.bytes and not text:find("\n", 1, true)
  hidden = is_one_line and 0 or hidden
  if out.reveals then
    out:add_text(text, most, INDENT, hidden)
  else
    out:add_output(text, INDENT, hidden, item.tail)
  end
  if is_one_line then -- the rest of one long line
    out:add_whole(("… %s more%s"):format(format_size(item.chars), out.more), "AcpToolDetail")
  end
end

---Adds how a command has ended, unless it has succeeded.
---@param item { exit_code?: integer, signal?: string }
local function add_ending(out, item)
  if item.signal and item.signal ~= "" then
    out:add({ INDENT, { "killed by " .. Lines.one_line(item.signal), "AcpStatusFailed" } })
  elseif item.exit_code and item.exit_code ~= 0 then
    out:add({ INDENT, { "exit " .. Lines.one_line(item.exit_code), "AcpStatusFailed" } })
  end
end

local function add_resource(out, item, cwd, most)
  local uri = paths.whole_line(item.uri)
  local name = paths.whole_line(item.name)
  local place = paths.short((uri:gsub("^file://", "")), cwd)
  local about = vim.tbl_values({
    item.mime_type and Lines.one_line(item.mime_type),
    item.size and format_size(item.size),
  })
  out.targets[#out.lines] = { uri = item.uri }
  out:add({
    INDENT,
    { name ~= "" and name or place, "AcpLink" },
    { name ~= "" and name ~= place and "  " .. place or "", "AcpToolDetail" },
    { #about > 0 and ("  (%s)"):format(table.concat(about, ", ")) or "", "AcpToolDetail" },
  })
  M.add_text(out, item.description, most)
  add_cut(out, item, most)
end

local function add_command(out, item, cwd)
  local command = Lines.one_line(item.command)
  local elsewhere = item.cwd and item.cwd ~= "" and item.cwd ~= cwd
  local place = elsewhere and "  in " .. paths.short(item.cwd, cwd) or ""
  if command == "" then
    out:add({ INDENT, { "terminal" .. place, "AcpToolDetail" } })
    return
  end
  out:add({ INDENT, { "$ ", "AcpToolDetail" }, { command, "AcpToolTitle" }, { place, "AcpToolDetail" } })
  local further = Lines.further_lines(item.command)
  if #further > 0 then
    out:add_text(table.concat(further, "\n"), out.reveals and limits.request_lines or limits.output_lines, INDENT)
  end
end

---Adds a terminal's command, its output, and its exit status.
local function add_terminal(out, item, cwd)
  local first = #out.lines
  add_command(out, item, cwd)
  local output = item.output or ""
  if output:find("[^\r\n]") or (item.tail or ""):find("[^\r\n]") then
    if out.reveals then
      out:add_end(output, limits.output_lines, INDENT)
    else
      out:add_output(output, INDENT, item.lines, item.tail)
    end
  end
  add_ending(out, item)
  if item.number then
    table.insert(out.ranges, { first, #out.lines - 1, { terminal = item.number, words = item.command } })
  end
end

---@type table<string, fun(out: acp.Lines, item: acp.Content, cwd: string?, most: integer)>
local ADD = {
  text = function(out, item, _, most)
    add_cut(out, item, most)
    add_ending(out, item)
  end,
  terminal = add_terminal,
  media = function(out, item)
    local words = ("%s (%s, %s)"):format(item.kind, Lines.one_line(item.mime_type), format_size(item.size or 0))
    local uri = item.uri and "  " .. paths.whole_line(item.uri) or ""
    out.targets[#out.lines] = { media = item.place }
    out:add({ INDENT, { words, "AcpLink" }, { uri, "AcpToolDetail" } })
  end,
  resource = add_resource,
  session = function(out, item)
    local session = sessions.find(item.session_id)
    local name = session and session.status.title or "session " .. item.session_id
    out.targets[#out.lines] = session and session.parent and { subagent = session.key } or nil
    out:add({ INDENT, { "→ ", "AcpToolDetail" }, { Lines.one_line(name), session and "AcpLink" or "AcpToolDetail" } })
  end,
}

---@param items? acp.Content[]
---@param most? integer lines of a text or a command
function M.add(out, items, cwd, most)
  local diffs
  most = most or limits.output_lines
  for _, item in ipairs(items or {}) do
    local add = ADD[item.type]
    if add then
      add(out, item, cwd, most)
    elseif item.type == "diff" then
      diffs = diffs or Diffs.new()
      diffs:add(out, item, cwd)
    else
      out:add({ INDENT, { Lines.one_line(item.label or item.type), "AcpToolDetail" } })
    end
  end
end

---Adds the lines of a title after its first, which may be the rest of a command.
function M.add_title_rest(out, title, most)
  local lines = Lines.further_lines(title)
  for index, line in ipairs(lines) do
    lines[index] = INDENT .. line
  end
  out:add_cut(lines, most)
end

---Whether a title names a file.
---@param exactly boolean require the path as a word of the title; else the file's name anywhere in it is enough
function M.names(title, path, cwd, exactly)
  if not exactly then
    return title:find(vim.fs.basename(path), 1, true) ~= nil
  end
  local words = vim.split(title, "[%s`'\"]+")
  return vim.list_contains(words, paths.short(path, cwd)) or vim.list_contains(words, path)
end

---Adds the locations that neither the title nor a diff names.
---@param call { locations?: acp.FileLine[], locations_left?: integer, content?: acp.Content[] } a tool call or a request
---@param most? integer limit for a request; then the title must name the whole path
function M.add_locations(out, call, title, cwd, most)
  local limit, left = most or CALL_LOCATIONS, call.locations_left or 0
  local locations = call.locations or {}
  if #locations == 0 then
    return
  end
  local named = {}
  for _, item in ipairs(call.content or {}) do
    named[item.type == "diff" and item.path or ""] = true
  end
  for index, location in ipairs(locations) do
    if index > limit then
      if left > 0 then
        return out:add_more(#locations - limit + left, INDENT)
      end
      return out:add_count(#locations - limit)
    end
    local path = paths.whole_line(location.path)
    if not named[location.path] and not M.names(title, path, cwd, most ~= nil) then
      local line = location.line and (":%d"):format(location.line) or ""
      out.targets[#out.lines] = { path = location.path, line = location.line }
      out:add({ INDENT, { paths.short(path, cwd) .. line, "AcpToolDetail" } })
    end
  end
  if left > 0 then
    out:add_more(left, INDENT)
  end
end

return M
