"""Plays the agent's side of a recording: a program of its own."""
