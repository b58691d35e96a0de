-- Implements :AcpTutor: a walk through the plugin with the demo agent, in a temporary copy of the sample project.
local client = require("acp_nvim.sessions.client")
local comment_rows = require("acp_nvim.render.wrapping")
local config = require("acp_nvim.config")
local decoration = require("acp_nvim.render.decoration")
local environment = require("acp_nvim.host.environment")
local file_buffer = require("acp_nvim.buffers.file_buffer")
local keymaps = require("acp_nvim.keys")
local lookup = require("acp_nvim.buffers.lookup")
local message = require("acp_nvim.kernel.message")
local named = require("acp_nvim.buffers.named")
local names = require("acp_nvim.names")
local question = require("acp_nvim.host.question")
local sessions = require("acp_nvim.host.sessions")
local steps = require("acp_nvim.tutor.steps")
local switch = require("acp_nvim.windows.switch")

local M = {}

local api, uv = vim.api, vim.uv
local LOOK_MS = 300 -- between looks at what the user has done
local NAMESPACE = api.nvim_create_namespace("acp_nvim.tutor")
local GROUP = api.nvim_create_augroup("acp_nvim.tutor", {})
local SAMPLE = { "greeting.py", "expected.txt", "README.md" }
local CODE = SAMPLE[1]
local HEAD = { "# acp_nvim in five minutes", "A temporary copy, a demo agent. `q` here ends it." }
local TAIL = {
  "",
  "# That was it",
  "",
  "`g?` in the chat, the prompt and the review lists the keys. `:AcpChat` starts the agents that you have installed, `:help acp_nvim` tells the rest. Press `q` here: the tab page, the sessions and the copy go away.",
}

---@class acp.Tutor
---@field bufnr integer with the text
---@field win integer
---@field directory string
---@field original string[] lines of the code
---@field session acp.Session
---@field step integer the current one
---@field rows integer[] of the titles, 1-based
---@field events table<string, integer>
---@field most integer
---@field least integer
---@field ticks integer of the copy's buffers when the step began
---@field note? string what to do after a wrong turn
---@field timer uv.uv_timer_t

---@type acp.Tutor?
local open

---@return string directory with a copy of the sample project
local function copy_sample()
  local directory = vim.fn.tempname() -- Neovim removes it when it ends
  assert(uv.fs_mkdir(directory, 448)) -- 0700
  for _, name in ipairs(SAMPLE) do
    assert(
      uv.fs_copyfile(
        vim.fs.joinpath(environment.root(), "acp_nvim/demo_project", name),
        vim.fs.joinpath(directory, name)
      )
    )
  end
  return assert(uv.fs_realpath(directory))
end

---@param text string
---@return string text with the keys of the options in it
local function with_keys(text)
  return (
    text:gsub("{([%l_]+)}", function(action)
      return config.keys(action)[1] or (":help acp_nvim-option-keymaps.%s"):format(action)
    end)
  )
end

---@return string[] lines
---@return integer[] rows of the titles, 1-based
local function text_of_steps()
  local lines, rows = vim.list_slice(HEAD), {}
  for number, step in ipairs(steps) do
    vim.list_extend(lines, { "", ("## %d. %s"):format(number, step.title) })
    rows[number] = #lines
    for _, paragraph in ipairs(step.text) do
      vim.list_extend(lines, { "", with_keys(paragraph) })
    end
  end
  rows[#steps + 1] = #lines + 2
  return vim.list_extend(lines, TAIL), rows
end

---@return { row: integer, from: integer, to: integer, group: string }[] of titles and of what is between backticks
local function highlights_of(lines)
  local found = {}
  for index, line in ipairs(lines) do
    if line:find("^#") then
      found[#found + 1] = { row = index - 1, from = 0, to = #line, group = "Title" }
    end
    for from, to in line:gmatch("()`[^`]+`()") do
      found[#found + 1] = { row = index - 1, from = from - 1, to = to - 1, group = "Special" }
    end
  end
  return found
end

---@return table[] virtual lines
local function note_rows(tutor)
  local width = api.nvim_win_is_valid(tutor.win) and api.nvim_win_get_width(tutor.win) or vim.o.columns
  return vim.tbl_map(function(row)
    return { { row, "WarningMsg" } }
  end, comment_rows.wrapped(tutor.note, width))
end

---Marks the steps that are done and the current one, and shows below its title what to do after a wrong turn.
local function mark_steps(tutor)
  api.nvim_buf_clear_namespace(tutor.bufnr, NAMESPACE, 0, -1)
  for number = 1, tutor.step do
    local is_done = number < tutor.step
    local mark = is_done and { " ✓", "AcpStatusCompleted" } or { " ◀", "AcpStatusInProgress" }
    local note = not is_done and tutor.note and note_rows(tutor) or nil
    api.nvim_buf_set_extmark(
      tutor.bufnr,
      NAMESPACE,
      tutor.rows[number] - 1,
      0,
      { virt_text = { mark }, virt_lines = note }
    )
  end
end

---Marks the steps, and brings the current one to the top of the window.
local function show_step(tutor)
  mark_steps(tutor)
  if api.nvim_win_is_valid(tutor.win) and api.nvim_win_get_buf(tutor.win) == tutor.bufnr then
    api.nvim_win_call(tutor.win, function()
      vim.fn.winrestview({ topline = tutor.step == 1 and 1 or tutor.rows[tutor.step], lnum = tutor.rows[tutor.step] })
    end)
  end
end

---@return integer changed lines that are left to review in the copy
local function size_of_review(directory)
  local size = 0
  for _, review in ipairs(require("acp_nvim").review()) do
    size = size + (vim.startswith(review.path, directory) and review.added + review.removed or 0)
  end
  return size
end

---@return integer of all changes in the copy's buffers
local function ticks(directory)
  local sum = 0
  for _, bufnr in ipairs(api.nvim_list_bufs()) do
    local is_of_copy = vim.startswith(api.nvim_buf_get_name(bufnr), directory .. "/")
    sum = sum + (is_of_copy and api.nvim_buf_get_changedtick(bufnr) or 0)
  end
  return sum
end

---@return string? what to do where the user sees another project's file in the tutor's tab page
local function elsewhere(tutor)
  local bufnr = api.nvim_get_current_buf()
  local name = api.nvim_buf_get_name(bufnr)
  if
    api.nvim_win_get_tabpage(tutor.win) ~= api.nvim_get_current_tabpage()
    or vim.bo[bufnr].buftype ~= ""
    or name == ""
    or vim.startswith(name, tutor.directory .. "/")
  then
    return nil
  end
  return ("%s is not of the tutor: CTRL-O leads back, or `:edit %s`."):format(vim.fs.basename(name), CODE)
end

---@return boolean the code is as it was in the beginning
local function is_original(tutor)
  local bufnr = lookup.find(vim.fs.joinpath(tutor.directory, CODE))
  return bufnr ~= nil and vim.deep_equal(api.nvim_buf_get_lines(bufnr, 0, -1, false), tutor.original)
end

---@return acp.TutorState
local function state_of(tutor)
  local current, size = sessions.current_owner(), size_of_review(tutor.directory)
  local status = require("acp_nvim").status(tutor.session.key)
  tutor.most, tutor.least = math.max(tutor.most, size), math.min(tutor.least, size)
  return {
    events = tutor.events,
    status = status,
    session = current and current.cwd == tutor.directory and current.key or tutor.session.key,
    first = tutor.session.key,
    size = size,
    most = tutor.most,
    least = tutor.least,
    is_original = is_original(tutor),
    edits = ticks(tutor.directory) - tutor.ticks,
    works = not vim.list_contains({ "idle", "stopped", "failed" }, status.state),
  }
end

---Goes on to the next step once the current one is done.
local function look()
  local step = open and steps[open.step]
  if not open or not step then
    return
  end
  local state = state_of(open)
  if step.is_done(state) then
    open.step, open.events, open.most, open.least = open.step + 1, {}, state.size, state.size
    open.ticks, open.note = ticks(open.directory), nil
    return show_step(open)
  end
  local note = elsewhere(open) or step.wrong and step.wrong(state)
  note = note and with_keys(note) or nil
  if note ~= open.note then
    open.note = note
    mark_steps(open)
  end
end

---Closes the sessions of the tutor without a question, and removes the copy.
local function finish()
  local tutor = open
  if not tutor then
    return
  end
  open = nil
  tutor.timer:close()
  api.nvim_clear_autocmds({ group = GROUP })
  for _, session in ipairs(sessions.all()) do
    if session.cwd == tutor.directory and not session.parent then
      question.ask("session_close", { session = session.key }, function() end)
      client.forget(session)
    end
  end
  for _, bufnr in ipairs(api.nvim_list_bufs()) do
    if vim.startswith(api.nvim_buf_get_name(bufnr), tutor.directory .. "/") then
      switch.delete(bufnr)
    end
  end
  vim.fn.delete(tutor.directory, "rf")
end

---Notes what the user does, and ends the tutor when its text is closed.
local function watch(tutor)
  api.nvim_create_autocmd("User", {
    group = GROUP,
    pattern = "Acp*",
    callback = function(event)
      local name = event.match
      if (event.data or {}).session == tutor.session.key then
        tutor.events[name] = (tutor.events[name] or 0) + 1
        vim.schedule(look)
      end
    end,
  })
  api.nvim_create_autocmd("BufWipeout", { group = GROUP, buffer = tutor.bufnr, callback = vim.schedule_wrap(finish) })
  tutor.timer:start(LOOK_MS, LOOK_MS, vim.schedule_wrap(look))
end

---@param directory string
---@return integer bufnr with the text, in a window above the code
local function open_windows(directory)
  local code = assert(file_buffer.get(vim.fs.joinpath(directory, CODE)))
  vim.cmd("tab split")
  switch.show(0, code)
  names.set_directory("tcd", directory)
  local bufnr = named.scratch("acp://tutor")
  vim.cmd("aboveleft split")
  switch.show(0, bufnr)
  vim.bo[bufnr].filetype = "acp_tutor"
  for option, value in pairs({ wrap = true, linebreak = true, number = false, list = false, winfixbuf = true }) do
    vim.wo[0][0][option] = value
  end
  return bufnr
end

---Closes the tutor's tab page, or, if it is the only one, the tutor's text.
local function leave()
  if #api.nvim_list_tabpages() > 1 then
    vim.cmd.tabclose()
  else
    names.set_directory("cd", vim.fn.getcwd(-1, -1)) -- out of the copy, which is removed
    switch.delete(api.nvim_get_current_buf())
  end
end

---Implements :AcpTutor.
function M.open()
  if open then
    api.nvim_set_current_win(open.win)
    return message.info("the tutor is open: q ends it")
  end
  local ok, directory = pcall(copy_sample)
  if not ok then
    return message.error("the sample project cannot be copied: " .. directory)
  end
  local bufnr = open_windows(directory)
  local win, lines, rows = api.nvim_get_current_win(), text_of_steps()
  decoration.fill(bufnr, lines, highlights_of(lines))
  local session = client.begin("demo", directory, {})
  if not session then
    vim.cmd.tabclose()
    vim.fn.delete(directory, "rf")
    return
  end
  local code = assert(lookup.find(vim.fs.joinpath(directory, CODE)))
  open = {
    bufnr = bufnr,
    win = win,
    directory = directory,
    original = api.nvim_buf_get_lines(code, 0, -1, false),
    session = session,
    step = 1,
    rows = rows,
    events = {},
    most = 0,
    least = 0,
    ticks = ticks(directory),
    timer = assert(uv.new_timer()),
  }
  keymaps.map_key(bufnr, "n", "q", leave, "end the tutor")
  watch(open)
  show_step(open)
end

return M
