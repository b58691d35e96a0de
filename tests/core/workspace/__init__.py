"""Tests of acp_nvim.workspace."""
