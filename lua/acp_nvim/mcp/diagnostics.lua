-- The tool that lists diagnostics, once the language servers have looked at the present text.
local guarded = require("acp_nvim.mcp.guarded")
local inside = require("acp_nvim.mcp.inside")
local lookup = require("acp_nvim.buffers.lookup")
local name_of = require("acp_nvim.kernel.relative_path")
local problems = require("acp_nvim.problems")
local servers = require("acp_nvim.mcp.servers")
local settling = require("acp_nvim.problems.settling")
local values = require("acp_nvim.problems.values")

local M = {}

local MOST_FILES = 20 -- that are opened for one call
local MOST = 5000 -- that are listed; Neovim copies each that it is asked for
local MESSAGE_BYTES = 1500

local SEVERITY = vim.diagnostic.severity
local NAMES =
  { [SEVERITY.ERROR] = "error", [SEVERITY.WARN] = "warning", [SEVERITY.INFO] = "info", [SEVERITY.HINT] = "hint" }
local LEAST = { error = SEVERITY.ERROR, warn = SEVERITY.WARN, info = SEVERITY.INFO, hint = SEVERITY.HINT }

---@param one vim.Diagnostic whose members may have any type: whoever set it was not checked
---@param new string in words, "" if it is not
---@return string
local function line_of(one, name, new)
  local code = type(one.code) == "number" and tostring(one.code) or values.words(one.code)
  local source = values.words(one.source)
  local message = type(one.message) == "string" and values.cut(one.message, MESSAGE_BYTES) or "?"
  return ("%s:%d:%d: %s: %s%s%s%s"):format(
    name,
    (values.count(one.lnum) or 0) + 1,
    (values.count(one.col) or 0) + 1,
    NAMES[one.severity] or "?",
    vim.trim(message):gsub("%s*\n%s*", " "),
    code and (" [%s]"):format(code) or "",
    source and (" (%s)"):format(source) or "",
    new
  )
end

---@param session integer
---@param diagnostics vim.Diagnostic[] of one buffer
---@return table<vim.Diagnostic, string> those that are new, with words for it
local function new_ones(session, bufnr, diagnostics)
  local found = {}
  if problems.is_marked(session) then
    local words = problems.was_open(session, bufnr) and " - new in this turn"
      or " - new, or from before the file was open"
    for _, one in ipairs(problems.new_since(session, diagnostics)) do
      found[one] = words
    end
  end
  return found
end

---Returns the diagnostics of a buffer, the most severe first, as far as there is room for all of a severity.
---@param least vim.diagnostic.Severity
---@param room integer
---@return vim.Diagnostic[]
---@return integer left how many are not among them
local function most_severe(bufnr, least, room)
  local found, left, counts = {}, 0, vim.diagnostic.count(bufnr)
  for severity = SEVERITY.ERROR, least do
    local count = counts[severity] or 0
    if left == 0 and #found + count <= room then
      vim.list_extend(found, count > 0 and vim.diagnostic.get(bufnr, { severity = severity }) or {})
    else
      left = left + count
    end
  end
  return found, left
end

---@param a vim.Diagnostic
---@param b vim.Diagnostic
local function is_before(a, b)
  local line, other = values.count(a.lnum) or 0, values.count(b.lnum) or 0
  return line < other or line == other and (values.count(a.col) or 0) < (values.count(b.col) or 0)
end

---@param buffers integer[]
---@return string[] lines
local function list(buffers, args)
  local lines, room, left = {}, MOST, 0
  for _, bufnr in ipairs(buffers) do
    local found, more = most_severe(bufnr, LEAST[args.severity], room)
    room, left = room - #found, left + more
    local new = new_ones(args.session, bufnr, found)
    table.sort(found, is_before)
    local name = name_of(lookup.real_path(bufnr), args.cwd)
    for _, one in ipairs(found) do
      if new[one] or not args.since_turn then
        lines[#lines + 1] = line_of(one, name, new[one] or "")
      end
    end
  end
  if left > 0 then
    lines[#lines + 1] = ("... %d more are not listed: ask for one path, or for severe ones only"):format(left)
  end
  return lines
end

---@return integer[] buffers
---@return string[] problems files that cannot be opened
local function buffers_of(args)
  if not args.paths then
    local found = vim.tbl_filter(function(bufnr)
      return inside(lookup.real_path(bufnr), args)
    end, lookup.file_buffers())
    return found, {}
  end
  local buffers, failed = {}, {}
  for _, path in ipairs(vim.list_slice(args.paths, 1, MOST_FILES)) do
    local bufnr, problem = servers.buffer(path)
    if bufnr then
      buffers[#buffers + 1] = bufnr
    else
      failed[#failed + 1] = problem
    end
  end
  if #args.paths > MOST_FILES then
    local words = ("%d more files were not looked at"):format(#args.paths - MOST_FILES)
    failed[#failed + 1] = words .. (args.brief and "." or ": ask for each by its path.")
  end
  return buffers, failed
end

---@param silent table<string, true> names of servers that have not answered
---@param failed string[]
---@return string?
local function note_of(buffers, silent, failed, args)
  local notes = {}
  if next(silent) then
    local names = table.concat(vim.tbl_keys(silent), ", ")
    local words = ("%s has not looked at the present text yet."):format(names)
    notes[#notes + 1] = args.brief and words or ("Not settled: %s Try again in a moment."):format(words)
  end
  local without = vim.tbl_filter(function(bufnr)
    return not args.brief and #vim.lsp.get_clients({ bufnr = bufnr }) == 0 and not next(vim.diagnostic.count(bufnr))
  end, args.paths and buffers or {})
  if #without > 0 then
    local names = vim.tbl_map(function(bufnr)
      return name_of(lookup.real_path(bufnr), args.cwd)
    end, without)
    notes[#notes + 1] = ("Nothing checks %s: no language server runs for it."):format(table.concat(names, ", "))
  end
  vim.list_extend(notes, failed)
  return #notes > 0 and table.concat(notes, "\n") or nil
end

---@type acp.mcp.Tool
function M.list(args, answer)
  local buffers, failed = buffers_of(args)
  local left, silent = #buffers, {} ---@type integer, table<string, true>
  local finish = guarded(answer, function()
    if args.since_turn and not problems.is_marked(args.session) then
      args.since_turn = false
      failed[#failed + 1] = "What was there before this turn is not known: all are listed, new or not."
    end
    local lines = list(buffers, args)
    local note = note_of(buffers, silent, failed, args)
    answer({ lines = (#lines > 0 or args.brief) and lines or { "No diagnostics." }, note = note })
  end)
  if left == 0 then
    return finish()
  end
  for _, bufnr in ipairs(buffers) do
    servers.when_started(bufnr, args.wait_ms, function()
      settling.settled(bufnr, args.wait_ms, function(_, names)
        for _, name in ipairs(names) do
          silent[name] = true
        end
        left = left - 1
        if left == 0 then
          finish()
        end
      end)
    end)
  end
end

return M
