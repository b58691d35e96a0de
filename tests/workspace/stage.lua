-- What the sequences ask of Neovim, in one request each.
local M = {}

local api = vim.api

---@param path string
---@return integer? bufnr loaded, of that name
function M.find(path)
  for _, nr in ipairs(api.nvim_list_bufs()) do
    if api.nvim_buf_is_loaded(nr) and vim.bo[nr].buftype == "" and api.nvim_buf_get_name(nr) == path then
      return nr
    end
  end
end

---Writes the text to another file: what `:write` would write, or what was read of an unmodified buffer.
---@param path string
---@param copy string
---@return table?
function M.look(path, copy)
  local nr = M.find(path)
  if not nr then
    return nil
  end
  local fixes = vim.bo[nr].fixendofline
  vim.bo[nr].fixendofline = fixes and vim.bo[nr].modified
  api.nvim_buf_call(nr, function()
    vim.cmd("silent keepalt noautocmd lockmarks write! " .. vim.fn.fnameescape(copy))
  end)
  vim.bo[nr].fixendofline = fixes
  return {
    bufnr = nr,
    modified = vim.bo[nr].modified,
    fenc = vim.bo[nr].fileencoding,
    format = vim.bo[nr].fileformat,
    lines = api.nvim_buf_get_lines(nr, 0, -1, true),
    seq = vim.fn.undotree(nr).seq_cur,
    windows = #vim.fn.win_findbuf(nr),
  }
end

---@param entries table[]
---@param numbers integer[]
local function collect(entries, numbers)
  for _, entry in ipairs(entries) do
    table.insert(numbers, entry.seq)
    collect(entry.alt or {}, numbers)
  end
end

---Every text in the undo tree. The buffer is as it was before.
---@param nr integer
---@return string[]
function M.undo_texts(nr)
  local texts, before = {}, api.nvim_buf_get_lines(nr, 0, -1, true)
  api.nvim_buf_call(nr, function()
    local tree = vim.fn.undotree()
    local numbers = { 0 }
    collect(tree.entries, numbers)
    for _, number in ipairs(numbers) do
      vim.cmd("silent noautocmd undo " .. number)
      table.insert(texts, table.concat(api.nvim_buf_get_lines(nr, 0, -1, true), "\n"))
    end
    vim.cmd("silent noautocmd undo " .. tree.seq_cur)
  end)
  assert(vim.deep_equal(api.nvim_buf_get_lines(nr, 0, -1, true), before), "a walk through it ends where it began")
  return texts
end

---Shows the file's buffer in the current window.
---@param nr integer
function M.show(nr)
  if api.nvim_get_current_buf() ~= nr then
    local window = vim.fn.win_findbuf(nr)[1]
    if window then
      api.nvim_set_current_win(window)
    else
      vim.cmd.buffer(nr)
    end
  end
end

---One window with an empty buffer, none of the files, no messages.
---@param directory string
function M.clear(directory)
  vim.cmd("silent! only")
  vim.cmd("enew!")
  for _, nr in ipairs(api.nvim_list_bufs()) do
    if vim.startswith(api.nvim_buf_get_name(nr), directory) then
      vim.cmd("silent! bwipeout! " .. nr)
    end
  end
  vim.cmd("messages clear")
  _G.acp_test.events, _G.acp_test.messages = {}, {}
end

_G.stage = M
