-- Keeps Neovim from asking about files. Neovim compares a buffer with its file when a window gets the buffer and on
-- |:checktime|; if the file has changed, it asks what to do (W11, W12, W13, W16) or waits (E211), and takes the next key
-- of the user for the answer. `:silent` does not prevent that, and `:noautocmd` suppresses the autocommands that would.
local ui2 = require("acp_nvim.kernel.ui2")

local M = {}

local api = vim.api

local GROUP = api.nvim_create_augroup("acp_nvim.file_check", {})
local NOT_COMPARED = "acwrite" -- a 'buftype' without effect on the text, with which Neovim does not look at the file

---@param bufnr integer
---@return boolean Neovim compares the buffer with its file
local function is_compared(bufnr)
  return api.nvim_buf_is_loaded(bufnr) and vim.bo[bufnr].buftype == "" and api.nvim_buf_get_name(bufnr) ~= ""
end

local function set_buftype(bufnr, buftype)
  vim.cmd(("noautocmd call nvim_set_option_value('buftype', '%s', {'buf': %d})"):format(buftype, bufnr))
end

---Runs a function while Neovim does not compare these buffers with their files. What has changed stays unnoticed.
---@param buffers integer[]
---@param run fun(): any
---@return any result of `run`, whose errors are raised
function M.without(buffers, run)
  local held = vim.tbl_filter(is_compared, buffers)
  for _, bufnr in ipairs(held) do
    set_buftype(bufnr, NOT_COMPARED)
  end
  local ok, result = pcall(run)
  for _, bufnr in ipairs(held) do
    if api.nvim_buf_is_valid(bufnr) and vim.bo[bufnr].buftype == NOT_COMPARED then
      set_buftype(bufnr, "")
    end
  end
  if not ok then
    error(result, 0)
  end
  return result
end

---@param ignored string value of 'eventignore' or 'eventignorewin'
local function suppresses(ignored)
  local words = vim.split(ignored:lower(), ",")
  return vim.list_contains(words, "all") or vim.list_contains(words, "filechangedshell")
end

---@return integer[] windows with 'eventignorewin'
local function deaf_windows()
  return vim.tbl_filter(function(win)
    return vim.wo[win].eventignorewin ~= "" and not ui2.is_decoration(win)
  end, api.nvim_list_wins())
end

---@return boolean FileChangedShell autocommands run if a file has changed
local function is_heard()
  local is_nested = vim.fn.state("x") ~= "" -- an autocommand is running, perhaps one without ++nested
  local is_deaf = suppresses(vim.o.eventignore) or vim.go.eventignorewin ~= "" or #deaf_windows() > 0
  return not is_nested and not is_deaf
end

---@param bufnr integer loaded
---@return boolean the file did not exist when Neovim made the buffer: if it exists now, Neovim asks in any case (W13)
function M.is_new(bufnr)
  local ok, told = pcall(api.nvim_buf_call, bufnr, function()
    return vim.fn.execute("file!")
  end)
  local flags = ok and told:match('.*"(.*)$') -- not there if the name is too long
  return not flags or flags:find(vim.fn.gettext("[New]"), 1, true) ~= nil
end

---@param bufnr integer
---@return boolean Neovim would ask, or block, before any autocommand can prevent it
local function is_hazard(bufnr)
  local stat = vim.uv.fs_stat(api.nvim_buf_get_name(bufnr))
  return stat ~= nil and (stat.type ~= "file" or M.is_new(bufnr))
end

---Runs a function with a FileChangedShell autocommand that suppresses questions. Those of others have run before.
---@return table<integer, string> suppressed reasons by buffer
---@return any result of `run`, whose errors are raised
local function answered(run)
  local suppressed = {}
  local id = api.nvim_create_autocmd("FileChangedShell", {
    group = GROUP,
    callback = function(event)
      local choice, reason = vim.v.fcs_choice, vim.v.fcs_reason
      if reason == "time" and choice ~= "reload" and choice ~= "edit" then
        vim.v.fcs_choice = "ask" -- which asks nothing: Neovim records the time, since the text is the same
      elseif choice == "" or choice == "ask" then
        vim.v.fcs_choice = ""
        suppressed[event.buf] = reason
      end
    end,
  })
  local ok, result = pcall(run)
  pcall(api.nvim_del_autocmd, id)
  if not ok then
    error(result, 0)
  end
  return suppressed, result
end

---Runs a function that makes windows show buffers of files, so that Neovim asks nothing.
---@param run fun(): any
---@param bufnr? integer the buffer that is shown; nil: any may be
---@return table<integer, string> suppressed reasons by buffer: values of |v:fcs_reason| that no autocommand has handled
---@return any result of `run`, whose errors are raised
function M.unasked(run, bufnr)
  local buffers = vim.tbl_filter(is_compared, bufnr and { bufnr } or api.nvim_list_bufs())
  if #buffers == 0 then
    return {}, run()
  elseif not is_heard() then
    return {}, M.without(buffers, run)
  end
  local suppressed, result = answered(function()
    return M.without(vim.tbl_filter(is_hazard, buffers), run)
  end)
  return suppressed, result
end

---Runs a function with 'eventignore' and 'eventignorewin' empty.
---@param run fun() raises no error
local function with_all_events(run)
  local ignored, windows = vim.o.eventignore, {}
  if ignored ~= "" then
    vim.o.eventignore = ""
  end
  for _, win in ipairs(deaf_windows()) do
    windows[win] = vim.wo[win].eventignorewin
    vim.wo[win][0].eventignorewin = ""
  end
  run()
  for win, own in pairs(windows) do
    if api.nvim_win_is_valid(win) then
      vim.wo[win][0].eventignorewin = own
    end
  end
  if ignored ~= "" then
    vim.o.eventignore = ignored
  end
end

---Runs a function so that autocommands run: with 'eventignore' and 'eventignorewin' empty, and within an autocommand
---that allows nested ones. Neovim may be waiting in an autocommand of the user, such as one that formats.
---@return boolean done false: autocommands are nested too deeply
function M.with_autocommands(run)
  local done = false
  local function now()
    done = true
    pcall(run)
  end
  with_all_events(function()
    if vim.fn.state("x") == "" then
      return now()
    end
    local id = api.nvim_create_autocmd("User", { group = GROUP, pattern = "Nested", nested = true, callback = now })
    pcall(api.nvim_exec_autocmds, "User", { group = GROUP, pattern = "Nested", modeline = false })
    pcall(api.nvim_del_autocmd, id)
  end)
  return done
end

---Has Neovim compare a loaded buffer with its file. Its FileChangedShell autocommands run if the file has changed.
---@return boolean done false: unknown whether the file has changed
function M.compare(bufnr)
  if not is_compared(bufnr) then
    return true
  elseif is_hazard(bufnr) then
    return false
  end
  return M.with_autocommands(function()
    answered(function()
      vim.cmd(("silent! checktime %d"):format(bufnr))
    end)
  end)
end

return M
