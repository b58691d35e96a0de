"""The chat at any length: each scenario beside its floor."""
