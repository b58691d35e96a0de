-- Shows all details of a tool call, uncut, in a separate buffer.
local Lines = require("acp_nvim.render.lines")
local config = require("acp_nvim.config")
local decoration = require("acp_nvim.render.decoration")
local edge = require("acp_nvim.windows.edge")
local keymaps = require("acp_nvim.keys")
local late = require("acp_nvim.kernel.late")
local limits = require("acp_nvim.limits")
local message = require("acp_nvim.kernel.message")
local named = require("acp_nvim.buffers.named")
local own = require("acp_nvim.windows.own")
local requests = require("acp_nvim.host.requests")
local switch = require("acp_nvim.windows.switch")

local M = {}

local api = vim.api
local DETAILS_DIFF_BYTES = 8 * 1024 * 1024 -- of both texts of one diff: compared within 0.2 s
local DETAILS_ROWS = 5000 -- that are highlighted: more take longer than a frame
local FILETYPE = "acp_call"
local GROUPS = { ["+"] = "AcpDiffAdded", ["-"] = "AcpDiffRemoved", ["@"] = "AcpToolDetail" }

---The latest request; answers to earlier requests are ignored.
---@type { session: integer, block: integer, on_answer: acp.OnAnswer }?
local wanted

---@class acp.DetailLines
---@field lines string[]
---@field highlights acp.Highlight[]
local Out = {}
Out.__index = Out

function Out:add(text, group)
  for _, line in ipairs(vim.split(text, "\n", { plain = true })) do
    self.lines[#self.lines + 1] = (line:gsub("\r$", ""))
    self:mark(#self.lines - 1, group)
  end
end

function Out:mark(row, group)
  if group and row < DETAILS_ROWS then
    table.insert(self.highlights, { row = row, from = 0, to = -1, group = group })
  end
end

function Out:section(title)
  self:add("")
  self:add("## " .. title, "AcpAgentHeader")
  self:add("")
end

---Adds a block of code with a fence longer than any run of backticks in it.
function Out:code(language, text)
  local longest = 2
  for ticks in text:gmatch("`+") do
    longest = math.max(longest, #ticks)
  end
  local fence = ("`"):rep(longest + 1)
  self:add(fence .. language, "AcpToolDetail")
  local first = #self.lines
  self:add((text:gsub("\n$", "")))
  for row = first, language == "diff" and #self.lines - 1 or -1 do
    self:mark(row, GROUPS[self.lines[row + 1]:sub(1, 1)])
  end
  self:add(fence, "AcpToolDetail")
end

local function diff_of(item)
  local old, new = item.old_text or "", item.new_text or ""
  if item.operation == "patch" then
    return new
  elseif #old + #new > DETAILS_DIFF_BYTES then
    return ("(%d bytes before, %d after: too large to compare)"):format(#old, #new)
  end
  return vim.diff(old, new, { ctxlen = 3 }) --[[@as string]]
end

local function add_ending(out, item)
  if item.signal or item.exit_code then
    out:add(item.signal and "killed by " .. item.signal or "exit " .. item.exit_code)
  end
end

---@type table<string, fun(out: acp.DetailLines, item: acp.Content)>
local ADD = {
  text = function(out, item)
    out:add(item.text)
    add_ending(out, item)
  end,
  diff = function(out, item)
    local from = item.old_path and ("%s -> "):format(item.old_path) or ""
    local about = vim.tbl_filter(function(word)
      return word ~= ""
    end, { item.operation or "", item.line and "line " .. item.line or "", item.note or "" })
    out:add(("%s%s  %s"):format(from, item.path, table.concat(about, ", ")), "AcpDiffHeader")
    out:code("diff", diff_of(item))
  end,
  terminal = function(out, item)
    out:add(("$ %s"):format(item.command or item.terminal_id), "AcpToolTitle")
    out:code("", item.output or "")
    add_ending(out, item)
  end,
  media = function(out, item)
    out:add(("%s (%s, %d bytes) %s"):format(item.kind, item.mime_type, item.size, item.uri or ""))
  end,
  resource = function(out, item)
    out:add(vim.trim(("%s %s %s"):format(item.name or "", item.uri, item.mime_type or "")), "AcpDiffHeader")
    out:add(item.description or "")
    if item.text then
      out:code("", item.text)
    end
  end,
}

local function add_item(out, item)
  local add = ADD[item.type]
  if add then
    add(out, item)
  else
    out:add(item.label or item.type)
  end
  if (item.lines or 0) > 0 then
    out:add(("… %d more lines that acp_nvim has not kept"):format(item.lines), "AcpToolDetail")
  end
  out:add("")
end

---@param event acp.Event of type call_details
local function render(event)
  local call = event.call
  local out = setmetatable({ lines = {}, highlights = {} }, Out)
  out:add("# " .. call.title, "Title")
  out:add("")
  local started = call.started and os.date("%Y-%m-%d %H:%M:%S", math.floor(call.started))
  for _, fact in ipairs({
    { "kind", call.kind },
    { "status", call.status },
    { "id", call.id },
    { "tool", event.name },
    { "part of", call.parent },
    { "started", started },
    { "took", call.ended and ("%.1f s"):format(call.ended - call.started) },
  }) do
    if fact[2] then
      out:add(("- %s: %s"):format(fact[1], fact[2]))
    end
  end
  if #call.locations > 0 then
    out:section("Locations")
    for _, location in ipairs(call.locations) do
      out:add(("- %s%s"):format(location.path, location.line and ":" .. location.line or ""))
    end
    if (call.locations_left or 0) > 0 then
      out:add(("- … and %d more"):format(call.locations_left))
    end
  end
  if event.raw_input then
    out:section("Input")
    out:code("json", event.raw_input)
  end
  if #call.content > 0 then
    out:section("Content")
    for _, item in ipairs(call.content) do
      add_item(out, item)
    end
  end
  if event.raw_output then
    out:section("Output")
    out:code("json", event.raw_output)
  end
  return out
end

local function open_window(bufnr)
  local win = vim.iter(api.nvim_tabpage_list_wins(0)):find(function(one)
    return vim.bo[api.nvim_win_get_buf(one)].filetype == FILETYPE
  end)
  if win then
    api.nvim_set_current_win(win)
    own.set_buffer(win, bufnr)
  else
    edge.below(bufnr, math.floor(vim.o.lines * limits.details_part))
  end
  win = api.nvim_get_current_win()
  own.set_options(win, {})
  own.set_filetype(win, FILETYPE)
end

---@param from integer window to return to
local function leave(bufnr, from)
  edge.closing(function()
    own.close(api.nvim_get_current_win())
  end)
  switch.delete(bufnr) -- of the last window
  if api.nvim_win_is_valid(from) then
    api.nvim_set_current_win(from)
  end
end

---@param event acp.Event of type call_details
---@param open_file fun(session: acp.Session, key: string) opens the file under the cursor
local function open_details(session, event, open_file)
  local title = vim.fn.strcharpart(Lines.one_line(event.call.title), 0, limits.terminal_name)
  local bufnr = named.scratch(named.name(("call %d-%d %s"):format(session.key, event.block, title)))
  local out = render(event)
  decoration.fill(bufnr, out.lines, out.highlights)
  local from = api.nvim_get_current_win()
  open_window(bufnr)
  keymaps.map(bufnr, "n", "close", leave, bufnr, from)
  for _, key in ipairs(config.keys("open")) do
    keymaps.map_key(bufnr, "n", key, function()
      open_file(session, key)
    end, "open")
  end
end

---Opens the details that the host has sent, if they are still wanted.
---@param event acp.Event of type call_details
---@param open_file fun(session: acp.Session, key: string) opens the file under the cursor
function M.show(session, event, open_file)
  local request = wanted
  if request and request.session == session.key and request.block == event.block then
    wanted = nil
    request.on_answer(function()
      open_details(session, event, open_file)
    end, "the details of the tool call have come: press the key again")
  end
end

---Requests the details of a tool call from the host, which answers with a `call_details` event.
---@param block integer of a tool call
function M.open(session, block)
  if requests.call_details(session, block) then
    wanted = { session = session.key, block = block, on_answer = late.wait() }
  else
    message.info("The host that ran this tool call has ended; only what the chat shows is available.")
  end
end

return M
