-- Shows the first lines of a file or a buffer, to who chooses it.
local file_buffer = require("acp_nvim.file_buffer")
local limits = require("acp_nvim.limits")

local M = {}

local api = vim.api

---@param text string
---@return string
local function first_lines(text)
  local lines = vim.split(text, "\r?\n")
  return table.concat(lines, "\n", 1, math.min(#lines, limits.peek_lines))
end

---@param path string absolute
---@param done fun(text?: string) not in a fast event
local function of_file(path, done)
  local answer = vim.schedule_wrap(done)
  vim.uv.fs_stat(path, function(_, stat)
    if not stat or stat.type ~= "file" then -- to open a FIFO would wait for its writer
      return answer(nil)
    end
    vim.uv.fs_open(path, file_buffer.READ, 0, function(_, descriptor)
      if not descriptor then
        return answer(nil)
      end
      vim.uv.fs_read(descriptor, limits.peek_bytes, 0, function(_, data)
        vim.uv.fs_close(descriptor, function() end)
        answer(data and not data:find("%z") and first_lines(data) or nil)
      end)
    end)
  end)
end

---@param data { bufnr?: integer, path?: string }
---@param done fun(text?: string) called once, not in a fast event
function M.show(data, done)
  if data.bufnr and api.nvim_buf_is_loaded(data.bufnr) then
    local lines = api.nvim_buf_get_lines(data.bufnr, 0, limits.peek_lines, false)
    done(table.concat(lines, "\n"):sub(1, limits.peek_bytes))
  elseif data.path then
    of_file(data.path, done)
  else
    done(nil)
  end
end

return M
