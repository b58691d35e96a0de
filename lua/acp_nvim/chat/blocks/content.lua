-- Draws the content of a tool call or of a permission: texts, diffs, terminals, and what has only a label.
local Diffs = require("acp_nvim.chat.blocks.diff")
local Lines = require("acp_nvim.chat.blocks.lines")
local limits = require("acp_nvim.limits")
local paths = require("acp_nvim.chat.blocks.paths")
local terminal = require("acp_nvim.chat.blocks.terminal")

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

---@param out acp.Lines
---@param text? string
---@param most integer lines
function M.add_text(out, text, most)
  if vim.trim(text or "") ~= "" then
    out:add_cut(text_lines(text), most)
  end
end

---@param out acp.Lines
---@param items? acp.Content[]
---@param cwd? string
---@param most? integer lines of a text, or of a command
function M.add(out, items, cwd, most)
  local diffs = Diffs.new()
  most = most or limits.output_lines
  for _, item in ipairs(items or {}) do
    if item.type == "text" then
      M.add_text(out, item.text, most)
    elseif item.type == "diff" then
      diffs:add(out, item, cwd)
    elseif item.type == "terminal" then
      terminal(out, item, cwd)
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

---Adds the places that neither the title nor a diff names already.
---@param out acp.Lines
---@param asked { locations?: acp.Location[], content?: acp.Content[] } a tool call or a request
---@param title string
---@param cwd? string
function M.add_locations(out, asked, title, cwd)
  local named = {}
  for _, item in ipairs(asked.content or {}) do
    named[item.type == "diff" and item.path or ""] = true
  end
  for _, location in ipairs(asked.locations or {}) do
    local path = Lines.one_line(location.path)
    if not named[location.path] and not title:find(vim.fs.basename(path), 1, true) then
      local line = location.line and (":%d"):format(location.line) or ""
      out:add({ INDENT, { paths.short(path, cwd) .. line, "AcpToolDetail" } })
    end
  end
end

return M
