"""Generates the wire types of `acp_nvim.acp` from the official schemas of the protocol."""
