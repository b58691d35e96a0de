-- The queue as text to edit, and back: a section for each prompt, below a line that says which it is.
local M = {}

local HEADER = "^%-%-%- prompt (%d*) ?%-%-%-"
local ESCAPED = "^\\+%-%-%- prompt %d* ?%-%-%-"

---@param prompt acp.QueuedPrompt
---@return string
local function header(prompt)
  local names = #prompt.context_names > 0 and " + " .. table.concat(prompt.context_names, ", ") or ""
  return ("--- prompt %d ---%s"):format(prompt.id, (names:gsub("%c", " ")))
end

---@param line string of a prompt
---@return string which no header looks like
local function escaped(line)
  return (line:match(HEADER) or line:match(ESCAPED)) and "\\" .. line or line
end

---@param prompts acp.QueuedPrompt[]
---@return string[] lines
function M.render(prompts)
  local lines = {}
  for _, prompt in ipairs(prompts) do
    table.insert(lines, header(prompt))
    for _, line in ipairs(vim.split(prompt.text, "\n", { plain = true })) do
      table.insert(lines, escaped(line))
    end
  end
  return #lines > 0 and lines or { "--- prompt ---", "" }
end

---@param lines string[]
---@return { id?: integer, text: string }[] without those that are empty; one that stands there twice is new the second time
function M.parse(lines)
  local sections, seen = {}, {}
  local section = { lines = {} }
  local function close()
    local text = table.concat(section.lines, "\n")
    if vim.trim(text) ~= "" then
      table.insert(sections, { id = section.id, text = text })
    end
  end
  for _, line in ipairs(lines) do
    local id = line:match(HEADER)
    if id then
      close()
      local number = tonumber(id)
      section = { id = number and not seen[number] and number or nil, lines = {} }
      seen[number or 0] = true
    else
      table.insert(section.lines, line:match(ESCAPED) and line:sub(2) or line)
    end
  end
  close()
  return sections
end

return M
