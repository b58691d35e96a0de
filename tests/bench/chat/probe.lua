-- What is measured inside of Neovim, in the same way for the chat and for its floor; times are of the monotonic clock.
local api = vim.api
local hrtime = vim.uv.hrtime

local M = {}

---Notes when the text with a number (`#12;`) came into a buffer; only the end of each change is looked at.
---@param bufnr integer
function M.watch(bufnr)
  M.bufnr, M.seen, M.last = bufnr, {}, -1
  api.nvim_buf_attach(bufnr, false, {
    on_lines = function(_, _, _, _, _, after)
      local now = hrtime()
      local lines = api.nvim_buf_get_lines(bufnr, math.max(after - 3, 0), after, false)
      for at = #lines, 1, -1 do
        local number = lines[at]:find("#", 1, true) and tonumber(lines[at]:match("^.*#(%d+);"))
        if number then
          if number > M.last then
            M.last = number
            M.seen[#M.seen + 1] = { now / 1e9, number }
          end
          return
        end
      end
    end,
  })
end

---A new turn begins.
function M.begin()
  M.seen, M.last, M.ended = {}, -1, false
end

---Notes how long Neovim does not come to a timer of 1 ms.
function M.count_gaps()
  local gaps, last = {}, hrtime()
  M.gaps = gaps
  M.timer = M.timer or assert(vim.uv.new_timer())
  M.timer:start(1, 1, function()
    local now = hrtime()
    gaps[#gaps + 1] = { last / 1e9, (now - last) / 1e6 }
    last = now
  end)
end

---@return number[][] when each began, and milliseconds
function M.stop_gaps()
  M.timer:stop()
  return M.gaps
end

---Notes when the screen was drawn.
function M.watch_screen()
  M.drawn = {}
  api.nvim_set_decoration_provider(api.nvim_create_namespace("probe"), {
    on_end = function()
      M.drawn[#M.drawn + 1] = hrtime() / 1e9
    end,
  })
end

---Milliseconds of each action, with the screen drawn.
---@param action fun()
---@param times integer
---@return number[]
function M.time(action, times)
  local took = {}
  for _ = 1, times do
    local begun = hrtime()
    action()
    vim.cmd.redraw()
    took[#took + 1] = (hrtime() - begun) / 1e6
  end
  return took
end

_G.probe = M
