-- Makes characters visible that have no glyph or change the order of the text around them.
local M = {}

local TAB, NEWLINE, SPACE, TILDE = 9, 10, 32, 126
local ZWJ = 0x200D
local EMOJI_STYLE = 0xFE0F
local SYMBOLS = 0x2000 -- first code point that a variation selector or joiner may belong to

---Ranges of code points without a visible glyph.
local HIDDEN = {
  { 0x80, 0x9F }, -- control characters
  { 0xAD, 0xAD }, -- soft hyphen
  { 0x34F, 0x34F },
  { 0x61C, 0x61C }, -- text direction
  { 0x115F, 0x1160 }, -- fillers
  { 0x17B4, 0x17B5 },
  { 0x180B, 0x180F },
  { 0x200B, 0x200F }, -- zero width, and text direction
  { 0x2028, 0x202E }, -- line separators, and text direction
  { 0x2060, 0x206F },
  { 0x2800, 0x2800 }, -- blank braille pattern
  { 0x3164, 0x3164 },
  { 0xFE00, 0xFE0F }, -- variation selectors
  { 0xFEFF, 0xFEFF },
  { 0xFFA0, 0xFFA0 },
  { 0xFFF0, 0xFFFB },
  { 0x1BCA0, 0x1BCA3 },
  { 0x1D173, 0x1D17A },
  { 0xE0000, 0xE0FFF }, -- tags, and more variation selectors
}

---@param char string one character of UTF-8
local function code_of(char)
  local first = char:byte()
  local code = first >= 0xF0 and first - 0xF0 or first >= 0xE0 and first - 0xE0 or first - 0xC0
  for index = 2, #char do
    code = code * 64 + char:byte(index) - 0x80
  end
  return code
end

---Ranges of blanks that look like a space but that no shell takes for one.
local BLANKS = {
  { 0xA0, 0xA0 }, -- no-break space
  { 0x1680, 0x1680 },
  { 0x2000, 0x200A },
  { 0x202F, 0x202F },
  { 0x205F, 0x205F },
  { 0x3000, 0x3000 },
}

local function is_in(code, ranges)
  for _, range in ipairs(ranges) do
    if code >= range[1] and code <= range[2] then
      return true
    end
  end
  return false
end

---Checks quickly whether a text may contain one of these characters; most texts do not.
local function may_hide(text)
  return text:find("[\194\205\216\225\239\243]") ~= nil
    or text:find("\226[\128\129\160]") ~= nil
    or text:find("\227[\128\133]") ~= nil
    or text:find("\240[\155\157]") ~= nil
end

---Whether a text contains only printable ASCII, tabs and newlines. Byte by byte, because LuaJIT compiles this loop and a
---pattern takes twenty times as long.
function M.is_plain(text)
  for index = 1, #text do
    local byte = text:byte(index)
    if (byte < SPACE and byte ~= NEWLINE and byte ~= TAB) or byte > TILDE then
      return false
    end
  end
  return true
end

---@return boolean the text is UTF-8
function M.is_valid(text)
  -- from UTF-8 to UTF-8, iconv does nothing and returns nil
  local wide = text:find("[\128-\255]") and vim.iconv(text, "utf-8", "utf-16le")
  return not wide or vim.iconv(wide, "utf-16le", "utf-8") == text
end

---@return boolean everything in the text is visible, and on one line
function M.is_visible(text)
  return M.text(text) == text and not text:find("%c")
end

---@param opening? string inserted before each replacement; if given, blanks other than the space are replaced, too
---@param closing? string inserted after each replacement
---@return string text with the code points of hidden characters in angle brackets; tabs and newlines are kept
function M.text(text, opening, closing)
  if M.is_plain(text) then
    return text
  end
  local open, close = opening or "", closing or ""
  local out = text:gsub("[%z\1-\8\11-\31\127]", function(char)
    local byte = char:byte()
    return open .. (byte == 127 and "^?" or "^" .. string.char(byte + 64)) .. close
  end)
  if not may_hide(out) then
    return out
  end
  local before, from = 0, 1 -- the previous character, and the byte after it
  return (
    out:gsub("()([\194-\244][\128-\191]+)()", function(at, char, to)
      local code = code_of(char)
      local previous = at == from and before or 0
      from = to
      -- parts of emojis are kept; between letters these characters are invisible
      local is_emoji = (code == EMOJI_STYLE or code == ZWJ) and previous >= SYMBOLS
      local hidden = is_in(code, HIDDEN) or opening ~= nil and is_in(code, BLANKS)
      before = (not hidden or is_emoji) and math.max(code, is_emoji and SYMBOLS or 0) or 0
      return hidden and not is_emoji and ("%s<%04x>%s"):format(open, code, close) or nil
    end)
  )
end

return M
