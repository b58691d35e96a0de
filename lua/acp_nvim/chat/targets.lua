-- Knows what a line of the chat leads to, and goes there.
local details = require("acp_nvim.chat.targets.details")
local forms = require("acp_nvim.forms")
local message = require("acp_nvim.message")
local open_place = require("acp_nvim.chat.targets.open_place")
local places = require("acp_nvim.chat.targets.places")
local requests = require("acp_nvim.host.requests")
local restore = require("acp_nvim.review.restore")
local terminals = require("acp_nvim.terminals")
local transcript = require("acp_nvim.chat.transcript")

local M = {}

---The line of the new file that a line of a diff stands for: counted from the hunk's header above it.
---@param lines string[] of the block
---@param offset integer row in the block
---@return integer?
local function line_of_diff(lines, offset)
  local after = lines[offset + 1]:match("^  %-") and 1 or 0 -- of an old line: where the new one stands
  for index = offset + 1, 1, -1 do
    local first = lines[index]:match("^%s*@@ %-%d+,?%d* %+(%d+)")
    if first then
      return math.max(tonumber(first) + after - 1, tonumber(first), 1)
    end
    after = after + (lines[index]:match("^  %-") and 0 or 1)
  end
end

---@param session acp.Session
---@param block acp.Block
---@param offset integer row in the block
---@return acp.Target?
local function drawn(session, block, offset)
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

---@param session acp.Session
---@param path string
---@return string absolute
local function absolute(session, path)
  return path:sub(1, 1) == "/" and path or vim.fs.joinpath(session.cwd, path)
end

---@param session acp.Session
---@param block acp.Block
---@param target acp.Target
local function go(session, block, target)
  if target.path then
    open_place.file(absolute(session, target.path), target.line, target.col)
  elseif target.form then
    if not forms.open(target.form) then
      message.info("That question is over.")
    end
  elseif target.terminal then
    terminals.open(session, target)
  elseif target.media then
    local directory = vim.fs.joinpath(vim.fn.stdpath("cache") --[[@as string]], "acp_nvim", "media")
    local wanted = { block = block.id, place = target.media, directory = directory }
    if not requests.send(session, "call_media", wanted) then
      message.info("The host that knew this is gone.")
    end
  elseif target.uri then
    local place = places.of_text(target.uri, session.cwd)
    if place and place.path then
      return open_place.file(place.path, place.line, place.col)
    end
    open_place.uri(target.uri)
  else
    restore.to(target.checkpoint, session.cwd, target.words)
  end
end

---The first place that a tool call names: what its title leads to.
---@param session acp.Session
---@param block acp.Block
---@return acp.Target?
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

---Enter goes to the next line, as everywhere; Neovim's own gf would open a file over the chat.
---@param key string
local function otherwise(key)
  if vim.keycode(key) == "\r" then
    vim.api.nvim_feedkeys("\r", "n", false)
  else
    message.info("there is nothing to be opened here")
  end
end

---@param session acp.Session
---@param key string what it means where nothing is to be opened
function M.open(session, key)
  local cursor = vim.api.nvim_win_get_cursor(0)
  local block, offset = transcript.block_at(session, cursor[1] - 1)
  local rendered = block and block.rendered
  local target = rendered and drawn(session, block, offset)
  if rendered and not target and block.kind == "tool_call" and offset == 0 then
    target = first_place(session, block)
  end
  target = target or places.at(vim.api.nvim_get_current_line(), cursor[2], session.cwd)
  if target then
    go(session, block or {}, target)
  elseif rendered and block.kind == "tool_call" then
    details.open(session, block.id)
  else
    otherwise(key)
  end
end

---Goes to the file that is written under the cursor, in a text that is no chat.
---@param session acp.Session
---@param key string what it means where nothing is to be opened
function M.open_written(session, key)
  local target = places.at(vim.api.nvim_get_current_line(), vim.api.nvim_win_get_cursor(0)[2], session.cwd)
  if target then
    go(session, {}, target)
  else
    otherwise(key)
  end
end

---The tool call under the cursor, or the one that a permission is about.
---@param session acp.Session
---@param key string what it means elsewhere
function M.details(session, key)
  local block = transcript.block_at(session, vim.api.nvim_win_get_cursor(0)[1] - 1)
  local id = block and block.kind == "tool_call" and block.id
  if block and block.kind == "permission" then
    id = session.call_blocks[block.rendered.tool_call_id or ""]
  end
  if id then
    details.open(session, id)
  else
    vim.api.nvim_feedkeys(vim.keycode(key), "n", false)
  end
end

return M
