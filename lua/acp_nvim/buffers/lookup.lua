-- Finds the loaded buffer of a file, with symbolic links resolved.

local M = {}

local api = vim.api
local REALPATH_MS = 2000 -- that the real path of a buffer is cached

---@type table<string, { real: string, until_ms: integer }>
local cache = {}

---@param path string absolute
---@return string real path; of a file that does not exist: below the real path of the nearest existing directory
function M.real(path)
  local real = vim.uv.fs_realpath(path)
  local directory = vim.fs.dirname(path)
  if real or directory == path then
    return real or path
  end
  return vim.fs.joinpath(M.real(directory), vim.fs.basename(path))
end

---@return boolean the buffer holds a file; those of plugins whose names are URLs (prompts, `oil://`) do not
function M.is_file(bufnr)
  local buftype, name = vim.bo[bufnr].buftype, api.nvim_buf_get_name(bufnr)
  return api.nvim_buf_is_loaded(bufnr)
    and (buftype == "" or buftype == "acwrite")
    and name ~= ""
    and not name:find("^%a[%w+.-]*://")
end

---@return integer[] loaded buffers of files
function M.file_buffers()
  return vim.tbl_filter(M.is_file, api.nvim_list_bufs())
end

function M.real_path(bufnr)
  local name, now = api.nvim_buf_get_name(bufnr), vim.uv.now()
  local entry = cache[name]
  if not entry or entry.until_ms < now then
    entry = { real = M.real(name), until_ms = now + REALPATH_MS }
    cache[name] = entry
  end
  return entry.real
end

---@param bufnr integer whose name may lead to another file now
function M.forget(bufnr)
  cache[api.nvim_buf_get_name(bufnr)] = nil
end

---@return table<string, integer> real path -> loaded buffer; a modified buffer takes precedence
function M.by_path()
  local found = {}
  for _, bufnr in ipairs(M.file_buffers()) do
    local path = M.real_path(bufnr)
    if not found[path] or (vim.bo[bufnr].modified and not vim.bo[found[path]].modified) then
      found[path] = bufnr
    end
  end
  return found
end

---@return integer? bufnr a modified buffer takes precedence over others of the same file
function M.find(path)
  return M.by_path()[M.real(path)]
end

---@return integer? bufnr of a terminal with that name
function M.find_terminal(path)
  local real = M.real(path)
  for _, bufnr in ipairs(api.nvim_list_bufs()) do
    if vim.bo[bufnr].buftype == "terminal" and M.real_path(bufnr) == real then
      return bufnr
    end
  end
end

return M
