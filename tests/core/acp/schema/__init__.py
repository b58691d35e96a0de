"""The wire types against the official schemas."""
