"""Tests of acp_nvim.prompt."""
