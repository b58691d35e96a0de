-- Connects the prompts with the server that completes them.
local log = require("acp_nvim.log")
local server = require("acp_nvim.prompt.lsp_server")

local M = {}

local api = vim.api
local NAME = "acp_nvim"

---What Neovim's own completion inserts: without this only what comes before the first blank.
---@param item table
---@return table
local function convert(item)
  return { word = item.textEdit and item.textEdit.newText or item.label }
end

---@param id integer
local function stopped(id)
  for _, bufnr in ipairs(api.nvim_list_bufs()) do
    -- what Neovim keeps of a client that is gone would be asked in vain
    pcall(vim.lsp.completion.enable, false, id, bufnr)
  end
end

---@return integer? client
local function started()
  return vim.lsp.start({
    name = NAME,
    cmd = server.connect,
    on_exit = function(_, _, id)
      vim.schedule(function()
        stopped(id)
      end)
    end,
  }, {
    attach = false,
    reuse_client = function(client)
      return client.name == NAME and not client:is_stopped()
    end,
  })
end

---@param bufnr integer
---@return vim.lsp.Client? that completes this prompt
function M.of(bufnr)
  return package.loaded["vim.lsp"] and vim.lsp.get_clients({ bufnr = bufnr, name = NAME })[1] or nil
end

---@param bufnr integer
local function connect(bufnr)
  if not api.nvim_buf_is_loaded(bufnr) or M.of(bufnr) then
    return
  end
  local ok, problem = pcall(function()
    local id = assert(started(), "no client")
    vim.lsp.completion.enable(true, id, bufnr, { convert = convert })
    vim.lsp.buf_attach_client(bufnr, id)
  end)
  if not ok then -- what others do when a client attaches must not keep anybody from writing a prompt
    log.write("the prompt's completion: " .. tostring(problem))
  end
end

---Completes this prompt from now on, also when somebody has stopped the server meanwhile.
---@param bufnr integer
function M.watch(bufnr)
  local group = api.nvim_create_augroup("acp_nvim.lsp." .. bufnr, {})
  api.nvim_create_autocmd("InsertEnter", {
    group = group,
    buffer = bufnr,
    callback = function()
      connect(bufnr)
    end,
  })
  if package.loaded["vim.lsp"] or package.loaded["cmp_nvim_lsp"] then
    connect(bufnr) -- some plugins look for clients when Insert mode begins
  else
    vim.schedule(function() -- it takes 20 ms to load all of that: the prompt is shown before
      connect(bufnr)
    end)
  end
end

return M
