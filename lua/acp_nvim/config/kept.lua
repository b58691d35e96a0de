-- The options of what is kept in files; a part of the schema.
---@type acp.Option.Schema[]
return {
  {
    name = "history.transcripts",
    types = { "boolean" },
    default = true,
    doc = [[Keep conversations in the state directory, so that |:AcpSessions| finds them. Secrets are masked, as far as they
can be told. See |acp_nvim-history|.]],
  },
  {
    name = "history.days",
    types = { "number" },
    default = 90,
    doc = "Days after which a kept conversation is removed.",
  },
  {
    name = "history.megabytes",
    types = { "number" },
    default = 200,
    doc = "Size of all kept conversations; beyond it the oldest are removed.",
  },
  {
    name = "state.megabytes",
    types = { "number" },
    default = 2000,
    doc = [[Size of acp_nvim's state directory, without worktrees; beyond it the checkpoints of projects that you have
not used for longest are removed. See |acp_nvim-state|.]],
  },
  {
    name = "worktree_directory",
    types = { "string" },
    doc = [[Where worktrees of sessions are made (`++worktree` of |:AcpChat|). Without it: `acp_nvim/worktrees` in
`stdpath("state")`. It must not be inside of the project. See |acp_nvim-worktrees|.]],
  },
  {
    name = "log.traffic",
    types = { "boolean" },
    default = false,
    doc = [[Record the messages of every agent connection, secrets masked; for bug reports. See |acp_nvim-recordings|.]],
  },
}
