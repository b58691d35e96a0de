"""Tests of acp_nvim.transcript."""
