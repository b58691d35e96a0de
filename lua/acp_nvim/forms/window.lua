-- The window and the buffer of one question, below all others; to close it answers nothing.
local dress = require("acp_nvim.chat.dress")
local limits = require("acp_nvim.limits")
local named = require("acp_nvim.buffers.named")

local M = {}

local api = vim.api
local FILETYPE = "acp_form"
local PROBLEMS = api.nvim_create_namespace("acp_nvim.form_problems")

vim.diagnostic.config({ virtual_text = false, virtual_lines = false, underline = false, signs = true }, PROBLEMS)

---@type table<integer, integer> question -> bufnr
local buffers = {}
---@type table<integer, integer> question -> window to go back to
local froms = {}
---@type table<integer, acp.FormLook> question -> what its buffer shows
local looks = {}

---@param id integer
---@return integer? bufnr
function M.buffer(id)
  local bufnr = buffers[id]
  return bufnr and api.nvim_buf_is_loaded(bufnr) and bufnr or nil
end

---@param id integer
---@return integer? win
function M.window(id)
  local bufnr = M.buffer(id)
  return bufnr and vim.fn.win_findbuf(bufnr)[1] or nil
end

---@return integer? id of the question whose form has the focus
function M.current()
  local current = api.nvim_get_current_buf()
  for id, bufnr in pairs(buffers) do
    if bufnr == current then
      return id
    end
  end
end

---@param id integer
---@return acp.FormLook?
function M.look(id)
  return looks[id]
end

---@param id integer
---@param look acp.FormLook
---@param problems vim.Diagnostic.Set[]
function M.draw(id, look, problems)
  local bufnr = M.buffer(id)
  if not bufnr then
    return
  end
  looks[id] = look
  vim.bo[bufnr].modifiable = true
  dress.strip_all(bufnr)
  api.nvim_buf_set_lines(bufnr, 0, -1, true, look.out.lines)
  dress.colour(bufnr, 0, look.out.highlights)
  vim.bo[bufnr].modifiable = false
  vim.bo[bufnr].modified = false
  vim.diagnostic.set(PROBLEMS, bufnr, problems)
end

---@param bufnr integer
---@param lines integer
local function show(bufnr, lines)
  local height = math.max(5, math.min(lines + 1, math.floor(vim.o.lines * limits.details_part)))
  if not pcall(api.nvim_open_win, bufnr, true, { split = "below", win = -1, height = height }) then -- no room
    vim.cmd(("tab sbuffer %d"):format(bufnr))
  else
    api.nvim_win_set_height(0, height) -- 'equalalways' has made it as high as the others
  end
  local shown = vim.wo[api.nvim_get_current_win()][0]
  shown.number, shown.relativenumber, shown.signcolumn, shown.spell, shown.list = false, false, "no", false, false
  shown.foldenable, shown.wrap, shown.linebreak, shown.winfixbuf = false, true, true, true
end

---@param id integer
---@param title string
---@param look acp.FormLook
---@param attach fun(bufnr: integer) maps its keys
function M.open(id, title, look, attach)
  local win = M.window(id)
  if win then
    api.nvim_set_current_win(win)
    return
  end
  local bufnr = named.get(("acp://form/%d %s"):format(id, vim.fn.strcharpart(title, 0, limits.terminal_name)))
  buffers[id] = bufnr
  vim.bo[bufnr].bufhidden = "wipe"
  vim.bo[bufnr].buftype = "nofile"
  vim.bo[bufnr].swapfile = false
  vim.bo[bufnr].undolevels = -1
  froms[id] = api.nvim_get_current_win()
  show(bufnr, #look.out.lines)
  vim.bo[bufnr].filetype = FILETYPE
  attach(bufnr)
end

---@param id integer
---@param row integer 0-based
function M.go(id, row)
  local win, bufnr = M.window(id), M.buffer(id)
  if win and bufnr then
    api.nvim_win_set_cursor(win, { math.max(1, math.min(row + 1, api.nvim_buf_line_count(bufnr))), 4 })
  end
end

---Closes the window; who was in it goes back to where they were.
---@param id integer
function M.close(id)
  local win, bufnr, from = M.window(id), M.buffer(id), froms[id]
  local is_here = win ~= nil and api.nvim_get_current_win() == win
  if win and not pcall(api.nvim_win_close, win, true) then -- the last window
    vim.wo[win][0].winfixbuf = false
    vim.cmd("enew")
  elseif is_here and from and api.nvim_win_is_valid(from) then
    api.nvim_set_current_win(from)
  end
  if bufnr and api.nvim_buf_is_valid(bufnr) then
    pcall(api.nvim_buf_delete, bufnr, { force = true })
  end
  buffers[id], looks[id], froms[id] = nil, nil, nil
end

return M
