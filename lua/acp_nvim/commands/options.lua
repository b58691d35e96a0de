-- Implements :AcpConfig, and completes its arguments.
local cells = require("acp_nvim.render.cells")
local characters = require("acp_nvim.render.characters")
local client = require("acp_nvim.sessions.client")
local message = require("acp_nvim.kernel.message")
local picker = require("acp_nvim.options.picker")
local session_config = require("acp_nvim.options")
local sessions = require("acp_nvim.host.sessions")

local M = {}

---@return acp.Session? the current one, else a new one; nil when a kept conversation is current
local function current_session()
  local session = sessions.current_owner()
  if session and session.kept then
    message.info("this is a stored conversation: it has no agent")
    return nil
  end
  return session or client.chat()
end

function M.config(args)
  local session = current_session()
  if not session then
    return
  end
  local keep = args.bang or nil
  local what, value = args.fargs[1], table.concat(args.fargs, " ", 2)
  if not what then
    picker.all(session, keep)
  elseif value == "" then
    picker.option(session, what, keep)
  else
    session_config.set(session, what, value, keep)
  end
end

---Sets the next value of an option.
---@param what string id, category or name of the option
function M.next(what)
  local session = current_session()
  if session then
    session_config.next(session, what)
  end
end

---@param text string arguments up to the cursor
---@return string[] words the last one is incomplete
local function split(text)
  local words, word, at = {}, "", 1
  while at <= #text do
    local char = text:sub(at, at)
    if char == "\\" and at < #text then
      at = at + 1
      word = word .. text:sub(at, at)
    elseif char:match("%s") then
      words[#words + 1] = word ~= "" and word or nil
      word = ""
    else
      word = word .. char
    end
    at = at + 1
  end
  words[#words + 1] = word
  return words
end

---@param one { word: string }
local function is_visible(one)
  return characters.is_visible(one.word) -- the command line gets the word as it is; the list has the others
end

---@param list { word: string, other?: string }[]
---@return string[] escaped words: those that begin with `lead`, then those that contain it
local function matching(list, lead)
  local first, second = {}, {}
  local wanted = lead:lower()
  for _, one in ipairs(vim.tbl_filter(is_visible, list)) do
    local word, other = one.word:lower(), (one.other or ""):lower()
    local escaped = one.word:gsub("[\\%s]", "\\%0")
    if vim.startswith(word, wanted) then
      first[#first + 1] = escaped
    elseif word:find(wanted, 1, true) or other:find(wanted, 1, true) then
      second[#second + 1] = escaped
    end
  end
  return vim.list_extend(first, second)
end

---@param column integer
---@return string[]
function M.complete(line, column)
  local session = sessions.current_owner()
  local options = session and session.options or {}
  local words = split(line:sub(1, column):match("^.-Acp[%a]*!?%s+(.*)$") or "")
  if #words == 1 then
    local known = {}
    for _, option in ipairs(options) do
      if option.kind == "select" or option.kind == "boolean" then
        known[#known + 1] = { word = option.id, other = cells.plain(option.name) }
      end
    end
    return matching(known, words[1])
  end
  local option = session_config.find(options, words[1])
  local values = option and option.kind == "boolean" and { { word = "on" }, { word = "off" } } or {}
  for _, one in ipairs(option and option.kind ~= "boolean" and option.values or {}) do
    local is_address = one.value:find("://", 1, true) ~= nil
    values[#values + 1] = { word = is_address and one.name or one.value, other = is_address and one.value or one.name }
  end
  return matching(values, table.concat(words, " ", 2))
end

return M
