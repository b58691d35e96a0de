-- Buffers whose file was deleted or renamed: keeps the text, and shows a note for a deleted file.
local highlights = require("acp_nvim.kernel.highlights")
local names = require("acp_nvim.names")
local stamp = require("acp_nvim.buffers.stamp")

local M = {}

local api = vim.api
local NS = api.nvim_create_namespace("acp_nvim.gone")

---@param is_gone boolean the file is deleted
function M.show(bufnr, is_gone)
  if not is_gone and not vim.b[bufnr].acp_nvim_deleted then
    return
  end
  api.nvim_buf_clear_namespace(bufnr, NS, 0, -1)
  vim.b[bufnr].acp_nvim_deleted = is_gone or nil
  if is_gone then
    highlights.define()
    api.nvim_buf_set_extmark(bufnr, NS, 0, 0, {
      virt_text = { { " deleted on disk, :write brings it back ", "AcpNoticeWarn" } },
      virt_text_pos = "right_align",
    })
  end
end

---@param old string previous name: Neovim creates another buffer for it
local function drop_old_name(bufnr, old)
  for _, other in ipairs(api.nvim_list_bufs()) do
    if other ~= bufnr and api.nvim_buf_get_name(other) == old and not api.nvim_buf_is_loaded(other) then
      api.nvim_buf_delete(other, { force = true })
    end
  end
end

---@param path string that no buffer has
---@return boolean renamed
function M.rename(bufnr, path)
  local old, alternate = api.nvim_buf_get_name(bufnr), names.alternate_buffer()
  if not pcall(api.nvim_buf_set_name, bufnr, names.of_buffer(path)) then
    return false
  end
  drop_old_name(bufnr, old)
  if alternate > 0 and api.nvim_buf_is_valid(alternate) then
    vim.fn.setreg("#", alternate)
  end
  stamp.settle(bufnr)
  local filetype = names.filetype(path, bufnr)
  if filetype and filetype ~= vim.bo[bufnr].filetype then
    vim.bo[bufnr].filetype = filetype
  end
  return true
end

return M
