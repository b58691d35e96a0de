-- Compares what reads a segment of markdown: ours (transcript/markdown), and tree-sitter's grammars by `get_string_parser`.
--   nvim --clean --headless -l tests/bench/markdown_parsers.lua
-- Each text is cut into segments as in the chat, then each segment is read by both. A text runs in a Neovim of its own,
-- since the grammars can end Neovim. doc/development/chat.md has the figures, and what follows from them.
local here = vim.fs.dirname(vim.fs.abspath(debug.getinfo(1, "S").source:sub(2)))
vim.opt.runtimepath:prepend(vim.fs.dirname(vim.fs.dirname(here)))

local SECONDS = 60 -- that one text may take
local REPEATS = 3 -- of each segment; the fastest counts, since the machine has other things to do
local INLINE_BYTES = require("acp_nvim.limits").inline_bytes

---@type table<string, fun(): string[]>
local texts = {}

local PROSE = {
  "## A heading with `code` in it",
  "",
  "Some **words** that are *read* by people, with a [link](https://example.org) and `a_name`, as agents write.",
  "They go on in a second line, and end there.",
  "",
  "- one item, **strong**",
  "- another with `code`",
  "  1. and a nested one",
  "",
  "> a quote of a line",
  "",
  "| a | b |",
  "|---|---|",
  "| 1 | `x` |",
  "",
}
texts["answer, 1 MB"] = function()
  local lines = {}
  for _ = 1, 3500 do
    vim.list_extend(lines, PROSE)
  end
  return lines
end
texts["plain words, 1 MB"] = function()
  local lines = {}
  for index = 1, 10000 do
    lines[index] = index % 6 == 0 and "" or ("words and more words "):rep(5)
  end
  return lines
end
texts["one line, 1 MB"] = function()
  return { ("a **b** `c` "):rep(87000) }
end
texts["50,000 backticks"] = function()
  return { ("`"):rep(50000) }
end
texts["backtick runs"] = function()
  local runs = {}
  for length = 1, 60 do
    runs[length] = ("`"):rep(length) .. "x"
  end
  return { table.concat(runs, " "), table.concat(runs, " ") }
end
texts["`*a **b `, 4 kB"] = function()
  return { ("*a **b "):rep(285), ("*a **b "):rep(285) }
end
texts["open brackets"] = function()
  return { ("["):rep(2000), ("["):rep(2000) }
end
texts["quotes, 1,900 deep"] = function()
  return { (">"):rep(1900), (">"):rep(1900) }
end
texts["nested list"] = function()
  local lines = {}
  for depth = 0, 19 do
    lines[#lines + 1] = ("  "):rep(depth) .. "- item"
  end
  return lines
end
texts["list marks, 1,900"] = function()
  return { ("- "):rep(950), ("- "):rep(950) }
end

---@param lines string[]
---@return { lines: string[], inside?: "list"|"table" }[] segments of markdown
local function segments_of(lines)
  local cut = require("acp_nvim.transcript.markdown.cut")
  local made, segments = cut.new(), {}
  cut.feed(made, lines)
  for index = 1, #made.segments do
    local segment = cut.segment(made, index)
    local last = cut.first(made, index + 1) or #lines
    local kind = segment.kind or {}
    if not kind.code then
      local own = vim.list_slice(lines, segment.first + 1, last)
      for row, line in ipairs(own) do
        own[row] = line:sub(1, INLINE_BYTES)
      end
      segments[#segments + 1] = { lines = own, inside = kind.inside }
    end
  end
  return segments
end

local reads = {}

function reads.ours(segment)
  return require("acp_nvim.transcript.markdown.structure")(segment.lines, segment.inside)
end

function reads.grammar(segment)
  local text = table.concat(segment.lines, "\n") .. "\n"
  local parser = vim.treesitter.get_string_parser(text, "markdown")
  parser:parse(true)
  local rows = {}
  parser:for_each_tree(function(tree, language)
    local lang = language:lang()
    local query = vim.treesitter.query.get(lang, "highlights")
    for id, node, metadata in query:iter_captures(tree:root(), text) do
      local from_row, from, to_row, to = node:range()
      rows[#rows + 1] = { from_row, from, to_row, to, query.captures[id] .. "." .. lang, metadata.conceal }
    end
  end)
  parser:destroy()
  return rows
end

---@return integer kB that the process holds
local function resident()
  return math.floor(vim.uv.resident_set_memory() / 1024)
end

---@param how "ours"|"grammar"
---@param text string
local function measure(how, text)
  local segments = segments_of(texts[text]())
  reads[how]({ lines = { "warm *up*" } })
  collectgarbage()
  local kb, total, worst, count = resident(), 0, 0, math.min(#segments, 2000)
  for index = 1, count do
    local best = math.huge
    for _ = 1, REPEATS do
      local began = vim.uv.hrtime()
      reads[how](segments[index])
      best = math.min(best, (vim.uv.hrtime() - began) / 1e6)
    end
    total, worst = total + best, math.max(worst, best)
  end
  io.write(("%d\t%.3f\t%.2f\t%d"):format(count, total / count, worst, resident() - kb))
end

if arg[1] then
  return measure(arg[1], arg[2])
end
print(("%-22s %-8s %9s %10s %9s %9s"):format("text", "read by", "segments", "ms each", "ms worst", "kB more"))
local names = vim.tbl_keys(texts)
table.sort(names)
for _, name in ipairs(names) do
  for _, how in ipairs({ "ours", "grammar" }) do
    local command = { vim.v.progpath, "--clean", "--headless", "-l", here .. "/markdown_parsers.lua", how, name }
    local done = vim.system(command, { text = true, timeout = SECONDS * 1000 }):wait()
    local found = vim.split(done.stdout, "\t")
    if #found < 4 then
      found = { "", done.code == 124 and "over 60 s" or ("ended: signal %d"):format(done.signal), "", "" }
    end
    print(("%-22s %-8s %9s %10s %9s %9s"):format(name, how, unpack(found)))
  end
end
