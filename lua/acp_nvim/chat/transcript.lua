-- Keeps the blocks of a chat in its buffer; a change costs what it changes, however long the chat is.
local block_rows = require("acp_nvim.chat.transcript.block_rows")
local change_lines = require("acp_nvim.chat.transcript.changed_lines")
local cut = require("acp_nvim.chat.markdown.cut")
local dress = require("acp_nvim.chat.transcript.dress")
local following = require("acp_nvim.chat.transcript.following")
local guarded = require("acp_nvim.host.guarded")
local line_bound = require("acp_nvim.chat.transcript.line_bound")
local paint = require("acp_nvim.chat.markdown.paint")

local M = {}

local api = vim.api

---@type table<integer, acp.Transcript> by the session's key
local transcripts = {}
---@type table<acp.Transcript, integer[]> open for edits -> windows that follow the end
local open = {}
local notes = 0

---@param transcript acp.Transcript
---@param is boolean
local function modifiable(transcript, is)
  api.nvim_set_option_value("modifiable", is, { buf = transcript.bufnr })
end

---@param session acp.Session
---@return acp.Transcript? transcript open for edits; nil when the chat has no buffer
local function opened(session)
  local transcript = transcripts[session.key]
  if not transcript or not api.nvim_buf_is_loaded(transcript.bufnr) then
    return nil
  end
  if not open[transcript] then
    open[transcript] = following.at_end(transcript)
    modifiable(transcript, true)
  end
  return transcript
end

---@alias acp.ChangesListener fun(session: acp.Session, blocks: table<acp.Block, boolean>, following: integer[])

---@type acp.ChangesListener[]
local listeners = {}

---@param listener acp.ChangesListener called at the end of a batch with the blocks that have new lines or were drawn
---again, and the windows that will go to the end of the chat
function M.on_changes(listener)
  table.insert(listeners, listener)
end

---Ends the edits of all transcripts: the user cannot type there, and windows at the end stay at the end.
function M.flush()
  local done = open
  open = {}
  for transcript, windows in pairs(done) do
    if api.nvim_buf_is_loaded(transcript.bufnr) then
      modifiable(transcript, false)
      guarded(function()
        local changed = transcript.changed
        transcript.changed = {}
        for _, listener in ipairs(next(changed) and listeners or {}) do
          listener(transcript.session, changed, windows)
        end
        if transcript.long then
          line_bound.wrap_anywhere(transcript.bufnr)
        end
        following.to_end(transcript, windows)
      end)
    end
  end
  if next(done) then
    following.draw_under_command_line()
  end
end

---@param session acp.Session
function M.attach(session)
  local transcript = { bufnr = session.bufnr, blocks = {}, order = {}, changed = {}, resting = {}, session = session }
  transcripts[session.key] = transcript
  paint.attach(transcript)
end

---@param session acp.Session
function M.detach(session)
  local transcript = transcripts[session.key]
  if transcript then
    paint.detach(transcript.bufnr)
    transcripts[session.key] = nil
  end
end

---Empties the chat.
---@param session acp.Session
function M.reset(session)
  local transcript = opened(session)
  if transcript then
    dress.strip_all(transcript.bufnr)
    block_rows.forget(transcript.bufnr)
    api.nvim_buf_set_lines(transcript.bufnr, 0, -1, true, {})
    transcript.blocks, transcript.order, transcript.changed = {}, {}, {}
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

---Makes a block at the end: the line above its text is empty, and carries the header.
---@param transcript acp.Transcript
---@param id integer|string
---@param kind string
---@param lines string[]
---@return acp.Block
---@return integer row of its first line
local function add_block(transcript, id, kind, lines)
  local bufnr = transcript.bufnr
  local row = api.nvim_buf_line_count(bufnr)
  if #transcript.order > 0 then
    table.insert(lines, 1, "") -- one change of the buffer, not two
    api.nvim_buf_set_lines(bufnr, row, row, true, lines)
    table.remove(lines, 1)
    row = row + 1
  else
    api.nvim_buf_set_lines(bufnr, row, row, true, lines)
  end
  local index, above = #transcript.order + 1, transcript.order[#transcript.order]
  local block = { id = id, kind = kind, mark = block_rows.mark(bufnr, row), index = index, above = above }
  transcript.order[index] = block
  transcript.blocks[id] = block
  transcript.changed[block] = true
  return block, row
end

---@param transcript acp.Transcript
---@param block acp.Block
---@param lines string[] that come to its text
local function feed(transcript, block, lines)
  cut.feed(block.cut, lines)
  transcript.long = transcript.long or block.cut.long
end

---Gives a block other lines, where they differ and nowhere else.
---@param transcript acp.Transcript
---@param block acp.Block
---@param lines string[]
---@return integer row of its first line
local function rewrite(transcript, block, lines)
  local first = block_rows.first(transcript, block)
  local old = api.nvim_buf_get_lines(transcript.bufnr, first, block_rows.after(transcript, block), true)
  dress.strip(transcript.bufnr, first, first + #old)
  change_lines(transcript.bufnr, first, old, lines)
  transcript.changed[block] = true
  return first
end

---@param session acp.Session
---@param transcript acp.Transcript
---@param id integer
---@param kind string
---@param lines string[]
local function add_text(session, transcript, id, kind, lines)
  local fill = {}
  local block, row = add_block(transcript, id, kind, (line_bound.take(fill, lines)))
  block.width, block.over = fill.width, fill.over
  block.cut = cut.new()
  feed(transcript, block, lines)
  dress.header(transcript.bufnr, block, row, session.agent)
end

---@param session acp.Session
---@param id integer
---@param kind string
---@param piece string
function M.append(session, id, kind, piece)
  local lines, block = line_bound.lines(piece), M.block(session, id)
  local hidden = block
    and line_bound.hide(block, lines, function()
      M.append(session, id, kind, "")
      M.flush()
    end)
  if hidden then
    return
  end
  local transcript = opened(session)
  if not transcript then
    return
  elseif not block then
    return add_text(session, transcript, id, kind, lines)
  end
  transcript.changed[block] = #lines > 1 or transcript.changed[block]
  local row = block_rows.after(transcript, block) - 1
  line_bound.append(transcript.bufnr, row, block, lines)
  feed(transcript, block, lines)
  paint.streaming()
end

---Makes a text another one; what is the same in both stays, with the cursors in it.
---@param session acp.Session
---@param id integer
---@param kind string
---@param whole string
function M.replace(session, id, kind, whole)
  local transcript = opened(session)
  if not transcript then
    return
  end
  local lines = line_bound.lines(whole)
  local block = transcript.blocks[id]
  if not block then
    return add_text(session, transcript, id, kind, lines)
  end
  block.width, block.over = nil, nil
  local first = rewrite(transcript, block, (line_bound.take(block, lines)))
  block.cut = cut.new()
  feed(transcript, block, lines)
  paint.redraw(transcript.bufnr, first, first + #lines)
end

---Shows a block as it is now; takes lines and highlights out of `rendered`.
---@param session acp.Session
---@param id integer|string
---@param kind string
---@param rendered acp.Rendered
---@return acp.Block? block nil when the chat has no buffer
---@return integer? row of its first line
function M.draw(session, id, kind, rendered)
  local transcript = opened(session)
  if not transcript then
    return
  end
  local block, first = transcript.blocks[id], nil
  if not block then
    block, first = add_block(transcript, id, kind, rendered.lines)
  else
    first = rewrite(transcript, block, rendered.lines)
  end
  dress.colour(transcript.bufnr, first, rendered.highlights)
  rendered.lines, rendered.highlights = nil, nil -- the buffer has them, and a block is kept as long as the chat
  block.rendered = rendered
  return block, first
end

---@return string id of a block that is Lua's own
function M.own_block()
  notes = notes + 1
  return "lua-" .. notes
end

---@param session acp.Session
---@param id integer|string
---@return acp.Block?
function M.block(session, id)
  local transcript = transcripts[session.key]
  return transcript and transcript.blocks[id]
end

---@param session acp.Session
---@param id integer
---@return integer? row of the block's first line
function M.row(session, id)
  local transcript = transcripts[session.key]
  local block = transcript and transcript.blocks[id]
  return block and block_rows.first(transcript, block)
end

---@param session acp.Session
---@param block acp.Block
---@return integer? first row nil when it is there no more
---@return integer? last row
function M.rows(session, block)
  local transcript = transcripts[session.key]
  if transcript and transcript.order[block.index] == block then
    return block_rows.first(transcript, block), block_rows.after(transcript, block) - 1
  end
end

---@param session acp.Session
---@param row integer
---@return acp.Block?
---@return integer? offset of the row in the block
function M.block_at(session, row)
  local transcript = transcripts[session.key]
  if transcript then
    return block_rows.at(transcript, row)
  end
end

---The blocks with a line between two rows, from the first to the last.
---@param session acp.Session
---@param first integer row
---@param last integer row
---@return fun(): acp.Block?, integer?, integer? iterator block, row of its first and of its last line
function M.blocks_in(session, first, last)
  local transcript = transcripts[session.key]
  return transcript and block_rows.between(transcript, first, last) or function() end
end

---@param session acp.Session
---@param block acp.Block that is there
---@return string[]
function M.lines(session, block)
  local first, last = M.rows(session, block)
  return api.nvim_buf_get_lines(session.bufnr, first, last + 1, true)
end

---@param session acp.Session
---@return fun(): acp.Block?, integer?, integer? iterator all blocks from the last one on: block, its first and last row
function M.blocks_up(session)
  local transcript = transcripts[session.key]
  return transcript and block_rows.upwards(transcript) or function() end
end

return M
