"""Tests of acp_nvim.jsonrpc."""
