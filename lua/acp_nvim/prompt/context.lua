-- Turns lines of a buffer into something to attach to a prompt.
local M = {}

---@param bufnr integer
---@return string path absolute, or the name of a buffer that is no file
---@return string uri
local function place(bufnr)
  local name = vim.api.nvim_buf_get_name(bufnr)
  if name == "" then
    return ("[No Name %d]"):format(bufnr), ("untitled:%d"):format(bufnr)
  elseif name:match("^%a[%w+.-]*://") then
    return name, name
  end
  return name, vim.uri_from_fname(name)
end

---@param bufnr integer
---@param first integer 1-based
---@param last integer 1-based, included
---@param cwd string names below it are shortened
---@return acp.ContextItem
function M.lines(bufnr, first, last, cwd)
  local path, uri = place(bufnr)
  local relative = vim.startswith(path, cwd .. "/") and path:sub(#cwd + 2) or vim.fn.fnamemodify(path, ":~")
  local lines = vim.api.nvim_buf_get_lines(bufnr, first - 1, last, false)
  local filetype = vim.bo[bufnr].filetype
  return {
    uri = ("%s#L%d-%d"):format(uri, first, last),
    name = ("%s:%d-%d"):format(relative, first, last),
    text = table.concat(lines, "\n") .. "\n",
    mime_type = filetype ~= "" and "text/x-" .. filetype or "text/plain",
  }
end

return M
