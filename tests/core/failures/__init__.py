"""Tests of acp_nvim.failures."""
