-- Makes visible what the text of a request could hide: counts long blanks, and shows the codes of invisible characters.
local limits = require("acp_nvim.limits")
local characters = require("acp_nvim.render.characters")

local M = {}

-- Adjacent blanks that are kept: more are counted, because they push the rest of the line off the screen
local REQUEST_BLANKS = 8
local OPEN, CLOSE = "\1", "\2" -- around inserted text; these characters in the text itself are replaced before
M.BREAK = "⏎" -- where a command continues in the next line
M.HOST = "┃ " -- before lines written by the host, not by the agent
-- In an agent's text these are shown as codes, so that they cannot be taken for inserted text
local RESERVED = { "···", M.BREAK, vim.trim(M.HOST) }

local function codes(text)
  local out = {}
  for _, code in ipairs(vim.fn.str2list(text)) do
    out[#out + 1] = ("<%04x>"):format(code)
  end
  return OPEN .. table.concat(out) .. CLOSE
end

local function count_words(blanks)
  local tabs, words = select(2, blanks:gsub("\t", "")), {}
  for _, one in ipairs({ { #blanks - tabs, "space" }, { tabs, "tab" } }) do
    words[#words + 1] = one[1] > 0 and ("%d %s%s"):format(one[1], one[2], one[1] == 1 and "" or "s") or nil
  end
  return (" %s··· %s ···%s "):format(OPEN, table.concat(words, " and "), CLOSE)
end

local function is_ordinary(text)
  return characters.is_plain(text) and not text:find("[\t\n]") and not text:find((" "):rep(REQUEST_BLANKS + 1), 1, true)
end

---@param most integer adjacent blanks that are kept
local function count_blanks(marked, most)
  local text_at = marked:match("^[ \t]*[-+]?[ \t]*()") -- after the sign of a line in a diff
  return (
    marked:gsub("()([ \t]+)", function(at, blanks)
      local is_indent = at < text_at and vim.fn.strdisplaywidth(blanks) <= limits.request_indent
      local has_tab = blanks:find("\t", 1, true) and #blanks > 1
      return not is_indent and (#blanks > most or has_tab) and count_words(blanks) or nil
    end)
  )
end

---@param text string of one line
---@param most? integer adjacent blanks that are kept
---@return string
---@return integer[][] spans of inserted text: first byte (from 0), and the byte after the last
function M.line(text, most)
  if is_ordinary(text) then
    return text, {}
  end
  local marked = characters.text(text, OPEN, CLOSE):gsub("\n", OPEN .. "^J" .. CLOSE)
  for _, word in ipairs(RESERVED) do
    marked = marked:gsub(word, codes(word))
  end
  marked = count_blanks(marked, most or REQUEST_BLANKS)
  local pieces, spans, length, from = {}, {}, 0, 1
  for at, mark, to in marked:gmatch("()([\1\2])()") do
    pieces[#pieces + 1] = marked:sub(from, at - 1)
    length, from = length + at - from, to
    if mark == OPEN then
      spans[#spans + 1] = { length, length }
    else
      spans[#spans][2] = length
    end
  end
  pieces[#pieces + 1] = marked:sub(from)
  return table.concat(pieces), spans
end

---Does the same as `line`, but leaves out the middle of a line that is too long.
---@param text string of one line
---@param bytes integer limit
---@param most? integer adjacent blanks that are kept
---@return string
---@return integer[][] spans
function M.cut(text, bytes, most)
  if #text <= bytes then
    return M.line(text, most)
  end
  local half = math.floor(bytes / 2)
  local head_end = half + vim.str_utf_start(text, half + 1)
  local tail_at = #text - half + 1 + vim.str_utf_end(text, #text - half)
  local line, spans = M.line(text:sub(1, head_end), most)
  local words = (" … %d more bytes … "):format(tail_at - head_end - 1)
  spans[#spans + 1] = { #line, #line + #words }
  local tail, tail_spans = M.line(text:sub(tail_at), most)
  local shift = #line + #words
  for _, span in ipairs(tail_spans) do
    spans[#spans + 1] = { span[1] + shift, span[2] + shift }
  end
  return line .. words .. tail, spans
end

---Splits a text into lines; three or more blank lines in succession become a line that counts them.
---@return { text: string, is_inserted: boolean? }[]
function M.lines(text)
  local out, empty = {}, {}
  local function flush()
    if #empty > 2 then
      empty = { { text = ("··· %d empty lines ···"):format(#empty), is_inserted = true } }
    end
    vim.list_extend(out, empty)
    empty = {}
  end
  for _, line in ipairs(vim.split(text, "\n", { plain = true })) do
    if line:find("[^ \t\r]") then
      flush()
      out[#out + 1] = { text = line }
    else
      empty[#empty + 1] = { text = line }
    end
  end
  return out -- without blank lines at the end
end

return M
