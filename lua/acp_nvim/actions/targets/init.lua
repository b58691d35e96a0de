-- Opens what a line of the chat refers to: a file, URL, terminal, form, picture, checkpoint or tool call.
local cells = require("acp_nvim.render.cells")
local details = require("acp_nvim.actions.targets.details")
local external = require("acp_nvim.kernel.external")
local forms = require("acp_nvim.forms")
local lookup = require("acp_nvim.buffers.lookup")
local mentions = require("acp_nvim.actions.targets.mentions")
local message = require("acp_nvim.kernel.message")
local names = require("acp_nvim.names")
local open = require("acp_nvim.review.files.open")
local places = require("acp_nvim.actions.targets.places")
local requests = require("acp_nvim.host.requests")
local restore = require("acp_nvim.review.files.restore")
local terminals = require("acp_nvim.terminals")
local transcript = require("acp_nvim.transcript")
local windows = require("acp_nvim.windows.open")
local written = require("acp_nvim.actions.targets.written")

local M = {}

---@type fun(key: integer)
local open_subagent

---@param open fun(key: integer) opens the chat of a subagent, by the key of its session
function M.set_open_subagent(open)
  open_subagent = open
end

---Returns the line of the new file that a line of a diff corresponds to, counted from the hunk's header.
---@param lines string[] of the block
---@param offset integer row in the block
local function line_of_diff(lines, offset)
  local after = lines[offset + 1]:match("^  %-") and 1 or 0 -- an old line leads to the new line in its place
  for index = offset + 1, 1, -1 do
    local first = lines[index]:match("^%s*@@ %-%d+,?%d* %+(%d+)")
    if first then
      return math.max(tonumber(first) + after - 1, tonumber(first), 1)
    end
    after = after + (lines[index]:match("^  %-") and 0 or 1)
  end
end

---@param offset integer row in the block
local function target_at(session, block, offset)
  local rendered = block.rendered --[[@as acp.Rendered]]
  local target = rendered.target_rows and rendered.target_rows[offset]
  for _, range in ipairs(rendered.target_ranges or {}) do
    if not target and offset >= range[1] and offset <= range[2] then
      target = range[3]
    end
  end
  if target and target.diff then
    return { path = target.path, line = line_of_diff(transcript.lines(session, block), offset) }
  end
  return target
end

---@param path string absolute
---@param line? integer 1-based
---@param col? integer 1-based
local function open_file(path, line, col)
  if path:find("%z") then
    return message.info("this is no path of a file: it contains a NUL")
  elseif (vim.uv.fs_stat(path) or {}).type == "directory" then
    return external.open(path)
  elseif not line then
    return open.file(lookup.real(path))
  end
  windows.at(path, line, col)
end

local function go(session, block, target)
  if target.path then
    local is_absolute = target.path:sub(1, 1) == "/"
    open_file(is_absolute and target.path or vim.fs.joinpath(session.cwd, target.path), target.line, target.col)
  elseif target.bufnr then
    windows.buffer_at(target.bufnr, target.line or 1)
  elseif target.form then
    if not forms.open(target.form) then
      message.info("This question is closed already.")
    end
  elseif target.subagent then
    open_subagent(target.subagent)
  elseif target.terminal then
    terminals.open(session, target)
  elseif target.media then
    local directory = vim.fs.joinpath(vim.fn.stdpath("cache") --[[@as string]], "acp_nvim", "media")
    local wanted = { block = block.id, place = target.media, directory = directory }
    if not requests.send(session, "call_media", wanted) then
      message.info("The host that ran this tool call has ended; its media are no longer available.")
    end
  elseif target.uri then
    local place = places.find(target.uri, session.cwd)
    if place and place.path then
      return open_file(place.path, place.line, place.col)
    end
    external.open(target.uri, target.shown)
  else
    restore.to(target.checkpoint, session.cwd, target.words)
  end
end

---Returns the first file that a tool call names: the target of its title.
local function first_place(session, block)
  local location = block.call and block.call.locations and block.call.locations[1]
  if location then
    return { path = location.path, line = location.line }
  end
  for _, range in ipairs(block.rendered.target_ranges or {}) do
    if range[3].diff then
      return { path = range[3].path, line = line_of_diff(transcript.lines(session, block), range[1]) }
    end
  end
end

---Handles a key where nothing can be opened: Enter moves to the next line; Neovim's own gf would replace the chat.
local function no_target(key)
  if vim.keycode(key) == "\r" then
    vim.api.nvim_feedkeys("\r", "n", false)
  else
    message.info("there is nothing to open here")
  end
end

---@return acp.Block? block under the cursor
---@return acp.Target? target of its line
---@return integer? offset row in the block
function M.at_cursor(session)
  local block, offset = transcript.block_at(session, vim.api.nvim_win_get_cursor(0)[1] - 1)
  return block, block and block.rendered and target_at(session, block, offset), offset
end

---Says that what is written under the cursor names a file that does not exist.
---@param missing? string
---@return boolean done
local function say_missing(missing, cwd)
  if missing then
    message.info(("there is no file %s in %s"):format(cells.plain(missing), names.below_home(cwd)))
  end
  return missing ~= nil
end

---Opens the target under the cursor in a chat.
---@param key string that was pressed
function M.open(session, key)
  local block, target, offset = M.at_cursor(session)
  local rendered = block and block.rendered
  if rendered and not target and block.kind == "tool_call" and offset == 0 then
    target = first_place(session, block)
  end
  local column, missing = vim.api.nvim_win_get_cursor(0)[2], nil
  if not target and block and block.kind == "user" then
    target = mentions.target(vim.api.nvim_get_current_line(), column, session.cwd)
  end
  if not target then
    target, missing = written.target(vim.api.nvim_get_current_line(), column, session.cwd)
  end
  if target then
    go(session, block or {}, target)
  elseif rendered and block.kind == "tool_call" then
    details.open(session, block.id)
  elseif not say_missing(missing, session.cwd) then
    no_target(key)
  end
end

---Opens the file or URL written under the cursor in a buffer that is not a chat.
---@param key string that was pressed
function M.open_written(session, key)
  local column = vim.api.nvim_win_get_cursor(0)[2]
  local target, missing = written.target(vim.api.nvim_get_current_line(), column, session.cwd)
  if target then
    go(session, {}, target)
  elseif not say_missing(missing, session.cwd) then
    no_target(key)
  end
end

---Shows the details of the tool call under the cursor, or of the call that a permission request is about.
---@param key string that was pressed; has its usual meaning elsewhere
function M.details(session, key)
  local block = transcript.block_at(session, vim.api.nvim_win_get_cursor(0)[1] - 1)
  local id = block and block.kind == "tool_call" and block.id
  if block and block.kind == "permission" then
    id = block.rendered.call_block
  end
  if id then
    details.open(session, id)
  else
    vim.api.nvim_feedkeys(vim.keycode(key), "n", false)
  end
end

return M
