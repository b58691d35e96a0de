-- Connects prompts to the completion server, and requests completions while typing unless a completion plugin does.
local autocmds = require("acp_nvim.kernel.autocmds")
local config = require("acp_nvim.config")
local idle = require("acp_nvim.kernel.idle")
local lazy = require("acp_nvim.lazy")
local log = require("acp_nvim.kernel.log")
local server = lazy("acp_nvim.prompt.lsp_server")
local syntax = lazy("acp_nvim.mentions.syntax")

local M = {}

local api = vim.api
local NAME = "acp_nvim"

---@return string name of an item's kind
local function kind_of(item)
  return item.cmp and item.cmp.kind_text or vim.lsp.protocol.CompletionItemKind[item.kind]
end

---@return string? what an item says in the menu
local function summary_of(item)
  return item.labelDetails and item.labelDetails.description
end

---Converts an item for Neovim's own completion, which otherwise inserts only the text before the first blank.
local function convert(item)
  local word = item.textEdit and item.textEdit.newText or item.label
  return { word = word, kind = kind_of(item), menu = summary_of(item) }
end

local function stopped(id)
  for _, bufnr in ipairs(api.nvim_list_bufs()) do
    -- Neovim would still query the client that has stopped
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

---@return vim.lsp.Client? that completes this prompt
local function client_of(bufnr)
  return package.loaded["vim.lsp"] and vim.lsp.get_clients({ bufnr = bufnr, name = NAME })[1] or nil
end

---Connects a prompt to the server, unless it is connected.
---@param bufnr integer of a prompt
function M.connect(bufnr)
  if not api.nvim_buf_is_loaded(bufnr) or client_of(bufnr) then
    return
  end
  local ok, problem = pcall(function()
    local id = assert(started(), "no client")
    vim.lsp.completion.enable(true, id, bufnr, { convert = convert })
    vim.lsp.buf_attach_client(bufnr, id)
  end)
  if not ok then -- an error of an LspAttach handler must not prevent prompts
    log.write("the prompt's completion: " .. tostring(problem))
  end
end

---Connects a prompt to the server, at the latest on InsertEnter, and again if the server was stopped.
local function watch_server(bufnr)
  autocmds.on_buffer("acp_nvim.lsp", bufnr, { InsertEnter = M.connect })
  if package.loaded["cmp_nvim_lsp"] then
    M.connect(bufnr) -- it looks for clients when Insert mode begins
    return
  end
  idle.run(function() -- it takes 20 ms if Neovim's modules have to be loaded: show the prompt first
    M.connect(bufnr)
  end)
end

local OPTIONS = { "menuone", "noselect" }

---@type table<integer, { client: vim.lsp.Client, id: integer }> buffer -> pending request
local asked = {}
---@type table<integer, string> buffer -> line up to the cursor when an entry was accepted
local settled = {}

---@return boolean a completion plugin is active
local function is_done_by_others()
  return package.loaded["cmp"] ~= nil
    or package.loaded["blink.cmp"] ~= nil
    or package.loaded["mini.completion"] ~= nil
    or package.loaded["coq"] ~= nil
    or _G.MiniCompletion ~= nil
    or vim.fn.exists("+autocomplete") == 1 and vim.o.autocomplete
end

local function cancel(bufnr)
  local request = asked[bufnr]
  asked[bufnr] = nil
  if request then
    request.client:cancel_request(request.id)
  end
end

---@return table in the form of complete()
local function to_entry(item)
  return {
    word = item.textEdit.newText,
    abbr = item.label,
    menu = summary_of(item),
    info = type(item.documentation) == "string" and item.documentation or nil,
    kind = kind_of(item),
    icase = 1,
    dup = 1,
    equal = 1, -- the server filters
  }
end

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

---@return integer? from column of the command or the mention that is being typed
---@return string before the line up to the cursor
local function begin()
  local row, column = unpack(api.nvim_win_get_cursor(0))
  local before = api.nvim_get_current_line():sub(1, column)
  return row == 1 and before:match("^/%S*$") and 0 or syntax.typed(before), before
end

local function typed(bufnr)
  cancel(bufnr)
  if vim.fn.reg_executing() ~= "" or is_done_by_others() then
    return
  elseif vim.fn.pumvisible() == 1 and vim.fn.complete_info({ "selected" }).selected ~= -1 then
    return -- the user has selected an entry
  end
  local from, before = begin()
  if from and before ~= settled[bufnr] then
    ask(bufnr, from, before)
  end
end

local function chosen(bufnr)
  local item = vim.v.completed_item
  if vim.v.event.reason == "accept" and item and item.word and item.word:sub(-1) ~= "/" then
    settled[bufnr] = api.nvim_get_current_line():sub(1, api.nvim_win_get_cursor(0)[2])
  end
end

---Sets 'completeopt' so that no entry is inserted automatically. Keeps the user's other values.
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
  autocmds.on_buffer("acp_nvim.autocomplete", bufnr, {
    ["TextChangedI TextChangedP"] = typed,
    CompleteDone = chosen,
    InsertLeave = cancel,
    BufUnload = function()
      asked[bufnr], settled[bufnr] = nil, nil
    end,
  })
end

---@return boolean nvim-cmp completes here while the user types
local function is_cmp_automatic(cmp)
  local ok, given = pcall(cmp.get_config)
  local enabled = ok and given.enabled
  if type(enabled) == "function" then
    enabled = enabled()
  end
  return enabled and vim.list_contains(given.completion.autocomplete or {}, "TextChanged") or false
end

---Asks nvim-cmp for the first completion after Insert mode began. What comes together with the key that begins it,
---nvim-cmp takes for text that was there before, and opens nothing.
---@param bufnr integer of a prompt
local function watch_cmp(bufnr)
  local is_first = false
  autocmds.on_buffer("acp_nvim.cmp", bufnr, {
    InsertEnter = function()
      is_first = true
    end,
    TextChangedI = function()
      local cmp = package.loaded["cmp"]
      local is_asked = is_first and cmp and cmp.complete and begin() and is_cmp_automatic(cmp)
      is_first = false
      if is_asked then
        cmp.complete({ reason = cmp.ContextReason.Auto })
      end
    end,
  })
end

---@param bufnr integer of a prompt
function M.watch(bufnr)
  watch_server(bufnr)
  watch_typing(bufnr)
  watch_cmp(bufnr)
end

return M
