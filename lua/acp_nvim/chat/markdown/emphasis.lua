-- Pairs the runs of `*`, `_` and `~` that make words strong, italic or struck, as CommonMark does.
require("acp_nvim.chat.markdown.interpreted")()

local M = {}

---@class acp.Run
---@field char string
---@field from integer first byte that is left of it
---@field to integer last byte that is left of it
---@field length integer at the beginning
---@field opens boolean
---@field closes boolean

local STRONG = "@markup.strong.markdown_inline"
local ITALIC = "@markup.italic.markdown_inline"
local STRUCK = "@markup.strikethrough.markdown_inline"

---@param text string
---@param at integer of its first byte
---@return acp.Run
function M.run(text, at)
  local char = text:sub(at, at)
  local _, to = text:find("^%" .. char .. "+", at)
  local before = at > 1 and text:sub(at - 1, at - 1) or " "
  local after = to < #text and text:sub(to + 1, to + 1) or " "
  local space_before, space_after = before:find("%s") ~= nil, after:find("%s") ~= nil
  local punct_before, punct_after = before:find("%p") ~= nil, after:find("%p") ~= nil
  local left = not space_after and (not punct_after or space_before or punct_before)
  local right = not space_before and (not punct_before or space_after or punct_after)
  local opens, closes = left, right
  if char == "_" then -- not within words
    opens, closes = left and (not right or punct_before), right and (not left or punct_after)
  end
  if char == "~" and to - at > 1 then -- more than two are no mark
    opens, closes = false, false
  end
  return { char = char, from = at, to = to, length = to - at + 1, opens = opens, closes = closes }
end

---@param opener acp.Run
---@param closer acp.Run
---@return boolean
local function fit(opener, closer)
  if opener.char ~= closer.char then
    return false
  elseif closer.char == "~" then
    return opener.length == closer.length
  end
  local both = (opener.closes or closer.opens) and (opener.length + closer.length) % 3 == 0
  return not both or (opener.length % 3 == 0 and closer.length % 3 == 0)
end

---@param opener acp.Run
---@param closer acp.Run
---@param add fun(from: integer, to: integer, group?: string, conceal?: string)
local function join(opener, closer, add)
  local left, right = opener.to - opener.from + 1, closer.to - closer.from + 1
  local count = (left >= 2 and right >= 2) and 2 or 1
  local group = count == 2 and STRONG or ITALIC
  if closer.char == "~" then
    count, group = closer.length, STRUCK
  end
  local from, to = opener.to - count + 1, closer.from + count - 1
  add(from, to, group)
  add(from, opener.to, nil, "")
  add(closer.from, to, nil, "")
  opener.to, closer.from = from - 1, to + 1
end

---@param stack acp.Run[]
---@param closer acp.Run
---@param lowest integer index in the stack below which nothing fits
---@return integer? index
local function opener_of(stack, closer, lowest)
  for index = #stack, lowest, -1 do
    if fit(stack[index], closer) then
      return index
    end
  end
end

---@param stack acp.Run[]
---@param size integer
---@param lowest table<string, integer>
local function shrink(stack, size, lowest)
  for index = #stack, size + 1, -1 do
    stack[index] = nil
  end
  for key, index in pairs(lowest) do
    lowest[key] = math.min(index, size + 1)
  end
end

---@param runs acp.Run[] in order
---@param add fun(from: integer, to: integer, group?: string, conceal?: string)
function M.pair(runs, add)
  local stack, lowest = {}, {}
  for _, run in ipairs(runs) do
    -- what was searched for in vain is not searched again: else the time would grow with the square
    local key = run.char .. run.length % 3 .. tostring(run.opens)
    while run.closes and run.from <= run.to do
      local found = opener_of(stack, run, lowest[key] or 1)
      if not found then
        lowest[key] = #stack + 1
        break
      end
      join(stack[found], run, add)
      shrink(stack, stack[found].from > stack[found].to and found - 1 or found, lowest)
    end
    if run.opens and run.from <= run.to then
      stack[#stack + 1] = run
    end
  end
end

return M
