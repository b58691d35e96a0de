#!/bin/sh
# Formats all Python and Lua of the repository.
set -eu
cd "$(dirname "$0")/../.."
.venv/bin/python -m ruff check --quiet --fix-only .
.venv/bin/python -m ruff format .
.cache/stylua/stylua .
