"""Starts child processes, keeps the tail of their stderr, and stops them with all their descendants."""
