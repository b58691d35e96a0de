-- Restores files to their state before a turn: lets the user choose it, previews the changes, and reports the result.
local Lines = require("acp_nvim.render.lines")
local actions = require("acp_nvim.review.files.actions")
local command_line = require("acp_nvim.kernel.command_line")
local dialog = require("acp_nvim.kernel.dialog")
local entry = require("acp_nvim.render.file_changes")
local host = require("acp_nvim.host")
local late = require("acp_nvim.kernel.late")
local loading = require("acp_nvim.review.files.loading")
local message = require("acp_nvim.kernel.message")
local names = require("acp_nvim.names")
local switch = require("acp_nvim.windows.switch")

local M = {}

local api = vim.api
local TO_BEFORE = "Restore the files to the state before"

---@class acp.Restoring
---@field step "list"|"plan" whose answer is awaited
---@field cwd string
---@field undo? boolean
---@field force? boolean also files whose changes are not proven to be the agent's
---@field id? string of the checkpoint
---@field words? string describe the turn
---@field on_answer fun(open: fun(), words: string) opens a list, unless the user has typed meanwhile

---@type acp.Restoring? what the user was asked for last; answers of the host to other steps are late
local restoring
---@type table<string, true> checkpoints whose restore is an undo, until the host has carried it out
local undoing = {}

---@param one acp.Checkpoint
local function line_of(one)
  local seconds = math.floor(one.time)
  local today = os.date("%Y-%m-%d", seconds) == os.date("%Y-%m-%d")
  local time = os.date(today and "%H:%M" or "%Y-%m-%d %H:%M", seconds)
  local counts = entry.text(entry.counts(one))
  local changed = one.files == 0 and "no files" or entry.plural(one.files, "file")
  local prompt = Lines.one_line(one.prompt)
  local subject = ("%s: %s"):format(one.agent or "agent", prompt)
  if one.kind ~= "turn" then
    local what = one.is_undo and "your undo" or one.kind == "restore" and "your restore" or "your rejection"
    local is_undone = not one.undo and not one.is_undo
    subject = what .. (is_undone and " (undone)" or "") .. (prompt ~= "" and ": " .. prompt or "")
  end
  return ("%s  %s%s  %s"):format(time, changed, counts ~= "" and " " .. counts or "", subject)
end

---Requests a preview of the restore to before a turn.
---@param id string of its checkpoint
---@param words string describe the turn
---@param force? boolean restore also files whose changes are not proven to be the agent's
function M.to(id, cwd, words, force)
  actions.flush_all()
  restoring = { step = "plan", cwd = cwd, id = id, words = words, force = force, on_answer = late.wait() }
  host.send("restore_plan", { id = id, cwd = cwd, force = force })
end

---@param force? boolean
---@param undo? boolean
local function restore(cwd, id, force, undo)
  actions.flush_all()
  restoring = nil
  undoing[id] = undo or nil
  host.send("restore", { id = id, cwd = cwd, force = force })
end

---Lets the user choose a turn, or undoes the last restore or rejection.
---@param undo boolean
---@param force? boolean restore also files whose changes are not proven to be the agent's
function M.start(undo, force)
  local on_answer = late.wait()
  restoring = { step = "list", cwd = loading.directory(), undo = undo, force = force or nil, on_answer = on_answer }
  loading.load(restoring.cwd)
  if not host.send("checkpoints", { cwd = restoring.cwd }) then
    restoring = nil
  end
end

---@param asked acp.Restoring
---@param list acp.Checkpoint[]
local function continue_with(asked, list)
  local where = names.below_home(asked.cwd)
  if asked.undo then
    local last = vim.iter(list):find(function(one)
      return one.undo == true
    end)
    if not last then
      return message.info("there is nothing to undo in " .. where .. ": no restore, and no rejection")
    end
    return restore(asked.cwd, last.id, nil, true)
  elseif #list == 0 then
    local words = "there is nothing to restore in %s: no turn has changed files%s"
    return message.info(words:format(where, loading.so_far(asked.cwd)))
  end
  asked.on_answer(function()
    dialog.select(list, { prompt = TO_BEFORE .. ":", kind = "acp_checkpoint", format_item = line_of }, function(one)
      if one then
        M.to(one.id, asked.cwd, line_of(one), asked.force)
      end
    end)
  end, "the turns are listed: type :AcpRestore again")
end

---Shows a dialog after the batch, so that the host does not wait for the user.
---@param question fun()
local function ask_later(question)
  vim.schedule(function()
    if command_line.has_focus() then
      return message.error("leave the command-line window (:q), then :AcpRestore again")
    end
    question()
  end)
end

---Continues with the list of checkpoints.
---@param event acp.Event of type checkpoints
function M.checkpoints(event)
  local asked = restoring
  if not asked or asked.step ~= "list" then
    return
  end
  restoring = nil
  ask_later(function()
    continue_with(asked, event.checkpoints)
  end)
end

---Shows what a restore would change, as a patch in a new tab page.
---@param words string describe the turn
---@param event acp.Event of type restore_plan; its patch is a unified diff
---@return fun() close
local function open_preview(words, event, cwd)
  local before = api.nvim_get_current_tabpage()
  local bufnr = api.nvim_create_buf(false, true)
  local real = vim.uv.fs_realpath(cwd) or cwd
  local lines = { TO_BEFORE .. ":  " .. words, "" }
  for _, file in ipairs(event.files) do
    local note = file.conflict and "  (conflict: your own edits stay, and you choose in the review)" or ""
    table.insert(lines, "  " .. entry.text(entry.pieces(file, real)) .. note)
  end
  local left = entry.left_listed(event.left or {}, real)
  if #left > 0 then
    vim.list_extend(lines, { "", "Left alone, because it is not known who changed them:" })
    vim.list_extend(lines, left)
  end
  table.insert(lines, "")
  vim.list_extend(lines, vim.split((event.patch:gsub("\n$", "")), "\n", { plain = true }))
  api.nvim_buf_set_lines(bufnr, 0, -1, true, lines)
  vim.bo[bufnr].bufhidden = "wipe"
  vim.bo[bufnr].filetype = "diff"
  vim.bo[bufnr].modifiable = false
  switch.open(bufnr, true)
  return function()
    if api.nvim_buf_is_valid(bufnr) then
      switch.delete(bufnr)
    end
    if api.nvim_tabpage_is_valid(before) then
      api.nvim_set_current_tabpage(before)
    end
  end
end

local FORCE = ":AcpRestore! restores them, too"

---@param asked acp.Restoring
---@param event acp.Event of type restore_plan
local function confirm(asked, event)
  local files = event.files
  if #files == 0 then
    local kept = entry.left_words(event.left or {}, FORCE)
    local words = #kept > 0 and "there is nothing else to restore" or "all files are as they were then"
    return message.info(table.concat({ words, unpack(kept) }, "\n"))
  end
  local close = open_preview(asked.words, event, asked.cwd)
  local yes = #files == 1 and "Restore this file" or ("Restore these %d files"):format(#files)
  local busy = loading.busy(asked.cwd) -- agents that may write in the directory meanwhile
  local warning = #busy > 0 and (" (%s works here now, and may write them again)"):format(table.concat(busy, ", "))
    or ""
  local prompt = ("Restore %s?%s"):format(entry.plural(#files, "file"), warning)
  vim.cmd.redraw()
  dialog.confirm({ prompt = prompt, kind = "acp_restore", yes = yes, no = "Cancel" }, function(is_yes)
    close()
    if is_yes then
      restore(asked.cwd, asked.id, asked.force)
    end
  end)
end

---Continues with the preview of a restore.
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
    asked.on_answer(function()
      confirm(asked, event)
    end, "the preview is ready: type :AcpRestore again")
  end)
end

---Reports the result of a restore.
---@param event acp.Event of type restored
function M.restored(event)
  local is_undo = undoing[event.id] == true
  undoing[event.id] = nil
  local count, conflicts, lines = #event.files, event.conflicts, {}
  if count > 0 then
    local back = is_undo and "undone: %s restored" or "%s restored; undo it with :AcpRestore undo"
    table.insert(lines, back:format(entry.plural(count, "file")))
  elseif not event.problem then
    table.insert(lines, is_undo and "nothing had to be undone" or "no file was restored")
  end
  if event.problem then
    table.insert(lines, (count > 0 and "but: " or "") .. event.problem)
  elseif #conflicts > 0 then
    local listed = vim.tbl_map(names.short, conflicts)
    table.insert(
      lines,
      "your own edits stay in these files; resolve the conflicts with :AcpReview: " .. table.concat(listed, ", ")
    )
  end
  vim.list_extend(lines, entry.left_words(event.left or {}, FORCE))
  local say = event.problem and message.error or #conflicts > 0 and message.warn or message.info
  say(table.concat(lines, "\n"))
end

return M
