-- Shows what a restore would change, as a patch in a tab of its own.
local entry = require("acp_nvim.review.entry")
local left = require("acp_nvim.review.left")

local M = {}

local api = vim.api

---@param words string which turn it is
---@param event acp.Event of type restore_plan
---@param cwd string
---@return string[]
local function head(words, event, cwd)
  local real = vim.uv.fs_realpath(cwd) or cwd
  local lines = { "Go back to before  " .. words, "" }
  for _, file in ipairs(event.files) do
    local note = file.conflict and "  (conflict: your own edits stay, and you choose in the review)" or ""
    table.insert(lines, "  " .. entry.text(entry.pieces(file, real)) .. note)
  end
  local kept = left.listed(event.left or {}, real)
  if #kept > 0 then
    vim.list_extend(lines, { "", "Left alone, since it is not proven that the agent changed them:" })
    vim.list_extend(lines, kept)
  end
  table.insert(lines, "")
  return lines
end

---@param words string
---@param event acp.Event of type restore_plan; its patch is a unified diff
---@param cwd string
---@return fun() close
function M.open(words, event, cwd)
  local before = api.nvim_get_current_tabpage()
  local bufnr = api.nvim_create_buf(false, true)
  local lines = head(words, event, cwd)
  vim.list_extend(lines, vim.split((event.patch:gsub("\n$", "")), "\n", { plain = true }))
  api.nvim_buf_set_lines(bufnr, 0, -1, true, lines)
  vim.bo[bufnr].bufhidden = "wipe"
  vim.bo[bufnr].filetype = "diff"
  vim.bo[bufnr].modifiable = false
  vim.cmd(("tab sbuffer %d"):format(bufnr))
  return function()
    if api.nvim_buf_is_valid(bufnr) then
      api.nvim_buf_delete(bufnr, { force = true })
    end
    if api.nvim_tabpage_is_valid(before) then
      api.nvim_set_current_tabpage(before)
    end
  end
end

return M
