-- Finds what the user has mentioned in a message, or attached to it: `@a.py:3-5`, `@"a b.txt"`, `@buffer:7`.
local lazy = require("acp_nvim.lazy")
local code = lazy("acp_nvim.mentions.code")
local decoration = lazy("acp_nvim.render.decoration")
local mentioned = lazy("acp_nvim.mentions.places")
local places = lazy("acp_nvim.actions.targets.places")
local syntax = lazy("acp_nvim.mentions.syntax")
local transcript = require("acp_nvim.transcript")

local M = {}

local api = vim.api
local MOST = 200 -- mentions of one message that are highlighted: pasted code has hundreds of decorators
local BUFFERS = { "^buffer:(%d+)$", "^%[No Name (%d+)%]$" } -- as users write one without a name, and as it is attached

---@param text string after an @, to the end of the line
---@return acp.Reading[] as an attachment, which has a line of its own, where its name is not quoted
local function attached(text)
  local readings, to = {}, #text + 1
  for _, name in ipairs({ text, text:match("^(.+) %b()$") }) do -- the second: the lines of a symbol
    table.insert(readings, { text = name, quoted = true, to = to })
    local path, first, last = name:match("^(.+):(%d+)%-(%d+)$")
    if path then
      table.insert(readings, { text = path, quoted = true, first = tonumber(first), last = tonumber(last), to = to })
    end
  end
  return readings
end

---@return acp.MentionToken[]
local function tokens(line)
  local found = line:find("@", 1, true) and syntax.parse(line) or {}
  local text = line:match("^@(.+)$")
  if text then
    local first = found[1] and found[1].from == 0 and table.remove(found, 1) or { readings = {} }
    table.insert(found, 1, { from = 0, readings = vim.list_extend(attached(text), first.readings) })
  end
  return found
end

---@param reading acp.Reading
---@return integer? bufnr
local function buffer_of(reading)
  for _, pattern in ipairs(BUFFERS) do
    local number = tonumber(reading.text:match(pattern))
    if number and api.nvim_buf_is_valid(number) and code.is_code(number) then
      return number
    end
  end
end

---@param col integer byte, 0-based
---@return acp.Target? what is mentioned there
function M.target(line, col, cwd)
  for _, token in ipairs(tokens(line)) do
    for _, reading in ipairs(token.from <= col and token.readings or {}) do
      local bufnr = buffer_of(reading)
      local found = col < reading.to and not bufnr and places.find(reading.text, cwd) or nil
      if col < reading.to and bufnr then
        return { bufnr = bufnr, line = reading.first }
      elseif found and found.path then
        return { path = found.path, line = reading.first or found.line, col = found.col }
      end
    end
  end
end

---@param token acp.MentionToken
---@param done fun(to?: integer) called once, with the column after its end; nil: it names nothing that can be opened
local function when_known(token, cwd, done)
  local is_known, left = {}, #token.readings
  for index, reading in ipairs(token.readings) do
    local function answer(is_there)
      is_known[index], left = is_there, left - 1
      if left == 0 then
        local _, first = vim.iter(ipairs(token.readings)):find(function(at)
          return is_known[at]
        end)
        done(first and first.to)
      end
    end
    if buffer_of(reading) or reading.text:find("%z") then
      answer(not reading.text:find("%z"))
    else
      mentioned.find(reading.text, cwd, answer)
    end
  end
end

---@param block acp.Block of the user
local function highlight(session, block)
  local lines, count = transcript.lines(session, block), 0
  for row, line in ipairs(lines) do
    for _, token in ipairs(count < MOST and tokens(line) or {}) do
      count = count + 1
      when_known(token, session.cwd, function(to)
        local first = to and transcript.rows(session, block)
        local now = first and api.nvim_buf_get_lines(session.bufnr, first + row - 1, first + row, false)[1]
        if now == line then
          decoration.colour(session.bufnr, first, { { row = row - 1, from = token.from, to = to, group = "AcpLink" } })
        end
      end)
    end
  end
end

---Highlights what can be opened in the user's messages from now on.
function M.watch()
  transcript.on_changes(function(session, blocks)
    for block in pairs(blocks) do
      if block.kind == "user" and transcript.rows(session, block) then
        highlight(session, block)
      end
    end
  end)
end

return M
