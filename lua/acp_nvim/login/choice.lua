-- Asks the user for one of the ways to sign in that an agent names: one list at a time, and none while somebody types.
local Lines = require("acp_nvim.chat.blocks.lines")
local sessions = require("acp_nvim.sessions")

local M = {}

local api = vim.api
local is_open = false

---@param method acp.SignInMethod
---@return string
local function variables(method)
  local words = vim.tbl_map(function(one)
    local state = one.is_set and " (is set)" or one.optional and " (optional)" or ""
    return Lines.one_line(one.name) .. state
  end, method.variables or {})
  return "sets " .. table.concat(words, ", ")
end

---@param method acp.SignInMethod
---@return string? what it does, where that is more than to ask the agent
local function deed(method)
  if method.kind == "terminal" then
    return "runs " .. Lines.one_line(method.command or "the agent") .. " in a terminal"
  elseif method.kind == "env_var" then
    return variables(method)
  elseif method.kind == "api_key" then
    return "asks for a key"
  elseif method.kind ~= "agent" then
    return "of the unknown type " .. Lines.one_line(method.kind)
  end
end

---@param method acp.SignInMethod
---@return string
local function line_of(method)
  local words = { Lines.one_line(method.name) }
  local description = Lines.one_line(method.description or "")
  if description ~= "" and description ~= words[1] then
    words[#words + 1] = description
  end
  local does = deed(method)
  return table.concat(words, ": ") .. (does and (" (%s)"):format(does) or "")
end

---@return boolean no command is being typed, and no list is open
function M.is_possible()
  local now = api.nvim_get_mode()
  return now.mode == "n" and not now.blocking and vim.fn.getcmdwintype() == ""
end

---@param bufnr integer
---@return boolean
local function is_empty(bufnr)
  return api.nvim_buf_line_count(bufnr) == 1 and api.nvim_buf_get_lines(bufnr, 0, 1, true)[1] == ""
end

---@param session acp.Session
---@return boolean the user is in its chat or its prompt, and writes nothing
function M.is_welcome(session)
  local bufnr = api.nvim_get_current_buf()
  local is_prompt = bufnr == session.prompt_bufnr
  if sessions.of_buffer(bufnr) ~= session or (is_prompt and not is_empty(bufnr)) then
    return false
  end
  local now = api.nvim_get_mode()
  local has_just_sent = is_prompt and now.mode == "i" and not now.blocking
  return has_just_sent or M.is_possible()
end

---@param need acp.SignInNeed
---@param use fun(method: acp.SignInMethod)
function M.open(need, use)
  if is_open then
    return
  end
  is_open = true
  local ok, problem = pcall(vim.ui.select, need.methods, {
    prompt = ("Sign in to %s:"):format(need.agent),
    kind = "acp_sign_in",
    format_item = line_of,
  }, function(method)
    is_open = false
    vim.cmd.redraw() -- what comes now does not stand below a list, and asks for no key
    if method then
      use(method)
    end
  end)
  if not ok then
    is_open = false
    error(problem, 0)
  end
end

return M
