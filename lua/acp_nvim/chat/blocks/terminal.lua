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
  local further = Lines.further_lines(item.command)
  if #further > 0 then
    out:add_text(table.concat(further, "\n"), out.reveals and limits.request_lines or limits.output_lines, INDENT)
  end
end

---@param out acp.Lines
---@param item acp.Content
---@param cwd? string
return function(out, item, cwd)
  local first = #out.lines
  add_command(out, item, cwd)
  if (item.output or ""):find("[^\r\n]") then
    out:add_end(item.output, limits.output_lines, INDENT)
  end
  local words = ending(item)
  if words then
    out:add({ INDENT, { words, "AcpStatusFailed" } })
  end
  if item.number then
    table.insert(out.ranges, { first, #out.lines - 1, { terminal = item.number, words = item.command } })
  end
end
