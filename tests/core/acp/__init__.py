"""Tests of acp_nvim.acp."""
