-- Keeps the blocks of a chat in its buffer. The cost of a change does not depend on the length of the chat.
local block_rows = require("acp_nvim.render.block_rows")
local lazy = require("acp_nvim.lazy")
local cut = lazy("acp_nvim.transcript.markdown.cut")
local decoration = lazy("acp_nvim.render.decoration")
local following = lazy("acp_nvim.transcript.following")
local guarded = require("acp_nvim.kernel.guarded")
local limits = require("acp_nvim.limits")
local line_bound = lazy("acp_nvim.transcript.line_bound")
local paint = lazy("acp_nvim.transcript.markdown.paint")

local M = {}

local api = vim.api
local HUNKS = 50 -- of a replaced text: with more it is replaced as a whole

---@type table<integer, acp.Transcript> by the session's key
local transcripts = {}
---@type table<acp.Transcript, integer[]> modifiable transcripts -> windows that follow the end
local open = {}
local local_blocks = 0

local function set_modifiable(transcript, value)
  api.nvim_set_option_value("modifiable", value, { buf = transcript.bufnr })
end

---Returns the transcript of a session with a modifiable buffer, or nil when the chat has no buffer.
local function opened(session)
  local transcript = transcripts[session.key]
  if not transcript or not api.nvim_buf_is_loaded(transcript.bufnr) then
    return nil
  end
  if not open[transcript] then
    open[transcript] = following.at_end(transcript)
    set_modifiable(transcript, true)
  end
  return transcript
end

---@alias acp.ChangesListener fun(session: acp.Session, blocks: table<acp.Block, boolean>, following: integer[])

---@type acp.ChangesListener[]
local listeners = {}

---@param listener acp.ChangesListener called at the end of a batch with the blocks that were redrawn or have new lines,
---and the windows that will scroll to the end of the chat
function M.on_changes(listener)
  table.insert(listeners, listener)
end

---Ends a batch of changes: makes the buffers unmodifiable again, and scrolls windows that were at the end.
function M.flush()
  local done = open
  open = {}
  for transcript, windows in pairs(done) do
    if api.nvim_buf_is_loaded(transcript.bufnr) then
      set_modifiable(transcript, false)
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

function M.attach(session)
  local transcript = { bufnr = session.bufnr, blocks = {}, order = {}, changed = {}, resting = {}, session = session }
  transcripts[session.key] = transcript
  following.attach(transcript)
end

function M.detach(session)
  local transcript = transcripts[session.key]
  if transcript then
    paint.detach(transcript.bufnr)
    following.detach(transcript)
    transcripts[session.key] = nil
  end
end

---Empties the chat.
function M.reset(session)
  local transcript = opened(session)
  if transcript then
    decoration.strip_all(transcript.bufnr)
    paint.clear_tables(transcript.bufnr)
    block_rows.forget(transcript.bufnr)
    api.nvim_buf_set_lines(transcript.bufnr, 0, -1, true, {})
    transcript.blocks, transcript.order, transcript.changed = {}, {}, {}
  end
end

---Forgets the ids of all blocks, whose text stays: another host numbers its blocks from 1 again.
function M.forget_blocks(session)
  local transcript = transcripts[session.key]
  if transcript then
    transcript.blocks = {}
  end
end

---Adds a block at the end, below an empty line for its header, which is added to `lines`.
---@return acp.Block
---@return integer row of its first line
local function add_block(transcript, id, kind, lines)
  local bufnr = transcript.bufnr
  local row = api.nvim_buf_line_count(bufnr)
  local has_gap = #transcript.order > 0
  if has_gap then
    table.insert(lines, 1, "")
  end
  api.nvim_buf_set_lines(bufnr, row, row, true, lines) -- a single change of the buffer
  row = has_gap and row + 1 or row
  local index, above = #transcript.order + 1, transcript.order[#transcript.order]
  local block = { id = id, kind = kind, mark = block_rows.mark(bufnr, row), index = index, above = above }
  transcript.order[index] = block
  transcript.blocks[id] = block
  transcript.changed[block] = true
  return block, row
end

---@param lines string[] appended to its text
local function feed(transcript, block, lines)
  local was_table = block.cut.table
  cut.feed(block.cut, lines)
  paint.grows(transcript, lines, was_table or block.cut.table)
  transcript.long = transcript.long or block.cut.long
end

---@return integer head number of equal lines at the beginning
---@return integer tail number of equal lines at the end
local function common(old, new)
  local shorter = math.min(#old, #new)
  local head = 0
  while head < shorter and old[head + 1] == new[head + 1] do
    head = head + 1
  end
  local tail = 0
  while tail < shorter - head and old[#old - tail] == new[#new - tail] do
    tail = tail + 1
  end
  return head, tail
end

---@return integer[][] hunks { old start, old count, new start, new count }
local function hunks_of(old, new)
  local before, after = table.concat(old, "\n") .. "\n", table.concat(new, "\n") .. "\n"
  if #old > 0 and #new > 0 and #before + #after <= limits.diff_bytes then
    local hunks = vim.diff(before, after, { result_type = "indices" }) --[[@as integer[][] ]]
    if #hunks <= HUNKS then
      return hunks
    end
  end
  return { { #old > 0 and 1 or 0, #old, #new > 0 and 1 or 0, #new } }
end

---Replaces only the lines that differ, so that cursors and marks in the others stay.
---@param first integer row of the first of the old lines
local function change_lines(bufnr, first, old, new)
  local head, tail = common(old, new)
  if head == #old and head == #new then
    return
  end
  local was, is = vim.list_slice(old, head + 1, #old - tail), vim.list_slice(new, head + 1, #new - tail)
  local hunks = hunks_of(was, is)
  for index = #hunks, 1, -1 do
    local from, count, to_from, to_count = unpack(hunks[index])
    local row = first + head + (count == 0 and from or from - 1)
    api.nvim_buf_set_lines(bufnr, row, row + count, true, vim.list_slice(is, to_from, to_from + to_count - 1))
  end
end

---Replaces the lines of a block where they differ.
---@return integer row of its first line
local function rewrite(transcript, block, lines)
  local first = block_rows.first(transcript, block)
  local old = api.nvim_buf_get_lines(transcript.bufnr, first, block_rows.after(transcript, block), true)
  decoration.strip(transcript.bufnr, first, first + #old)
  if block.cut then
    paint.strip_tables(transcript.bufnr, first, first + #old)
  end
  change_lines(transcript.bufnr, first, old, lines)
  transcript.changed[block] = true
  return first
end

local function add_text(session, transcript, id, kind, lines)
  paint.attach(transcript)
  local fill = {}
  local block, row = add_block(transcript, id, kind, (line_bound.take(fill, lines)))
  block.width, block.over = fill.width, fill.over
  block.cut = cut.new()
  feed(transcript, block, lines)
  decoration.header(transcript.bufnr, block, row, session.agent)
end

---Appends text to the block of a message, which is added if it does not exist.
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
  local shown, column = line_bound.take(block, lines)
  api.nvim_buf_set_text(transcript.bufnr, row, column or -1, row, -1, shown)
  feed(transcript, block, lines)
  paint.streaming()
end

---Replaces the text of a message; lines that are equal in both stay, with the cursors in them.
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

---Draws a block; removes lines and highlights from `rendered`.
---@param id integer|string
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
  decoration.colour(transcript.bufnr, first, rendered.highlights)
  rendered.lines, rendered.highlights = nil, nil -- the buffer has them, and blocks are kept as long as the chat
  block.rendered = rendered
  return block, first
end

---@return string id for a block that does not come from the host
function M.own_block()
  local_blocks = local_blocks + 1
  return "lua-" .. local_blocks
end

---@param id integer|string
---@return acp.Block?
function M.block(session, id)
  local transcript = transcripts[session.key]
  return transcript and transcript.blocks[id]
end

---@return integer? first row; nil when the block is gone
---@return integer? last row
function M.rows(session, block)
  local transcript = transcripts[session.key]
  if transcript and transcript.order[block.index] == block then
    return block_rows.first(transcript, block), block_rows.after(transcript, block) - 1
  end
end

---@return acp.Block?
---@return integer? offset of the row in the block
function M.block_at(session, row)
  local transcript = transcripts[session.key]
  if transcript then
    return block_rows.at(transcript, row)
  end
end

---Iterates over the blocks with a line between two rows, from the first to the last.
---@return fun(): acp.Block?, integer?, integer? iterator block, row of its first and of its last line
function M.blocks_in(session, first, last)
  local transcript = transcripts[session.key]
  return transcript and block_rows.between(transcript, first, last) or function() end
end

---@param block acp.Block in the chat
function M.lines(session, block)
  local first, last = M.rows(session, block)
  return api.nvim_buf_get_lines(session.bufnr, first, last + 1, true)
end

---Iterates over all blocks from the last to the first.
---@return fun(): acp.Block?, integer?, integer? iterator block, row of its first and of its last line
function M.blocks_up(session)
  local transcript = transcripts[session.key]
  local index = transcript and #transcript.order or 0
  local after = transcript and api.nvim_buf_line_count(transcript.bufnr)
  return function()
    local block = transcript and transcript.order[index]
    if block then
      local first, last = block_rows.first(transcript, block), after - 1
      index, after = index - 1, first - 1
      return block, first, last
    end
  end
end

return M
