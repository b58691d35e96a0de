#!/bin/sh
# Makes the environment of development (ACP_NVIM_VENV, or .venv), with the argument `run` only with what the host needs,
# and brings Neovim when the machine has none. .stamp, a copy of the lock files, tells that it is there; requirements.txt,
# a copy of run.txt, tells the plugin that the host's packages are (lua/acp_nvim/host/environment.lua).
set -eu
cd "$(dirname "$0")/../.."
lock=${1:-dev}
venv=${ACP_NVIM_VENV:-.venv}
python=$venv/bin/python

if [ "$lock" = run ]; then
  stamp=$venv/requirements.txt what="the host's packages"
  locked() { cat requirements/run.txt; }
else
  stamp=$venv/.stamp what="the host's packages and the tools of development"
  locked() { cat requirements/dev.txt requirements/nvim.txt; }
fi

if locked | cmp -s - "$stamp" && "$python" -c 'import acp_nvim' 2>/dev/null \
  && { [ "$lock" = dev ] || "$python" tests/support/find_nvim.py >/dev/null 2>&1; }; then
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

echo "acp_nvim: installing $what into $venv"
"$python" requirements/install.py "$lock" || exit 1

if ! "$python" tests/support/find_nvim.py >/dev/null 2>&1; then
  echo "acp_nvim: no nvim >= 0.11 on PATH, bringing one into $venv"
  "$python" requirements/install.py nvim || {
    echo "acp_nvim: Neovim could not be brought (see above). Install Neovim >= 0.11 and try again." >&2
    exit 1
  }
fi

# so that the first start is as quick as the others
"$python" -m compileall -q -x demo_project acp_nvim rplugin

nvim=$("$python" tests/support/find_nvim.py)
cp requirements/run.txt "$venv/requirements.txt"
locked >"$stamp"
echo "acp_nvim: ready, with $("$nvim" --version | head -n 1)"
