-- Finds the rows of waiting requests in chats: in their own block, and in the tool call right above it.
local content = require("acp_nvim.transcript.blocks.content")
local sessions = require("acp_nvim.host.sessions")
local transcript = require("acp_nvim.transcript")
local visibility = require("acp_nvim.permission.visibility")

local M = {}

---The request of each block by session and block, and for rows of the block, from 0, the index in the request's text.
---@type table<integer, table<integer, { id: integer, rows: table<integer, integer> }>>
local places = {}
---@type table<integer, { session: integer, block: integer }> by request: its own block
local blocks = {}

---@param id integer of a request that is closed, or is drawn again
function M.forget(id)
  local one = blocks[id]
  if not one then
    return
  end
  local in_session = places[one.session] or {}
  for block = one.block - 1, one.block do
    if in_session[block] and in_session[block].id == id then
      in_session[block] = nil
    end
  end
  if not next(in_session) then
    places[one.session] = nil
  end
  blocks[id] = nil
end

---Records where the rows of a request will be in its chat.
---@param one acp.Pending
---@param rendered acp.Rendered with its lines
---@param above string[] lines of the tool call right above
function M.show(one, rendered, above)
  local id, block = one.request.id, one.block
  M.forget(id)
  local session = sessions.get(one.session)
  local function is_named(path)
    return content.names(tostring(one.request.title or ""), path, session and session.cwd, true)
  end
  local lines, bodies, in_call = {}, {}, {}
  for _, run in ipairs(rendered.above_runs or {}) do
    visibility.add_bodies(bodies, #lines, run[3], is_named)
    for at = run[1], run[2] do
      lines[#lines + 1] = above[at]
      in_call[at - 1] = #lines
    end
  end
  local shift, own = #lines, {}
  visibility.add_lines(lines, bodies, rendered, is_named)
  for index = shift + 1, #lines do
    own[index - shift - 1] = index
  end
  local in_session = places[one.session] or {}
  places[one.session] = in_session
  blocks[id] = { session = one.session, block = block }
  in_session[block] = { id = id, rows = own }
  if shift > 0 then
    in_session[block - 1] = { id = id, rows = in_call }
  end
  visibility.show(id, "chat", lines, bodies)
end

---@param block integer
---@return integer? id of the request a part of which is in this tool call
function M.request_of_call(session, block)
  local place = (places[session.key] or {})[block]
  return place and blocks[place.id].block ~= block and place.id or nil
end

visibility.locate_with({
  has = function(bufnr)
    local session = next(places) and sessions.of_buffer(bufnr)
    return session and session.bufnr == bufnr and places[session.key] ~= nil or false
  end,
  each = function(bufnr, first, last, add)
    local session = sessions.of_buffer(bufnr) --[[@as acp.Session]]
    for block, begins, ends in transcript.blocks_in(session, first, last) do
      local place = places[session.key][block.id]
      for row = math.max(begins, first), place and math.min(ends, last) or -1 do
        local index = place.rows[row - begins]
        if index then
          add(place.id, "chat", row, index)
        end
      end
    end
  end,
})

return M
