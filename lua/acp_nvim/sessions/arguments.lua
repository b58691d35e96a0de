-- Parses and completes the arguments of `:AcpChat` and `:AcpSessions`.
local names = require("acp_nvim.names")

local M = {}

---@param words string[] an agent's name, `++last`, `++dir={directory}`, `++worktree` or `++worktree={name}`
---@return string? agent
---@return acp.message.Resume? beginning nil when there is at most an agent's name
---@return string? problem
---@return boolean is_last the conversation used last is continued
function M.chat(words)
  local agent, directories, worktree
  local is_last = false
  for _, word in ipairs(words) do
    local option, value = word:match("^%+%+(%a+)=?(.*)$")
    if option == "dir" and value ~= "" then
      directories = directories or {}
      table.insert(directories, names.absolute(value))
    elseif option == "worktree" then
      worktree = value
    elseif word == "++last" then
      is_last = true
    elseif vim.startswith(word, "++") or agent then
      local words_known = ":AcpChat takes an agent, ++last, ++dir={directory} and ++worktree[={name}], not %q"
      return nil, nil, words_known:format(word), false
    else
      agent = word
    end
  end
  local is_more = directories or worktree
  if is_more and is_last then
    return nil,
      nil,
      "++last goes on in the directories that the conversation had: leave out ++dir and ++worktree",
      false
  end
  return agent, is_more and { additional_directories = directories, worktree = worktree } or nil, nil, is_last
end

---@param agents string[] their names
---@return string[]
function M.complete_chat(lead, agents)
  local directory = lead:match("^%+%+dir=(.*)$")
  if directory then
    return vim.tbl_map(function(one)
      return "++dir=" .. one
    end, names.complete_directory(directory))
  end
  return vim.tbl_filter(
    function(word)
      return vim.startswith(word, lead)
    end,
    vim.list_extend(vim.list_slice(agents), vim.startswith(lead, "+") and { "++last", "++dir=", "++worktree" } or {})
  )
end

---@param text string to search for, `agent:{name}` of agents to ask, and `++archived`
---@return string query
---@return string[]? agents
---@return boolean archived
function M.sessions(text)
  local words, agents, archived = {}, nil, false
  for word in text:gmatch("%S+") do
    local agent = word:match("^agent:(.+)$")
    if word == "++archived" then
      archived = true
    elseif agent then
      agents = agents or {}
      table.insert(agents, agent)
    else
      table.insert(words, word)
    end
  end
  return (agents or archived) and table.concat(words, " ") or vim.trim(text), agents, archived
end

---@param agents string[] their names
---@return string[]
function M.complete_sessions(lead, agents)
  local words = {}
  if lead ~= "" and vim.startswith("++archived", lead) then
    words[1] = "++archived"
  end
  for _, name in ipairs(agents) do
    local word = "agent:" .. name
    words[#words + 1] = vim.startswith(word, lead) and word or nil
  end
  return words
end

return M
