-- The keys of a preview, and the line above it that names them: whoever reads the change can answer there.
local Lines = require("acp_nvim.chat.blocks.lines")
local answer_keys = require("acp_nvim.chat.answer_keys")
local config = require("acp_nvim.config")
local keys = require("acp_nvim.review.keys")
local open = require("acp_nvim.review.preview_open")
local paths = require("acp_nvim.chat.blocks.paths")
local permission = require("acp_nvim.permission")
local picker = require("acp_nvim.permission.picker")
local places = require("acp_nvim.review.preview_places")
local previews = require("acp_nvim.review.previews")
local sessions = require("acp_nvim.sessions")
local sight = require("acp_nvim.permission.sight")

local M = {}

local api = vim.api
local NAME_COLUMNS = 30

---@param request acp.Request
---@param kind string
---@return acp.Option? the first of that kind
local function option_of(request, kind)
  return vim.iter(request.options or {}):find(function(option)
    return option.kind == kind
  end)
end

---The preview that a key is about: the one under the cursor, else the oldest. Nobody answers what they have not seen: when
---it is out of sight, the cursor goes there instead.
---@return acp.Preview?
local function meant()
  local bufnr, line = api.nvim_get_current_buf(), api.nvim_win_get_cursor(0)[1]
  local first, last = vim.fn.line("w0"), vim.fn.line("w$")
  local oldest = places.previews(bufnr)[1]
  local seen
  for _, place in ipairs(places.places(bufnr, first - 1, last - 1)) do
    if line > place.row and line <= place.row + math.max(place.count, 1) then
      return place.preview
    elseif place.preview == oldest then
      seen = oldest
    end
  end
  if not seen then
    sight.pressed()
    open.step(false)
  end
  return seen
end

---@param kind string
---@return fun()
local function on_kind(kind)
  return function()
    local preview = meant()
    local one = preview and permission.get(preview.request)
    local option_id = one and answer_keys.first_of(one.request, kind)
    if preview and one and option_id and (answer_keys.rejects(one.request, option_id) or not sight.is_ahead()) then
      picker.answer(one.request.id, option_id, open.visited(preview))
    elseif one and not option_id then
      picker.options(one)
    end
  end
end

---@type acp.ReviewKey[]
M.list = {
  { action = "preview_allow", modes = { "n" }, run = on_kind("allow_once") },
  { action = "preview_reject", modes = { "n" }, run = on_kind("reject_once") },
  {
    action = "preview_options",
    modes = { "n" },
    run = function()
      local preview = meant()
      local one = preview and permission.get(preview.request)
      if one then
        picker.options(one)
      end
    end,
  },
  -- stylua: ignore
  { action = "preview_next", modes = { "n", "x" }, run = function() open.step(false) end },
  -- stylua: ignore
  { action = "preview_previous", modes = { "n", "x" }, run = function() open.step(true) end },
  -- stylua: ignore
  { action = "preview_help", modes = { "n" }, run = function() keys.help("preview_", "Keys of the preview") end },
}

---@param text string
---@return string
local function short(text)
  local line = Lines.one_line(text)
  if vim.fn.strdisplaywidth(line) <= NAME_COLUMNS then
    return line
  end
  return vim.fn.strcharpart(line, 0, NAME_COLUMNS - 1) .. "…"
end

---@param action string
---@param words string
---@return acp.Chunks nothing when there is no such key
local function key(action, words)
  local first = config.keys(action)[1]
  return first and { { " · ", "AcpPreviewHint" }, { first, "AcpPermissionKey" }, { " " .. words, "AcpPreviewHint" } }
    or {}
end

---@param preview acp.Preview
---@param cwd string
---@return string what else is to be known of it
local function remarks(preview, cwd)
  local words = {}
  if preview.operation == "delete" then
    words[#words + 1] = "would be deleted"
  elseif preview.old_path then
    local verb = preview.operation == "copy" and "copied" or "moved"
    words[#words + 1] = ("would be %s to %s"):format(verb, paths.short(preview.path, cwd))
  end
  words[#words + 1] = preview.note and Lines.one_line(preview.note)
  local all = previews.of_request(preview.request)
  if #all > 1 then
    words[#words + 1] = ("file %d of %d"):format(vim.fn.index(all, preview) + 1, #all)
  end
  return #words > 0 and (" (%s)"):format(table.concat(words, ", ")) or ""
end

---@param preview acp.Preview
---@return acp.Chunks
function M.hint(preview)
  local one = permission.get(preview.request) --[[@as acp.Pending]]
  local session = sessions.get(preview.session) or {}
  local chunks =
    { { ("%s asks%s"):format(session.agent or "the agent", remarks(preview, session.cwd or "")), "AcpPreviewHint" } }
  for _, pair in ipairs({ { "preview_allow", "allow_once" }, { "preview_reject", "reject_once" } }) do
    local option = option_of(one.request, pair[2])
    vim.list_extend(chunks, option and key(pair[1], short(option.name)) or {})
  end
  vim.list_extend(chunks, key("preview_options", "all options"))
  return vim.list_extend(chunks, { { "  " .. Lines.one_line(one.request.title), "AcpPreviewHint" } })
end

return M
