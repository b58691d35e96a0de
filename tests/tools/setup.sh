#!/bin/sh
# Makes the environment of development (ACP_NVIM_VENV, or .venv) and brings Neovim when the machine has none.
# requirements.txt tells the plugin that the host's packages are there (lua/acp_nvim/host/environment.lua): dev.txt has
# them, too. The stamp is a copy of the lock files: a checkout that only touched them costs nothing.
set -eu
cd "$(dirname "$0")/../.."
venv=${ACP_NVIM_VENV:-.venv}
stamp=$venv/.stamp
python=$venv/bin/python

if cat requirements/dev.txt requirements/nvim.txt | cmp -s - "$stamp" && "$python" -c 'import acp_nvim' 2>/dev/null; then
  cp requirements/run.txt "$venv/requirements.txt"
  touch "$stamp"
  exit 0
fi
rm -f "$stamp" # what fails from here on is not taken for done

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
  base=$(sh tests/tools/find_python.sh)
  echo "acp_nvim: making $venv with $("$base" --version)"
  "$base" -m venv --clear "$venv"
fi

echo "acp_nvim: installing the host's packages and the tools of development into $venv"
"$python" requirements/install.py dev || exit 1

if ! "$python" tests/support/find_nvim.py >/dev/null 2>&1; then
  echo "acp_nvim: no nvim >= 0.11 on PATH, bringing one into $venv"
  "$python" requirements/install.py nvim || {
    echo "acp_nvim: Neovim could not be brought (see above). Install Neovim >= 0.11 and run make setup again." >&2
    exit 1
  }
fi

# so that the first start is as quick as the others
"$python" -m compileall -q -x demo_project acp_nvim rplugin

nvim=$("$python" tests/support/find_nvim.py)
cp requirements/run.txt "$venv/requirements.txt"
cat requirements/dev.txt requirements/nvim.txt >"$stamp"
echo "acp_nvim: ready, with $("$nvim" --version | head -n 1)"
