#!/bin/sh
# Prints a Python >= 3.11 that can make environments, or says what is missing. Of those on PATH it is the first to which
# nothing is missing (requirements/probe.py), or else one with a defect, or one that is newer than some packages.
# ACP_NVIM_PYTHON names the one to use.
set -eu
probe=${0%/*}/../../requirements/probe.py

# prints a Python, and on stderr what the probe has said of it after its version
take() {
  command -v "$1"
  echo "acp_nvim: ${2#*
}" >&2
  exit 0
}

defective='' newer='' without_venv='' broken=''
for python in ${ACP_NVIM_PYTHON:+"$ACP_NVIM_PYTHON"} \
  ${ACP_NVIM_PYTHON:-python3 python3.14 python3.13 python3.12 python3.11 python3.15 python}; do
  command -v "$python" >/dev/null 2>&1 || continue
  code=0
  said=$("$python" -E -B "$probe" 2>&1) || code=$?
  case $code in
    0)
      command -v "$python"
      exit 0
      ;;
    3) ;;
    4) without_venv=${without_venv:-$python} ;;
    5) [ -n "$defective" ] || defective=$python defect=$said ;;
    6) [ -n "$newer" ] || newer=$python newness=$said ;;
    *) [ -n "$broken" ] || broken=$python problem=$said ;;
  esac
done
[ -z "$defective" ] || take "$defective" "$defect"
[ -z "$newer" ] || take "$newer" "$newness"

if [ -n "$without_venv" ]; then
  echo "acp_nvim: $without_venv cannot make environments: its venv module is missing." >&2
  echo "          On Debian and Ubuntu: apt install python3-venv. Elsewhere: a Python with venv and ensurepip." >&2
elif [ -z "${ACP_NVIM_PYTHON:-}" ]; then
  echo "acp_nvim: no Python >= 3.11 found. Install one, or say where it is: make setup PYTHON=/path/to/python3" >&2
elif [ -z "$broken" ]; then
  echo "acp_nvim: $ACP_NVIM_PYTHON is not a Python >= 3.11." >&2
fi
if [ -n "$broken" ]; then
  echo "acp_nvim: $broken does not run: ${problem:-it does not say why}" >&2
fi
exit 1
