"""Tests of acp_nvim.history."""
