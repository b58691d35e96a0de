-- Shows tool calls in the chat: status, title, locations and content. An update redraws only what it changes.
local Lines = require("acp_nvim.render.lines")
local config = require("acp_nvim.config")
local content = require("acp_nvim.transcript.blocks.content")
local duration = require("acp_nvim.render.duration")
local icons = require("acp_nvim.render.icons")
local limits = require("acp_nvim.limits")
local sessions = require("acp_nvim.host.sessions")
local tail = require("acp_nvim.render.tail")
local transcript = require("acp_nvim.transcript")

local M = {}

local api = vim.api
local HEADS = api.nvim_create_namespace("acp_nvim.calls")
local COVERS = api.nvim_create_namespace("acp_nvim.calls.covers")
local ENDED = { completed = true, failed = true, cancelled = true, rejected = true, unfinished = true }
local CALL_MARKS = 200 -- entries in the cache of icons: agents use a dozen kinds

---@type table<string, { group: string, words: string }>
local STATUS = {
  pending = { group = "AcpStatusPending", words = "pending" },
  in_progress = { group = "AcpStatusInProgress", words = "in progress" },
  paused = { group = "AcpStatusPending", words = "paused" },
  completed = { group = "AcpStatusCompleted", words = "" },
  failed = { group = "AcpStatusFailed", words = "failed" },
  cancelled = { group = "AcpStatusPending", words = "cancelled" },
  rejected = { group = "AcpStatusPending", words = "rejected" }, -- the host sets these two for calls
  unfinished = { group = "AcpStatusPending", words = "unfinished" }, -- that are open when their turn ends
}

local function title_of(call)
  local title = Lines.one_line(call.title)
  return title ~= "" and title or Lines.one_line(call.id)
end

---@param name string a kind or a status
---@param otherwise string kind or status whose icon to use for an unknown name
local function icon(name, otherwise)
  local own = config.get().ui.icons
  return own[name] or icons[name] or own[otherwise] or icons[otherwise]
end

local function marks(name, status, group, depth)
  local line = Lines.one_line(name)
  local kind = line ~= "" and line or "other"
  local before = {
    { icon(status, "in_progress") .. " ", group },
    { icon(kind, "other") .. " ", "AcpToolKind" },
  }
  if depth > 0 then
    table.insert(before, 1, { ("  "):rep(depth - 1) .. "↳ ", "AcpToolDetail" })
  end
  if not icons[kind] then
    table.insert(before, { kind .. "  ", "AcpToolKind" })
  end
  return before
end

---@type table<string, string[][]>
local cache = {}
---@type acp.Config? that the cache belongs to
local cache_config
local count = 0

---Returns the same table for all calls with equal marks.
---@param kind string as the agent reports it
local function cached_marks(kind, status, group, depth)
  if cache_config ~= config.get() or count >= CALL_MARKS then
    cache, cache_config, count = {}, config.get(), 0
  end
  local key = kind .. "\0" .. status .. "\0" .. depth
  local before = cache[key]
  if not before then
    before = marks(kind, status, group, depth)
    cache[key], count = before, count + 1
  end
  return before
end

local function after_title(call, status)
  local after, words = {}, ""
  if call.started then
    words = call.ended and duration(call.ended - call.started)
      or "since " .. os.date("%H:%M:%S", math.floor(call.started))
  end
  if status.words ~= "" and not (call.status == "in_progress" and words ~= "") then
    after[1] = { "  " .. status.words, status.group }
  end
  if words ~= "" then
    after[#after + 1] = { "  " .. words, "AcpToolDetail" }
  end
  if call.under then
    after[#after + 1] = { ("  of %s"):format(Lines.one_line(call.under)), "AcpToolDetail" }
  end
  return after
end

---Builds the virtual text before and after the title.
---@return acp.CallHead
local function build_head(call)
  -- an unknown status counts as still in progress (v2, ToolCallStatus)
  local status = STATUS[call.status] or { group = "AcpToolDetail", words = Lines.one_line(call.status) }
  local before = cached_marks(call.kind or "", call.status or "", status.group, call.depth or 0)
  return { before = before, title = title_of(call), after = after_title(call, status) }
end

---@param title string of its first line
---@return acp.Rendered
---@return integer count of the lines of its title
local function render(call, title, cwd)
  local key = config.keys("details")[1]
  local out = Lines.new(nil, key and (" (%s: all of it)"):format(key))
  out:add({ title })
  content.add_title_rest(out, call.title, limits.output_lines)
  local title_lines = #out.lines
  content.add_locations(out, call, title, cwd)
  content.add(out, call.content, cwd)
  return out:rendered(), title_lines
end

---@param row integer of its first line
---@param title_bytes integer length of that line
local function draw_tail(bufnr, block, row, title_bytes)
  local chunks
  chunks, block.tail_width = tail.fit(bufnr, row, title_bytes, block.head.after)
  block.tail_mark = api.nvim_buf_set_extmark(bufnr, HEADS, row, title_bytes, {
    id = block.tail_mark,
    virt_text = chunks,
    virt_text_pos = "inline",
  })
end

---Adds icons, status and time as virtual text, so that copying the title gets only the title.
---@param row integer of its first line
---@param title_bytes integer length of that line
local function draw_head(session, block, head, row, title_bytes)
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
    draw_tail(bufnr, block, row, title_bytes)
  elseif block.tail_mark then
    api.nvim_buf_del_extmark(bufnr, HEADS, block.tail_mark)
    block.tail_mark = nil
  end
end

---Hides a call and the empty line below it, or shows them again. The lines stay, to be yanked and searched, and are shown
---where the cursor is.
---@param block acp.Block of a call
---@param is_covered boolean the request right below says all of it
function M.cover(session, block, is_covered)
  if block.cover_mark then
    api.nvim_buf_del_extmark(session.bufnr, COVERS, block.cover_mark)
    block.cover_mark = nil
  end
  local first, last = transcript.rows(session, block)
  if is_covered and first then
    local range = { end_row = last + 1, end_col = 0, conceal_lines = "", strict = false }
    block.cover_mark = api.nvim_buf_set_extmark(session.bufnr, COVERS, first, 0, range)
  end
end

---@param block acp.Block of a call
---@return boolean its line shows no more than its title and its kind, which are those of a request
function M.is_plain(block, kind)
  local call = block.call
  return not ENDED[call.status]
    and STATUS[call.status] ~= nil
    and (call.kind or "") == (kind or "")
    and not call.under
    and (call.depth or 0) == 0
end

---Drops the texts of a call that has ended: no update will be compared with them.
local function without_texts(call)
  if ENDED[call.status] then
    return { id = call.id, title = call.title, status = call.status, locations = call.locations }
  end
  return call
end

---@param event acp.Event of type tool_call
function M.show(session, event)
  local call = event.call
  local block = transcript.block(session, event.block)
  local before = block and block.call
  local head, row, title_bytes, title_lines = build_head(call), nil, nil, nil
  local same_lines = before
    and before.title == call.title
    and before.id == call.id
    and vim.deep_equal(before.content, call.content)
    and vim.deep_equal(before.locations, call.locations)
  if not same_lines then
    local rendered
    rendered, title_lines = render(call, head.title, session.cwd)
    title_bytes = #rendered.lines[1]
    block, row = transcript.draw(session, event.block, "tool_call", rendered)
  elseif vim.deep_equal(block.head, head) then
    block.call = without_texts(call)
    return
  else
    row = transcript.rows(session, block)
    title_bytes = #api.nvim_buf_get_lines(session.bufnr, row, row + 1, true)[1]
  end
  if block then
    block.call, block.head = without_texts(call), head
    block.title_lines = title_lines or block.title_lines
    M.cover(session, block, false) -- the request that covers it says so again
    block.succeeded = ENDED[call.status] and call.status ~= "failed"
    draw_head(session, block, head, row --[[@as integer]], title_bytes)
  end
end

---Shows open calls as unfinished when their host is gone.
function M.end_open_calls(session)
  for _, number in pairs(session.call_blocks) do
    local block = transcript.block(session, number)
    if block and block.call and not ENDED[block.call.status] then
      M.show(session, { block = number, call = vim.tbl_extend("force", block.call, { status = "unfinished" }) })
    end
  end
end

---@type table<integer, boolean> windows with texts that may be for another width
local stale = {}

---Fits the text behind the titles in a window to its width.
---@param win integer
local function fit_tails(win)
  local bufnr = api.nvim_win_get_buf(win)
  local session = sessions.of_buffer(bufnr)
  local width = session and session.bufnr == bufnr and tail.width(bufnr)
  if not session or not width then
    return
  end
  for block, row in transcript.blocks_in(session, vim.fn.line("w0", win) - 1, vim.fn.line("w$", win) - 1) do
    if block.head and #block.head.after > 0 and block.tail_width ~= width then
      draw_tail(bufnr, block, row, #api.nvim_buf_get_lines(bufnr, row, row + 1, true)[1])
    end
  end
end

---Removes the virtual text of calls from an emptied chat.
function M.clear(session)
  if session.bufnr and api.nvim_buf_is_loaded(session.bufnr) then
    api.nvim_buf_clear_namespace(session.bufnr, HEADS, 0, -1)
    api.nvim_buf_clear_namespace(session.bufnr, COVERS, 0, -1)
  end
end

local group = api.nvim_create_augroup("acp_nvim.calls", {})
api.nvim_create_autocmd("WinScrolled", { -- and resized
  group = group,
  callback = function()
    for name, change in pairs(vim.v.event) do
      local win = tonumber(name)
      if win and api.nvim_win_is_valid(win) then
        stale[win] = stale[win] or change.width ~= 0
        if stale[win] then
          fit_tails(win)
        end
      end
    end
  end,
})
api.nvim_create_autocmd("BufWinEnter", {
  group = group,
  pattern = "acp://* chat *",
  callback = function(event)
    vim.schedule(function() -- when the window has its size
      for _, win in ipairs(vim.fn.win_findbuf(event.buf)) do
        stale[win] = true
        fit_tails(win)
      end
    end)
  end,
})

return M
