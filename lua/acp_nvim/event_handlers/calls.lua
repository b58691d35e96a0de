-- What becomes of the answers to what was asked of tool calls, by the event's type.
local details = require("acp_nvim.chat.targets.details")
local message = require("acp_nvim.message")
local open_place = require("acp_nvim.chat.targets.open_place")
local targets = require("acp_nvim.chat.targets")

---@type table<string, fun(session: acp.Session, event: acp.Event)>
return {
  call_details = function(session, event)
    details.told(session, event, targets.open_written)
  end,
  call_media = function(_, event)
    if event.path then
      open_place.uri(event.path)
    else
      message.news("It cannot be opened: " .. (event.problem or "the host does not say why"), vim.log.levels.WARN)
    end
  end,
}
