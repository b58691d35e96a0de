-- Creates context items from Neovim's state: the selection, diagnostics, the quickfix list, the git diff.
local code = require("acp_nvim.prompt.mentions.code")
local context = require("acp_nvim.prompt.context")
local git = require("acp_nvim.git")
local limits = require("acp_nvim.limits")
local message = require("acp_nvim.message")

local M = {}

local api = vim.api
local MENTION_LINES = 500 -- of diagnostics or the quickfix list: more would not be fixed at once
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

---@param what string plural noun
local function bounded(lines, what)
  local most = MENTION_LINES
  local left = #lines - most
  local more = left > 0 and ("\n(and %d more %s)"):format(left, what) or ""
  return table.concat(lines, "\n", 1, math.min(#lines, most)) .. more .. "\n"
end

---@param bufnr? integer nil: all buffers
local function diagnostics(bufnr, cwd)
  return vim.tbl_map(function(diagnostic)
    local source = diagnostic.source and (" [%s]"):format(diagnostic.source) or ""
    local message = vim.trim(diagnostic.message):gsub("%s*\n%s*", " ")
    local place = ("%s:%d:%d"):format(name_of(diagnostic.bufnr, cwd), diagnostic.lnum + 1, diagnostic.col + 1)
    return ("%s: %s: %s%s"):format(place, SEVERITIES[diagnostic.severity] or "info", message, source)
  end, vim.diagnostic.get(bufnr))
end

---@param everywhere boolean
---@return acp.ContextItem? nil when there are none
function M.diagnostics(cwd, everywhere)
  local bufnr = not everywhere and code.buffer() or nil
  if not bufnr and not everywhere then
    return nil
  end
  local lines = diagnostics(bufnr, cwd)
  local name = bufnr and ("diagnostics of %s"):format(name_of(bufnr, cwd)) or "diagnostics of all buffers"
  return #lines > 0 and context.words(name, bounded(lines, "diagnostics")) or nil
end

---@return acp.ContextItem? nil when the list is empty
function M.quickfix(cwd)
  local list = vim.fn.getqflist({ items = 0, title = 0 })
  local lines = {}
  for _, item in ipairs(list.items) do
    local place = item.bufnr > 0 and ("%s:%d:%d: "):format(name_of(item.bufnr, cwd), item.lnum, item.col) or ""
    table.insert(lines, place .. vim.trim(item.text))
  end
  local title = list.title:gsub("%c", " ")
  local name = "quickfix list" .. (title ~= "" and (" (%s)"):format(title:sub(1, 60)) or "")
  return #lines > 0 and context.words(name, bounded(lines, "entries")) or nil
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
    done(text ~= "" and context.words("git diff", text, "text/x-diff") or nil)
  end
  git.run_without_filters(cwd, arguments, read, ended, function(started)
    process = started
  end)
end

return M
