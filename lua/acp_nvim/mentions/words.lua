-- Creates context items from Neovim's state: the selection, diagnostics, the quickfix list, the git diff.
local code = require("acp_nvim.mentions.code")
local context = require("acp_nvim.mentions.context")
local git = require("acp_nvim.kernel.git")
local limits = require("acp_nvim.limits")
local message = require("acp_nvim.kernel.message")
local values = require("acp_nvim.problems.values")

local M = {}

local api = vim.api
local MENTION_LINES = 500 -- of diagnostics or the quickfix list: more would not be fixed at once
local MENTION_BYTES = 2000 -- of one of them
local MOST_COPIED = 5000 -- diagnostics of which those are chosen
local TOO_LONG = 124 -- exit code after a timeout
local SEVERITIES = { "error", "warning", "info", "hint" }

---@return boolean the last code window has a selection
function M.has_selection()
  local win = code.window()
  return win ~= nil and api.nvim_buf_get_mark(api.nvim_win_get_buf(win), "<")[1] > 0
end

---@return acp.ContextItem? nil when the last code window has no selection
function M.selection(cwd)
  local win = code.window()
  if not win then
    return nil
  end
  local mode = api.nvim_win_call(win, vim.fn.visualmode)
  return context.selection(api.nvim_win_get_buf(win), mode, cwd)
end

local function name_of(bufnr, cwd)
  local name = api.nvim_buf_get_name(bufnr)
  return name == "" and ("[No Name %d]"):format(bufnr) or context.short(name, cwd)
end

---@param lines string[] `MENTION_LINES` at most
---@param count integer how many there would be
---@param what string plural noun
local function bounded(lines, count, what)
  local more = count > #lines and ("\n(and %d more %s)"):format(count - #lines, what) or ""
  return table.concat(lines, "\n") .. more .. "\n"
end

---@param one vim.Diagnostic whose members may have any type: whoever set it was not checked
---@return string
local function line_of(one, cwd)
  local source = values.words(one.source)
  local message = vim.trim(type(one.message) == "string" and values.cut(one.message, MENTION_BYTES) or "?")
  local place = ("%s:%d:%d"):format(
    name_of(one.bufnr, cwd),
    (values.count(one.lnum) or 0) + 1,
    (values.count(one.col) or 0) + 1
  )
  local words = message:gsub("%s*\n%s*", " ")
  return ("%s: %s: %s%s"):format(
    place,
    SEVERITIES[one.severity] or "info",
    words,
    source and (" [%s]"):format(source) or ""
  )
end

---Neovim copies each diagnostic that it is asked for, so that it is asked for those of a severity only if they are few.
---@param bufnr? integer nil: all buffers
---@return vim.Diagnostic[] the most severe ones
---@return integer count of all
local function diagnostics(bufnr)
  local counts, count = vim.diagnostic.count(bufnr), 0
  for _, number in pairs(counts) do
    count = count + number
  end
  if count <= MOST_COPIED then
    return vim.list_slice(vim.diagnostic.get(bufnr), 1, MENTION_LINES), count
  end
  local found, room = {}, MOST_COPIED
  for severity = 1, #SEVERITIES do
    local number = counts[severity] or 0
    room = room - number
    if room < 0 then
      break
    elseif number > 0 then
      vim.list_extend(found, vim.diagnostic.get(bufnr, { severity = severity }))
    end
  end
  return vim.list_slice(found, 1, MENTION_LINES), count
end

---@param everywhere boolean
---@return acp.ContextItem? nil when there are none
function M.diagnostics(cwd, everywhere)
  local bufnr = not everywhere and code.buffer() or nil
  if not bufnr and not everywhere then
    return nil
  end
  local found, count = diagnostics(bufnr)
  local lines = vim.tbl_map(function(one)
    return line_of(one, cwd)
  end, found)
  local name = bufnr and ("diagnostics of %s"):format(name_of(bufnr, cwd)) or "diagnostics of all buffers"
  return count > 0 and context.words(name, bounded(lines, count, "diagnostics")) or nil
end

---@return acp.ContextItem? nil when the list is empty
function M.quickfix(cwd)
  local list = vim.fn.getqflist({ size = 0, title = 0, id = 0 })
  local lines = {}
  for index = 1, math.min(list.size, MENTION_LINES) do
    local item = vim.fn.getqflist({ id = list.id, idx = index, items = 0 }).items[1] -- a copy of one, not of all
    local place = item.bufnr > 0 and ("%s:%d:%d: "):format(name_of(item.bufnr, cwd), item.lnum, item.col) or ""
    lines[#lines + 1] = place .. vim.trim(values.cut(item.text, MENTION_BYTES))
  end
  local title = list.title:gsub("%c", " ")
  local name = "quickfix list" .. (title ~= "" and (" (%s)"):format(title:sub(1, 60)) or "")
  return #lines > 0 and context.words(name, bounded(lines, list.size, "entries")) or nil
end

---@return boolean the directory may have a diff
function M.has_git(cwd)
  return vim.fn.executable("git") == 1 and vim.fs.root(cwd, ".git") ~= nil
end

---Attaches the diff to the last commit, staged or not. Runs no program of the project: files with filters (git-lfs)
---appear as they are on disk, submodules as commits.
---@param done fun(item?: acp.ContextItem) called once; nil: no diff, or git failed
function M.diff(cwd, done)
  local arguments = { "diff", "--no-ext-diff", "--no-textconv", "--no-color", "--submodule=short" }
  vim.list_extend(arguments, { "--ignore-submodules=dirty", "HEAD", "--", "." })
  local chunks, size, process = {}, 0, nil
  local function read(_, chunk)
    size = size + #(chunk or "")
    table.insert(chunks, chunk)
    if size > limits.mention_bytes and process then
      process:kill("sigterm")
    end
  end
  local function ended(result)
    local text = table.concat(chunks)
    if #text > limits.mention_bytes then
      text = text:sub(1, limits.mention_bytes):match("^(.*\n)") .. "(the diff is cut here: it is larger)\n"
    elseif result.code ~= 0 then
      text = ""
      if result.code == TOO_LONG then
        message.warn(("@diff is empty: git took longer than %d s in %s"):format(limits.git_ms / 1000, cwd))
      end
    end
    done(text ~= "" and context.words("git diff", text) or nil)
  end
  git.run_without_filters(cwd, arguments, read, ended, function(started)
    process = started
  end)
end

return M
