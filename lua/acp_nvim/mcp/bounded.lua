-- Bounds the answer of a tool: what it is made of has any size.
local values = require("acp_nvim.problems.values")

local LINES = 5001 -- the longest lists that tools make, and a line about what they have left out
local LINE_BYTES = 1900 -- less than the host shows of a line
local BYTES = 1024 * 1024 -- of all lines: 50 pages of the host
local WORDS_BYTES = 4000 -- of a note or an error

---@param line any
---@return string
local function one_line(line)
  line = tostring(line)
  local shown = values.cut(line, LINE_BYTES):gsub("\n", " ")
  return #line > LINE_BYTES and shown .. " ..." or shown
end

---@param words? string
---@return string?
local function cut(words)
  return words and values.cut(words, WORDS_BYTES) or nil
end

---@param answer acp.ToolAnswer
---@return acp.ToolAnswer answer
return function(answer)
  local size, lines = 0, {}
  for index, line in ipairs(answer.lines or {}) do
    if index > LINES or size > BYTES then
      lines[index] = ("... only the first %d lines are shown"):format(index - 1)
      break
    end
    lines[index] = one_line(line)
    size = size + #lines[index]
  end
  answer.lines = answer.lines and lines
  answer.note, answer.error, answer.title = cut(answer.note), cut(answer.error), cut(answer.title)
  return answer
end
