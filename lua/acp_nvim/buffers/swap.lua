-- Detects other users of a file by swap files: a running Neovim, or one that died with unsaved text.
local M = {}

---@param directory string an entry of 'directory'
---@return string path of the swap file without its suffix
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

local function swap_files(path)
  local found = {}
  for _, directory in ipairs(vim.split(vim.o.directory, ",", { plain = true })) do
    local pattern = vim.fn.escape(stem(vim.fs.normalize(directory) .. (directory:match("//$") or ""), path), "[]{}*?\\")
    vim.list_extend(found, vim.fn.glob(pattern .. ".s[a-w][a-z]", true, true, true))
  end
  return found
end

---Checks for swap files that are not regular files: reading a FIFO would block.
---@return string? problem nil when Neovim can read the swap files
function M.obstacle(path)
  for _, swap in ipairs(swap_files(path)) do
    local stat = vim.uv.fs_stat(swap)
    if stat and stat.type ~= "file" then
      return ("%s is no swap file, but has the name of a swap file of %s: remove it"):format(swap, path)
    end
  end
end

---@param path string real path
---@param own? string path of our own swap file
---@return string? problem the other user of the file
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
    if info.pid and info.pid > 0 and (not is_here or select(3, vim.uv.kill(info.pid, 0)) ~= "ESRCH") then
      return ("another Neovim (process %d) has the file open"):format(info.pid)
    elseif info.dirty == 1 then
      local words = "a Neovim that crashed left unsaved changes in the swap file %s: recover or delete it first"
      return words:format(swap)
    end
  end
end

return M
