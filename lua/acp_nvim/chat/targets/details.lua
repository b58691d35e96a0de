-- Shows all that there is of a tool call, in a buffer of its own: what was asked, what came of it, nothing cut.
local Lines = require("acp_nvim.chat.blocks.lines")
local config = require("acp_nvim.config")
local keymaps = require("acp_nvim.keymaps")
local limits = require("acp_nvim.limits")
local message = require("acp_nvim.message")
local named = require("acp_nvim.buffers.named")
local requests = require("acp_nvim.host.requests")

local M = {}

local api = vim.api
local DETAILS_DIFF_BYTES = 8 * 1024 * 1024 -- of the texts of one change in a tool call's details: compared within 0.2 s
local DETAILS_ROWS = 5000 -- of the details that have colours: more take longer than a frame
local LOOKS = api.nvim_create_namespace("acp_nvim.details")
local FILETYPE = "acp_call"
local GROUPS = { ["+"] = "AcpDiffAdded", ["-"] = "AcpDiffRemoved", ["@"] = "AcpToolDetail" }

---What was asked for last: an answer to an earlier question opens nothing any more.
---@type { session: integer, block: integer }?
local wanted

---@class acp.DetailLines
---@field lines string[]
---@field groups table<integer, string> row -> group of the whole line
local Out = {}
Out.__index = Out

---@param text string
---@param group? string
function Out:add(text, group)
  for _, line in ipairs(vim.split(text, "\n", { plain = true })) do
    self.lines[#self.lines + 1] = line
    self.groups[#self.lines - 1] = group
  end
end

---@param title string
function Out:section(title)
  self:add("")
  self:add("## " .. title, "AcpAgentHeader")
  self:add("")
end

---A block of code; its fence is longer than any in it.
---@param language string
---@param text string
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
    self.groups[row] = GROUPS[self.lines[row + 1]:sub(1, 1)]
  end
  self:add(fence, "AcpToolDetail")
end

---@param item acp.Content
---@return string
local function diff_of(item)
  local old, new = item.old_text or "", item.new_text or ""
  if item.operation == "patch" then
    return new
  elseif #old + #new > DETAILS_DIFF_BYTES then
    return ("(%d bytes before, %d after: too large to be compared)"):format(#old, #new)
  end
  return vim.diff(old, new, { ctxlen = 3 }) --[[@as string]]
end

---@type table<string, fun(out: acp.DetailLines, item: acp.Content)>
local ADD = {
  text = function(out, item)
    out:add(item.text)
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
    local ending = item.signal and "killed by " .. item.signal or item.exit_code and "exit " .. item.exit_code or ""
    out:add(("$ %s"):format(item.command or item.terminal_id), "AcpToolTitle")
    out:code("", item.output or "")
    out:add(ending)
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

---@param out acp.DetailLines
---@param item acp.Content
local function add_item(out, item)
  local add = ADD[item.type]
  if add then
    add(out, item)
  else
    out:add(item.label or item.type)
  end
  if (item.lines or 0) > 0 then
    out:add(("… %d more lines that acp_nvim has not kept for you"):format(item.lines), "AcpToolDetail")
  end
  out:add("")
end

---@param event acp.Event of type call_details
---@return acp.DetailLines
local function written(event)
  local call = event.call
  local out = setmetatable({ lines = {}, groups = {} }, Out)
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

---@param bufnr integer
local function show(bufnr)
  local win = vim.iter(api.nvim_tabpage_list_wins(0)):find(function(one)
    return vim.bo[api.nvim_win_get_buf(one)].filetype == FILETYPE
  end)
  local height = math.max(5, math.floor(vim.o.lines * limits.details_part))
  if win then
    api.nvim_set_current_win(win)
    api.nvim_win_set_buf(win, bufnr)
  elseif not pcall(api.nvim_open_win, bufnr, true, { split = "below", win = -1, height = height }) then -- no room
    vim.cmd(("tab sbuffer %d"):format(bufnr))
  end
  local shown = vim.wo[api.nvim_get_current_win()][0]
  shown.number, shown.relativenumber, shown.signcolumn, shown.spell, shown.list = false, false, "no", false, false
  shown.foldenable, shown.wrap, shown.linebreak = false, true, true
end

---@param bufnr integer
---@param from integer window to go back to
local function leave(bufnr, from)
  if not pcall(api.nvim_win_close, 0, false) then -- the last window
    vim.cmd("enew")
    pcall(api.nvim_buf_delete, bufnr, { force = true })
  elseif api.nvim_win_is_valid(from) then
    api.nvim_set_current_win(from)
  end
end

---@param bufnr integer
---@param out acp.DetailLines
local function fill(bufnr, out)
  local lines = vim.tbl_map(function(line)
    return (line:gsub("\r$", ""))
  end, out.lines)
  named.fill(bufnr, lines)
  api.nvim_buf_clear_namespace(bufnr, LOOKS, 0, -1)
  for row, group in pairs(out.groups) do
    if row < DETAILS_ROWS then
      api.nvim_buf_set_extmark(bufnr, LOOKS, row, 0, { line_hl_group = group })
    end
  end
end

---Everything of a tool call, as the host tells it.
---@param session acp.Session
---@param event acp.Event of type call_details
---@param open_file fun(session: acp.Session, key: string) opens the file under the cursor
function M.told(session, event, open_file)
  if not wanted or wanted.session ~= session.key or wanted.block ~= event.block then
    return
  end
  wanted = nil
  local title = vim.fn.strcharpart(Lines.one_line(event.call.title), 0, limits.terminal_name)
  local bufnr = named.scratch(("acp://call/%d-%d %s"):format(session.key, event.block, title))
  fill(bufnr, written(event))
  local from = api.nvim_get_current_win()
  show(bufnr)
  vim.bo[bufnr].filetype = FILETYPE
  keymaps.map(bufnr, "n", "close", leave, bufnr, from)
  for _, key in ipairs(config.keys("open")) do
    vim.keymap.set("n", key, function()
      open_file(session, key)
    end, { buffer = bufnr, nowait = true, desc = "acp: open" })
  end
end

---@param session acp.Session
---@param block integer of a tool call
function M.open(session, block)
  if requests.call_details(session, block) then
    wanted = { session = session.key, block = block }
  else
    message.info("The host that knew this tool call is gone; what the chat shows is left of it.")
  end
end

return M
