-- Draws the content of a tool call or of a permission: texts, diffs, terminals, and what has only a label.
local Lines = require("acp_nvim.chat.blocks.lines")
local limits = require("acp_nvim.limits")

local M = {}

local INDENT = "  "

---@param text string
---@return string[]
local function text_lines(text)
  local lines = vim.split((text:gsub("[\r\n]+$", "")), "\r?\n")
  return vim.tbl_map(function(line)
    return line == "" and "" or INDENT .. line
  end, lines)
end

---@param text? string
---@return string
local function ended(text)
  text = text or ""
  return (text == "" or text:sub(-1) == "\n") and text or text .. "\n"
end

---@param item acp.Content
---@return string
local function unified(item)
  local old, new = ended(item.old_text), ended(item.new_text)
  if #old + #new > limits.diff_bytes then
    return ("(%d bytes before, %d after: too large to be shown)"):format(#old, #new)
  end
  local text = vim.diff(old, new, { result_type = "unified", ctxlen = 3 }) --[[@as string]]
  return text == "" and "(no change)" or text
end

---@param line string already indented
---@return string?
local function diff_group(line)
  local sign = line:sub(#INDENT + 1, #INDENT + 1)
  if sign == "+" then
    return "AcpDiffAdded"
  elseif sign == "-" then
    return "AcpDiffRemoved"
  elseif sign == "@" then
    return "AcpToolDetail"
  end
end

---@param out acp.Lines
---@param item acp.Content
---@param cwd? string
local function add_diff(out, item, cwd)
  local new = not item.old_text and " (new file)" or ""
  out:add({ INDENT, { Lines.one_line(M.short_path(item.path or "?", cwd)) .. new, "AcpDiffHeader" } })
  local diff = vim.split((unified(item):gsub("\n$", "")), "\n", { plain = true })
  for index, line in ipairs(diff) do
    diff[index] = INDENT .. line
  end
  out:add_cut(diff, limits.diff_lines, diff_group)
end

---@param path string
---@param cwd? string
---@return string path from the session's directory, when it is below it
function M.short_path(path, cwd)
  if cwd and vim.startswith(path, cwd .. "/") then
    return path:sub(#cwd + 2)
  end
  return path
end

---@param out acp.Lines
---@param items? acp.Content[]
---@param cwd? string
function M.add(out, items, cwd)
  for _, item in ipairs(items or {}) do
    if item.type == "text" then
      if vim.trim(item.text or "") ~= "" then
        out:add_cut(text_lines(item.text), limits.output_lines)
      end
    elseif item.type == "diff" then
      add_diff(out, item, cwd)
    elseif item.type == "terminal" then
      out:add({ INDENT, { "terminal " .. Lines.one_line(item.terminal_id), "AcpToolDetail" } })
    else
      out:add({ INDENT, { Lines.one_line(item.label or item.type), "AcpToolDetail" } })
    end
  end
end

---Adds what a title says after its first line: a command of several lines must be seen before it is allowed.
---@param out acp.Lines
---@param title any
---@param most integer
function M.add_title_rest(out, title, most)
  local lines = vim.tbl_map(function(line)
    return INDENT .. line
  end, Lines.further_lines(title))
  out:add_cut(lines, most)
end

---Adds the places that the title does not name already.
---@param out acp.Lines
---@param locations? acp.Location[]
---@param title string
---@param cwd? string
function M.add_locations(out, locations, title, cwd)
  for _, location in ipairs(locations or {}) do
    local path = Lines.one_line(location.path)
    if not title:find(vim.fs.basename(path), 1, true) then
      local line = location.line and (":%d"):format(location.line) or ""
      out:add({ INDENT, { M.short_path(path, cwd) .. line, "AcpToolDetail" } })
    end
  end
end

return M
