-- Shows tool calls in the chat: an update changes what it is about, and nothing when it shows nothing new.
local tool_call = require("acp_nvim.chat.blocks.tool_call")
local transcript = require("acp_nvim.chat.transcript")

local M = {}

local api = vim.api
local HEADS = api.nvim_create_namespace("acp_nvim.calls")
local OVER = { completed = true, failed = true, cancelled = true, rejected = true, unfinished = true }

---What is not text stands in marks: who copies the title gets the title.
---@param session acp.Session
---@param block acp.Block
---@param head acp.CallHead
---@param row integer of its first line
---@param title_bytes integer length of that line
local function dress(session, block, head, row, title_bytes)
  local bufnr = session.bufnr --[[@as integer]]
  block.head_mark = api.nvim_buf_set_extmark(bufnr, HEADS, row, 0, {
    id = block.head_mark,
    virt_text = head.before,
    virt_text_pos = "inline",
    right_gravity = false,
    end_col = title_bytes,
    hl_group = "AcpToolTitle",
  })
  if #head.after > 0 then
    block.tail_mark = api.nvim_buf_set_extmark(bufnr, HEADS, row, title_bytes, {
      id = block.tail_mark,
      virt_text = head.after,
      virt_text_pos = "inline",
    })
  elseif block.tail_mark then
    api.nvim_buf_del_extmark(bufnr, HEADS, block.tail_mark)
    block.tail_mark = nil
  end
end

---Of a call that is over nothing more is expected: its texts need not be kept.
---@param call acp.ToolCall
---@return acp.ToolCall
local function remembered(call)
  if OVER[call.status] then
    return { id = call.id, title = call.title, status = call.status, locations = call.locations }
  end
  return call
end

---@param session acp.Session
---@param event acp.Event of type tool_call
function M.show(session, event)
  local call = event.call
  local block = transcript.block(session, event.block)
  local was = block and block.call
  local head, row, title_bytes = tool_call.head(call), nil, nil
  local same_lines = was
    and was.title == call.title
    and was.id == call.id
    and vim.deep_equal(was.content, call.content)
    and vim.deep_equal(was.locations, call.locations)
  if not same_lines then
    local rendered = tool_call.render(call, session.cwd)
    title_bytes = #rendered.lines[1]
    block, row = transcript.draw(session, event.block, "tool_call", rendered)
  elseif vim.deep_equal(block.head, head) then
    block.call = remembered(call)
    return
  else
    row = transcript.row(session, event.block)
    title_bytes = #api.nvim_buf_get_lines(session.bufnr, row, row + 1, true)[1]
  end
  if block then
    block.call, block.head = remembered(call), head
    block.went_well = OVER[call.status] and call.status ~= "failed"
    dress(session, block, head, row --[[@as integer]], title_bytes)
  end
end

---Nobody goes on with those that are open.
---@param session acp.Session
function M.over(session)
  for _, number in pairs(session.call_blocks) do
    local block = transcript.block(session, number)
    if block and block.call and not OVER[block.call.status] then
      M.show(session, { block = number, call = vim.tbl_extend("force", block.call, { status = "unfinished" }) })
    end
  end
end

---The chat is empty.
---@param session acp.Session
function M.forget(session)
  if session.bufnr and api.nvim_buf_is_loaded(session.bufnr) then
    api.nvim_buf_clear_namespace(session.bufnr, HEADS, 0, -1)
  end
end

return M
