-- The tool that tells where nvim-dap has stopped. It only reads what nvim-dap knows already.
local lookup = require("acp_nvim.buffers.lookup")
local name_of = require("acp_nvim.mcp.name")

local M = {}

local FRAMES = 50 -- of the stack
local VARIABLES = 100 -- of one scope
local VALUE_BYTES = 500

---@return string place of a frame
local function place(frame, cwd)
  local path = frame.source and frame.source.path
  local where = path and name_of(lookup.real(path), cwd) or "?"
  return ("%s:%d:%d: %s"):format(where, frame.line or 0, frame.column or 0, frame.name or "?")
end

---@param lines string[]
local function add_variables(lines, frame)
  for _, scope in ipairs(frame.scopes or {}) do
    lines[#lines + 1] = ("== %s"):format(scope.name)
    local variables = scope.variables or {}
    for index, one in ipairs(variables) do
      if index > VARIABLES then
        lines[#lines + 1] = ("... %d more"):format(#variables - VARIABLES)
        break
      end
      local value = tostring(one.value):gsub("\n", " "):sub(1, VALUE_BYTES)
      lines[#lines + 1] = ("%s = %s"):format(one.name, value)
    end
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
  local thread = (session.threads or {})[session.stopped_thread_id]
  if not thread then
    return answer({ error = "The program runs: it has not stopped at a breakpoint." })
  end
  local lines = {}
  for index, frame in ipairs(thread.frames or {}) do
    if index > FRAMES then
      lines[#lines + 1] = ("... %d more frames"):format(#thread.frames - FRAMES)
      break
    end
    lines[#lines + 1] = place(frame, args.cwd)
  end
  if session.current_frame then
    lines[#lines + 1] = ("current frame: %s"):format(place(session.current_frame, args.cwd))
    add_variables(lines, session.current_frame)
  end
  answer({ lines = lines })
end

return M
