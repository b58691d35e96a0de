"""Measurements: figures with their floor beside them; nothing here fails a build."""
