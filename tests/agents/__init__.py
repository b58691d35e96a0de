"""Agents for tests: real processes that speak ACP, and the tests of these agents themselves."""
