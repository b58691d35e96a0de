-- Names the files that Neovim reads when it loads or writes another one. Agents and projects may have made them.
local lookup = require("acp_nvim.buffers.lookup")
local names = require("acp_nvim.names")
local swap = require("acp_nvim.buffers.swap")

local M = {}

---@param path string absolute
---@return string[] paths of the undo files that it may have
function M.undo(path)
  local real = lookup.real(path)
  return vim.tbl_map(function(directory)
    if directory == "." then
      return ("%s/.%s.un~"):format(vim.fs.dirname(real), vim.fs.basename(real))
    end
    return vim.fs.joinpath(directory, (real:gsub("/", "%%")))
  end, swap.directories(vim.o.undodir))
end

---@param path string absolute
---@return string[] paths of files that may exist
function M.of(path)
  local found = vim.go.undofile and M.undo(path) or {}
  if vim.g.editorconfig ~= false then
    for directory in vim.fs.parents(names.configured(path)) do -- as Neovim does, which replaces variables
      found[#found + 1] = vim.fs.joinpath(directory, ".editorconfig")
    end
  end
  return found
end

return M
