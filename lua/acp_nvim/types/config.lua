---@meta
-- What can be switched in a session, for the language server.

---@class acp.ConfigValue
---@field value string
---@field name string
---@field description? string
---@field group? string those of a group stand together

---A mode, a model, or any other option of an agent, in the agent's order.
---@class acp.ConfigOption
---@field id string
---@field name string
---@field kind string "select", "boolean", or a word that nobody knows: then it cannot be set
---@field category? string "mode", "model", "model_config", "thought_level", or another word
---@field description? string
---@field current? string|boolean
---@field changing? string|boolean what was asked for, while the agent has not answered
---@field values? acp.ConfigValue[]
