"""Lua with which a test works in two sessions side by side, by their keys."""

from __future__ import annotations

OPEN = """
local agent, is_shown = ...
local client = require("acp_nvim.sessions.client")
local session = client.session(agent, true)
if is_shown then
  client.show(session)
end
return session.key
"""
"""Opens a new session of an agent, in a window or not, and returns its key."""

STATE = "return (require('acp_nvim.host.sessions').get(...).status or {}).state"
"""The state of the session with that key."""

PROMPT = "require('acp_nvim.sessions.client').prompt(..., { session_id = select(2, ...) })"
"""Sends a prompt (the first argument) in the session with that key."""
