"""Conversations that are kept in the state directory: written as they go on, read, searched, cleaned up, exported."""
