-- Implements :AcpReview and :AcpRestore.
local actions = require("acp_nvim.review.files.actions")
local commenting = require("acp_nvim.commands.comments")
local command_line_window = require("acp_nvim.kernel.command_line")
local files = require("acp_nvim.review.files")
local hint = require("acp_nvim.kernel.hint")
local list = require("acp_nvim.review.files.list")
local loading = require("acp_nvim.review.files.loading")
local message = require("acp_nvim.kernel.message")
local open = require("acp_nvim.review.files.open")
local preview_view = require("acp_nvim.review.previews.view")
local previews = require("acp_nvim.review.previews")
local quickfix = require("acp_nvim.review.files.quickfix")
local restore = require("acp_nvim.review.files.restore")

local M = {}

---@param action acp.ReviewAction
---@return fun(args: vim.api.keyset.create_user_command.command_args)
local function on_lines(action)
  return function(args)
    -- without a range both are the line of the cursor
    actions.lines(action, args.line1 - 1, args.line2 - 1)
  end
end

---@param action "keep"|"reject"
---@return fun(args: vim.api.keyset.create_user_command.command_args)
local function on_all(action)
  return function(args)
    if args.bang or vim.bo.filetype == "acp_review" or not actions.file(action) then
      actions.session(action, args.bang and action == "reject" or nil)
    end
  end
end

---@param run fun()
local function with_files(run)
  return function()
    loading.with_files(function()
      if #files.to_review() == 0 then
        return message.info("nothing to review but the agent's own records (:AcpReview)")
      end
      run()
    end)
  end
end

local function go(backwards)
  return with_files(function()
    local all = open.in_order()
    if files.of_buffer(vim.api.nvim_get_current_buf()) then
      open.step(backwards)
    else
      open.file(all[backwards and #all or 1].path)
    end
  end)
end

---@type table<string, fun(args: vim.api.keyset.create_user_command.command_args, text: string)>
local SUBCOMMANDS = {
  [""] = function()
    local request = not files.has_any() and previews.requests()[1]
    if request then
      preview_view.open(request)
    else
      loading.with_files(list.open)
    end
  end,
  keep = on_lines("keep"),
  reject = on_lines("reject"),
  mine = on_lines("mine"),
  theirs = on_lines("theirs"),
  both = on_lines("both"),
  keepall = on_all("keep"),
  rejectall = on_all("reject"),
  next = go(false),
  prev = go(true),
  quickfix = with_files(quickfix.open),
  comment = commenting.add,
  uncomment = commenting.remove,
  comments = commenting.list,
  send = commenting.send,
}

---@param lead string
---@param line? string the command line
---@return string[]
function M.complete(lead, line)
  if line and line:find("AcpReview!?%s+%S+%s") then
    return {} -- the text of a comment
  end
  local words = vim.tbl_filter(function(word)
    return word ~= "" and vim.startswith(word, lead)
  end, vim.tbl_keys(SUBCOMMANDS))
  table.sort(words)
  return words
end

function M.review(args)
  local word, text = args.args:match("^(%S*)%s*(.-)%s*$")
  local run = SUBCOMMANDS[word]
  if run and (text == "" or word == "comment") then
    return command_line_window.refuses() or run(args, text)
  end
  local known = M.complete("")
  local near = hint(args.args, known)
  message.error((":AcpReview takes one of %s, not %q%s"):format(table.concat(known, ", "), args.args, near))
end

function M.restore(args)
  if command_line_window.refuses() then
    return
  elseif args.args == "" or args.args == "undo" then
    restore.start(args.args == "undo", args.bang)
  else
    message.error((":AcpRestore takes nothing, or undo, not %q"):format(args.args))
  end
end

return M
