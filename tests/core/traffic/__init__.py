"""Tests of acp_nvim.traffic."""
