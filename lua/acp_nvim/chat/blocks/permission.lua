-- Draws a permission request: what is asked with all that belongs to it, and the options or what became of them.
local Lines = require("acp_nvim.chat.blocks.lines")
local config = require("acp_nvim.config")
local content = require("acp_nvim.chat.blocks.content")

local M = {}

---@param out acp.Lines
---@param request acp.Request
---@param letters table<string, string> option_id -> letter
---@return table<integer, string> rows of the options
local function add_options(out, request, letters)
  local rows = {}
  for index, option in ipairs(request.options or {}) do
    local digit = index <= 9 and tostring(index) or " "
    local letter = letters[option.option_id] or " "
    rows[#out.lines] = option.option_id
    out:add({
      "  [",
      { digit, "AcpPermissionKey" },
      "] ",
      { letter, "AcpPermissionKey" },
      "  " .. Lines.one_line(option.name),
    })
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

---@param request acp.Request
---@param letters table<string, string>
---@param outcome? string words for what became of it; nil while it waits
---@param whole boolean with all that belongs to the request
---@param cwd? string
---@param files? integer that have a preview
---@return acp.Rendered
function M.render(request, letters, outcome, whole, cwd, files)
  local out = Lines.new()
  local title = Lines.one_line(request.title)
  local kind = Lines.one_line(request.kind)
  out:add({
    { outcome and "Permission" or "Permission needed", outcome and "AcpToolDetail" or "AcpPermission" },
    "  ",
    { kind, "AcpToolKind" },
    kind ~= "" and "  " or "",
    { title, "AcpToolTitle" },
  })
  local rows
  if outcome then -- the tool call itself goes on to show what it was about
    out:add({ "  ", { outcome, "AcpToolDetail" } })
  else
    content.add_title_rest(out, request.title, math.huge)
    content.add_text(out, request.description, math.huge)
    if whole then
      content.add_locations(out, request, title, cwd)
      content.add(out, request.content, cwd)
    end
    rows = add_options(out, request, letters)
    add_preview(out, files or 0)
  end
  local rendered = out:rendered()
  rendered.option_rows = rows
  return rendered
end

return M
