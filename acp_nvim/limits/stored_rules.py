"""Bounds of the answers for good that are kept of a project."""

from __future__ import annotations

from typing import Final

STORED_RULES: Final = 1000
"""The newest: a file of 300 kB."""

STORED_RULES_BYTES: Final = 64 * 1024 * 1024
"""Of their file, command lines may be long: a larger one was not written by us."""
