-- Shows a file that a request asks to create, in a buffer of its own that is nobody's file; it goes with the request.
local message = require("acp_nvim.message")
local named = require("acp_nvim.buffers.named")
local previews = require("acp_nvim.review.previews")

local M = {}

local api = vim.api

---@type table<integer, acp.Preview> by buffer
local shown = {}

---@param preview acp.Preview
---@return integer? bufnr
local function find(preview)
  for bufnr, other in pairs(shown) do
    if other.request == preview.request and other.path == preview.path then
      return bufnr
    end
  end
end

---@param preview acp.Preview
---@return string[]
local function lines_of(preview)
  return preview.hunks[1] and preview.hunks[1].new or {}
end

---@param bufnr integer
---@param preview acp.Preview
local function fill(bufnr, preview)
  shown[bufnr] = preview
  vim.bo[bufnr].modifiable = true
  api.nvim_buf_set_lines(bufnr, 0, -1, true, lines_of(preview))
  vim.bo[bufnr].modifiable = false
end

---@param bufnr integer
---@param path string
local function colour(bufnr, path)
  local filetype = vim.filetype.match({ filename = path })
  local language = filetype and vim.treesitter.language.get_lang(filetype)
  if not language or not pcall(vim.treesitter.start, bufnr, language) then
    vim.bo[bufnr].syntax = filetype or "" -- not the filetype: nobody should work on what is no file
  end
end

---@param preview acp.Preview
---@return integer bufnr
local function make(preview)
  local bufnr = named.get("acp://preview" .. preview.path)
  vim.bo[bufnr].buftype = "nofile"
  vim.bo[bufnr].bufhidden = "wipe"
  vim.bo[bufnr].swapfile = false
  vim.bo[bufnr].undolevels = -1
  colour(bufnr, preview.path)
  api.nvim_create_autocmd("BufWipeout", {
    buffer = bufnr,
    once = true,
    callback = function()
      shown[bufnr] = nil
    end,
  })
  return bufnr
end

---@param preview acp.Preview of a file that is not there
---@return integer? bufnr nil when there is nothing to show, which is said
function M.buffer(preview)
  if #preview.hunks == 0 then
    local words = preview.note or "it would be empty"
    message.info(("%s: %s"):format(vim.fs.basename(preview.path), words))
    return nil
  end
  local bufnr = find(preview) or make(preview)
  fill(bufnr, preview)
  return bufnr
end

---@param bufnr integer
---@return acp.Preview? that is shown there
function M.of_buffer(bufnr)
  return shown[bufnr]
end

---@return integer? win of this tab that shows such a file
function M.window()
  return vim.iter(api.nvim_tabpage_list_wins(0)):find(function(win)
    return shown[api.nvim_win_get_buf(win)] ~= nil
  end)
end

---@param win integer
---@param bufnr integer that is to be seen no more
local function leave(win, bufnr)
  local other = api.nvim_win_call(win, function()
    return vim.fn.bufnr("#")
  end)
  if other > 0 and other ~= bufnr and api.nvim_buf_is_loaded(other) then
    api.nvim_win_set_buf(win, other)
  elseif not pcall(api.nvim_win_close, win, true) then -- the last one
    api.nvim_win_call(win, vim.cmd.enew)
  end
end

---@param bufnr integer
local function close(bufnr)
  shown[bufnr] = nil
  for _, win in ipairs(vim.fn.win_findbuf(bufnr)) do
    leave(win, bufnr)
  end
  if api.nvim_buf_is_valid(bufnr) then
    api.nvim_buf_delete(bufnr, { force = true })
  end
end

---What is known of a request has changed: its files are shown as they would be now, or no more.
---@param request integer
function M.refresh(request)
  for bufnr, preview in pairs(vim.deepcopy(shown)) do
    local now = vim.iter(previews.of_request(preview.request)):find(function(other)
      return other.path == preview.path and not other.exists
    end)
    if preview.request == request and not now then
      close(bufnr)
    elseif preview.request == request then
      fill(bufnr, now)
    end
  end
end

return M
