-- Lets the user choose one of the waiting permission requests, and an answer to it.
local Lines = require("acp_nvim.render.lines")
local dialog = require("acp_nvim.kernel.dialog")
local message = require("acp_nvim.kernel.message")
local paths = require("acp_nvim.render.paths")
local permission = require("acp_nvim.permission")
local sessions = require("acp_nvim.host.sessions")

local M = {}

---@return string the whole command on one line, or the title
local function question(request)
  local text = request.command or request.title
  local title = (request.command and "$ " or "") .. Lines.one_line(text)
  for _, line in ipairs(Lines.further_lines(text)) do
    title = title .. " ⏎ " .. Lines.one_line(line)
  end
  return title
end

---@param id integer of a request
---@param option_id string
---@param read? table<string, true> files whose changes were read in these
function M.answer(id, option_id, read)
  local ok, problem = permission.press(id, option_id, read)
  if not ok and problem then
    message.error(problem)
  end
end

---Lets the user choose an answer.
---@param one acp.Pending
function M.options(one)
  dialog.select(one.request.options or {}, {
    prompt = question(one.request),
    kind = "acp_permission",
    format_item = function(option)
      local name = paths.whole_line(option.name)
      return option.ours and name .. "  (kept by acp_nvim)" or name
    end,
  }, function(option)
    vim.cmd.redraw() -- a message below the list would ask for a key
    if option then
      M.answer(one.request.id, option.option_id)
    end
  end)
end

---Lets the user choose a request, where there are several, and an answer to it.
---@param list acp.Pending[] at least one
function M.choose(list)
  if #list == 1 then
    return M.options(list[1])
  end
  dialog.select(list, {
    prompt = ("%d permissions wait"):format(#list),
    kind = "acp_permissions",
    format_item = function(one)
      local session = sessions.get(one.session)
      local agent = session and sessions.name(session) or "the agent"
      local kind, title = Lines.one_line(one.request.kind), Lines.one_line(one.request.title)
      return ("%s: %s%s"):format(agent, kind ~= "" and kind .. "  " or "", title)
    end,
  }, function(one)
    vim.cmd.redraw()
    if one then
      M.options(one)
    end
  end)
end

return M
