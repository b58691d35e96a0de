-- Keeps the blocks of a chat in its buffer; a change costs what it changes, however long the chat is.
local following = require("acp_nvim.chat.following")
local text = require("acp_nvim.chat.blocks.text")

local M = {}

local api = vim.api
local STARTS = api.nvim_create_namespace("acp_nvim.starts")
local USER = api.nvim_create_namespace("acp_nvim.user")
local LOOKS = api.nvim_create_namespace("acp_nvim.looks")

---@type table<integer, acp.Transcript> by the session's key
local transcripts = {}
---@type table<acp.Transcript, integer[]> open for edits -> windows that follow the end
local open = {}
local notes = 0

---@param session acp.Session
---@return acp.Transcript? transcript open for edits; nil when the chat has no buffer
local function opened(session)
  local transcript = transcripts[session.key]
  if not transcript or not api.nvim_buf_is_loaded(transcript.bufnr) then
    return nil
  end
  if not open[transcript] then
    open[transcript] = following.at_end(transcript)
    vim.bo[transcript.bufnr].modifiable = true
  end
  return transcript
end

---Ends the edits of all transcripts: the user cannot type there, and windows at the end stay at the end.
function M.flush()
  local done = open
  open = {}
  for transcript, windows in pairs(done) do
    if api.nvim_buf_is_loaded(transcript.bufnr) then
      vim.bo[transcript.bufnr].modifiable = false
      following.to_end(transcript, windows)
    end
  end
  if next(done) then
    following.draw_under_command_line()
  end
end

---@param session acp.Session
function M.attach(session)
  transcripts[session.key] = { bufnr = session.bufnr, blocks = {}, order = {}, resting = {} }
end

---@param session acp.Session
function M.detach(session)
  transcripts[session.key] = nil
end

---Empties the chat.
---@param session acp.Session
function M.reset(session)
  local transcript = opened(session)
  if transcript then
    for _, namespace in ipairs({ STARTS, USER, LOOKS }) do
      api.nvim_buf_clear_namespace(transcript.bufnr, namespace, 0, -1)
    end
    api.nvim_buf_set_lines(transcript.bufnr, 0, -1, true, {})
    transcript.blocks, transcript.order = {}, {}
  end
end

---Keeps the text, forgets whose it is: another host counts its blocks from 1 again.
---@param session acp.Session
function M.forget_blocks(session)
  local transcript = transcripts[session.key]
  if transcript then
    transcript.blocks = {}
  end
end

---@param transcript acp.Transcript
---@param block acp.Block
---@return integer row of its first line
local function first_row(transcript, block)
  return api.nvim_buf_get_extmark_by_id(transcript.bufnr, STARTS, block.mark, {})[1]
end

---@param transcript acp.Transcript
---@param block acp.Block
---@return integer row after its last line
local function end_row(transcript, block)
  local following_block = transcript.order[block.index + 1]
  -- one empty line lies between two blocks
  return following_block and first_row(transcript, following_block) - 1 or api.nvim_buf_line_count(transcript.bufnr)
end

---Makes a block at the end: the line above its text is empty, and carries the header.
---@param transcript acp.Transcript
---@param id integer|string
---@param kind string
---@param lines string[]
---@return acp.Block
local function add_block(transcript, id, kind, lines)
  local bufnr = transcript.bufnr
  local row = api.nvim_buf_line_count(bufnr)
  if #transcript.order > 0 then
    api.nvim_buf_set_lines(bufnr, row, row, true, { "" })
    row = row + 1
  end
  api.nvim_buf_set_lines(bufnr, row, row, true, lines)
  local mark = api.nvim_buf_set_extmark(bufnr, STARTS, row, 0, { right_gravity = false })
  local block = { id = id, kind = kind, mark = mark, index = #transcript.order + 1 }
  transcript.order[block.index] = block
  transcript.blocks[id] = block
  return block
end

---@param transcript acp.Transcript
---@param block acp.Block
---@param agent? string
local function dress_text(transcript, block, agent)
  local words, group = text.header(block.kind, agent)
  local row = first_row(transcript, block)
  local namespace = block.kind == "user" and USER or LOOKS
  api.nvim_buf_set_extmark(transcript.bufnr, namespace, row - 1, 0, {
    virt_text = { { words, group } },
    virt_text_pos = "overlay",
    virt_lines = row > 1 and { { { "" } } } or nil, -- air above the header
    virt_lines_above = true,
  })
  if block.kind == "thought" then
    local last = api.nvim_buf_line_count(transcript.bufnr) - 1
    local length = #api.nvim_buf_get_lines(transcript.bufnr, last, last + 1, true)[1]
    api.nvim_buf_set_extmark(transcript.bufnr, LOOKS, row, 0, {
      end_row = last,
      end_col = length,
      end_right_gravity = true, -- grows with the text
      right_gravity = false,
      hl_group = "AcpThought",
    })
  end
end

---@param session acp.Session
---@param id integer
---@param kind string
---@param piece string
function M.append(session, id, kind, piece)
  local transcript = opened(session)
  if not transcript then
    return
  end
  local lines = text.lines(piece)
  local block = transcript.blocks[id]
  if not block then
    dress_text(transcript, add_block(transcript, id, kind, lines), session.agent)
    return
  end
  local row = end_row(transcript, block) - 1
  api.nvim_buf_set_text(transcript.bufnr, row, -1, row, -1, lines)
end

---Replaces the lines that differ.
---@param transcript acp.Transcript
---@param first integer row
---@param old string[]
---@param new string[]
local function replace(transcript, first, old, new)
  local shorter = math.min(#old, #new)
  local head = 0
  while head < shorter and old[head + 1] == new[head + 1] do
    head = head + 1
  end
  local tail = 0
  while tail < shorter - head and old[#old - tail] == new[#new - tail] do
    tail = tail + 1
  end
  if head == #old and head == #new then
    return
  end
  local lines = vim.list_slice(new, head + 1, #new - tail)
  api.nvim_buf_set_lines(transcript.bufnr, first + head, first + #old - tail, true, lines)
end

---@param transcript acp.Transcript
---@param block acp.Block
---@param rendered acp.Rendered
local function colour(transcript, block, rendered)
  local first = first_row(transcript, block)
  for _, highlight in ipairs(rendered.highlights) do
    local row = first + highlight.row
    if highlight.to == -1 then
      api.nvim_buf_set_extmark(transcript.bufnr, LOOKS, row, 0, { line_hl_group = highlight.group })
    else
      api.nvim_buf_set_extmark(transcript.bufnr, LOOKS, row, highlight.from, {
        end_col = highlight.to,
        hl_group = highlight.group,
        strict = false,
      })
    end
  end
end

---Shows a block as it is now.
---@param session acp.Session
---@param id integer|string
---@param kind string
---@param rendered acp.Rendered
function M.draw(session, id, kind, rendered)
  local transcript = opened(session)
  if not transcript then
    return
  end
  local block = transcript.blocks[id]
  if not block then
    block = add_block(transcript, id, kind, rendered.lines)
  else
    local first = first_row(transcript, block)
    local old = block.rendered and block.rendered.lines or {}
    api.nvim_buf_clear_namespace(transcript.bufnr, LOOKS, first, first + #old)
    replace(transcript, first, old, rendered.lines)
  end
  block.rendered = rendered
  colour(transcript, block, rendered)
end

---@return string id of a block that is Lua's own
function M.own_block()
  notes = notes + 1
  return "lua-" .. notes
end

---Puts the text of a buffer that is gone into the one that took its place, when nobody can send it again.
---@param session acp.Session
function M.put_back(session)
  local lines = session.last_text
  session.last_text = nil
  if lines and #lines > 0 then
    M.draw(session, M.own_block(), "notice", { lines = lines, highlights = {} })
    M.flush()
  end
end

---@param session acp.Session
---@param id integer
---@return integer? row of the block's first line
function M.row(session, id)
  local transcript = transcripts[session.key]
  local block = transcript and transcript.blocks[id]
  return block and first_row(transcript, block)
end

---@param session acp.Session
---@param row integer
---@return acp.Block?
---@return integer? offset of the row in the block
function M.block_at(session, row)
  local transcript = transcripts[session.key]
  if not transcript then
    return nil
  end
  local marks = api.nvim_buf_get_extmarks(transcript.bufnr, STARTS, { row, -1 }, 0, { limit = 1 })
  local low, high = 1, #transcript.order
  while marks[1] and low <= high do
    local middle = math.floor((low + high) / 2)
    local block = transcript.order[middle]
    if block.mark == marks[1][1] then
      return block, row - marks[1][2]
    elseif block.mark < marks[1][1] then
      low = middle + 1
    else
      high = middle - 1
    end
  end
end

---@param session acp.Session
---@param row integer
---@param backwards boolean
---@return integer? row of the next header of a user message
function M.user_message(session, row, backwards)
  local to = backwards and 0 or -1
  local from = backwards and { math.max(row - 2, 0), -1 } or { row, 0 }
  if backwards and row < 2 then
    return nil
  end
  local marks = api.nvim_buf_get_extmarks(session.bufnr, USER, from, to, { limit = 1 })
  return marks[1] and marks[1][2]
end

return M
