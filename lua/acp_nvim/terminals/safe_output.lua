-- Takes out of what a program printed what would act on the user's Neovim: strings for the terminal, as the clipboard.

-- Between an escape character and the next one a terminal obeys other control characters, and goes on reading.
local ESCAPE_BYTES = 4096 -- of one escape sequence that is left out: what is longer was none (the host's ESCAPE_CHARS)
local CONTROLS = "[%z\1-\23\25\28-\31\127]*"
local BEGINNING = "\27" .. CONTROLS .. "[%]PX%^_]"
local UNFINISHED = "\27" .. CONTROLS .. "$"
local ESCAPE, BACKSLASH = 27, 92
-- What stands in the place of a string: like its beginning, it ends what came before unfinished.
local CANCEL = "\24"

---One terminal's; pieces may be cut anywhere.
---@class acp.SafeOutput
---@field held string the beginning of what may be such a string
---@field inside? integer how many of its bytes were left out
local SafeOutput = {}
SafeOutput.__index = SafeOutput

---@return acp.SafeOutput
function SafeOutput.new()
  return setmetatable({ held = "", inside = nil }, SafeOutput)
end

---Leaves out a string, up to its end or the end of the data; what is too long was none.
---@param data string
---@param at integer
---@return integer at where the rest begins
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
  elseif stop == #data then -- its end, or that of something else
    self.held = data:sub(stop)
    return stop + 1
  end
  self.inside = nil
  return data:byte(stop + 1) == BACKSLASH and stop + 2 or stop
end

---@param data string
---@param at integer
---@return string text that may be shown
---@return integer at where the rest begins
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
---@return string what a terminal may be given
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
