-- Draws a question of the agent in the chat, and its outcome.
local Lines = require("acp_nvim.render.lines")
local config = require("acp_nvim.config")

local MESSAGE_LINES = 10 -- shown of a message: the form shows all of it
local DONE = { accept = "✓ answered", decline = "✗ declined", cancel = "– cancelled" }
local REASONS = {
  withdrawn = "– withdrawn by the agent",
  cancelled = "– cancelled",
  agent_gone = "– cancelled: the agent is gone",
}

local function add_outcome(out, question, touched)
  local url, outcome = question.request.url, question.outcome --[[@as table]]
  local words = REASONS[outcome.why] or DONE[outcome.action] or tostring(outcome.action)
  if url then
    out:add({ "  ", { url.url, "AcpToolDetail" } })
    local opened = question.complete and "✓ done" or "✓ opened: the agent goes on when you are done there"
    words = outcome.action == "accept" and opened or words
  end
  out:add({ "  ", { words, "AcpToolDetail" } })
  for _, answer in ipairs(outcome.answers or {}) do
    local text = Lines.one_line(answer.text)
    out:add({ "    ", { Lines.one_line(answer.title) .. ": ", "AcpToolDetail" }, text })
  end
  if outcome.why and touched then
    local key = config.keys("open")[1] or ":AcpForms"
    out:add({ { ("  what you had filled in is kept: %s shows it"):format(key), "AcpToolDetail" } })
  end
end

local function add_waiting(out, request)
  if request.url then
    out:add({ "  ", request.url.url })
  else
    local titles = vim.tbl_map(function(field)
      return Lines.one_line(field.title)
    end, request.fields or {})
    out:add({ { "  " .. table.concat(titles, ", "), "AcpToolDetail" } })
  end
  local key = config.keys("open")[1]
  out:add({ "  ", { key or ":AcpForms", "AcpFormKey" }, request.url and " shows where it leads" or " opens the form" })
end

---@param question acp.Question
---@param touched boolean the user has filled in some field
---@return acp.Rendered
return function(question, touched)
  local request = question.request
  local out = Lines.new()
  local waits = not question.outcome
  out:add({
    { waits and "Question for you" or "Question", waits and "AcpForm" or "AcpToolDetail" },
    "  ",
    { Lines.one_line(request.message), waits and "AcpToolTitle" or "AcpToolDetail" },
  })
  if waits then
    local more = Lines.further_lines(request.message)
    for index = 1, math.min(#more, MESSAGE_LINES) do
      out:add({ "  ", more[index] })
    end
    add_waiting(out, request)
  else
    add_outcome(out, question, touched)
  end
  out.ranges = { { 0, #out.lines - 1, { form = request.id } } }
  return out:rendered()
end
