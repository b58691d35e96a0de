"""Tests of acp_nvim.agents."""
