"""Texts with hunks: which lines are whose, and where a change is in a text."""
