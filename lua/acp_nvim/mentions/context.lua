-- Creates context items, the attachments of prompts: parts of buffers, files, links and images.
local names = require("acp_nvim.names")

local M = {}

local api = vim.api

---An attachment of a prompt; without `type` it is a text.
---@class acp.ContextItem
---@field type? "text"|"file"|"link"|"image"
---@field uri string
---@field name string
---@field text? string of a text
---@field on_disk? boolean of a text: it is the whole content of the file at `uri`
---@field path? string of a file or image, which the host reads
---@field first? integer 1-based first line of a file
---@field last? integer 1-based, included
---@field data? string base64, of an image without a path
---@field mime_type? string of an image; nil of others: by the name

local IMAGES = { png = "image/png", jpg = "image/jpeg", jpeg = "image/jpeg", gif = "image/gif", webp = "image/webp" }

---@return string? mime_type nil when the extension is not that of an image
function M.image_type(path)
  return IMAGES[(path:match("%.(%w+)$") or ""):lower()]
end

---@param path string absolute
---@param cwd string paths below it become relative
function M.short(path, cwd)
  return vim.startswith(path, cwd .. "/") and path:sub(#cwd + 2) or names.below_home(path)
end

---@return string name to be shown
---@return string uri
local function place(bufnr, cwd)
  local name = api.nvim_buf_get_name(bufnr)
  if name == "" then
    return ("[No Name %d]"):format(bufnr), ("untitled:%d"):format(bufnr)
  elseif name:match("^%a[%w+.-]*://") then
    return name, name
  end
  return M.short(name, cwd), vim.uri_from_fname(name)
end

---@return string name
---@return string uri
local function with_lines(name, uri, first, last)
  if not first then
    return name, uri
  end
  return ("%s:%d-%d"):format(name, first, last), ("%s#L%d-%d"):format(uri, first, last)
end

---@param first integer 1-based
---@param last integer 1-based, included
---@return acp.ContextItem
function M.lines(bufnr, first, last, cwd)
  local name, uri = place(bufnr, cwd)
  name, uri = with_lines(name, uri, first, last)
  local lines = api.nvim_buf_get_lines(bufnr, first - 1, last, false)
  local text = table.concat(lines, "\n") .. "\n"
  return { uri = uri, name = name, text = text }
end

---@param on_disk boolean the file has the same text
---@return acp.ContextItem
function M.buffer(bufnr, cwd, on_disk)
  local item = M.lines(bufnr, 1, api.nvim_buf_line_count(bufnr), cwd)
  item.name, item.uri = place(bufnr, cwd)
  item.on_disk = on_disk or nil
  return item
end

---Attaches the last visual selection of a buffer: lines, part of lines, or a block.
---@param bufnr integer loaded
---@param mode string value of `visualmode()`
---@return acp.ContextItem? nil when the buffer has no selection
function M.selection(bufnr, mode, cwd)
  local first, last = api.nvim_buf_get_mark(bufnr, "<"), api.nvim_buf_get_mark(bufnr, ">")
  if first[1] == 0 or last[1] == 0 then
    return nil
  end
  local item = M.lines(bufnr, first[1], last[1], cwd)
  if mode ~= "" and mode ~= "V" then
    local from = { bufnr, first[1], first[2] + 1, 0 }
    local to = { bufnr, last[1], math.min(last[2], vim.v.maxcol - 1) + 1, 0 }
    local ok, region = pcall(vim.fn.getregion, from, to, { type = mode })
    item.text = ok and table.concat(region, "\n") or item.text
  end
  return item
end

---@param path string absolute
---@param first? integer
---@param last? integer
---@return acp.ContextItem item without a text: the host reads the file
function M.file(path, cwd, first, last)
  local name, uri = with_lines(M.short(path, cwd), vim.uri_from_fname(path), first, last)
  return { type = "file", uri = uri, name = name, path = path, first = first, last = last }
end

---@param path string absolute path of a directory, or of a file that must not be read
---@return acp.ContextItem
function M.link(path, cwd)
  return { type = "link", uri = vim.uri_from_fname(path), name = M.short(path, cwd) }
end

---@param path string absolute
---@return acp.ContextItem
function M.image(path, cwd)
  local name, uri = M.short(path, cwd), vim.uri_from_fname(path)
  return { type = "image", uri = uri, name = name, path = path, mime_type = M.image_type(path) or "image/png" }
end

---@param name string to be shown
---@return acp.ContextItem text that no file has
function M.words(name, text)
  return { uri = "nvim://" .. vim.uri_encode(name), name = name, text = text, mime_type = "text/plain" }
end

---@param one acp.ContextItem
---@param other acp.ContextItem
local function is_same(one, other)
  local text, other_text = (one.text or ""):gsub("\n$", ""), (other.text or ""):gsub("\n$", "") -- lines, or characters
  return one.type == other.type and one.uri == other.uri and text == other_text and one.data == other.data
end

---Adds items to others, each once.
---@param items acp.ContextItem[]
---@param more acp.ContextItem[]
---@return acp.ContextItem[] items
function M.add(items, more)
  for _, item in ipairs(more) do
    local is_known = vim.iter(items):any(function(known)
      return is_same(known, item)
    end)
    if not is_known then
      table.insert(items, item)
    end
  end
  return items
end

---Fills in the fields that callers of `prompt()` may omit.
---@param given table
---@return acp.ContextItem? item
---@return string? problem
function M.completed(given, cwd)
  if type(given) ~= "table" then
    return nil, "an item of the context is not a table"
  end
  local path = type(given.path) == "string" and names.normalized(given.path) or nil
  if path and not path:match("^/") and not path:match("^%a:/") then
    path = cwd .. "/" .. path
  end
  local kind = given.type or (given.text and "text") or (given.data and "image")
  kind = kind or path and (M.image_type(path) and "image" or "file")
  local made = {} ---@type table
  if path and kind == "file" then
    made = M.file(path, cwd, given.first, given.last or given.first)
  elseif path and kind == "image" then
    made = M.image(path, cwd)
  elseif path then
    made = M.link(path, cwd)
  end
  local item = vim.tbl_extend("force", made, given, { path = kind ~= "link" and path or nil })
  item.type = kind ~= "text" and kind or given.type
  if kind == "image" then
    item.name, item.mime_type = item.name or "image", item.mime_type or "image/png"
  end
  local is_known = vim.list_contains({ "text", "file", "link", "image" }, kind)
  local has_content = kind == "link" or item.path or kind == "text" and item.text or kind == "image" and item.data
  if not is_known or not has_content or not item.name or not (item.uri or kind == "image") then
    return nil, "an item of the context is none of :help acp_nvim-context-items: " .. vim.inspect(given):sub(1, 100)
  end
  return item
end

return M
