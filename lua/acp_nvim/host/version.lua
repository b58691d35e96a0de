-- The version of this plugin, from the file that the host reads as well; as it was when this module was loaded.
local environment = require("acp_nvim.host.environment")
local state_files = require("acp_nvim.kernel.state_files")

local text = state_files.read(environment.root() .. "/acp_nvim/__init__.py") or ""
return text:match('__version__ = "([^"]+)"') or "unknown"
