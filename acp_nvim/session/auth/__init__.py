"""Signing in to agents."""
