-- Draws the list of files that a turn has changed, and how to restore the state before it.
local Lines = require("acp_nvim.render.lines")
local entry = require("acp_nvim.render.file_changes")

local SUMMARY_FILES = 200 -- shown of one turn: several tall screens; :AcpReview lists all of them

---@return { file?: acp.ChangedFile, title?: string }[] without the agent's own records
local function rows_of(by_group)
  local rows = {}
  for _, by in ipairs({ "agent", "unknown", "user" }) do
    if by ~= "agent" and #by_group[by] > 0 then
      table.insert(rows, { title = entry.TITLES[by] })
    end
    for _, file in ipairs(by_group[by]) do
      table.insert(rows, { file = file })
    end
  end
  return rows
end

local function add_records(out, records, before)
  if records > 0 then
    out:add({ { ("%s%s of the agent's own records"):format(before, entry.plural(records, "file")), "AcpToolDetail" } })
  end
end

---@param event acp.Event of type summary
---@param cwd string of the session
---@return acp.Rendered
return function(event, cwd)
  local out = Lines.new()
  local real = vim.uv.fs_realpath(cwd) or cwd
  local by_group = entry.grouped(event.files)
  local records, shown = #by_group.state, 0
  if records == #event.files and records > 0 then
    add_records(out, records, "Changed ")
    return out:rendered()
  end
  local others = vim.tbl_filter(function(file)
    return file.by ~= "state"
  end, event.files)
  local title = { { "Changed " .. entry.plural(#others, "file"), "AcpAgentHeader" } }
  out:add(vim.list_extend(title, entry.counts(entry.sum(others))))
  for _, row in ipairs(rows_of(by_group)) do
    shown = shown + (row.file and 1 or 0)
    if shown > SUMMARY_FILES then
      out:add({ { ("  … %d more (:AcpReview)"):format(#others - SUMMARY_FILES), "AcpToolDetail" } })
      break
    elseif row.file then
      out.targets[#out.lines] = { path = row.file.path }
      local why = entry.WHOSE[row.file.by] and Lines.one_line(row.file.why) or ""
      local about = why ~= "" and { { "  " .. why, "AcpToolDetail" } } or {}
      out:add(vim.list_extend(entry.pieces(row.file, real), about))
    else
      out:add({ "  ", { row.title .. ":", "AcpReviewUnknown" } })
    end
  end
  add_records(out, records, "  and ")
  if event.id then
    local time = event.time and os.date("%H:%M", math.floor(event.time)) --[[@as string?]]
    out.targets[#out.lines] = { checkpoint = event.id, words = "this turn" .. (time and (" (%s)"):format(time) or "") }
    -- the time is first: 'linebreak' would break within it at the edge of the window
    local words = (time and time .. "  " or "") .. ":AcpRestore goes back to before this turn"
    out:add({ { "  ⟲ " .. words, "AcpToolDetail" } })
  end
  return out:rendered()
end
