"""The transcript of a session: its blocks, and the events that show them in the editor."""
