-- The body of :AcpConfig, and what its arguments may be.
local cells = require("acp_nvim.chat.cells")
local client = require("acp_nvim.host.client")
local message = require("acp_nvim.message")
local picker = require("acp_nvim.options.picker")
local session_config = require("acp_nvim.options")
local sessions = require("acp_nvim.sessions")

local M = {}

---@return acp.Session? the one at hand, else a new one
local function session_at_hand()
  local session = sessions.current()
  if session and session.kept then
    message.info("this conversation is kept: it has no agent")
    return nil
  end
  return session or client.chat()
end

---@param args acp.CommandArgs
function M.config(args)
  local session = session_at_hand()
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

---@param what string of an option, whose next value is to be set
function M.next(what)
  local session = session_at_hand()
  if session then
    session_config.next(session, what)
  end
end

---@param word string
---@return string as one argument of a command
local function escaped(word)
  return (word:gsub("[\\%s]", "\\%0"))
end

---@param text string what stands after the command, up to the cursor
---@return string[] words the last one is what the user is at
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

---@param option acp.ConfigOption
---@return { word: string, other?: string }[] what can be typed; `other` names the same thing
local function values(option)
  if option.kind == "boolean" then
    return { { word = "on" }, { word = "off" } }
  end
  return vim.tbl_map(function(one)
    local is_address = one.value:find("://", 1, true) ~= nil
    return { word = is_address and one.name or one.value, other = is_address and one.value or one.name }
  end, option.values or {})
end

---@param list { word: string, other?: string }[]
---@param lead string
---@return string[] those that begin with it, then those that have it somewhere
local function matching(list, lead)
  local first, second = {}, {}
  local wanted = lead:lower()
  for _, one in ipairs(list) do
    local word, other = one.word:lower(), (one.other or ""):lower()
    if vim.startswith(word, wanted) then
      first[#first + 1] = escaped(one.word)
    elseif word:find(wanted, 1, true) or other:find(wanted, 1, true) then
      second[#second + 1] = escaped(one.word)
    end
  end
  return vim.list_extend(first, second)
end

---@param line string
---@param column integer
---@return string[]
function M.complete(line, column)
  local session = sessions.current()
  local options = session and session.options or {}
  local words = split(line:sub(1, column):match("^.-Acp[%a]*!?%s+(.*)$") or "")
  if #words == 1 then
    local known = vim.tbl_filter(function(option)
      return option.kind == "select" or option.kind == "boolean"
    end, options)
    return matching(
      vim.tbl_map(function(option)
        return { word = option.id, other = cells.plain(option.name) }
      end, known),
      words[1]
    )
  end
  local option = session_config.find(options, words[1])
  return option and matching(values(option), table.concat(words, " ", 2)) or {}
end

return M
