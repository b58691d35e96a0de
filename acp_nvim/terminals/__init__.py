"""Terminals: commands that run on a pseudo terminal, and the end of what they print."""
