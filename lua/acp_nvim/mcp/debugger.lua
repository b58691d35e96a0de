-- The tool that tells where nvim-dap has stopped. It only reads what nvim-dap knows already.
local lookup = require("acp_nvim.buffers.lookup")
local name_of = require("acp_nvim.kernel.relative_path")
local values = require("acp_nvim.problems.values")

local M = {}

local FRAMES = 50 -- of the stack
local SCOPES = 20
local VARIABLES = 100 -- of one scope
local VALUE_BYTES = 500
local PATH_BYTES = 4096

---What a debug adapter has sent may have any shape.
---@param value any
---@return any[] tables that are in it
local function tables(value)
  return vim.tbl_filter(function(one)
    return type(one) == "table"
  end, type(value) == "table" and vim.list_slice(value, 1, VARIABLES) or {})
end

---@return string place of a frame
local function place(frame, cwd)
  local path = type(frame.source) == "table" and values.words(frame.source.path, PATH_BYTES)
  local where = path and name_of(lookup.real(path), cwd) or "?"
  return ("%s:%d:%d: %s"):format(
    where,
    values.count(frame.line) or 0,
    values.count(frame.column) or 0,
    values.words(frame.name) or "?"
  )
end

---@param lines string[]
---@param value any list
---@param shown integer
---@param words string
local function add_left(lines, value, shown, words)
  if type(value) == "table" and #value > shown then
    lines[#lines + 1] = words:format(#value - shown)
  end
end

---@param lines string[]
local function add_variables(lines, frame)
  for _, scope in ipairs(vim.list_slice(tables(frame.scopes), 1, SCOPES)) do
    lines[#lines + 1] = ("== %s"):format(values.words(scope.name) or "?")
    for _, one in ipairs(tables(scope.variables)) do
      local value = type(one.value) == "string" and one.value or tostring(one.value)
      lines[#lines + 1] = ("%s = %s"):format(values.words(one.name) or "?", values.words(value, VALUE_BYTES))
    end
    add_left(lines, scope.variables, VARIABLES, "... %d more")
  end
end

---@type acp.mcp.Tool
function M.state(args, answer)
  local dap = package.loaded["dap"]
  local session = dap and dap.session()
  if not session then
    return answer({
      error = "The user is not debugging. Ask them to start the debugger, and to stop it where it matters.",
    })
  end
  local threads = type(session.threads) == "table" and session.threads or {}
  local thread = threads[session.stopped_thread_id]
  if type(thread) ~= "table" then
    return answer({ error = "The program runs: it has not stopped at a breakpoint." })
  end
  local lines = {}
  for _, frame in ipairs(vim.list_slice(tables(thread.frames), 1, FRAMES)) do
    lines[#lines + 1] = place(frame, args.cwd)
  end
  add_left(lines, thread.frames, FRAMES, "... %d more frames")
  if type(session.current_frame) == "table" then
    lines[#lines + 1] = ("current frame: %s"):format(place(session.current_frame, args.cwd))
    add_variables(lines, session.current_frame)
  end
  answer({ lines = lines })
end

return M
