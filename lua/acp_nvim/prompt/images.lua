-- Saves the image in the clipboard to a file, and inserts a mention of it into the prompt.
local limits = require("acp_nvim.limits")
local message = require("acp_nvim.kernel.message")
local names = require("acp_nvim.names")
local syntax = require("acp_nvim.mentions.syntax")

local M = {}

local api = vim.api

local CLIPBOARD_MS = 10000 -- that a clipboard program may take: PowerShell takes two seconds
local IMAGE_SECONDS = 30 * 24 * 3600 -- that pasted images are kept: longer than drafts
local POWERSHELL = "Add-Type -AssemblyName System.Windows.Forms; $i = [Windows.Forms.Clipboard]::GetImage(); if ($i) { "
  .. "$s = New-Object IO.MemoryStream; $i.Save($s, [Drawing.Imaging.ImageFormat]::Png); "
  .. "[Convert]::ToBase64String($s.ToArray()) }"

---@return string? bytes
local function from_base64(text)
  local ok, bytes = pcall(vim.base64.decode, (text:gsub("%s", "")))
  return ok and bytes or nil
end

---@param text string AppleScript's notation of data
---@return string? bytes
local function from_apple(text)
  local hex = text:match("PNGf(%x+)")
  return hex and vim.text.hexdecode(hex) or nil
end

---@class acp.ClipboardProgram
---@field command string[]
---@field variable? string environment variable that the program needs
---@field decode? fun(output: string): string?

---@type acp.ClipboardProgram[]
local PROGRAMS = {
  { command = { "wl-paste", "--no-newline", "--type", "image/png" }, variable = "WAYLAND_DISPLAY" },
  { command = { "xclip", "-selection", "clipboard", "-target", "image/png", "-out" }, variable = "DISPLAY" },
  { command = { "pngpaste", "-" } },
  { command = { "osascript", "-e", "the clipboard as «class PNGf»" }, decode = from_apple },
  {
    command = { "powershell.exe", "-NoProfile", "-NonInteractive", "-STA", "-Command", POWERSHELL },
    decode = from_base64,
  },
}

---@return acp.ClipboardProgram[] the available ones
local function programs()
  return vim.tbl_filter(function(program)
    local is_there = vim.fn.executable(program.command[1]) == 1
    return is_there and (not program.variable or (vim.env[program.variable] or "") ~= "")
  end, PROGRAMS)
end

---@param program acp.ClipboardProgram
---@param done fun(bytes?: string) called once; nil: the clipboard has no image
local function read(program, done)
  local function ended(result)
    local output = result.code == 0 and result.stdout or ""
    local bytes = program.decode and program.decode(output) or not program.decode and output or nil
    done(bytes and vim.startswith(bytes, "\137PNG\r\n") and bytes or nil)
  end
  local ok = pcall(vim.system, program.command, { timeout = CLIPBOARD_MS }, vim.schedule_wrap(ended))
  if not ok then
    done(nil)
  end
end

---@param list acp.ClipboardProgram[]
---@param done fun(bytes?: string)
local function read_any(list, index, done)
  if not list[index] then
    return done(nil)
  end
  read(list[index], function(bytes)
    if bytes then
      done(bytes)
    else
      read_any(list, index + 1, done)
    end
  end)
end

---Deletes old pasted images.
local function remove_old(path)
  for name, kind in vim.fs.dir(path) do
    local file = path .. "/" .. name
    local stat = kind == "file" and vim.uv.fs_stat(file)
    if stat and os.time() - stat.mtime.sec > IMAGE_SECONDS then
      vim.uv.fs_unlink(file)
    end
  end
end

---@return string? path
---@return string? problem
local function save(bytes)
  local path = vim.fs.joinpath(vim.fn.stdpath("cache"), "acp_nvim", "images")
  local ok, err = pcall(vim.fn.mkdir, path, "p", tonumber("700", 8))
  if not ok then
    return nil, tostring(err)
  end
  remove_old(path)
  local file = ("%s/%s-%d.png"):format(path, os.date("%Y%m%d-%H%M%S"), vim.uv.hrtime() % 1000)
  local descriptor, problem = vim.uv.fs_open(file, "wx", tonumber("600", 8))
  if not descriptor then
    return nil, problem
  end
  local written, why = vim.uv.fs_write(descriptor, bytes)
  vim.uv.fs_close(descriptor)
  if written ~= #bytes then
    vim.uv.fs_unlink(file)
    return nil, why or "the disk is full"
  end
  return file
end

---Inserts a mention, set off by blanks: at the cursor if it is in the prompt, else at the end.
local function insert(bufnr, mention)
  local last = api.nvim_buf_line_count(bufnr)
  local row, column = last - 1, #api.nvim_buf_get_lines(bufnr, last - 1, last, true)[1]
  local is_here = api.nvim_get_current_buf() == bufnr
  if is_here then
    row, column = api.nvim_win_get_cursor(0)[1] - 1, api.nvim_win_get_cursor(0)[2]
    local line = api.nvim_get_current_line()
    local is_insert = api.nvim_get_mode().mode:sub(1, 1) == "i"
    column = (is_insert or line == "") and column or vim.fn.matchend(line, ".", column)
  end
  local before = api.nvim_buf_get_text(bufnr, row, 0, row, column, {})[1]
  local text = (before:match("%S$") and " " or "") .. mention .. " "
  api.nvim_buf_set_text(bufnr, row, column, row, column, { text })
  if is_here then
    api.nvim_win_set_cursor(0, { row + 1, column + #text })
  end
end

local function take(session, bytes)
  if not bytes then
    message.warn("the clipboard has no image")
  elseif #bytes > limits.image_bytes then
    message.warn(("the image is too large for agents: %.1f MB"):format(#bytes / 1024 ^ 2))
  else
    local path, problem = save(bytes)
    local bufnr = session.prompt_bufnr
    if path and bufnr and api.nvim_buf_is_loaded(bufnr) then
      insert(bufnr, syntax.format(names.below_home(path)))
    elseif path then
      message.warn("the prompt is gone; the image is in " .. path)
    else
      message.error("the image could not be stored: " .. problem)
    end
  end
end

---@param session acp.Session whose prompt gets the mention
function M.paste(session)
  local takes = session.status.takes
  if takes and not takes.image then
    message.warn(("%s takes no images"):format(session.agent or "the agent"))
    return
  end
  local list = programs()
  if #list == 0 then
    message.warn("to paste an image, one of these programs is needed: wl-paste, xclip, pngpaste, powershell.exe")
    return
  end
  read_any(list, 1, function(bytes)
    take(session, bytes)
  end)
end

return M
