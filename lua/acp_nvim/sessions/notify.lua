-- Notifies the user of the end of a turn or of a waiting request, unless the chat is visible.
local Lines = require("acp_nvim.render.lines")
local cells = require("acp_nvim.render.cells")
local config = require("acp_nvim.config")
local float = require("acp_nvim.permission.float")
local message = require("acp_nvim.kernel.message")
local sessions = require("acp_nvim.host.sessions")
local unread = require("acp_nvim.chat.unread")

local M = {}

---Rings the terminal bell. Ignores 'belloff': the option `notify.bell` is explicit.
local function ring()
  for _, ui in ipairs(config.get().notify.bell and vim.api.nvim_list_uis() or {}) do
    if ui.stdout_tty then
      local send = vim.api.nvim_ui_send -- since Neovim 0.12
      return send and send("\a") or vim.api.nvim_chan_send(2, "\a")
    end
  end
end

local function show(session, words, level)
  message.news(("%s %s"):format(cells.plain(sessions.name(session)), words), level)
  ring()
end

---@param request acp.Request
function M.permission(session, request)
  local is_shown = unread.has_focus() and float.shows(request.id)
  if config.get().notify.permission and not unread.is_seen(session) and not is_shown then
    local title = (request.title or ""):match("^[^\r\n]*")
    show(session, "asks you (:AcpChat): " .. title, vim.log.levels.WARN)
  end
end

---@param request acp.FormRequest
function M.question(session, request)
  if config.get().notify.permission and not unread.is_seen(session) then
    show(session, "has a question (:AcpForms): " .. Lines.one_line(request.message), vim.log.levels.WARN)
  end
end

---@type table<string, string>
local ENDS = {
  refusal = "has refused to continue",
  max_tokens = "has reached its limit of tokens",
  max_turn_requests = "has reached its limit of model requests in a turn",
}

---@param stop_reason string
function M.turn_end(session, stop_reason)
  local goes_on = (session.status.queue or 0) > 0
  -- the user cancelled it, or the error has its own message
  if stop_reason == "cancelled" or stop_reason == "error" or goes_on or unread.is_seen(session) then
    return
  end
  if config.get().notify.turn_end then
    local title = cells.plain(session.status.title)
    local is_good = stop_reason == "end_turn"
    local words = is_good and "is done"
      or ENDS[stop_reason]
      or ("stopped: %s"):format(cells.plain((stop_reason:gsub("(%w)_(%w)", "%1 %2"))))
    local about = title ~= "" and (": %s"):format(title) or ""
    show(session, ("%s (:AcpChat)%s"):format(words, about), vim.log.levels[is_good and "INFO" or "WARN"])
  end
end

return M
