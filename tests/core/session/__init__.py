"""Tests of acp_nvim.session."""
