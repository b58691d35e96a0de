-- Keeps and rejects what the agent did: hunks of the current buffer, whole files, or all files of a session.
local config = require("acp_nvim.config")
local edits = require("acp_nvim.buffers.edits")
local entry = require("acp_nvim.render.file_changes")
local files = require("acp_nvim.review.files")
local host = require("acp_nvim.host")
local hunk_keys = require("acp_nvim.review.hunks.keys")
local loading = require("acp_nvim.review.files.loading")
local lookup = require("acp_nvim.buffers.lookup")
local message = require("acp_nvim.kernel.message")
local sessions = require("acp_nvim.host.sessions")

local M = {}

local api = vim.api

---@alias acp.ReviewAction "keep"|"reject"|"mine"|"theirs"|"both" the last three choose a side of a conflict

---@alias acp.LinePaths fun(first: integer, last: integer): string[] rows -> paths

---@type table<integer, acp.LinePaths> buffers whose lines represent changed files: the list, the text of a deleted file
local line_paths = {}

local DONE = { keep = "kept", reject = "rejected" }

---@type string? the action on all files, and the session, whose result the host is about to tell
local judging

local function flush(path)
  local bufnr = lookup.find(path)
  if bufnr then
    edits.flush(bufnr)
  end
end

---Reports to the host what the user has changed in all files under review.
function M.flush_all()
  for _, review in ipairs(files.all()) do
    flush(review.path)
  end
end

---@param action acp.ReviewAction
---@param paths string[]
local function apply_to_files(action, paths)
  if #paths == 0 then
    return message.info("there is no file on this line")
  end
  for _, path in ipairs(paths) do
    flush(path)
    host.send("review", { action = action, path = path })
  end
end

---Applies an action to the hunks at these rows of the current buffer.
---@param action acp.ReviewAction
---@param first integer row
---@param last integer row
function M.lines(action, first, last)
  local bufnr = api.nvim_get_current_buf()
  local review = files.of_buffer(bufnr)
  if line_paths[bufnr] then
    return apply_to_files(action, line_paths[bufnr](first, last))
  elseif not review then
    return message.info("this buffer has nothing to review")
  end
  local touched = files.hunks(bufnr, first, last)
  touched = first == last and { touched[1] } or touched
  local is_choice, ids = DONE[action] == nil, {}
  for _, hunk in ipairs(touched) do
    ids[#ids + 1] = (hunk.by == "conflict") == is_choice and hunk.id or nil
  end
  if #ids > 0 then
    edits.flush(bufnr)
    host.send("review", { action = action, path = review.path, hunks = ids })
  elseif review.hunks and #review.hunks == 0 then
    apply_to_files(action, { review.path }) -- the file differs, but not in its lines
  elseif #touched == 0 then
    local key = config.keys("review_next")[1]
    message.info("there is no hunk here" .. (key and (" (%s goes to the next)"):format(key) or ""))
  elseif is_choice then
    message.info("there is no conflict here")
  else
    message.info("this hunk is a conflict: resolve it with :AcpReview mine, theirs or both")
  end
end

---@param action acp.ReviewAction
---@return fun() for a key: applies the action to the line of the cursor, or to the selected lines
function M.on_selection(action)
  return function()
    local here, there = vim.fn.line("."), vim.fn.line("v")
    if vim.fn.mode():match("^[vV\22]") then
      vim.cmd("normal! \27")
    end
    M.lines(action, math.min(here, there) - 1, math.max(here, there) - 1)
  end
end

---Applies an action to the file of the current buffer, or of the line of the cursor.
---@param action "keep"|"reject"
---@return boolean done false when there is no file under review
function M.file(action)
  local bufnr = api.nvim_get_current_buf()
  local review = files.of_buffer(bufnr)
  local row = api.nvim_win_get_cursor(0)[1] - 1
  local paths = review and { review.path } or line_paths[bufnr] and line_paths[bufnr](row, row)
  if paths then
    apply_to_files(action, paths)
  end
  return paths ~= nil
end

---@param session? acp.Session
local function judge_all(action, force, session)
  local all, is_foreign = files.all(), false
  local mine = vim.tbl_filter(function(review)
    is_foreign = is_foreign or #(review.sessions or {}) > 0
    return session ~= nil and vim.list_contains(review.sessions or {}, session.key)
  end, all)
  if #mine == 0 and (is_foreign or #all == 0) then
    local others = #files.to_review()
    local words = others > 0 and (" of this session (%s of others: :AcpReview)"):format(entry.plural(others, "file"))
      or ""
    return message.info("nothing is left to review" .. words)
  end
  local asked = ("%s %s %s"):format(action, #mine > 0 and session.key or "all", force and "too" or "")
  if judging == asked then
    return message.info("that is still being done: the result will be told")
  end
  M.flush_all()
  judging = asked
  host.send("review", { action = action, session = #mine > 0 and session.key or nil, force = force })
end

---Applies an action to all files of the current session. When no session of this Neovim has changed any file, these are
---all files under review.
---@param action "keep"|"reject"
---@param force? boolean reject, too, what is not proven to be the agent's change, but not the agent's own records
function M.session(action, force)
  local session = sessions.current()
  loading.when_known(function()
    judge_all(action, force, session)
  end)
end

---@type acp.HunkKey[] those that also work where lines represent files
M.keys = {
  { action = "review_keep", modes = { "n", "x" }, run = M.on_selection("keep") },
  { action = "review_reject", modes = { "n", "x" }, run = M.on_selection("reject") },
  -- stylua: ignore
  { action = "review_keep_all", modes = { "n" }, run = function() M.file("keep") end },
  -- stylua: ignore
  { action = "review_reject_all", modes = { "n" }, run = function() M.file("reject") end },
  -- stylua: ignore
  { action = "review_help", modes = { "n" }, run = function() hunk_keys.help("review_", "Keys of the review") end },
}

---Makes the lines of a buffer represent changed files, and maps the keys that keep and reject these.
---@param paths acp.LinePaths
function M.represent(bufnr, paths)
  line_paths[bufnr] = paths
  api.nvim_create_autocmd("BufWipeout", {
    buffer = bufnr,
    once = true,
    callback = function()
      line_paths[bufnr] = nil
    end,
  })
  hunk_keys.give(bufnr, "review", M.keys)
end

---Shows the result of keeping or rejecting the files of a session.
---@param event acp.Event of type judged
function M.judged(event)
  local done, count = DONE[event.action], #event.files
  local back = event.undo_id ~= "" and "; undo it with :AcpRestore undo" or ""
  local lines = { count > 0 and ("%s: %s%s"):format(done, entry.plural(count, "file"), back) or "nothing was " .. done }
  vim.list_extend(lines, entry.left_words(event.left or {}, ":AcpReview! rejectall rejects them too"))
  message.info(table.concat(lines, "\n"))
  vim.schedule(function() -- after the list has been filled again
    judging = nil
  end)
end

---@return boolean the result of keeping or rejecting all files of a session is about to be shown, or was just shown
function M.is_judging()
  return judging ~= nil
end

host.on_exit(function()
  judging = nil
end)

return M
