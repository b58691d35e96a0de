"""Tests of acp_nvim.process."""
