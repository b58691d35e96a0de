-- Reads a text as the place that it names: a file, a line in it, or the address of something else.
local lookup = require("acp_nvim.buffers.lookup")
local names = require("acp_nvim.names")

local M = {}

local FILE = "^[fF][iI][lL][eE]:/"
local READINGS = 8 -- of a text as path and line
---Ways to write a line, and a column, at the end of a path.
local AT_END = {
  "^(.+):L?(%d+):(%d+)$",
  "^(.+):L?(%d+):(%d+)%-[%d:]+$",
  "^(.+):L?(%d+)%-L?%d+$",
  "^(.+):L?(%d+)$",
  "^(.+)#L(%d+)C(%d+)[-LC%d]*$",
  "^(.+)#L?(%d+)%-L?%d+$",
  "^(.+)#L?(%d+)$",
  "^(.+)#lines?[=-](%d+)[-%d]*$",
  "^(.+)%s?%((%d+),%s*(%d+)%)$",
  "^(.+)%s?%((%d+)%)$",
  "^(.+)%s+%([lL]ines? (%d+)[-%d]*%)$",
  "^(.+),?%s+[lL]ines? (%d+)[-%d]*$",
  "^(.+),%s+[lL]ines? (%d+)[-%d]*$",
}
---The same with anything behind it.
local WITHIN = {
  "^(.-):L?(%d+):(%d+)",
  "^(.-):L?(%d+)%-L?%d+$",
  "^(.-):L?(%d+)",
  "^(.-)#L(%d+)",
  "^(.-)%((%d+),%s*(%d+)%)",
  "^(.-)%((%d+)%)",
}

---@class acp.Reading
---@field path string
---@field line? integer 1-based
---@field col? integer 1-based

---Returns the ways to read a text as a path and a line, the most likely first.
---@return acp.Reading[]
local function readings(text)
  local found, known = { { path = text } }, { [text] = true }
  local plain = text:gsub("\226\128[\147\148]", "-") -- dashes between two numbers
  for _, patterns in ipairs({ AT_END, WITHIN }) do
    for _, pattern in ipairs(patterns) do
      local path, line, col = plain:match(pattern)
      path = path and text:sub(1, #path)
      local key = path and ("%s\0%s"):format(path, line)
      if path and path ~= "" and not known[key] and #found < READINGS then
        known[key] = true
        found[#found + 1] = { path = path, line = tonumber(line), col = tonumber(col) }
      end
    end
  end
  local bare = text:gsub("[:,;.]+$", "")
  if bare ~= text then
    found[#found + 1] = { path = bare }
  end
  return found
end

---@return string? absolute nil when it does not exist
local function existing(path, cwd)
  if path == "" or path:find("%z") then
    return nil
  end
  path = names.from_home(path)
  local tried = { path, path:match("^[ab]/(.+)$") } -- the second is a path in a diff's header
  for index = 1, 2 do
    local one = tried[index]
    local full = one and (one:sub(1, 1) == "/" and one or vim.fs.joinpath(cwd, one))
    if full and (vim.uv.fs_stat(full) or lookup.find(full)) then
      return full
    end
  end
end

---@return boolean whether it is a URL other than file://
function M.is_url(text)
  return (text:match("^%a[%w+.-]*://%S") or text:match("^[mM][aA][iI][lL][tT][oO]:%S")) and not text:match(FILE)
    or false
end

---@param uri string
---@return string path as it is written; "" if the URI is of a file on another machine, or of none
local function path_of_uri(uri)
  local host, path = uri:match("^%a+://([^/]*)(/.*)$")
  if not host then
    host, path = "", uri:match("^%a+:(/.*)$")
  end
  local is_here = host == "" or host:lower() == "localhost"
  return is_here and path or ""
end

---Finds the file that a text names: by the name as it is written, then with `%20` and the like decoded.
---@param text string a path or a URI of a file, perhaps with a line
---@param cwd string base of relative paths
---@return acp.Target?
function M.find(text, cwd)
  if M.is_url(text) then
    return { uri = text }
  end
  local all = readings(text)
  for _, decoded in ipairs(text:find("%%%x%x") and { false, true } or { false }) do
    for _, one in ipairs(all) do
      local path = text:match(FILE) and path_of_uri(one.path) or one.path
      local full = existing(decoded and vim.uri_decode(path) or path, cwd)
      if full then
        return { path = full, line = one.line, col = one.col }
      end
    end
  end
end

---Returns the path in a text that looks like one of a file: with a directory and an extension, or an extension and a line.
---@return string?
function M.likely_path(text)
  for index, one in ipairs(readings(text)) do
    if one.path:find("^[%w%-._~/\\@+ ]*%w%.%a[%w]*$") and (index > 1 and one.line or one.path:find("%w/")) then
      return one.path
    end
  end
  return text:match(FILE) and text or nil
end

return M
