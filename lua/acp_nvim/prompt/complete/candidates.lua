-- Collects completion candidates: commands, keywords, buffers, files and symbols.
local code = require("acp_nvim.mentions.code")
local context = require("acp_nvim.mentions.context")
local files = require("acp_nvim.prompt.complete.files")
local limits = require("acp_nvim.limits")
local match = require("acp_nvim.prompt.complete.match")
local places = require("acp_nvim.mentions.places")
local symbols = require("acp_nvim.mentions.symbols")
local syntax = require("acp_nvim.mentions.syntax")
local words = require("acp_nvim.mentions.words")

local M = {}

local api = vim.api
local BUFFER_COMPLETIONS = 20 -- entries of a menu that are open buffers

---@class acp.Candidate
---@field text string to be inserted
---@field label string
---@field kind "command"|"word"|"buffer"|"file"|"directory"|"symbol"
---@field detail? string
---@field documentation? string
---@field path? string absolute, for the preview
---@field bufnr? integer

---@param named { name: string }[]
---@param typed string beginning of the name
---@param make fun(item: any): acp.Candidate
---@return acp.Candidate[] names that start with `typed` before names that contain it
local function by_name(named, typed, make)
  local begin, rest = {}, {}
  for _, item in ipairs(named) do
    local at = item.name:lower():find(typed:lower(), 1, true)
    if at then
      table.insert(at == 1 and begin or rest, make(item))
    end
  end
  return vim.list_extend(begin, rest)
end

---Calls back when the agent has told its commands: one that starts takes seconds.
---@param done fun() called once, unless stopped
---@return fun()? stop
local function when_told(session, done)
  if #session.commands > 0 then
    return done()
  end
  local answered = false
  local function once()
    if not answered then
      answered = true
      done()
    end
  end
  session.on_commands = session.on_commands or {}
  table.insert(session.on_commands, once)
  vim.defer_fn(once, limits.commands_ms)
  return function()
    answered = true
  end
end

---@param typed string beginning of the name
---@param done fun(found: acp.Candidate[]) called once, unless stopped
---@return fun()? stop
function M.commands(session, typed, done)
  return when_told(session, function()
    done(by_name(session.commands, typed, function(command)
      local text = "/" .. command.name
      return { text = text, label = text, kind = "command", detail = command.hint, documentation = command.description }
    end))
  end)
end

---Calls those who wait for the commands of the agent.
function M.commands_came(session)
  local waiting = session.on_commands or {}
  session.on_commands = nil
  for _, go_on in ipairs(waiting) do
    go_on()
  end
end

---@type { [1]: string, [2]: string, [3]: fun(cwd: string): any }[]
local WORDS = {
  { "selection", "the last visual selection", words.has_selection },
  {
    "diagnostics",
    "of the last code buffer",
    function()
      local bufnr = code.buffer()
      return bufnr and next(vim.diagnostic.count(bufnr))
    end,
  },
  {
    "diagnostics:workspace",
    "of all buffers",
    function()
      return next(vim.diagnostic.count())
    end,
  },
  {
    "quickfix",
    "the quickfix list",
    function()
      return vim.fn.getqflist({ size = 0 }).size > 0
    end,
  },
  { "diff", "what git says has changed", words.has_git },
}

---@return acp.Candidate[]
local function of_words(session, typed)
  local out = {}
  for _, word in ipairs(WORDS) do
    if vim.startswith(word[1], typed:lower()) and word[3](session.cwd) then
      local text = "@" .. word[1]
      table.insert(out, { text = text, label = text, kind = "word", detail = word[2] })
    end
  end
  if vim.startswith("symbol:", typed:lower()) and code.buffer() then
    table.insert(out, { text = "@symbol:", label = "@symbol:", kind = "word", detail = "a definition, by its name" })
  end
  return out
end

---@param path string relative to the session's directory, or absolute
local function mention(path)
  return syntax.format(syntax.is_word(path) and "./" .. path or path)
end

---@return boolean the buffer has neither a name nor text
local function is_unused(bufnr)
  return api.nvim_buf_get_name(bufnr) == "" and api.nvim_buf_get_offset(bufnr, api.nvim_buf_line_count(bufnr)) <= 1
end

---@return acp.Candidate[]
local function of_buffers(session, typed)
  local out = {}
  for _, bufnr in ipairs(code.buffers()) do
    local name = api.nvim_buf_get_name(bufnr)
    local is_named = name ~= "" and not name:match("^%a[%w+.-]*://")
    local short = is_named and context.short(name, session.cwd) or ("buffer:%d"):format(bufnr)
    local fits = short:lower():find(typed:lower(), 1, true) and not short:find("%c") and not is_unused(bufnr)
    if fits and #out < BUFFER_COMPLETIONS then
      local first = api.nvim_buf_get_lines(bufnr, 0, 1, false)[1] or ""
      local detail = is_named and "open" .. (vim.bo[bufnr].modified and ", not saved" or "") or first:sub(1, 40)
      local text = is_named and mention(short) or "@" .. short
      table.insert(out, { text = text, label = text, kind = "buffer", detail = detail, bufnr = bufnr })
    end
  end
  return out
end

---@return acp.Candidate[]
local function of_paths(session, paths)
  return vim.tbl_map(function(path)
    local text, is_directory = mention(path), path:sub(-1) == "/"
    local kind = is_directory and "directory" or "file"
    local absolute = path:match("^[~/]") and path or session.cwd .. "/" .. path
    return { text = text, label = text, kind = kind, path = not is_directory and absolute or nil }
  end, paths)
end

---@param found acp.Candidate[]
---@param more acp.Candidate[]
---@return boolean the menu had room for all
local function add(found, more)
  local known = {}
  for _, candidate in ipairs(found) do
    known[candidate.text] = true
  end
  for _, candidate in ipairs(more) do
    if #found >= limits.completions then
      return false
    elseif not known[candidate.text] then
      known[candidate.text] = true
      table.insert(found, candidate)
    end
  end
  return true
end

---@param typed string text after `symbol:`
---@param done fun(found: acp.Candidate[], all: boolean)
local function of_symbols(typed, done)
  symbols.list(function(all)
    local found = {}
    local more = by_name(all, typed, function(symbol)
      local text = syntax.format("symbol:" .. symbol.name)
      local file = vim.fs.basename(api.nvim_buf_get_name(symbol.bufnr))
      local detail = ("%s:%d"):format(file, symbol.first)
      return { text = text, label = text, kind = "symbol", detail = detail, bufnr = symbol.bufnr }
    end)
    done(found, add(found, more))
  end)
end

---@param found acp.Candidate[]
---@param done fun(found: acp.Candidate[], all: boolean)
---@return fun() stop
local function of_files(session, found, typed, done)
  local stopped, stop_match = false, nil
  files.when_listed(session.cwd, function()
    if stopped then
      return
    end
    stop_match = match.start(files.get(session.cwd), (typed:gsub("^%./", "")), function(paths, all)
      done(found, add(found, of_paths(session, paths)) and all)
    end)
  end)
  return function()
    stopped = true
    if stop_match then
      stop_match()
    end
  end
end

---@param typed string text after the @, without quotes and escapes
---@param done fun(found: acp.Candidate[], all: boolean) called once, unless stopped; the best candidates first
---@return fun() stop
function M.mentions(session, typed, done)
  local symbol = typed:match("^symbol:(.*)$")
  if symbol then
    of_symbols(symbol, done)
    return function() end
  elseif places.is_outside(typed) then
    places.list(typed, session.cwd, function(paths, all)
      local found = {}
      done(found, add(found, of_paths(session, paths)) and all)
    end)
    return function() end
  end
  local found = of_words(session, typed)
  add(found, of_buffers(session, typed))
  return of_files(session, found, typed, done)
end

return M
