#!/bin/sh
# Runs every check, all of them even when one fails, and says which failed.
set -u
cd "$(dirname "$0")/../.."
python=.venv/bin/python
nvim=$("$python" tests/support/find_nvim.py) || exit 1
failed=
# Neovim writes to a state directory even with --clean
export XDG_STATE_HOME="$PWD/.cache/state"

check() {
  name=$1
  shift
  echo "== $name"
  "$@" || failed="$failed, $name"
}

check "ruff check" "$python" -m ruff check --quiet .
check "ruff format" "$python" -m ruff format --check --quiet .
check "mypy" "$python" -m mypy
check "mypy of the tests' tools" "$python" -m mypy --exclude '(^|/)test_' tests/support tests/tools requirements
check "shape" "$python" tests/tools/check_shape.py
check "docstrings" "$python" tests/tools/check_docstrings.py
check "tests" "$python" tests/tools/check_tests.py
check "lock files" "$python" -m tests.tools.check_locks
check "wire types" "$python" -m tests.tools.acp_schema --check
check "agents" "$python" -m tests.tools.agent_catalogue --check
check "contract" "$python" -m tests.tools.contract --check
check "lua" "$nvim" --clean --headless -l tests/tools/check_lua.lua
if command -v luacheck >/dev/null; then
  check "luacheck" luacheck --quiet lua plugin doc tests build.lua
else
  echo "== luacheck is not installed (Debian: lua-check): left out"
fi
check "stylua" .cache/stylua/stylua --check .

if [ -n "$failed" ]; then
  echo "failed: ${failed#, }" >&2
  exit 1
fi
echo "all checks passed"
