-- Completes prompts: connects them with the server that does it, and asks it while one types, for those who have no plugin
-- that does.
local config = require("acp_nvim.config")
local log = require("acp_nvim.log")
local server = require("acp_nvim.prompt.lsp_server")
local syntax = require("acp_nvim.prompt.mentions.syntax")

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
local function client_of(bufnr)
  return package.loaded["vim.lsp"] and vim.lsp.get_clients({ bufnr = bufnr, name = NAME })[1] or nil
end

---@param bufnr integer
local function connect(bufnr)
  if not api.nvim_buf_is_loaded(bufnr) or client_of(bufnr) then
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
local function watch_server(bufnr)
  local group = api.nvim_create_augroup("acp_nvim.lsp", { clear = false })
  api.nvim_clear_autocmds({ group = group, buffer = bufnr })
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

local OPTIONS = { "menuone", "noselect" }

---@type table<integer, { client: vim.lsp.Client, id: integer }> the request that is under way, by buffer
local asked = {}
---@type table<integer, string> the line up to the cursor when something was chosen, by buffer
local settled = {}

---@return boolean a plugin does it
local function is_done_by_others()
  return package.loaded["cmp"] ~= nil
    or package.loaded["blink.cmp"] ~= nil
    or package.loaded["mini.completion"] ~= nil
    or package.loaded["coq"] ~= nil
    or _G.MiniCompletion ~= nil
    or vim.fn.exists("+autocomplete") == 1 and vim.o.autocomplete
end

---@param row integer 0-based
---@param before string
---@return integer? from column where what can be completed begins
local function completed_from(row, before)
  if row == 0 and before:match("^/%S*$") then
    return 0
  end
  return (syntax.typed(before))
end

---@param bufnr integer
local function cancel(bufnr)
  local request = asked[bufnr]
  asked[bufnr] = nil
  if request then
    request.client:cancel_request(request.id)
  end
end

---@param item table
---@return table as complete() takes it
local function to_entry(item)
  return {
    word = item.textEdit.newText,
    abbr = item.label,
    menu = item.detail,
    info = type(item.documentation) == "string" and item.documentation or nil,
    kind = vim.lsp.protocol.CompletionItemKind[item.kind],
    icase = 1,
    dup = 1,
    equal = 1, -- the server filters
  }
end

---@param bufnr integer
---@param from integer
---@param before string
---@param result any
local function show(bufnr, from, before, result)
  local mode = api.nvim_get_mode().mode
  if bufnr ~= api.nvim_get_current_buf() or (mode ~= "i" and mode ~= "ic") then
    return
  end
  local column = api.nvim_win_get_cursor(0)[2]
  local items = type(result) == "table" and result.items or {}
  if api.nvim_get_current_line():sub(1, column) == before and #items > 0 then
    vim.fn.complete(from + 1, vim.tbl_map(to_entry, items))
  end
end

---@param bufnr integer
---@param from integer
---@param before string
local function ask(bufnr, from, before)
  local client = client_of(bufnr)
  if not client then
    return
  end
  local params = vim.lsp.util.make_position_params(0, client.offset_encoding)
  params.context = { triggerKind = vim.lsp.protocol.CompletionTriggerKind.Invoked }
  local sent, id = client:request("textDocument/completion", params, function(err, result)
    asked[bufnr] = nil
    if not err then
      show(bufnr, from, before, result)
    end
  end, bufnr)
  asked[bufnr] = sent and id and { client = client, id = id } or nil
end

---@param bufnr integer
local function typed(bufnr)
  cancel(bufnr)
  if vim.fn.reg_executing() ~= "" or is_done_by_others() then
    return
  elseif vim.fn.pumvisible() == 1 and vim.fn.complete_info({ "selected" }).selected ~= -1 then
    return -- somebody walks through the menu
  end
  local row, column = unpack(api.nvim_win_get_cursor(0))
  local before = api.nvim_get_current_line():sub(1, column)
  local from = before ~= settled[bufnr] and completed_from(row - 1, before)
  if from then
    ask(bufnr, from, before)
  end
end

---@param bufnr integer
local function chosen(bufnr)
  local item = vim.v.completed_item
  if vim.v.event.reason == "accept" and item and item.word and item.word:sub(-1) ~= "/" then
    settled[bufnr] = api.nvim_get_current_line():sub(1, api.nvim_win_get_cursor(0)[2])
  end
end

---The first entry must not be inserted by itself; what the user has chosen beside that stays.
---@param bufnr integer
local function set_options(bufnr)
  local options = vim.split(vim.go.completeopt, ",", { trimempty = true })
  for _, option in ipairs(OPTIONS) do
    if not vim.list_contains(options, option) then
      table.insert(options, option)
    end
  end
  vim.bo[bufnr].completeopt = table.concat(options, ",")
end

---@param bufnr integer of a prompt
local function watch_typing(bufnr)
  if not config.get().prompt.autocomplete or is_done_by_others() then
    return
  end
  set_options(bufnr)
  local group = api.nvim_create_augroup("acp_nvim.autocomplete", { clear = false })
  api.nvim_clear_autocmds({ group = group, buffer = bufnr })
  local function on(events, act)
    api.nvim_create_autocmd(events, {
      group = group,
      buffer = bufnr,
      callback = function()
        act(bufnr)
      end,
    })
  end
  on({ "TextChangedI", "TextChangedP" }, typed)
  on("CompleteDone", chosen)
  on("InsertLeave", cancel)
  on("BufUnload", function()
    asked[bufnr], settled[bufnr] = nil, nil
  end)
end

---@param bufnr integer of a prompt
function M.watch(bufnr)
  watch_server(bufnr)
  watch_typing(bufnr)
end

return M
