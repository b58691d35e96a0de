"""The agents that can be started, and their definitions."""
