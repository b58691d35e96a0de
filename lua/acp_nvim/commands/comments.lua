-- The user's commands for comments: add, edit, remove and send them.
local comments = require("acp_nvim.review.comments")
local dialog = require("acp_nvim.kernel.dialog")
local entry = require("acp_nvim.render.file_changes")
local lazy = require("acp_nvim.lazy")
local marks = require("acp_nvim.review.comments.marks")
local client = lazy("acp_nvim.sessions.client")
local mentions = lazy("acp_nvim.mentions")
local message = require("acp_nvim.kernel.message")
local name_of = require("acp_nvim.kernel.relative_path")
local quickfix = require("acp_nvim.review.files.quickfix")

local M = {}

local api = vim.api
local NONE = "there are no comments (:AcpReview comment adds one)"

---Lets the user write a comment, or edit one. A new comment has its place from now on: the text may change meanwhile.
---@param bufnr integer
---@param first integer 1-based
---@param last integer 1-based, included
---@param before? acp.ReviewComment to be edited
local function ask(bufnr, first, last, before)
  local comment = before or comments.add(bufnr, first, last, "")
  dialog.input({ prompt = "Comment: ", default = comment.text }, function(line)
    local text = line and vim.trim(line:gsub("%s*\n%s*", " ")) or ""
    if text ~= "" then
      comments.set_text(comment, text)
    elseif not before then
      comments.remove({ comment })
    end
  end)
end

---Adds a comment to lines of the current buffer. Without a text, the user is asked for it: on the line of a single comment,
---and without a range, for that comment.
---@param args vim.api.keyset.create_user_command.command_args
---@param text string
function M.add(args, text)
  local bufnr = api.nvim_get_current_buf()
  if not comments.is_possible(bufnr) then
    return message.error("only the lines of a file can have comments: this buffer is not a file")
  end
  comments.restore()
  local first, last = math.max(args.line1, 1), math.max(args.line2, 1)
  if text ~= "" then
    comments.add(bufnr, first, last, text)
    return
  end
  local here = args.range == 0 and comments.within(bufnr, first, last) or {}
  ask(bufnr, first, last, #here == 1 and here[1] or nil)
end

---Removes the comments on lines of the current buffer.
---@param args vim.api.keyset.create_user_command.command_args
function M.remove(args)
  local here = comments.within(api.nvim_get_current_buf(), math.max(args.line1, 1), math.max(args.line2, 1))
  comments.remove(here)
  message.info(#here == 0 and "there is no comment here" or entry.plural(#here, "comment") .. " removed")
end

---@param comment acp.ReviewComment
---@param cwd string
---@return string[] lines
local function lines_of(comment, cwd)
  local name = name_of(comment.path, cwd)
  local words = comment.is_gone and " " .. marks.range_words(comment) or ""
  local lines = { ("%s:%d-%d%s"):format(name, comment.first, comment.last, words) }
  local quoted, more = marks.quote(comment)
  for _, line in ipairs(quoted) do
    lines[#lines + 1] = vim.trim("> " .. line:gsub("[\r\n]", " "))
  end
  if more > 0 then
    lines[#lines + 1] = ("> ... %s"):format(entry.plural(more, "more line"))
  end
  return vim.list_extend(lines, { "", comment.text }) -- the empty line ends the quotation
end

---@param list acp.ReviewComment[]
---@param cwd string
---@return string
local function prompt_of(list, cwd)
  local lines = { "My review comments:" }
  for _, comment in ipairs(list) do
    lines[#lines + 1] = ""
    vim.list_extend(lines, lines_of(comment, cwd))
  end
  return table.concat(lines, "\n")
end

---@param list acp.ReviewComment[]
---@return string[]
local function texts_of(list)
  return vim.tbl_map(function(comment)
    return comment.text
  end, list)
end

local is_sending = false -- their mentions are being resolved

---@param session acp.Session
---@param list acp.ReviewComment[]
local function send_to(session, list)
  is_sending = true
  mentions.resolve(session, table.concat(texts_of(list), "\n"), function(items, problem)
    is_sending = false
    if problem then
      return message.error(problem .. " (the comments were not sent)")
    end
    list = vim.tbl_filter(function(comment)
      return vim.list_contains(list, comment)
    end, comments.all()) -- some may have been removed meanwhile
    local text = prompt_of(list, vim.uv.fs_realpath(session.cwd) or session.cwd)
    local is_sent, reason = client.prompt(text, { session_id = session.key, context = items })
    if is_sent then -- from now on the queue keeps the text
      comments.remove(list, true)
      message.info(("%s sent"):format(entry.plural(#list, "comment")))
    else
      message.error(("the comments were not sent%s"):format(reason and ": " .. reason or ""))
    end
  end)
end

---Sends all comments as one prompt. They are removed once the prompt was sent. Those of Neovims that are gone are sent only
---if there are no others, lest the user sends what they have not seen.
function M.send()
  if #comments.all() == 0 then
    comments.restore()
  end
  local list = comments.all()
  if #list == 0 then
    return message.info(NONE)
  elseif is_sending then
    return message.info("the comments are being sent")
  end
  client.with_agent(false, function(agent)
    local session = client.session_or_problem(agent)
    if session then
      send_to(session, list)
    end
  end)
end

---Puts all comments into a quickfix list.
function M.list()
  comments.restore()
  if #comments.all() == 0 then
    return message.info(NONE)
  end
  quickfix.open_comments()
end

return M
