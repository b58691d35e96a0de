"""Tests of acp_nvim.protocol."""
