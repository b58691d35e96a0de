-- The part of the list of options (config/schema.lua) that is about how long something may take.

---@type acp.Option.Schema[]
return {
  {
    name = "timeouts.initialize",
    types = { "number" },
    default = 60000,
    doc = "Milliseconds that an agent may take for its first answer.",
  },
  {
    name = "timeouts.cancel",
    types = { "number" },
    default = 10000,
    doc = [[Milliseconds that an agent may take to stop a turn that you have cancelled. Then you are told, and another
|:AcpCancel| uses stronger means, see |acp_nvim-cancel|.]],
  },
  {
    name = "timeouts.background",
    types = { "number" },
    default = 5000,
    doc = [[Milliseconds of silence, with nothing open, after which a turn that an agent has begun by itself counts as over.
Agents of version 2 of the protocol say it themselves. See |acp_nvim-background|.]],
  },
  {
    name = "timeouts.snapshot",
    types = { "number" },
    default = 800,
    doc = [[Milliseconds that a prompt waits for the snapshot of the files before it. What takes longer goes on in the
background: a file that the agent changes before it is done may be shown without what it was. See |acp_nvim-review|.]],
  },
  {
    name = "timeouts.idle",
    types = { "number" },
    default = 1800000,
    doc = [[Milliseconds after which the process of an agent is stopped when none of its sessions had a turn, a question
or a command. Only when all of them can be taken up again: the next prompt starts it, and they go on. 0: never.
`agents.<name>.idle_seconds` is for one agent. See |acp_nvim-ends|.]],
  },
}
