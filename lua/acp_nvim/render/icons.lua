-- The icons of tool calls by kind and status: characters that most terminal fonts have.
---@type table<string, string>
return {
  read = "≡",
  edit = "±",
  delete = "×",
  move = "→",
  search = "?",
  execute = "$",
  think = "…",
  fetch = "↓",
  switch_mode = "↔",
  other = "•",
  subagent = "◇",
  pending = "○",
  in_progress = "◐",
  paused = "‖",
  completed = "●",
  failed = "✗",
  cancelled = "–",
  rejected = "–",
  unfinished = "–",
}
