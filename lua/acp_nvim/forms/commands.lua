-- The body of :AcpForms: the questions of agents that wait.
local Lines = require("acp_nvim.chat.blocks.lines")
local command_line_window = require("acp_nvim.command_line_window")
local forms = require("acp_nvim.forms")
local message = require("acp_nvim.message")

local M = {}

---Opens the one that waits, or asks which.
function M.open()
  if command_line_window.refuses() then
    return
  end
  local waiting = forms.list()
  if #waiting == 0 then
    message.info("no agent has a question")
  elseif #waiting == 1 then
    forms.open(waiting[1].id)
  else
    vim.ui.select(waiting, {
      prompt = ("%d questions wait"):format(#waiting),
      kind = "acp_forms",
      format_item = function(one)
        return ("%s: %s"):format(one.agent, Lines.one_line(one.message))
      end,
    }, function(one)
      if one then
        forms.open(one.id)
      end
    end)
  end
end

return M
