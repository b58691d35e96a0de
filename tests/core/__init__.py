"""Tests of the Python core, one directory for a layer."""
