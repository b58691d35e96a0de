---@meta
-- Signing in to agents, for the language server.

---@class acp.SignInVariable
---@field name string
---@field label? string
---@field secret? boolean
---@field optional? boolean
---@field is_set? boolean it has a value already, which nobody is told

---@class acp.SignInMethod
---@field id string
---@field name string
---@field kind string agent, terminal, env_var, api_key, or a word that nobody here knows
---@field description? string
---@field command? string what a terminal would run, in words
---@field variables? acp.SignInVariable[]
---@field link? string where to get what the variables are to hold

---@class acp.SignInNeed
---@field agent string
---@field cwd string
---@field methods acp.SignInMethod[]
---@field asked boolean by the user
---@field session? integer that waits for it
---@field reason? string
---@field hint? string what to do where there is no method
