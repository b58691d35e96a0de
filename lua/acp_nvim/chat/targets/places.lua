-- Finds the file, link or URL that is written under the cursor.
local lookup = require("acp_nvim.buffers.lookup")

local M = {}

---@param line string
---@param pattern string with a capture of what is written, between its ends
---@param col integer byte, 0-based
---@return string? the capture of the match that the column is in
local function around(line, pattern, col)
  local at = 1
  while true do
    local first, last, found = line:find(pattern, at)
    if not first or first > col + 1 then
      return nil
    elseif last > col then
      return found
    end
    at = last + 1
  end
end

---@param line string
---@param col integer byte, 0-based
---@return string[] what may be meant, the best first
local function candidates(line, col)
  local word = around(line, "([^%s\"'`<>|]+)", col)
  local inner = word and word:match("^[%(%[{*]*(.-)[%)%]},;:%.!?*]*$")
  local whole = { around(line, "!?%[[^%]]*%]%(<?([^%)>]+)>?%)", col) }
  table.insert(whole, around(line, "`([^`]+)`", col))
  table.insert(whole, around(line, '"([^"]+)"', col))
  table.insert(whole, around(line, "'([^']+)'", col))
  table.insert(whole, around(line, "<([^>]+)>", col))
  table.insert(whole, word and word:match("^[%(%[{]*(.*)$"))
  table.insert(whole, inner)
  table.insert(whole, inner and inner:match("=(.+)$"))
  return whole
end

---@param text string
---@return string path
---@return integer? line 1-based
---@return integer? col 1-based
local function apart(text)
  for _, pattern in ipairs({
    "^(.-):(%d+):(%d+)",
    "^(.-):(%d+)%-%d+$",
    "^(.-):(%d+)",
    "^(.-)#L(%d+)",
    "^(.-)%((%d+),%s*(%d+)%)",
    "^(.-)%((%d+)%)",
  }) do
    local path, line, col = text:match(pattern)
    if path and path ~= "" then
      return path, tonumber(line), tonumber(col)
    end
  end
  return (text:gsub("[:,;.]+$", "")), nil, nil
end

---@param path string
---@param cwd string
---@return string? absolute nil when there is nothing there
local function existing(path, cwd)
  if path == "" or path:find("%z") then
    return nil
  elseif path:sub(1, 1) == "~" then
    path = vim.fs.normalize(path)
  end
  local tried = { path, path:match("^[ab]/(.+)$") } -- a diff's names
  for index = 1, 2 do
    local one = tried[index]
    local full = one and (one:sub(1, 1) == "/" and one or vim.fs.joinpath(cwd, one))
    if full and (vim.uv.fs_stat(full) or lookup.find(full)) then
      return full
    end
  end
end

---@param text string
---@return boolean of anything but a file
local function is_url(text)
  return (text:match("^%a[%w+.-]*://%S") or text:match("^mailto:%S")) and not text:match("^file://") or false
end

---@param text string
---@param cwd string
---@return acp.Target?
function M.of_text(text, cwd)
  if is_url(text) then
    return { uri = text }
  end
  local path, line, col = apart(text)
  if text:match("^file://") then
    local ok, name = pcall(vim.uri_to_fname, path)
    path = ok and name or path
  end
  local full = existing(text, cwd)
  if full then
    return { path = full }
  end
  full = existing(path, cwd)
  return full and { path = full, line = line, col = col } or nil
end

---@param line string
---@param col integer byte, 0-based
---@param cwd string where relative paths begin
---@return acp.Target?
function M.at(line, col, cwd)
  for _, text in ipairs(candidates(line, col)) do
    text = is_url(text) and text:gsub("[,.;:!?*'\"]+$", "") or text
    local target = M.of_text(text, cwd)
    if target then
      if target.path and not target.line then -- as Python writes it
        target.line = tonumber(line:match('^",? line (%d+)', (line:find(text, 1, true) or 1) + #text))
      end
      return target
    end
  end
end

return M
