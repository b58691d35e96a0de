-- Draws a message of the plugin in the chat.
local Lines = require("acp_nvim.render.lines")

local GROUPS = { info = "AcpNoticeInfo", warn = "AcpNoticeWarn", error = "AcpNoticeError" }
local MARKS = { info = "· ", warn = "! ", error = "✗ " }

---@return acp.Rendered
return function(level, text)
  local out = Lines.new()
  local mark = MARKS[level] or MARKS.info
  for index, line in ipairs(vim.split((text:gsub("[\r\n]+$", "")), "\r?\n")) do
    out:add_whole((index == 1 and mark or "  ") .. line, GROUPS[level] or GROUPS.info)
  end
  return out:rendered()
end
