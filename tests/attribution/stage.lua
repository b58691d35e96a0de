-- What the sequences ask of Neovim, in one request each.
local M = {}

local api = vim.api

vim.api.nvim_create_autocmd("User", {
  pattern = "AcpPermissionRequest",
  callback = function(ev)
    vim.schedule(function()
      local request = ev.data.request
      for _, option in ipairs(request.options) do
        if option.kind == "allow_once" then
          return require("acp_nvim").answer(request.id, option.option_id)
        end
      end
    end)
  end,
})

---@param directory string
---@return integer[]
local function below(directory)
  return vim.tbl_filter(function(nr)
    return api.nvim_buf_is_loaded(nr)
      and vim.bo[nr].buftype == ""
      and vim.startswith(api.nvim_buf_get_name(nr), directory .. "/")
  end, api.nvim_list_bufs())
end

---@param directory string
---@return table[] buffers below it
function M.look(directory)
  return vim.tbl_map(function(nr)
    return {
      path = api.nvim_buf_get_name(nr),
      number = nr,
      modified = vim.bo[nr].modified,
      text = table.concat(api.nvim_buf_get_lines(nr, 0, -1, true), "\n"),
    }
  end, below(directory))
end

---@param directory string
---@return table[] of each file under review: path, operation, by, why
function M.reviews(directory)
  local files = package.loaded["acp_nvim.review.files"]
  local found = {}
  for _, one in ipairs(files and files.all() or {}) do
    if vim.startswith(one.path, directory .. "/") and one.operation ~= "none" then
      table.insert(found, { one.path, one.operation, one.by, one.why or "" })
    end
  end
  return found
end

---@param entries table[]
---@param numbers integer[]
local function collect(entries, numbers)
  for _, entry in ipairs(entries) do
    table.insert(numbers, entry.seq)
    collect(entry.alt or {}, numbers)
  end
end

---@param directory string
---@return string[] every text in the undo trees of the buffers below it
function M.undo_texts(directory)
  local texts = {}
  for _, nr in ipairs(below(directory)) do
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
  end
  return texts
end

---@return boolean the list of files under review is there
function M.is_list_shown()
  return vim.iter(api.nvim_list_wins()):any(function(win)
    return vim.bo[api.nvim_win_get_buf(win)].filetype == "acp_review"
  end)
end

---Leaves one window, in which any file can be opened.
local function one_window()
  for _, win in ipairs(api.nvim_list_wins()) do
    vim.wo[win].winfixbuf = false
  end
  vim.cmd("silent! tabonly")
  vim.cmd("silent! only")
end

---@param directory string
---@param name string of the file to go to: what is typed next is typed there
function M.open(directory, name)
  local path = directory .. "/" .. name
  one_window()
  vim.cmd("silent! edit " .. vim.fn.fnameescape(path))
  assert(api.nvim_buf_get_name(0) == path and api.nvim_get_mode().mode == "n", "the user cannot go to " .. path)
end

---No buffers of files, no messages.
function M.clear()
  one_window()
  vim.cmd("enew!")
  for _, nr in ipairs(api.nvim_list_bufs()) do
    if vim.bo[nr].buftype == "" and api.nvim_buf_get_name(nr) ~= "" then
      vim.cmd("silent! bwipeout! " .. nr)
    end
  end
  vim.cmd("messages clear")
  _G.acp_test.events, _G.acp_test.messages = {}, {}
end

_G.stage = M
