"""A session's agent: its process, the first words with it, and the way of each of its messages to a session."""
