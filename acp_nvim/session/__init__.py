"""One conversation with an agent: its transcript, its turns and its queue; and the agent's process behind it."""
