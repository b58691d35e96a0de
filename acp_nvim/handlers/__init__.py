"""What the host does with what Lua says, by topic; `app` puts the topics together."""
