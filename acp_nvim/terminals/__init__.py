"""Runs commands on pseudo terminals, and keeps the end of their output."""
