-- The lines of a drawn request that have to be seen before it is allowed.
local M = {}

---Options count with their names, not with the keys beside them, which are not the same everywhere.
---@param lines string[] they are added here
---@param bodies table<integer, acp.Body> here as well: those that tell of changes in files, counted from 1
---@param rendered acp.Rendered with its lines
---@param is_named? fun(path: string): boolean the title names that file, so that the line below need not have been seen
function M.add(lines, bodies, rendered, is_named)
  local shift, last = #lines, 0
  for row in pairs(rendered.option_rows or {}) do
    last = math.max(last, row + 1)
  end
  for index = 1, last > 0 and last or #rendered.lines do -- below the options is only what they can be read with
    local option = (rendered.option_rows or {})[index - 1]
    lines[shift + index] = option and "option " .. option or rendered.lines[index]
  end
  M.add_bodies(bodies, shift, rendered, is_named)
end

---@param bodies table<integer, acp.Body> they are added here, with the lines that name the files
---@param shift integer lines before
---@param rendered { target_ranges?: acp.TargetRange[], target_rows?: table<integer, acp.Target> }
---@param is_named? fun(path: string): boolean
function M.add_bodies(bodies, shift, rendered, is_named)
  for _, range in ipairs(rendered.target_ranges or {}) do
    local header = (rendered.target_rows or {})[range[1] - 1]
    local has_header = header ~= nil and header.path == range[3].path
    for row = has_header and range[1] - 1 or range[1], range[3].diff and range[2] or -1 do
      bodies[shift + row + 1] =
        { path = range[3].path, is_change = row >= range[1] or is_named ~= nil and is_named(range[3].path) }
    end
  end
end

return M
