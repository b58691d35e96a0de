-- Lists the files of a git repository below a directory, those that git ignores left out.
local limits = require("acp_nvim.limits")

local M = {}

---@param cwd string
---@param found fun(paths: string[]) relative to it; called in fast events
---@param done fun(ok: boolean) false: it is in no repository, or there is no git; called once, maybe in a fast event
---@return fun() stop
function M.start(cwd, found, done)
  local rest, count, process, stopped = "", 0, nil, false

  local function stop()
    stopped = true
    if process then
      process:kill("sigterm")
    end
  end

  local function read(_, chunk)
    if not chunk or stopped then
      return
    end
    local text, paths = rest .. chunk, {}
    local whole = text:match("^.*()%z") or 0
    rest = text:sub(whole + 1)
    for path in text:sub(1, whole):gmatch("[^%z]+") do
      if not path:find("%c") then
        paths[#paths + 1] = path
      end
    end
    count = count + #paths
    found(paths)
    if count >= limits.files then
      stop()
    end
  end

  local command = { "git", "-C", cwd, "-c", "core.fsmonitor=false", "--no-optional-locks" }
  vim.list_extend(command, { "ls-files", "--cached", "--others", "--exclude-standard", "-z" })
  local ok, started = pcall(vim.system, command, { stdout = read, stderr = false }, function(result)
    done(result.code == 0 or count > 0)
  end)
  if not ok then
    done(false)
    return function() end
  end
  process = started
  return stop
end

return M
