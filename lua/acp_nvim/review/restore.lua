-- Goes back to a turn: asks which one, shows what would change, and says what came of it.
local Lines = require("acp_nvim.chat.blocks.lines")
local actions = require("acp_nvim.review.actions")
local entry = require("acp_nvim.review.entry")
local host = require("acp_nvim.host")
local loading = require("acp_nvim.review.loading")
local message = require("acp_nvim.message")
local sessions = require("acp_nvim.sessions")
local states = require("acp_nvim.states")

local M = {}

local api = vim.api

---What the user is about to do; the host's answers to anything else are late.
---@class acp.Restoring
---@field step "list"|"plan"|"restore"
---@field cwd string
---@field undo? boolean
---@field force? boolean files that nobody saw the agent change are meant, too
---@field id? string
---@field words? string

---@type acp.Restoring?
local restoring

---@param time number
---@return string
local function clock(time)
  local seconds = math.floor(time)
  local today = os.date("%Y-%m-%d", seconds) == os.date("%Y-%m-%d")
  return os.date(today and "%H:%M" or "%Y-%m-%d %H:%M", seconds) --[[@as string]]
end

---@param one acp.Checkpoint
---@return string
local function subject(one)
  local prompt = Lines.one_line(one.prompt)
  if one.kind == "restore" then
    return "undo this restore" .. (prompt ~= "" and ": " .. prompt or "")
  elseif one.kind == "reject" then
    return "undo this rejection" .. (prompt ~= "" and ": " .. prompt or "")
  end
  return ("%s: %s"):format(one.agent or "agent", prompt)
end

---@param one acp.Checkpoint
---@return string
local function line_of(one)
  local counts = entry.text(entry.counts(entry.sum(one.files)))
  local changed = #one.files == 0 and "no files" or entry.plural(#one.files, "file")
  return ("%s  %s%s  %s"):format(clock(one.time), changed, counts ~= "" and " " .. counts or "", subject(one))
end

---@param cwd string
---@return string words for the agents that may write there while files are restored; empty when none does
local function working(cwd)
  local names = {}
  for _, session in ipairs(sessions.all()) do
    if session.cwd == cwd and states.is_busy(session.status.state) then
      table.insert(names, session.agent or "the agent")
    end
  end
  return #names > 0 and (" (%s works here now, and may write them again)"):format(table.concat(names, ", ")) or ""
end

---Shows what going back to before one turn would change.
---@param id string of its checkpoint
---@param cwd string
---@param words string which turn that is
---@param force? boolean files that nobody saw the agent change are restored, too
function M.to(id, cwd, words, force)
  actions.flush_all()
  restoring = { step = "plan", cwd = cwd, id = id, words = words, force = force }
  host.send("restore_plan", { id = id, cwd = cwd, force = force })
end

---@param cwd string
---@param id string
---@param force? boolean
---@param undo? boolean
local function restore(cwd, id, force, undo)
  actions.flush_all()
  restoring = { step = "restore", cwd = cwd, id = id, undo = undo }
  host.send("restore", { id = id, cwd = cwd, force = force })
end

---Lists the turns to go back to; or takes back the last restore or rejection that was not taken back yet.
---@param undo boolean
---@param force? boolean files that nobody saw the agent change are restored, too
function M.start(undo, force)
  restoring = { step = "list", cwd = loading.directory(), undo = undo, force = force or nil }
  loading.load(restoring.cwd)
  if not host.send("checkpoints", { cwd = restoring.cwd }) then
    restoring = nil
  end
end

---@param asked acp.Restoring
---@param list acp.Checkpoint[]
local function undo_last(asked, list)
  local last = vim.iter(list):find(function(one)
    return one.undo == true
  end)
  if last then
    restore(asked.cwd, last.id, nil, true)
  else
    message.info("nothing is left to take back: no restore and no rejection")
  end
end

---@param asked acp.Restoring
---@param list acp.Checkpoint[]
local function choose(asked, list)
  if #list == 0 then
    return message.info("there is no turn to go back to in " .. vim.fn.fnamemodify(asked.cwd, ":~"))
  end
  vim.ui.select(list, { prompt = "Go back to before", kind = "acp_checkpoint", format_item = line_of }, function(one)
    if one then
      M.to(one.id, asked.cwd, line_of(one), asked.force)
    end
  end)
end

---A question to the user must not keep the host waiting.
---@param question fun()
local function ask_later(question)
  vim.schedule(function()
    if vim.fn.getcmdwintype() ~= "" then
      return message.error("leave the command-line window (:q), then :AcpRestore again")
    end
    question()
  end)
end

---The answer to the first question.
---@param event acp.Event of type checkpoints
function M.checkpoints(event)
  local asked = restoring
  if not asked or asked.step ~= "list" then
    return
  end
  restoring = nil
  ask_later(function()
    (asked.undo and undo_last or choose)(asked, event.checkpoints)
  end)
end

---@param words string which turn it is
---@param event acp.Event of type restore_plan
---@param cwd string
---@return string[]
local function preview_head(words, event, cwd)
  local real = vim.uv.fs_realpath(cwd) or cwd
  local lines = { "Go back to before  " .. words, "" }
  for _, file in ipairs(event.files) do
    local note = file.conflict and "  (conflict: your own edits stay, and you choose in the review)" or ""
    table.insert(lines, "  " .. entry.text(entry.pieces(file, real)) .. note)
  end
  local kept = entry.left_listed(event.left or {}, real)
  if #kept > 0 then
    vim.list_extend(lines, { "", "Left alone, since it is not proven that the agent changed them:" })
    vim.list_extend(lines, kept)
  end
  table.insert(lines, "")
  return lines
end

---Shows what a restore would change, as a patch in a tab of its own.
---@param words string
---@param event acp.Event of type restore_plan; its patch is a unified diff
---@param cwd string
---@return fun() close
local function open_preview(words, event, cwd)
  local before = api.nvim_get_current_tabpage()
  local bufnr = api.nvim_create_buf(false, true)
  local lines = preview_head(words, event, cwd)
  vim.list_extend(lines, vim.split((event.patch:gsub("\n$", "")), "\n", { plain = true }))
  api.nvim_buf_set_lines(bufnr, 0, -1, true, lines)
  vim.bo[bufnr].bufhidden = "wipe"
  vim.bo[bufnr].filetype = "diff"
  vim.bo[bufnr].modifiable = false
  vim.cmd(("tab sbuffer %d"):format(bufnr))
  return function()
    if api.nvim_buf_is_valid(bufnr) then
      api.nvim_buf_delete(bufnr, { force = true })
    end
    if api.nvim_tabpage_is_valid(before) then
      api.nvim_set_current_tabpage(before)
    end
  end
end

local FORCE = ":AcpRestore! takes them back, too"

---@param asked acp.Restoring
---@param event acp.Event of type restore_plan
local function confirm(asked, event)
  local files = event.files
  if #files == 0 then
    local kept = entry.left_words(event.left or {}, FORCE)
    local words = #kept > 0 and "nothing else is to be restored" or "all files are as they were then"
    return message.info(table.concat({ words, unpack(kept) }, "\n"))
  end
  local close = open_preview(asked.words, event, asked.cwd)
  local yes = #files == 1 and "Restore this file" or ("Restore these %d files"):format(#files)
  local prompt = ("Restore %s?%s"):format(entry.plural(#files, "file"), working(asked.cwd))
  vim.cmd.redraw()
  local ok = pcall(vim.ui.select, { yes, "Cancel" }, { prompt = prompt, kind = "acp_restore" }, function(choice)
    close()
    if choice == yes then
      restore(asked.cwd, asked.id, asked.force)
    end
  end)
  if not ok then -- interrupted
    close()
  end
end

---The answer to the second question.
---@param event acp.Event of type restore_plan
function M.planned(event)
  local asked = restoring
  if not asked or asked.step ~= "plan" or asked.id ~= event.id then
    return
  end
  restoring = nil
  ask_later(function()
    if event.problem then
      return message.error(event.problem)
    end
    confirm(asked, event)
  end)
end

---@param paths string[]
---@return string
local function names(paths)
  local short = vim.tbl_map(function(path)
    return vim.fn.fnamemodify(path, ":~:.")
  end, paths)
  return table.concat(short, ", ")
end

---@param event acp.Event of type restored
function M.restored(event)
  local is_undo = restoring ~= nil and restoring.undo == true
  restoring = nil
  local count, conflicts, lines = #event.files, event.conflicts, {}
  if count > 0 then
    local back = is_undo and ":AcpRestore undo takes back the one before" or ":AcpRestore undo takes it back"
    table.insert(lines, ("%s restored; %s"):format(entry.plural(count, "file"), back))
  elseif not event.problem then
    table.insert(lines, "nothing was restored")
  end
  if event.problem then
    table.insert(lines, (count > 0 and "but: " or "") .. event.problem)
  elseif #conflicts > 0 then
    table.insert(lines, "your own edits stay, choose with :AcpReview: " .. names(conflicts))
  end
  vim.list_extend(lines, entry.left_words(event.left or {}, FORCE))
  local say = event.problem and message.error or #conflicts > 0 and message.warn or message.info
  say(table.concat(lines, "\n"))
end

return M
