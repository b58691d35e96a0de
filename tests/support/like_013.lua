-- Makes the Neovim of a test behave as 0.13 does where that matters to the plugin (`ACP_NVIM_LIKE=0.13`), before there is a
-- release: no event BufModifiedSet; OptionSet tells, later, of each change of 'modified'; nvim_win_resize; functions that
-- return more than before; the log directory; 'autoread' that watches the files.
local api = vim.api
local real = {
  buf_call = api.nvim_buf_call,
  create_autocmd = api.nvim_create_autocmd,
  exists = vim.fn.exists,
  find = vim.fs.find,
  keycode = vim.keycode,
  set_height = api.nvim_win_set_height,
  set_option_value = api.nvim_set_option_value,
  set_width = api.nvim_win_set_width,
  stdpath = vim.fn.stdpath,
  win_call = api.nvim_win_call,
}
local group = api.nvim_create_augroup("like_013", {})

-- Changes of 'modified'

local is_telling = false -- OptionSet runs for a change of 'modified'

local function tell(bufnr)
  vim.schedule(function()
    if api.nvim_buf_is_loaded(bufnr) then
      real.buf_call(bufnr, function()
        is_telling = true
        pcall(api.nvim_exec_autocmds, "OptionSet", { pattern = "modified", modeline = false })
        is_telling = false
      end)
    end
  end)
end

real.create_autocmd("BufModifiedSet", {
  group = group,
  callback = function(event)
    tell(event.buf)
  end,
})

real.create_autocmd("OptionSet", {
  group = group,
  pattern = "modified",
  callback = function()
    if not is_telling then -- an option that is set during OptionSet causes none
      tell(api.nvim_get_current_buf())
    end
  end,
})

function vim.fn.exists(what)
  return what == "##BufModifiedSet" and 0 or real.exists(what)
end

---@return any[]
local function list(value)
  return type(value) == "table" and value or { value }
end

function api.nvim_create_autocmd(event, opts)
  if vim.list_contains(list(event), "BufModifiedSet") then
    error("Invalid 'event': 'BufModifiedSet'")
  elseif opts.pattern ~= nil and (#list(opts.pattern) == 0 or vim.list_contains(list(opts.pattern), "")) then
    error("an empty pattern is none any more")
  end
  local run = opts.callback
  if type(run) == "function" and vim.list_contains(list(event), "OptionSet") then
    opts = vim.tbl_extend("force", opts, {
      callback = function(told)
        if told.match ~= "modified" or is_telling then
          told.buf = 0 -- as Neovim has it
          return run(told)
        end
      end,
    })
  end
  return real.create_autocmd(event, opts)
end

-- Functions that are new, are not to be used any more, or return more

local function refuse_ours(name)
  if debug.getinfo(3, "S").source:find("/lua/acp_nvim/", 1, true) then
    error(name .. " is deprecated")
  end
end

function api.nvim_win_set_height(...)
  refuse_ours("nvim_win_set_height")
  return real.set_height(...)
end

function api.nvim_win_set_width(...)
  refuse_ours("nvim_win_set_width")
  return real.set_width(...)
end

function api.nvim_win_resize(win, width, height)
  if width >= 0 then
    real.set_width(win, width)
  end
  if height >= 0 then
    real.set_height(win, height)
  end
end

local function returning_all(call)
  return function(where, run)
    local results = {}
    call(where, function()
      results = vim.F.pack_len(run())
    end)
    return vim.F.unpack_len(results)
  end
end
api.nvim_buf_call, api.nvim_win_call = returning_all(real.buf_call), returning_all(real.win_call)

function api.nvim_set_option_value(name, value, opts)
  real.set_option_value(name, value, opts)
  return value
end

function vim.keycode(text)
  return real.keycode(text), { { text } }
end

function vim.fs.find(...)
  return real.find(...), {}
end

function vim.fn.stdpath(what)
  return what == "log" and real.stdpath("state") .. "/logs" or real.stdpath(what)
end

-- 'autoread' that watches

-- Milliseconds from the last change until a file is looked at. Neovim tells a change by the file's time alone, which moves on
-- with the kernel's ticks (at most 10 ms): what is read within the tick of a write may miss the rest of it for ever.
local PAUSE = 20

---@type table<integer, uv.uv_fs_event_t>
local watchers = {}
---@type table<integer, uv.uv_timer_t>
local timers = {}
local watching = api.nvim_create_augroup("nvim.autoread", {}) -- the name that Neovim has for it

local function stop(bufnr)
  if watchers[bufnr] then
    watchers[bufnr]:close()
    timers[bufnr]:close()
    watchers[bufnr], timers[bufnr] = nil, nil
  end
end

local function is_watched(bufnr)
  if not api.nvim_buf_is_loaded(bufnr) or vim.bo[bufnr].buftype ~= "" then
    return false
  end
  local own = api.nvim_get_option_value("autoread", { buf = bufnr, scope = "local" })
  if own == nil then
    own = vim.go.autoread
  end
  return own and vim.uv.fs_stat(api.nvim_buf_get_name(bufnr)) ~= nil
end

local function watch(bufnr)
  stop(bufnr)
  if is_watched(bufnr) then
    local watcher, timer = assert(vim.uv.new_fs_event()), assert(vim.uv.new_timer())
    watchers[bufnr], timers[bufnr] = watcher, timer
    local is_another = false -- the name may stand for another file now
    local look = vim.schedule_wrap(function()
      if watchers[bufnr] ~= watcher then
        return
      end
      if is_another then
        watch(bufnr)
      end
      if is_watched(bufnr) then
        vim.cmd.checktime(bufnr)
      end
    end)
    watcher:start(api.nvim_buf_get_name(bufnr), {}, function(_, _, events)
      is_another = is_another or events.rename
      if not timer:is_closing() then
        timer:start(PAUSE, 0, look)
      end
    end)
  end
end

local function on(events, run, pattern)
  real.create_autocmd(events, { group = watching, pattern = pattern, callback = run })
end
on({ "BufReadPost", "BufWritePost" }, function(event)
  watch(event.buf)
end)
on({ "BufUnload", "BufWipeout" }, function(event)
  stop(event.buf)
end)
on("OptionSet", function()
  for _, bufnr in ipairs(api.nvim_list_bufs()) do
    watch(bufnr)
  end
end, "autoread")
on("VimLeavePre", function()
  vim.iter(vim.tbl_keys(watchers)):each(stop)
end)
