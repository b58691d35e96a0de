-- Finds what a path in a mention leads to: a buffer, a file, a directory; asks the disk without waiting for it.
local lookup = require("acp_nvim.buffers.lookup")

local M = {}

local api = vim.api

---@param text string as it was typed
---@param cwd string
---@return string absolute
function M.absolute(text, cwd)
  if text == "~" or vim.startswith(text, "~/") then
    text = (vim.uv.os_homedir() or "~") .. text:sub(2)
  elseif not text:match("^/") and not text:match("^%a:[/\\]") then
    text = cwd .. "/" .. text
  end
  return vim.fs.normalize(text, { expand_env = false })
end

---@param path string absolute
---@param real? string
---@return integer? bufnr that is loaded and has that name, or that file
local function buffer_of(path, real)
  for _, bufnr in ipairs(api.nvim_list_bufs()) do
    if lookup.is_file(bufnr) then
      local name = api.nvim_buf_get_name(bufnr)
      if name == path or real and lookup.real_path(bufnr) == real then
        return bufnr
      end
    end
  end
end

---@class acp.Place
---@field path string absolute
---@field kind "file"|"directory"|"other"
---@field bufnr? integer loaded
---@field real? string nil: it is not on disk

---@param text string as it was typed
---@param cwd string
---@param done fun(place?: acp.Place) nil: there is nothing; called once, not in a fast event
function M.find(text, cwd, done)
  local path = M.absolute(text, cwd)
  vim.uv.fs_stat(path, function(_, stat)
    if not stat then
      vim.schedule(function()
        local bufnr = buffer_of(path)
        done(bufnr and { path = path, kind = "file", bufnr = bufnr } or nil)
      end)
      return
    end
    vim.uv.fs_realpath(path, function(_, real)
      vim.schedule(function()
        local kind = ({ file = "file", directory = "directory" })[stat.type] or "other"
        done({ path = path, kind = kind, real = real, bufnr = kind == "file" and buffer_of(path, real) or nil })
      end)
    end)
  end)
end

return M
