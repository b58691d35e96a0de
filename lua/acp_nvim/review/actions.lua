-- Keeps and rejects what the agent did: hunks of the current buffer, whole files, all that a session changed.
local config = require("acp_nvim.config")
local edits = require("acp_nvim.review.edits")
local entry = require("acp_nvim.review.entry")
local files = require("acp_nvim.review.files")
local host = require("acp_nvim.host")
local hunk_keys = require("acp_nvim.hunks.keys")
local lookup = require("acp_nvim.buffers.lookup")
local message = require("acp_nvim.message")
local sessions = require("acp_nvim.sessions")

local M = {}

local api = vim.api

---@alias acp.ReviewAction "keep"|"reject"|"mine"|"theirs"|"both"

---@alias acp.LinePaths fun(first: integer, last: integer): string[] rows -> paths

---@type table<integer, acp.LinePaths> buffers whose lines stand for changed files: the list, the text of a deleted file
local standing_for = {}

local DONE = { keep = "kept", reject = "rejected" }

---@param action acp.ReviewAction
---@return boolean
local function is_choice(action)
  return DONE[action] == nil
end

---@param bufnr integer
---@param first integer row
---@param last integer row
---@return string[]? paths of the changed files that these lines stand for; nil when the buffer is no such one
local function paths_at(bufnr, first, last)
  return standing_for[bufnr] and standing_for[bufnr](first, last)
end

---@param path string
local function flush(path)
  local bufnr = lookup.find(path)
  if bufnr then
    edits.flush(bufnr)
  end
end

---The host is told what the user has changed in any file under review.
function M.flush_all()
  for _, review in ipairs(files.all()) do
    flush(review.path)
  end
end

---@param action acp.ReviewAction
---@param paths string[]
local function whole(action, paths)
  if #paths == 0 then
    return message.info("no file is on this line")
  end
  for _, path in ipairs(paths) do
    flush(path)
    host.send("review", { action = action, path = path })
  end
end

---@param key string an action of the configuration
---@return string
local function hint(key)
  local first = config.keys(key)[1]
  return first and (" (%s goes to the next)"):format(first) or ""
end

---@param action acp.ReviewAction
---@param touched acp.HunkPlace[]
local function say_why_not(action, touched)
  if #touched == 0 then
    message.info("no hunk is here" .. hint("review_next"))
  elseif is_choice(action) then
    message.info("no conflict is here")
  else
    message.info("this is a conflict: mine, theirs or both")
  end
end

---Acts on the hunks at these rows of the current buffer.
---@param action acp.ReviewAction
---@param first integer row
---@param last integer row
function M.lines(action, first, last)
  local bufnr = api.nvim_get_current_buf()
  local paths = paths_at(bufnr, first, last)
  local review = files.of_buffer(bufnr)
  if paths then
    return whole(action, paths)
  elseif not review then
    return message.info("this buffer has nothing to review")
  end
  local touched = files.hunks(bufnr, first, last)
  touched = first == last and { touched[1] } or touched
  local meant = vim.tbl_filter(function(hunk)
    return (hunk.by == "conflict") == is_choice(action)
  end, touched)
  if #meant > 0 then
    edits.flush(bufnr)
    local ids = vim.tbl_map(function(hunk)
      return hunk.id
    end, meant)
    host.send("review", { action = action, path = review.path, hunks = ids })
  elseif review.hunks and #review.hunks == 0 then
    whole(action, { review.path }) -- a file that differs in something else than lines
  else
    say_why_not(action, touched)
  end
end

---@param action acp.ReviewAction
---@return fun() for a key
function M.on_selection(action)
  return function()
    local here, there = vim.fn.line("."), vim.fn.line("v")
    if vim.fn.mode():match("^[vV\22]") then
      vim.cmd("normal! \27")
    end
    M.lines(action, math.min(here, there) - 1, math.max(here, there) - 1)
  end
end

---@param action "keep"|"reject"
---@return boolean done false when the current buffer is of no file under review
function M.file(action)
  local bufnr = api.nvim_get_current_buf()
  local review = files.of_buffer(bufnr)
  local row = api.nvim_win_get_cursor(0)[1] - 1
  local paths = review and { review.path } or paths_at(bufnr, row, row)
  if paths then
    whole(action, paths)
  end
  return paths ~= nil
end

---@return acp.Review[] of the current session; those that no session of this Neovim has made when there is none of it
---@return acp.Session?
local function of_session()
  local session = sessions.current()
  local all = files.all()
  local mine = vim.tbl_filter(function(review)
    return session ~= nil and vim.list_contains(review.sessions or {}, session.key)
  end, all)
  if #mine > 0 then
    return mine, session
  end
  local foreign = vim.iter(all):any(function(review)
    return #(review.sessions or {}) > 0
  end)
  return foreign and {} or all, nil
end

---All files of the current session. A rejection leaves alone what nobody saw the agent change.
---@param action "keep"|"reject"
---@param force? boolean it does not; the agent's own records stay in any case
function M.session(action, force)
  local mine, session = of_session()
  if #mine == 0 then
    local others = #files.to_review()
    local words = others > 0 and (" of this session (%s of others: :AcpReview)"):format(entry.plural(others, "file"))
      or ""
    return message.info("nothing is left to review" .. words)
  end
  M.flush_all()
  host.send("review", { action = action, session = session and session.key, force = force })
end

---@type acp.HunkKey[] those that also mean something where lines stand for whole files
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

---The lines of a buffer stand for changed files: it has the keys that keep and reject these.
---@param bufnr integer
---@param paths acp.LinePaths
function M.stand_for(bufnr, paths)
  standing_for[bufnr] = paths
  api.nvim_create_autocmd("BufWipeout", {
    buffer = bufnr,
    once = true,
    callback = function()
      standing_for[bufnr] = nil
    end,
  })
  hunk_keys.give(bufnr, "review", M.keys)
end

---The host has kept or rejected the files of a session.
---@param event acp.Event of type judged
function M.judged(event)
  local done, count = DONE[event.action], #event.files
  local back = event.undo_id ~= "" and "; :AcpRestore undo takes it back" or ""
  local lines = { count > 0 and ("%s: %s%s"):format(done, entry.plural(count, "file"), back) or "nothing was " .. done }
  vim.list_extend(lines, entry.left_words(event.left or {}, ":AcpReview! rejectall rejects them too"))
  message.info(table.concat(lines, "\n"))
end

return M
