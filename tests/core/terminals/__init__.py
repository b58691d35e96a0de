"""Tests of acp_nvim.terminals."""
