"""Tests of acp_nvim.handlers."""
