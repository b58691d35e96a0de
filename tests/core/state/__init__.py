"""Tests of acp_nvim.state."""
