"""Agent processes: their start, the `initialize` handshake, and the routing of their messages to sessions."""
