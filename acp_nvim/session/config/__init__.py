"""The configuration options of a session."""
