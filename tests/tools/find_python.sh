#!/bin/sh
# Prints a Python >= 3.11 that can make environments, or says what is missing.
# ACP_NVIM_PYTHON names the one to use.
set -eu

new_enough() {
  "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

can_make_venv() {
  "$1" -c 'import venv, ensurepip' 2>/dev/null
}

without_venv=
for python in ${ACP_NVIM_PYTHON:+"$ACP_NVIM_PYTHON"} \
  ${ACP_NVIM_PYTHON:-python3 python3.14 python3.13 python3.12 python3.11 python}; do
  command -v "$python" >/dev/null 2>&1 || continue
  new_enough "$python" || continue
  if can_make_venv "$python"; then
    command -v "$python"
    exit 0
  fi
  without_venv=${without_venv:-$python}
done

if [ -n "$without_venv" ]; then
  echo "acp_nvim: $without_venv cannot make environments: its venv module is missing." >&2
  echo "          On Debian and Ubuntu: apt install python3-venv. Elsewhere: a Python with venv and ensurepip." >&2
elif [ -n "${ACP_NVIM_PYTHON:-}" ]; then
  echo "acp_nvim: $ACP_NVIM_PYTHON is not a Python >= 3.11." >&2
else
  echo "acp_nvim: no Python >= 3.11 found. Install one, or say where it is: make setup PYTHON=/path/to/python3" >&2
fi
exit 1
