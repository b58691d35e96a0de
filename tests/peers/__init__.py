"""Agents written with the protocol's official SDKs, as real processes: what is said to them, and what comes of it."""
