"""Requests that wait for the user's answer: each is answered exactly once."""
