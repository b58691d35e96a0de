"""Tests of acp_nvim.connection."""
