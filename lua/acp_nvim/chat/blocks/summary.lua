-- Draws which files a turn has changed, and how to go back to before it.
local Lines = require("acp_nvim.chat.blocks.lines")
local entry = require("acp_nvim.review.entry")
local limits = require("acp_nvim.limits")

---@param event acp.Event of type summary
---@param cwd string of the session
---@return acp.Rendered
return function(event, cwd)
  local out = Lines.new()
  local real = vim.uv.fs_realpath(cwd) or cwd
  local rows = {}
  local title = { { "Changed " .. entry.plural(#event.files, "file"), "AcpAgentHeader" } }
  out:add(vim.list_extend(title, entry.counts(entry.sum(event.files))))
  for index, file in ipairs(event.files) do
    if index > limits.summary_files then
      out:add({ { ("  … %d more (:AcpReview)"):format(#event.files - limits.summary_files), "AcpToolDetail" } })
      break
    end
    rows[#out.lines] = { path = file.path }
    out:add(entry.pieces(file, real))
  end
  if event.id then
    local time = event.time and (" (%s)"):format(os.date("%H:%M", math.floor(event.time))) or ""
    rows[#out.lines] = { checkpoint = event.id, words = "this turn" .. time }
    out:add({ { "  ⟲ :AcpRestore goes back to before this turn" .. time, "AcpToolDetail" } })
  end
  local rendered = out:rendered()
  rendered.target_rows = rows
  return rendered
end
