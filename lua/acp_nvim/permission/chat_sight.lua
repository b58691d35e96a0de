-- Says where the text of waiting requests is in chats: in their own block, and in the tool call right above it.
local content = require("acp_nvim.chat.blocks.content")
local sessions = require("acp_nvim.sessions")
local sight = require("acp_nvim.permission.sight")
local transcript = require("acp_nvim.chat.transcript")

local M = {}

---@class acp.RequestPlace a block with rows of a request
---@field id integer of the request
---@field rows table<integer, integer> row of the block, from 0 -> index in the request's text

---@type table<integer, table<integer, acp.RequestPlace>> by session and block
local places = {}
---@type table<integer, { session: integer, block: integer }> by request: its own block
local blocks = {}

---@param id integer of a request that waits no more, or is drawn anew
function M.forget(id)
  local one = blocks[id]
  local there = one and places[one.session] or {}
  for _, block in ipairs(one and { one.block, one.block - 1 } or {}) do
    there[block] = there[block] and there[block].id ~= id and there[block] or nil
  end
  if one and not next(there) then
    places[one.session] = nil
  end
  blocks[id] = nil
end

---A request is about to be drawn in its chat.
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
    sight.add_bodies(bodies, #lines, run[3], is_named)
    for at = run[1], run[2] do
      lines[#lines + 1] = above[at]
      in_call[at - 1] = #lines
    end
  end
  local shift, own = #lines, {}
  sight.add_lines(lines, bodies, rendered, is_named)
  for index = shift + 1, #lines do
    own[index - shift - 1] = index
  end
  local there = places[one.session] or {}
  places[one.session] = there
  blocks[id] = { session = one.session, block = block }
  there[block] = { id = id, rows = own }
  if shift > 0 then
    there[block - 1] = { id = id, rows = in_call }
  end
  sight.show(id, "chat", lines, bodies)
end

---@param session acp.Session
---@param block integer
---@return integer? id of the request whose text stands in this tool call
function M.request_of_call(session, block)
  local there = places[session.key]
  local place = there and there[block]
  return place and blocks[place.id].block ~= block and place.id or nil
end

sight.locate_with({
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
