-- What a user does with the files whose names are tried, in one request for many of them.
local M = {}

local api = vim.api
local EXACT = { file = false, bar = false }

M.opened = {} -- what would have been opened by a program of the system
M.listed = {} -- what the user could have chosen from

vim.ui.open = function(uri)
  table.insert(M.opened, uri)
end

vim.ui.select = function(items, opts, on_choice)
  for _, item in ipairs(items) do
    table.insert(M.listed, opts.format_item and opts.format_item(item) or item)
  end
  on_choice(M.choice and items[M.choice] or nil, M.choice)
end

-- K on a word, where the plugin has nothing to show
api.nvim_create_user_command("OddKeyword", function() end, { nargs = "*" })
vim.o.keywordprg = ":OddKeyword"

-- A language server for every file, whose answers lead to the files that are tried
local places, answers = {}, {}

---@param paths string[]
function M.set_places(paths)
  places = vim.tbl_map(function(path)
    local range = { start = { line = 0, character = 0 }, ["end"] = { line = 0, character = 1 } }
    return {
      uri = vim.uri_from_fname(path),
      range = range,
      name = vim.fs.basename(path),
      kind = 12,
      location = { uri = vim.uri_from_fname(path), range = range },
    }
  end, paths)
end

---@return table[] at most three, which differ from call to call
local function some()
  table.insert(places, table.remove(places, 1))
  return vim.list_slice(places, 1, 3)
end

answers["textDocument/definition"] = some
answers["textDocument/references"] = some
answers["textDocument/implementation"] = some
answers["workspace/symbol"] = some
answers["textDocument/hover"] = function()
  return { contents = { kind = "markdown", value = ("see `%s`"):format(places[1].name) } }
end
answers["textDocument/documentSymbol"] = function()
  return vim.tbl_map(function(one)
    return { name = one.name, kind = 12, range = one.range, selectionRange = one.range }
  end, some())
end
answers["textDocument/rename"] = function(params)
  local changes = { [params.textDocument.uri] = { { range = places[1].range, newText = params.newName:sub(1, 1) } } }
  return { changes = changes }
end
answers["textDocument/formatting"] = function()
  return { { range = places[1].range, newText = "f" } }
end
answers["textDocument/codeAction"] = function()
  return { { title = places[1].name, kind = "quickfix" } }
end

local requests = 0

local function connect(dispatchers)
  local capabilities = { textDocumentSync = 1, renameProvider = true, codeActionProvider = true, hoverProvider = true }
  for name in ("definition references implementation documentSymbol workspaceSymbol documentFormatting"):gmatch("%a+") do
    capabilities[name .. "Provider"] = true
  end
  return {
    request = function(method, params, reply)
      vim.schedule(function()
        local answer = answers[method]
        reply(nil, method == "initialize" and { capabilities = capabilities } or answer and answer(params) or nil)
      end)
      requests = requests + 1
      return true, requests
    end,
    notify = function(method, params)
      if method == "textDocument/didOpen" or method == "textDocument/didChange" then
        local uri, where = params.textDocument.uri, places[1] and places[1].range
        local found = where and { { range = where, message = places[1].name, source = places[1].name } } or {}
        local tell = vim.schedule_wrap(dispatchers.notification)
        vim.schedule(function() -- after the event about the text
          tell("textDocument/publishDiagnostics", { uri = uri, diagnostics = found })
        end)
      end
      return true
    end,
    is_closing = function()
      return false
    end,
    terminate = function() end,
  }
end

api.nvim_create_autocmd("BufReadPost", {
  callback = function(event)
    vim.lsp.start({ name = "odd", cmd = connect, root_dir = M.root }, { bufnr = event.buf, silent = true })
  end,
})

local function chat()
  for _, win in ipairs(api.nvim_list_wins()) do
    if vim.bo[api.nvim_win_get_buf(win)].filetype == "acp_chat" then
      return win
    end
  end
end

---@return integer[] windows that hold nothing of ours, but for floats
local function others()
  return vim.tbl_filter(function(win)
    return not vim.startswith(vim.bo[api.nvim_win_get_buf(win)].filetype, "acp_")
  end, api.nvim_list_wins())
end

---Closes all windows but those of the chat, and one other.
function M.tidy()
  local kept = false
  for _, win in ipairs(api.nvim_list_wins()) do
    if api.nvim_win_is_valid(win) then
      local filetype = vim.bo[api.nvim_win_get_buf(win)].filetype
      local is_other = not vim.startswith(filetype, "acp_") and api.nvim_win_get_config(win).relative == ""
      if is_other and not kept then
        kept = true
      elseif filetype ~= "acp_chat" and filetype ~= "acp_prompt" and filetype ~= "acp_plan" then
        pcall(api.nvim_win_close, win, true)
      end
    end
  end
  if not kept then
    api.nvim_set_current_win(chat())
    vim.cmd("aboveleft new")
  end
  api.nvim_set_current_win(others()[1])
end

---@param paths string[] to open as the user does
function M.edit(paths)
  for _, path in ipairs(paths) do
    M.tidy()
    api.nvim_cmd({ cmd = "edit", args = { path }, magic = EXACT }, {})
  end
end

local function press(keys)
  api.nvim_feedkeys(vim.keycode(keys), "mx", false)
end

---Presses keys that the plugin has mapped here.
local function press_mapped(keys)
  if vim.fn.maparg(keys, "n") ~= "" then
    press(keys)
  end
end

---Presses keys on lines of the chat.
---@param from integer line
---@param step integer lines
function M.visit(from, step)
  local win = chat()
  local bufnr = api.nvim_win_get_buf(win)
  local count = 0
  for line = from, api.nvim_buf_line_count(bufnr), step do
    local text = api.nvim_buf_get_lines(bufnr, line - 1, line, false)[1]
    for _, column in ipairs({ 2, math.floor(#text / 2), #text - 2 }) do
      for _, key in ipairs({ "<CR>", column == 2 and "K" or "gf" }) do
        api.nvim_set_current_win(win)
        api.nvim_win_set_cursor(win, { line, math.max(column, 0) })
        press(key)
        if vim.v.errmsg:find("^E349") then -- K is not on a word
          vim.v.errmsg = ""
        end
        M.tidy()
        count = count + 1
      end
    end
  end
  return count
end

---Goes through the list of the review and its keys, and through the quickfix list.
function M.review()
  M.tidy()
  vim.cmd("AcpReview")
  local list = api.nvim_get_current_win()
  local bufnr = api.nvim_win_get_buf(list)
  if vim.bo[bufnr].filetype ~= "acp_review" then
    return 0
  end
  local count = api.nvim_buf_line_count(bufnr)
  for line = 1, count do
    if api.nvim_win_is_valid(list) then
      api.nvim_set_current_win(list)
      api.nvim_win_set_cursor(list, { math.min(line, api.nvim_buf_line_count(bufnr)), 0 })
      press("<CR>")
      press_mapped("ghn")
      press_mapped("ghp")
    end
  end
  if api.nvim_win_is_valid(list) then
    api.nvim_set_current_win(list)
    press_mapped("Q")
    for index = 1, math.min(#vim.fn.getqflist(), 10) do
      vim.cmd("silent cc " .. index)
    end
    vim.cmd("cclose")
  end
  M.tidy()
  return count
end

---@param cwd string
---@return string[]? relative paths that completion offers; each call lists them again
function M.files(cwd)
  local limits = require("acp_nvim.limits")
  limits.files_rest_ms, limits.files_rest = 0, 0
  local list = require("acp_nvim.prompt.complete.files").get(cwd)
  return list and list.whole and list.paths or nil
end

---Looks for what completion offers after an @.
---@param typed string[]
function M.mention(typed)
  local session = require("acp_nvim.host.sessions").current()
  for _, text in ipairs(typed) do
    require("acp_nvim.prompt.complete.candidates").mentions(session, text, function() end)
  end
end

---Closes the chat that was opened last.
function M.leave()
  M.tidy()
  vim.cmd("AcpToggle")
  M.tidy()
end

---Shows the preview of what is asked, goes through its files, and comes back.
function M.preview()
  local win = assert(chat())
  api.nvim_set_current_win(win)
  api.nvim_win_set_cursor(win, { api.nvim_buf_line_count(api.nvim_win_get_buf(win)), 0 })
  press("K")
  M.tidy()
  api.nvim_set_current_win(win)
  press_mapped("p")
  for _ = 1, 30 do
    press_mapped("ghn")
  end
  M.tidy()
end

---@return boolean nothing is asked; a message that is too long asks for a moment, and for no key ('messagesopt' "wait:0")
function M.rests()
  local mode = api.nvim_get_mode()
  return not mode.blocking and mode.mode:match("^[nt]") ~= nil
end

---Wipes out all buffers of files.
function M.clear()
  M.tidy()
  vim.cmd("silent enew!")
  for _, bufnr in ipairs(api.nvim_list_bufs()) do
    if bufnr ~= api.nvim_get_current_buf() and not vim.startswith(api.nvim_buf_get_name(bufnr), "acp://") then
      pcall(api.nvim_buf_delete, bufnr, { force = true })
    end
  end
  vim.fn.setqflist({}, "f")
  M.listed, M.opened = {}, {}
end

_G.naming = M
