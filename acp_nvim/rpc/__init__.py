"""What Lua may call: the messages, and the handlers that take them, by topic."""
