-- Draws what is known of a terminal: its command, the end of its output, how it ended.
local Lines = require("acp_nvim.chat.blocks.lines")
local limits = require("acp_nvim.limits")
local paths = require("acp_nvim.chat.blocks.paths")

local INDENT = "  "

---@param item acp.Content
---@return string? words nil when it runs, or ended well
local function ending(item)
  if item.signal and item.signal ~= "" then
    return "killed by " .. Lines.one_line(item.signal)
  elseif item.exit_code and item.exit_code ~= 0 then
    return "exit " .. Lines.one_line(item.exit_code)
  end
end

---@param lines string[]
---@return string[] the same lines, indented
local function indented(lines)
  return vim.tbl_map(function(line)
    return line == "" and "" or INDENT .. line
  end, lines)
end

---@param out acp.Lines
---@param item acp.Content
---@param cwd? string
local function add_command(out, item, cwd)
  local command = Lines.one_line(item.command)
  local elsewhere = item.cwd and item.cwd ~= "" and item.cwd ~= cwd
  local place = elsewhere and "  in " .. paths.short(item.cwd, cwd) or ""
  if command == "" then
    out:add({ INDENT, { "terminal " .. Lines.one_line(item.terminal_id) .. place, "AcpToolDetail" } })
    return
  end
  out:add({ INDENT, { "$ ", "AcpToolDetail" }, { command, "AcpToolTitle" }, { place, "AcpToolDetail" } })
  out:add_cut(indented(Lines.further_lines(item.command)), limits.output_lines)
end

---@param out acp.Lines
---@param item acp.Content
---@param cwd? string
return function(out, item, cwd)
  local first = #out.lines
  add_command(out, item, cwd)
  local output = (item.output or ""):gsub("[\r\n]+$", "")
  if output ~= "" then
    out:add_end(indented(vim.split(output, "\r?\n")), limits.output_lines)
  end
  local words = ending(item)
  if words then
    out:add({ INDENT, { words, "AcpStatusFailed" } })
  end
  for row = item.number and first or #out.lines, #out.lines - 1 do
    out.targets[row] = { terminal = item.number, words = item.command }
  end
end
