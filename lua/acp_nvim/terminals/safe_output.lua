-- Removes control strings (OSC, DCS and others) from output: Neovim would obey them, for example to set the clipboard.

local ESCAPE_BYTES = 4096 -- of one control string at most: longer text is passed on (the host's ESCAPE_CHARS)
-- A terminal executes these control characters within an escape sequence, and continues the sequence.
local CONTROLS = "[%z\1-\23\25\28-\31\127]*"
local BEGINNING = "\27" .. CONTROLS .. "[%]PX%^_]"
local UNFINISHED = "\27" .. CONTROLS .. "$"
local ESCAPE, BACKSLASH = 27, 92
-- Takes the place of a string: like the beginning of a string, it ends an unfinished sequence before it.
local CANCEL = "\24"

---A filter for one terminal; the output may be split anywhere.
---@class acp.SafeOutput
---@field held string the beginning of what may be a control string
---@field inside? integer bytes of the current control string that were removed
local SafeOutput = {}
SafeOutput.__index = SafeOutput

---@return acp.SafeOutput
function SafeOutput.new()
  return setmetatable({ held = "", inside = nil }, SafeOutput)
end

---Skips a control string, up to its end or the end of the data. Stops when it is too long.
---@param data string
---@return integer at start of the rest
function SafeOutput:_skip(data, at)
  local stop = data:find("[\7\24\26\27]", at) or #data + 1
  self.inside = self.inside + stop - at
  if self.inside > ESCAPE_BYTES then
    self.inside = nil
    return at
  elseif stop > #data then
    return stop
  elseif data:byte(stop) ~= ESCAPE then
    self.inside = nil
    return stop + 1
  elseif stop == #data then -- the first byte of its end, or of another sequence
    self.held = data:sub(stop)
    return stop + 1
  end
  self.inside = nil
  return data:byte(stop + 1) == BACKSLASH and stop + 2 or stop
end

---@param data string
---@return string text up to the next control string
---@return integer at start of the rest
function SafeOutput:_pass(data, at)
  local from, last = data:find(BEGINNING, at)
  if from then
    self.inside = 0
    return data:sub(at, from - 1) .. CANCEL, last + 1
  end
  from = data:find(UNFINISHED, at)
  if not from then
    return data:sub(at), #data + 1
  elseif #data - from < ESCAPE_BYTES then
    self.held = data:sub(from)
    return data:sub(at, from - 1), #data + 1
  end
  return data:sub(at, from - 1) .. data:sub(from + 1), #data + 1
end

---@param data string
---@return string safe output
function SafeOutput:feed(data)
  data, self.held = self.held .. data, ""
  local out, at = {}, 1
  while at <= #data do
    if self.inside then
      at = self:_skip(data, at)
    else
      out[#out + 1], at = self:_pass(data, at)
    end
  end
  return table.concat(out)
end

return SafeOutput
