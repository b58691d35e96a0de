"""The MCP servers of one session: those that its agent is given, and what the editor's own works on."""
