"""Real third-party agents, each through one whole turn in the real editor."""
