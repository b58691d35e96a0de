-- Finds out whether somebody else has a file open: another Neovim that lives, or one that died with unsaved text.
local M = {}

---@param directory string one of 'directory'
---@param path string
---@return string without the suffix
local function stem(directory, path)
  if vim.endswith(directory, "//") then
    return vim.fs.joinpath((directory:gsub("/+$", "")), (path:gsub("/", "%%"))) -- :help 'directory'
  end
  local folder, name = vim.fs.dirname(path), vim.fs.basename(path)
  if directory == "." then
    return vim.fs.joinpath(folder, "." .. name)
  elseif vim.startswith(directory, "./") then
    return vim.fs.joinpath(folder, directory:sub(3), name)
  end
  return vim.fs.joinpath(directory, name)
end

---@param path string
---@return string[]
local function swap_files(path)
  local found = {}
  for _, directory in ipairs(vim.split(vim.o.directory, ",", { plain = true })) do
    local pattern = vim.fn.escape(stem(vim.fs.normalize(directory) .. (directory:match("//$") or ""), path), "[]{}*?\\")
    vim.list_extend(found, vim.fn.glob(pattern .. ".s[a-w][a-z]", true, true, true))
  end
  return found
end

---To read a swap file that is none, a FIFO for example, may wait for ever.
---@param path string
---@return string? words nil when nothing is in the way of Neovim's own look at them
function M.obstacle(path)
  for _, swap in ipairs(swap_files(path)) do
    local stat = vim.uv.fs_stat(swap)
    if stat and stat.type ~= "file" then
      return ("%s is no swap file, and is in the way of the one of %s: remove it"):format(swap, path)
    end
  end
end

---@param pid integer
---@return boolean
local function is_alive(pid)
  local _, _, code = vim.uv.kill(pid, 0)
  return code ~= "ESRCH"
end

---@param path string real path
---@param own? string the swap file that is ours
---@return string? who has it, in words
function M.foreign(path, own)
  local obstacle = M.obstacle(path)
  if obstacle then
    return obstacle
  end
  for _, swap in ipairs(swap_files(path)) do
    local info = (not own or vim.uv.fs_realpath(swap) ~= vim.uv.fs_realpath(own)) and vim.fn.swapinfo(swap) or {}
    local is_here = info.host == vim.uv.os_gethostname()
    if is_here and info.pid == vim.fn.getpid() then
      info = {}
    end
    if info.pid and info.pid > 0 and (not is_here or is_alive(info.pid)) then
      return ("another Neovim (process %d) has the file open"):format(info.pid)
    elseif info.dirty == 1 then
      local words = "a Neovim that has ended left unsaved text of it in %s: recover it or delete that file first"
      return words:format(swap)
    end
  end
end

return M
