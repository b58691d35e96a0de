"""Tests of acp_nvim.nvim."""
