"""Tests of acp_nvim.permissions."""
