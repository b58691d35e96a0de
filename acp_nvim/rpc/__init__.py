"""The handlers of what Lua sends, by topic."""
