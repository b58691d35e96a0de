-- Determines the directory of a new session, by the option `root`.
local config = require("acp_nvim.config")
local message = require("acp_nvim.kernel.message")
local names = require("acp_nvim.names")
local windows = require("acp_nvim.windows.open")

local M = {}

local api = vim.api

---@return integer bufnr of the code that the user works in, else the current buffer
local function code_buffer()
  local current = api.nvim_get_current_win()
  local win = windows.is_code(current) and current or windows.other() or current
  return api.nvim_win_get_buf(win)
end

---@param cwd string
---@return string top directory of the git repository that the buffer's file is in, else of that of `cwd`
local function of_git(bufnr, cwd)
  local name = api.nvim_buf_get_name(bufnr)
  local is_file = vim.bo[bufnr].buftype == "" and name ~= "" and not name:match("^%a[%w+.-]*://")
  return is_file and vim.fs.root(vim.fs.dirname(name), ".git") or vim.fs.root(cwd, ".git") or cwd
end

---@param choose fun(bufnr: integer): any of the user
---@return string? directory
---@return string? problem
local function chosen(choose, bufnr)
  local ok, answer = pcall(choose, bufnr)
  if not ok then
    return nil, ("your function for `root` failed: %s"):format(answer)
  elseif type(answer) ~= "string" or answer == "" or answer:find("%z") then
    return nil, ("your function for `root` has to return a directory, not %s"):format(vim.inspect(answer))
  end
  local directory = names.normalized(names.absolute(answer))
  if (vim.uv.fs_stat(directory) or {}).type ~= "directory" then
    return nil, ("your function for `root` has returned %s, which is no directory"):format(answer)
  end
  return directory
end

---@return string directory of a session that is begun now
function M.directory()
  local root, cwd = config.get().root, vim.fn.getcwd()
  if root == "git" then
    return of_git(code_buffer(), cwd)
  elseif type(root) ~= "function" then
    return cwd
  end
  local directory, problem = chosen(root, code_buffer())
  if problem then
    message.error(("%s (%s is used instead)"):format(problem, names.below_home(cwd)))
  end
  return directory or cwd
end

return M
